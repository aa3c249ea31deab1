//! `thread-per-connection`: blocking sockets, hyper polled by the thread itself. Stands in for Tomcat's old BIO connector.
//!
//! One thread accepts. Threads are made as connections come, up to `max_threads`, and kept; further connections wait
//! in the kernel's queue. Nothing here ever waits for readiness: a poll blocks inside `recv` or `send`, so Pending means
//! "poll again" (hyper yields after 16 requests and after a parse error).

use std::future::Future;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

use rustix::net::SocketFlags;

use super::Thread;
use super::accept::{self, Crew};
use crate::process::affinity::Pins;
use crate::server::admission::Permit;
use crate::server::connection::Connection;
use crate::server::post::Post;
use crate::server::stop::Stop;

type Handover = (OwnedFd, Permit);

/// Starts the thread that accepts; the others follow as they are needed.
pub fn start(
    team: &[Arc<Post>],
    listeners: Vec<Vec<OwnedFd>>,
    stack_bytes: Option<NonZeroUsize>,
    pins: &Pins,
    stop: &Stop,
) -> io::Result<Vec<Thread>> {
    let Some(post) = team.first().map(Arc::clone) else { return Ok(Vec::new()) };
    let (listeners, stop, pins) = (listeners.into_iter().flatten().collect(), stop.clone(), pins.clone());
    let acceptor = super::spawn("acceptor".to_owned(), None, move || {
        accept::runtime()?.block_on(run(post, listeners, stack_bytes, pins, stop))
    })?;
    Ok(vec![acceptor])
}

async fn run(
    post: Arc<Post>,
    listeners: Vec<OwnedFd>,
    stack_bytes: Option<NonZeroUsize>,
    pins: Pins,
    stop: Stop,
) -> io::Result<()> {
    let pool = Arc::new(Mutex::new(Pool::new(stack_bytes, pins)));
    let accept = |listener| {
        let crew = Counter { post: Arc::clone(&post), pool: Arc::clone(&pool) };
        tokio::task::spawn_local(accept::accept_until(listener, crew, stop.clone()))
    };
    let accepting: Vec<_> = accept::register(listeners)?.into_iter().map(accept).collect();
    // Those who serve wait for their client inside of a system call, which is no fault: the one that accepts speaks for all.
    tokio::task::spawn_local(post.vitals.clone().keep_beating());
    // From here on only those who accept hold it.
    drop(stop);
    for task in accepting {
        task.await.map_err(io::Error::other)?;
    }
    // The queue's end is what the threads wait for.
    drop(pool);
    post.admission.empty().await;
    Ok(())
}

/// The threads that serve. There is always one for an admitted connection: admission allows as many as there may be
/// threads.
struct Pool {
    queue: SyncSender<Handover>,
    waiting: Arc<Mutex<Receiver<Handover>>>,
    threads: usize,
    stack_bytes: Option<NonZeroUsize>,
    pins: Pins,
}

impl Pool {
    /// Handovers on their way. Each has a thread that is about to take it.
    const ON_THE_WAY: usize = 64;

    fn new(stack_bytes: Option<NonZeroUsize>, pins: Pins) -> Self {
        let (queue, waiting) = sync_channel(Self::ON_THE_WAY);
        Self { queue, waiting: Arc::new(Mutex::new(waiting)), threads: 0, stack_bytes, pins }
    }

    /// Makes sure that there are `open` threads, and gives the connection to one of them.
    fn take(&mut self, handover: Handover, open: usize, post: &Post) {
        if self.threads < open {
            match self.spawn() {
                Ok(()) => post.counters.thread_started(),
                Err(error) => {
                    // Without the thread the connection could wait for ever: it is closed, and counted.
                    post.counters.accept_error(crate::server::metrics::AcceptError::Memory);
                    tracing::warn!("cannot start thread {}: {error}", self.threads + 1);
                    return;
                }
            }
        }
        let _ = self.queue.send(handover);
    }

    fn spawn(&mut self) -> io::Result<()> {
        let (waiting, pin) = (Arc::clone(&self.waiting), self.pins.of(self.threads));
        super::spawn(format!("connection-{}", self.threads), self.stack_bytes, move || {
            pin.apply();
            while let Some((socket, permit)) = next(&waiting) {
                drive(Connection::blocking(socket, permit));
            }
            Ok(())
        })?;
        self.threads += 1;
        Ok(())
    }
}

/// The next connection, or `None` when the acceptor has gone. One idle thread waits in the queue, the others for it.
fn next(waiting: &Mutex<Receiver<Handover>>) -> Option<Handover> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

fn drive(mut connection: Connection) {
    let mut context = Context::from_waker(Waker::noop());
    while Pin::new(&mut connection).poll(&mut context).is_pending() {}
}

/// The acceptor's side.
struct Counter {
    post: Arc<Post>,
    pool: Arc<Mutex<Pool>>,
}

impl Crew for Counter {
    /// Accepted sockets block.
    const FLAGS: SocketFlags = SocketFlags::empty();

    fn next(&mut self) -> Option<&Arc<Post>> {
        (!self.post.admission.is_full()).then_some(&self.post)
    }

    fn take(&mut self, socket: OwnedFd, permit: Permit) {
        let open = self.post.admission.open();
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).take((socket, permit), open, &self.post);
    }

    async fn room(&mut self) {
        self.post.admission.room().await;
    }

    fn any(&self) -> &Post {
        &self.post
    }
}
