//! What the parts of one connection share: the socket, the note to the sweep, and the file that is being sent.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::access_log::Pending;
use super::deadlines::Pulse;
use crate::site::Document;

/// One connection, as its service, its transport and the sweep know it.
///
/// The locks are never contended: only the thread that polls the connection takes them. They are locks and not cells
/// because the same connection code also runs where tasks move between threads.
#[derive(Debug)]
pub struct Wire {
    /// The socket; closed when the last of the three lets go.
    pub socket: OwnedFd,
    pub pulse: Pulse,
    /// Set while an answer's body is a slice of an open file, so that a write has to look for it.
    sends_file: AtomicBool,
    file: Mutex<Option<Arc<Document>>>,
    /// The access log line of the answer that is being written; always `None` when the log is off.
    log: Mutex<Option<Box<Pending>>>,
    /// The answer has several frames: a flush in the middle is not its end.
    multipart: AtomicBool,
    /// The client was still sending when it was answered: closing at once would destroy the answer with a reset.
    unread_body: AtomicBool,
    /// A head said in two ways how long its body is.
    ambiguous: AtomicBool,
}

impl Wire {
    /// A connection accepted at `tick`.
    pub fn new(socket: OwnedFd, tick: u32) -> Self {
        Self {
            socket,
            pulse: Pulse::new(tick),
            sends_file: AtomicBool::new(false),
            file: Mutex::new(None),
            log: Mutex::new(None),
            multipart: AtomicBool::new(false),
            unread_body: AtomicBool::new(false),
            ambiguous: AtomicBool::new(false),
        }
    }

    /// The next answer's body is (or is not) made of slices of this open file.
    pub fn send_from(&self, file: Option<Arc<Document>>) {
        if file.is_some() || self.sends_file.load(Relaxed) {
            self.sends_file.store(file.is_some(), Relaxed);
            *lock(&self.file) = file;
        }
    }

    /// The open file whose slices may stand in a write.
    pub fn file(&self) -> Option<Arc<Document>> {
        if self.sends_file.load(Relaxed) { lock(&self.file).clone() } else { None }
    }

    /// The access log line that waits for the end of its answer.
    pub fn log(&self) -> MutexGuard<'_, Option<Box<Pending>>> {
        lock(&self.log)
    }

    /// Whether the next answer's body comes in several frames.
    pub fn set_multipart(&self, multipart: bool) {
        self.multipart.store(multipart, Relaxed);
    }

    /// Whether hyper's first flush after the answer was given means that all of it is out.
    pub fn ends_with_flush(&self) -> bool {
        !self.multipart.load(Relaxed) && !self.has_unread_body()
    }

    /// Notes that a head said in two ways how long its body is.
    pub fn mark_ambiguous(&self) {
        self.ambiguous.store(true, Relaxed);
    }

    /// Whether some head said in two ways how long its body is.
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous.load(Relaxed)
    }

    /// Notes that the request had a body which nobody reads.
    pub fn leave_body_unread(&self) {
        self.unread_body.store(true, Relaxed);
    }

    /// Whether some request had a body which nobody read.
    pub fn has_unread_body(&self) -> bool {
        self.unread_body.load(Relaxed)
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for Wire {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
