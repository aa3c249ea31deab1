//! What the parts of one connection share: the socket, the note to the sweep, and the file that is being sent.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::access_log::Pending;
use super::deadlines::Pulse;
use super::transfer::Way;
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
    /// A [`Way`]: whether an answer's body has slices of an open file, so that a write has to look for them.
    way: AtomicU8,
    file: Mutex<Option<Arc<Document>>>,
    /// The access log line of the answer that is being written; always `None` when the log is off.
    log: Mutex<Option<Box<Pending>>>,
    /// The answer has several frames: a flush in the middle is not its end.
    several_frames: AtomicBool,
    /// The client was still sending when it was answered: closing at once would destroy the answer with a reset.
    unread_body: AtomicBool,
    /// Requests answered; here and not in the service, which does not outlive parking.
    served: AtomicUsize,
    /// A head said in two ways how long its body is.
    ambiguous: AtomicBool,
}

impl Wire {
    /// A connection accepted at `tick`.
    pub fn new(socket: OwnedFd, tick: u32) -> Self {
        Self {
            socket,
            pulse: Pulse::new(tick),
            way: AtomicU8::new(Way::Memory as u8),
            file: Mutex::new(None),
            log: Mutex::new(None),
            several_frames: AtomicBool::new(false),
            unread_body: AtomicBool::new(false),
            served: AtomicUsize::new(0),
            ambiguous: AtomicBool::new(false),
        }
    }

    /// The next answer's body is made of slices of this open file, which go this way.
    pub fn send_from(&self, file: Arc<Document>, way: Way) {
        self.way.store(way as u8, Relaxed);
        *lock(&self.file) = Some(file);
    }

    /// No slice in a write is one of an open file any more.
    pub fn forget_file(&self) {
        if self.way() != Way::Memory {
            self.way.store(Way::Memory as u8, Relaxed);
            *lock(&self.file) = None;
        }
    }

    /// The open file whose slices may stand in a write.
    pub fn file(&self) -> Option<Arc<Document>> {
        if self.way() == Way::Memory { None } else { lock(&self.file).clone() }
    }

    /// How slices of the open file reach the socket.
    pub fn way(&self) -> Way {
        match self.way.load(Relaxed) {
            way if way == Way::Sendfile as u8 => Way::Sendfile,
            way if way == Way::Copy as u8 => Way::Copy,
            _ => Way::Memory,
        }
    }

    /// `sendfile` was refused in the middle of an answer.
    pub fn copy_instead(&self) {
        self.way.store(Way::Copy as u8, Relaxed);
    }

    /// The access log line that waits for the end of its answer.
    pub fn log(&self) -> MutexGuard<'_, Option<Box<Pending>>> {
        lock(&self.log)
    }

    /// Whether the next answer's body comes in several frames.
    pub fn set_several_frames(&self, several: bool) {
        self.several_frames.store(several, Relaxed);
    }

    /// Whether hyper's first flush after the answer was given means that all of it is out.
    pub fn ends_with_flush(&self) -> bool {
        !self.several_frames.load(Relaxed) && !self.has_unread_body()
    }

    /// Counts a request, and returns which one it is.
    pub fn count_request(&self) -> usize {
        let served = self.served.load(Relaxed) + 1;
        self.served.store(served, Relaxed);
        served
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
