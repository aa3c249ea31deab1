//! The accept loop, the same for all models: they differ in what becomes of a socket.

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use rustix::net::SocketFlags;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use crate::server::admission::{self, AfterError, BACK_OFF, Permit};
use crate::server::connection::Connection;
use crate::server::listen;
use crate::server::post::Post;
use crate::server::stop::Stop;

/// Connections that one listener may accept before the other tasks of its thread have their turn.
const ACCEPTS_A_TURN: usize = 64;

/// Turns that empty the queue of a listener before it is closed; longer than any queue that Linux allows by default.
const LAST_TURNS: usize = 1024;

/// Where accepted sockets go.
pub trait Crew {
    /// Flags for `accept4` beside close-on-exec.
    const FLAGS: SocketFlags;

    /// The post that the next connection belongs to, if it has room for it.
    fn next(&mut self) -> Option<&Arc<Post>>;

    /// Takes a connection for the post that `next` has named.
    fn take(&mut self, socket: OwnedFd, permit: Permit);

    /// Waits until `next` may have an answer.
    async fn room(&mut self);

    /// A post to count accept errors at.
    fn any(&self) -> &Post;
}

/// A runtime for one thread.
pub fn runtime() -> io::Result<LocalRuntime> {
    Builder::new_current_thread().enable_io().enable_time().build_local(LocalOptions::default())
}

/// Makes the listeners known to the runtime of this thread, before anybody hears that the thread serves: the epoll set may
/// refuse them.
pub fn register(listeners: Vec<OwnedFd>) -> io::Result<Vec<AsyncFd<OwnedFd>>> {
    listeners.into_iter().map(listen::register).collect()
}

/// Accepts until told to stop; then empties the queue once more, because closing a listener resets what waits in it.
pub async fn accept_until(listener: AsyncFd<OwnedFd>, crew: impl Crew, stop: Stop) {
    let mut turn = Turn { listener, crew };
    if stop.token.run_until_cancelled(turn.accept_forever()).await.is_none() {
        for _ in 0..LAST_TURNS {
            if !matches!(turn.accept_waiting(), Outcome::More) {
                break;
            }
        }
    }
}

/// A listener and those who take its connections.
struct Turn<C> {
    listener: AsyncFd<OwnedFd>,
    crew: C,
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

impl<C: Crew> Turn<C> {
    async fn accept_forever(&mut self) {
        loop {
            match self.accept_waiting() {
                Outcome::Empty => self.readable().await,
                Outcome::More => tokio::task::yield_now().await,
                Outcome::Full => self.crew.room().await,
                Outcome::Exhausted => tokio::time::sleep(BACK_OFF).await,
            }
        }
    }

    fn accept_waiting(&mut self) -> Outcome {
        for _ in 0..ACCEPTS_A_TURN {
            let Some(post) = self.crew.next() else { return Outcome::Full };
            match rustix::net::accept_with(self.listener.get_ref(), C::FLAGS | SocketFlags::CLOEXEC) {
                Ok(socket) => {
                    let permit = Permit::take(post);
                    self.crew.take(socket, permit);
                }
                Err(rustix::io::Errno::AGAIN) => return Outcome::Empty,
                Err(error) => match self.report(&error.into()) {
                    AfterError::GoOn => {}
                    AfterError::BackOff => return Outcome::Exhausted,
                },
            }
        }
        Outcome::More
    }

    fn report(&self, error: &io::Error) -> AfterError {
        let (class, next) = admission::classify(error);
        self.crew.any().counters.accept_error(class);
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
pub fn begin(socket: OwnedFd, permit: Permit, spawn: impl FnOnce(Connection)) {
    let mut connection = Connection::new(socket, permit);
    let mut context = Context::from_waker(Waker::noop());
    if Pin::new(&mut connection).poll(&mut context).is_pending() {
        spawn(connection);
    }
}
