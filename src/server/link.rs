//! A connection's socket and who knows of it: the sweep, and epoll as soon as the socket would block.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::unix::AsyncFd;

use super::deadlines::Phase;
use super::post::Post;
use super::wire::Wire;
use super::worker::Worker;

/// A socket, its worker, and its registrations.
#[derive(Debug)]
pub struct Link {
    pub wire: Arc<Wire>,
    pub worker: Arc<Worker>,
    pub mode: Mode,
    registration: Option<Registration>,
}

/// What a system call does that cannot be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It says so, and epoll says when it can.
    Readiness,
    /// It waits: the thread belongs to the connection.
    Blocking,
}

/// Where a socket is known: to the sweep, and to epoll unless it blocks.
#[derive(Debug)]
struct Registration {
    readiness: Option<AsyncFd<Arc<Wire>>>,
    key: usize,
    post: Arc<Post>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.post.watch.remove(self.key);
    }
}

impl Link {
    /// Links an accepted, non-blocking socket.
    pub fn new(wire: Arc<Wire>, worker: Arc<Worker>) -> Self {
        Self { wire, worker, mode: Mode::Readiness, registration: None }
    }

    /// Links an accepted, blocking socket. The sweep knows it from the start: there will be no other moment.
    pub fn blocking(wire: Arc<Wire>, worker: Arc<Worker>) -> Self {
        let key = worker.post.watch.add(Arc::clone(&wire), Waker::noop().clone());
        let registration = Registration { readiness: None, key, post: Arc::clone(&worker.post) };
        Self { wire, worker, mode: Mode::Blocking, registration: Some(registration) }
    }

    /// What the connection is doing.
    pub fn phase(&self) -> Phase {
        self.wire.pulse.phase()
    }

    /// Registers with epoll and with the sweep, once.
    ///
    /// A connection is polled a first time before it has a task; the task polls again at once, so that first poll
    /// must not register: its waker is a no-op and would be the one that the sweep keeps.
    pub fn poll_registered(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<&AsyncFd<Arc<Wire>>>> {
        if self.registration.is_none() {
            if cx.waker().will_wake(Waker::noop()) {
                return Poll::Pending;
            }
            self.registration = Some(self.register(cx.waker().clone())?);
        }
        match &self.registration {
            Some(Registration { readiness: Some(readiness), .. }) => Poll::Ready(Ok(readiness)),
            // A blocking socket never says that it would block.
            _ => Poll::Ready(Err(io::ErrorKind::WouldBlock.into())),
        }
    }

    /// Ready when a read would not block.
    pub fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(ready!(self.poll_registered(cx))?.poll_read_ready(cx))?.retain_ready();
        Poll::Ready(Ok(()))
    }

    #[cold]
    fn register(&self, waker: Waker) -> io::Result<Registration> {
        // SAFETY: the descriptor that `Wire` hands out is that of its `OwnedFd`, which nobody can replace or close
        // while the `AsyncFd` holds its `Arc`.
        let readiness = unsafe { AsyncFd::register(Arc::clone(&self.wire)) }?;
        let key = self.worker.post.watch.add(Arc::clone(&self.wire), waker);
        Ok(Registration { readiness: Some(readiness), key, post: Arc::clone(&self.worker.post) })
    }
}
