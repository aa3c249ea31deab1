//! One line for each request, written by one thread from a bounded queue.
//!
//! Those who serve never wait for the log: they put an [`Entry`] into the queue or, if it is full, lose the line and
//! count it. One thread turns entries into lines, so that the formatting too costs the workers nothing, and writes
//! when it has caught up or has collected a buffer of lines. The log is off unless asked for, because even a queue has
//! a price that a benchmark would measure.

mod calendar;
mod line;
mod pending;
mod place;
mod writer;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

use http::{Method, Version};

use crate::config::plan::{AccessFormat, AccessLog};
use crate::process::user::User;
pub use pending::Pending;
pub use place::{Next, Place, look};
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
    /// Another destination waits for the writer.
    Move,
    /// Nothing that matters comes after this.
    Stop,
}

/// The log as those see it who have something to say. Clones write to the same log.
#[derive(Debug, Clone)]
pub struct Handle {
    /// Held by those alone who have lines, so that the thread ends with the last of them.
    queue: Arc<SyncSender<Message>>,
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

/// Why lines cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The destination cannot be opened.
    #[error(transparent)]
    Destination(io::Error),
    /// The system refuses the thread that writes.
    #[error("{0}")]
    Thread(io::Error),
}

/// Opens the destination and starts the thread that writes to it; `None` if the log is off. `lost` counts the lines that
/// the destination does not take. A file becomes that of `heir`.
pub fn start(
    destination: &AccessLog,
    format: AccessFormat,
    heir: Option<&User>,
    lost: &Arc<AtomicU64>,
) -> Result<Option<(Handle, Writer)>, StartError> {
    let Some(out) = place::open(destination, heir).map_err(StartError::Destination)? else { return Ok(None) };
    spawn(Box::new(out), format, QUEUE, lost).map(Some).map_err(StartError::Thread)
}

fn spawn(
    out: Box<dyn Write + Send>,
    format: AccessFormat,
    capacity: usize,
    lost: &Arc<AtomicU64>,
) -> io::Result<(Handle, Writer)> {
    let (queue, messages) = sync_channel(capacity);
    let queue = Arc::new(queue);
    let writer = Writer::spawn(writer::Lines::new(out, format, Arc::clone(lost)), Arc::downgrade(&queue), messages)?;
    Ok((Handle { queue, lost: Arc::clone(lost) }, writer))
}

#[cfg(test)]
mod tests;
