//! One line for each request, written by one thread from a bounded queue.
//!
//! Those who serve never wait for the log: they put an [`Entry`] into the queue or, if it is full, lose the line and
//! count it. One thread turns entries into lines, so that the formatting too costs the workers nothing, and writes
//! when it has caught up or has collected a buffer of lines. The log is off unless asked for, because even a queue has
//! a price that a benchmark would measure.

mod calendar;
mod line;
mod pending;
mod writer;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

use http::{Method, Version};
use rustix::fs::OFlags;

use crate::config::plan::{AccessFormat, AccessLog};
pub use pending::Pending;
pub use writer::Writer;

/// Entries that may wait. A worker at 100,000 requests/s fills this in 80 ms: longer than a disk stalls in health, and
/// no more memory than 2 MiB and the texts.
const QUEUE: usize = 8192;

/// What is known about one answered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When the answer ended.
    pub time: SystemTime,
    /// The client; `None` on a unix socket, where clients have no address.
    pub remote: Option<SocketAddr>,
    /// What was asked; `None` if it could not be understood.
    pub request: Option<RequestLine>,
    /// Status code of the answer.
    pub status: u16,
    /// Bytes of the body that were sent, which is what nginx calls `$body_bytes_sent`.
    pub bytes: u64,
    /// The `Referer` line, as it came.
    pub referer: Option<Box<[u8]>>,
    /// The `User-Agent` line, as it came.
    pub user_agent: Option<Box<[u8]>>,
    /// From the request's head to the end of the answer.
    pub duration: Duration,
}

/// The first line of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLine {
    /// The method; the usual ones take no memory.
    pub method: Method,
    /// The target as it came.
    pub target: Box<[u8]>,
    /// The version of HTTP.
    pub version: Version,
}

/// What travels to the thread that writes.
#[derive(Debug)]
enum Message {
    Entry(Entry),
    /// Nothing that matters comes after this.
    Stop,
}

/// The log as those see it who have something to say. Clones write to the same log.
#[derive(Debug, Clone)]
pub struct Handle {
    queue: SyncSender<Message>,
    lost: Arc<AtomicU64>,
}

impl Handle {
    /// Hands an entry over without ever waiting. False means that it was dropped, which the caller counts.
    #[must_use = "a dropped line is to be counted"]
    pub fn log(&self, entry: Entry) -> bool {
        self.queue.try_send(Message::Entry(entry)).is_ok()
    }

    /// Lines that were queued and then not written, because the destination failed.
    pub fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }
}

/// Opens the destination and starts the thread that writes to it; `None` if the log is off.
pub fn start(destination: &AccessLog, format: AccessFormat) -> io::Result<Option<(Handle, Writer)>> {
    let out = match destination {
        AccessLog::Off => return Ok(None),
        AccessLog::Stdout => unbuffered(io::stdout())?,
        AccessLog::Stderr => unbuffered(io::stderr())?,
        AccessLog::File(path) => open(path)?,
    };
    spawn(Box::new(out), format, QUEUE).map(Some)
}

fn spawn(out: Box<dyn Write + Send>, format: AccessFormat, capacity: usize) -> io::Result<(Handle, Writer)> {
    let (queue, messages) = sync_channel(capacity);
    let lost = Arc::new(AtomicU64::new(0));
    let writer = Writer::spawn(writer::Lines::new(out, format, Arc::clone(&lost)), queue.clone(), messages)?;
    Ok((Handle { queue, lost }, writer))
}

/// A standard stream without the library's own buffer, which would flush at every line.
fn unbuffered(stream: impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// Lines are appended, so that a rotation by "copy and truncate" works without telling the server. Others may not read
/// the file: it tells who asked for what.
fn open(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK a FIFO would keep the server from starting until somebody reads it; with it the kernel says so.
    // Writing is meant to wait: it has a thread of its own.
    let nonblocking = OFlags::NONBLOCK.bits() as i32;
    let opened = OpenOptions::new().append(true).create(true).mode(0o640).custom_flags(nonblocking).open(path);
    let opened = opened.and_then(|file| {
        rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        Ok(file)
    });
    opened.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot open the access log {}: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests;
