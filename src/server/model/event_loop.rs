//! `event-loop`: N threads, each with one single-threaded runtime and its own listeners. Stands in for nginx.

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;

use rustix::net::SocketFlags;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio_util::sync::CancellationToken;

use crate::server::admission::{self, AfterError, BACK_OFF, Permit};
use crate::server::connection::Connection;
use crate::server::listen;
use crate::server::worker::Worker;

/// Connections that one listener may accept before the worker's other tasks have their turn.
const ACCEPTS_A_TURN: usize = 64;

/// Starts one thread that serves `listeners` for `worker` until `stop`, and then until its connections have ended.
pub fn start(
    index: usize,
    worker: Arc<Worker>,
    listeners: Vec<OwnedFd>,
    stop: CancellationToken,
) -> io::Result<thread::JoinHandle<io::Result<()>>> {
    thread::Builder::new().name(format!("worker-{index}")).spawn(move || {
        let runtime = runtime()?;
        runtime.block_on(run(worker, listeners, stop))
    })
}

fn runtime() -> io::Result<LocalRuntime> {
    Builder::new_current_thread().enable_io().enable_time().build_local(LocalOptions::default())
}

async fn run(worker: Arc<Worker>, listeners: Vec<OwnedFd>, stop: CancellationToken) -> io::Result<()> {
    let accepting: Vec<_> = listeners
        .into_iter()
        .map(|listener| {
            let listener = listen::register(listener)?;
            Ok(tokio::task::spawn_local(accept_until(listener, Arc::clone(&worker), stop.clone())))
        })
        .collect::<io::Result<_>>()?;
    for task in accepting {
        task.await.map_err(io::Error::other)?;
    }
    worker.admission.empty().await;
    Ok(())
}

/// Accepts until told to stop; then empties the queue once more, because closing a listener resets what waits in it.
async fn accept_until(listener: AsyncFd<OwnedFd>, worker: Arc<Worker>, stop: CancellationToken) {
    let mut turn = Turn { listener, worker };
    if stop.run_until_cancelled(turn.accept_forever()).await.is_none() {
        turn.accept_waiting();
    }
}

/// A listener and the worker that its connections belong to.
struct Turn {
    listener: AsyncFd<OwnedFd>,
    worker: Arc<Worker>,
}

/// How an accept turn ended.
enum Outcome {
    /// Nobody waits in the queue any more.
    Empty,
    /// The turn was used up; more may wait.
    More,
    /// As many connections are open as may be.
    Full,
    /// Descriptors or memory ran out.
    Exhausted,
}

impl Turn {
    async fn accept_forever(&mut self) {
        loop {
            match self.accept_waiting() {
                Outcome::Empty => self.readable().await,
                Outcome::More => tokio::task::yield_now().await,
                Outcome::Full => self.worker.admission.room().await,
                Outcome::Exhausted => tokio::time::sleep(BACK_OFF).await,
            }
        }
    }

    fn accept_waiting(&mut self) -> Outcome {
        for _ in 0..ACCEPTS_A_TURN {
            if self.worker.admission.is_full() {
                return Outcome::Full;
            }
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match rustix::net::accept_with(self.listener.get_ref(), flags) {
                Ok(socket) => begin(socket, &self.worker),
                Err(rustix::io::Errno::AGAIN) => return Outcome::Empty,
                Err(error) => match self.report(error.into()) {
                    AfterError::GoOn => {}
                    AfterError::BackOff => return Outcome::Exhausted,
                },
            }
        }
        Outcome::More
    }

    fn report(&self, error: io::Error) -> AfterError {
        let (class, next) = admission::classify(&error);
        self.worker.counters.accept_error(class);
        if next == AfterError::BackOff {
            tracing::debug!("accept: {error}");
        }
        next
    }

    /// Waits for the queue to become non-empty. The readiness seen here may be older than the `accept` that found the
    /// queue empty, so it is used up and the queue looked at again.
    async fn readable(&self) {
        match self.listener.readable().await {
            Ok(mut ready) => ready.clear_ready(),
            // The runtime is shutting down.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Polls a new connection once on the spot: a short one is often over by then, and never becomes a task.
fn begin(socket: OwnedFd, worker: &Arc<Worker>) {
    let mut connection = Connection::new(socket, Permit::take(worker), worker);
    let mut context = Context::from_waker(Waker::noop());
    if Pin::new(&mut connection).poll(&mut context).is_pending() {
        tokio::task::spawn_local(connection);
    }
}
