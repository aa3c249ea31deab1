//! The thread that writes.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Entry, Message, line};
use crate::config::plan::AccessFormat;

/// Lines are collected up to this size before they are written, if there is no pause before.
const BUFFER: usize = 64 << 10;

/// How long [`Writer::stop`] waits before it tries again to put a word into a full queue.
const RETRY: Duration = Duration::from_millis(1);

/// A destination on its way to the thread.
#[derive(Clone, Default)]
pub(super) struct Slot(Arc<Mutex<Option<Box<dyn Write + Send>>>>);

impl Slot {
    fn put(&self, out: Box<dyn Write + Send>) {
        *self.lock() = Some(out);
    }

    fn take(&self) -> Option<Box<dyn Write + Send>> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<dyn Write + Send>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slot")
    }
}

/// The running thread. Dropping this leaves it running until the last handle is gone; [`Writer::stop`] waits for it.
#[derive(Debug)]
pub struct Writer {
    /// Not a way of its own: the thread of a log that was replaced would wait for ever for what could come by it.
    queue: Weak<SyncSender<Message>>,
    next: Slot,
    thread: JoinHandle<()>,
    /// Hangs up when the thread ends: a join alone could not be given up.
    ended: Receiver<()>,
}

impl Writer {
    pub(super) fn spawn(
        lines: Lines,
        queue: Weak<SyncSender<Message>>,
        messages: Receiver<Message>,
    ) -> io::Result<Self> {
        let (until, ended) = sync_channel(0);
        let next = lines.next.clone();
        let thread = thread::Builder::new().name("access-log".into()).spawn(move || {
            let _until = until;
            write_all(lines, &messages);
        })?;
        Ok(Self { queue, next, thread, ended })
    }

    /// From now on lines go to `out`. Never waits: while the queue is full, the thread is about to write, and looks by
    /// itself whether there is a new destination.
    pub fn move_to(&self, out: Box<dyn Write + Send>) {
        self.next.put(out);
        if let Some(queue) = self.queue.upgrade() {
            let _ = queue.try_send(Message::Move);
        }
    }

    /// Whether nobody is left who could say anything, and all is written.
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Writes what has been queued until now and ends the thread. False if that took longer than `patience`, which it
    /// can only if the destination does not take its lines: the server must be able to stop even then.
    pub fn stop(self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut word = Message::Stop;
        // Where nobody holds the queue any more, the thread is about to end by itself.
        while let Some(queue) = self.queue.upgrade() {
            let Err(TrySendError::Full(unsent)) = queue.try_send(word) else { break };
            if Instant::now() >= deadline {
                return false;
            }
            #[expect(clippy::disallowed_methods, reason = "the server has ended: nobody else waits for this thread")]
            thread::sleep(RETRY);
            word = unsent;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let has_ended = self.ended.recv_timeout(left) == Err(RecvTimeoutError::Disconnected);
        has_ended && self.thread.join().is_ok()
    }
}

/// Writes until it is told to stop or nobody is left who could say anything.
fn write_all(mut lines: Lines, messages: &Receiver<Message>) {
    while let Ok(first) = messages.recv() {
        // Whatever else has come goes out in the same write.
        for message in std::iter::once(first).chain(messages.try_iter()) {
            match message {
                Message::Entry(entry) => lines.add(&entry),
                Message::Move => lines.flush(),
                Message::Stop => return lines.flush(),
            }
        }
        lines.flush();
    }
}

/// Lines on their way to the destination.
pub(super) struct Lines {
    out: Box<dyn Write + Send>,
    /// Where `out` is replaced from, between two writes of whole lines.
    next: Slot,
    render: fn(&Entry, &mut Vec<u8>),
    buffer: Vec<u8>,
    /// Lines in the buffer.
    waiting: u64,
    lost: Arc<AtomicU64>,
    /// The last write broke off in the middle of a line.
    torn: bool,
    /// A failure has been reported.
    reported: bool,
}

impl Lines {
    pub(super) fn new(out: Box<dyn Write + Send>, format: AccessFormat, lost: Arc<AtomicU64>) -> Self {
        let render = match format {
            AccessFormat::Combined => line::combined,
            AccessFormat::Json => line::json,
        };
        Self {
            out,
            next: Slot::default(),
            render,
            buffer: Vec::with_capacity(BUFFER),
            waiting: 0,
            lost,
            torn: false,
            reported: false,
        }
    }

    fn add(&mut self, entry: &Entry) {
        if self.torn && self.buffer.is_empty() {
            self.buffer.push(b'\n');
        }
        (self.render)(entry, &mut self.buffer);
        self.waiting += 1;
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Writes the buffer. What the destination does not take is lost and counted: to keep it would need a bound as
    /// well, and only move the loss.
    fn flush(&mut self) {
        if let Some(out) = self.next.take() {
            self.out = out;
            (self.torn, self.reported) = (false, false);
        }
        let (written, result) = write_buffer(&mut self.out, &self.buffer);
        if let Err(error) = result {
            let whole = self.buffer[..written].iter().filter(|byte| **byte == b'\n').count() as u64;
            let whole = whole - u64::from(self.torn && written > 0);
            self.lost.fetch_add(self.waiting - whole, Relaxed);
            self.report(&error);
        }
        if let Some(last) = self.buffer[..written].last() {
            self.torn = *last != b'\n';
        }
        self.buffer.clear();
        self.waiting = 0;
    }

    /// Once: a full disk would otherwise fill the other log with the same sentence.
    fn report(&mut self, error: &io::Error) {
        if !self.reported {
            self.reported = true;
            tracing::error!("the access log cannot be written, lines are lost and counted: {error}");
        }
    }
}

/// Like `write_all`, but says how far it came.
fn write_buffer(out: &mut dyn Write, buffer: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < buffer.len() {
        match out.write(&buffer[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, out.flush())
}

#[cfg(test)]
mod tests {
    use super::super::tests::entry;
    use super::*;

    struct FullDisk;

    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_failure_is_reported_once_and_counted_each_time() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let subscriber = tracing_subscriber::fmt().with_writer(Arc::new(log.reopen().unwrap())).finish();
        let lost = Arc::new(AtomicU64::new(0));
        let mut lines = Lines::new(Box::new(FullDisk), AccessFormat::Combined, Arc::clone(&lost));

        tracing::subscriber::with_default(subscriber, || {
            for _ in 0..3 {
                lines.add(&entry("/"));
                lines.flush();
            }
        });

        assert_eq!(lost.load(Relaxed), 3);
        let log = std::fs::read_to_string(log.path()).unwrap();
        assert_eq!(log.matches("the access log cannot be written").count(), 1, "{log}");
    }

    #[test]
    fn a_full_buffer_is_written_without_a_pause() {
        let lost = Arc::new(AtomicU64::new(0));
        let mut lines = Lines::new(Box::new(FullDisk), AccessFormat::Json, Arc::clone(&lost));
        let mut one = Vec::new();
        line::json(&entry("/"), &mut one);
        let fitting = BUFFER / one.len();
        (0..fitting).for_each(|_| lines.add(&entry("/")));
        assert_eq!(lost.load(Relaxed), 0);
        lines.add(&entry("/"));
        assert_eq!(lost.load(Relaxed), fitting as u64 + 1);
    }
}
