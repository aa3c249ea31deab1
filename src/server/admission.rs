//! Who may come in: connection limits as permits, and what to do when accepting fails.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::Notify;

use super::metrics::AcceptError;
use super::post::Post;

/// One worker's share of `max_connections`.
#[derive(Debug)]
pub struct Admission {
    most: AtomicUsize,
    open: AtomicUsize,
    left: Notify,
}

impl Admission {
    /// Admits at most `most` connections at once.
    pub fn new(most: usize) -> Self {
        Self { most: AtomicUsize::new(most), open: AtomicUsize::new(0), left: Notify::new() }
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.open.load(Relaxed)
    }

    /// Whether the next connection has to wait in the kernel's queue.
    pub fn is_full(&self) -> bool {
        self.open() >= self.most.load(Relaxed)
    }

    /// Admits another number from now on. Connections beyond it stay open.
    pub fn set_most(&self, most: usize) {
        self.most.store(most, Relaxed);
        self.left.notify_waiters();
        self.left.notify_one();
    }

    /// Waits until there is room again.
    pub async fn room(&self) {
        while self.is_full() {
            self.left.notified().await;
        }
    }

    /// Waits until every connection has ended.
    pub async fn empty(&self) {
        while self.open() > 0 {
            self.left.notified().await;
        }
    }
}

/// One admitted connection; dropping it makes room for another.
#[derive(Debug)]
pub struct Permit(Arc<Post>);

impl Permit {
    /// Counts a connection in. The caller has seen that there is room.
    pub fn take(post: &Arc<Post>) -> Self {
        post.admission.open.fetch_add(1, Relaxed);
        post.counters.accepted();
        Self(Arc::clone(post))
    }

    /// The post that admitted the connection.
    pub fn post(&self) -> &Arc<Post> {
        &self.0
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let admission = &self.0.admission;
        let before = admission.open.fetch_sub(1, Relaxed);
        self.0.counters.closed();
        if before >= admission.most.load(Relaxed) || before == 1 {
            admission.left.notify_waiters();
            admission.left.notify_one();
        }
    }
}

/// What to do after `accept` has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterError {
    /// The error belonged to one connection that is gone: the next may be fine.
    GoOn,
    /// The process or the machine is out of something: trying at once would spin at full CPU.
    BackOff,
}

/// Pause after descriptors or memory ran out. nginx waits 500 ms; established connections go on meanwhile.
pub const BACK_OFF: Duration = Duration::from_millis(100);

/// Sorts an accept error into its class (accept(2), ERRORS) and says how to go on.
pub fn classify(error: &io::Error) -> (AcceptError, AfterError) {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => (AcceptError::Descriptors, AfterError::BackOff),
        Some(libc::ENOBUFS | libc::ENOMEM) => (AcceptError::Memory, AfterError::BackOff),
        Some(
            libc::ECONNABORTED
            | libc::EPROTO
            | libc::EINTR
            | libc::EPERM
            | libc::ENETDOWN
            | libc::ENOPROTOOPT
            | libc::EHOSTDOWN
            | libc::ENONET
            | libc::EHOSTUNREACH
            | libc::EOPNOTSUPP
            | libc::ENETUNREACH,
        ) => (AcceptError::Connection, AfterError::GoOn),
        _ => (AcceptError::Other, AfterError::BackOff),
    }
}
