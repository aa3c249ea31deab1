//! Where the lines go, and how that changes while somebody writes.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::config::plan::LogFile;
use crate::process::log_file::{append_to, could_append_to};
use crate::process::user::User;

/// Lines that may wait for a destination that takes nothing; further ones are dropped.
const WAITING_LINES: usize = 1024;

/// Destinations that were left and still take nothing. Each holds a thread.
const STUCK: usize = 16;

/// How long the last lines may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// A destination that can be replaced. Clones are the same destination.
///
/// The lock is held for as long as it takes to put a line into a queue and never while something is written: a disk that does
/// not answer must not stop the one who wants to leave it.
#[derive(Debug, Clone)]
pub struct Destination {
    present: Arc<Mutex<Present>>,
    /// Lines that found no room in a queue, or that a file has not taken as a whole.
    lost: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Present {
    named: LogFile,
    writer: Writer,
    /// Those that were left before their last line was written.
    left: Vec<Receiver<()>>,
}

impl Destination {
    /// Opens it for the first time, for the process and for whom it is about to become.
    pub fn open(named: &LogFile, heir: Option<&User>) -> io::Result<Self> {
        let lost = Arc::default();
        let writer = Writer::start(open(named, heir)?, &lost)?;
        let present = Arc::new(Mutex::new(Present { named: named.clone(), writer, left: Vec::new() }));
        Ok(Self { present, lost })
    }

    /// Goes over to another one.
    pub fn change(&self, named: &LogFile) -> io::Result<()> {
        if self.lock().named == *named { Ok(()) } else { self.go_to(named.clone()) }
    }

    /// Opens the same name again.
    pub fn reopen(&self) -> io::Result<()> {
        let named = self.lock().named.clone();
        if let LogFile::File(_) = named { self.go_to(named) } else { Ok(()) }
    }

    /// With a thread of its own: that of the present one may be waiting for a pipe that nobody reads.
    fn go_to(&self, named: LogFile) -> io::Result<()> {
        let mut present = self.lock();
        present.left.retain(|ended| ended.try_recv() == Err(TryRecvError::Empty));
        if present.left.len() >= STUCK {
            return Err(io::Error::other(format!("{STUCK} logs before this one take no lines; restart the server")));
        }
        let writer = Writer::start(open(&named, None)?, &self.lost)?;
        let before = std::mem::replace(&mut present.writer, writer);
        present.left.push(before.ended);
        present.named = named;
        Ok(())
    }

    /// What a layer of tracing makes its writers with.
    pub fn writer(&self) -> impl Fn() -> Self + Send + Sync + use<> {
        let this = self.clone();
        move || this.clone()
    }

    /// Whether the lines go elsewhere than to stderr.
    pub fn is_a_file(&self) -> bool {
        matches!(self.lock().named, LogFile::File(_))
    }

    /// Takes no more lines, and waits until those that wait are written, for a second at most.
    pub fn close(&self) {
        let deadline = Instant::now() + PATIENCE;
        let mut present = self.lock();
        present.writer.queue = None;
        for ended in present.left.iter().chain([&present.writer.ended]) {
            let _ = ended.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        }
    }

    /// Lines that are lost since the start.
    pub fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    /// A line as a whole goes to one file, whichever that is when it begins.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(queue) = &self.lock().writer.queue
            && queue.try_send(bytes.to_vec()).is_err()
        {
            self.lost.fetch_add(1, Relaxed);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The thread that writes to one file; it ends with the queue.
#[derive(Debug)]
struct Writer {
    queue: Option<SyncSender<Vec<u8>>>,
    /// Hangs up when the thread ends: a join could not be given up.
    ended: Receiver<()>,
}

impl Writer {
    fn start(mut out: File, lost: &Arc<AtomicU64>) -> io::Result<Self> {
        let (queue, lines) = sync_channel::<Vec<u8>>(WAITING_LINES);
        let (until, ended) = sync_channel(0);
        let lost = Arc::clone(lost);
        let write = move || {
            let _until = until;
            for line in lines {
                // A line about it would be lost as well: the counter tells.
                if out.write_all(&line).is_err() {
                    lost.fetch_add(1, Relaxed);
                }
            }
        };
        thread::Builder::new().name("log".to_owned()).spawn(write).map_err(|error| {
            let says =
                format!("cannot start the thread that writes the log: {error}; raise the limit with `ulimit -u`");
            io::Error::new(error.kind(), says)
        })?;
        Ok(Self { queue: Some(queue), ended })
    }
}

fn open(named: &LogFile, heir: Option<&User>) -> io::Result<File> {
    match named {
        // A handle of its own: the daemon points stderr itself elsewhere later.
        LogFile::Stderr => io::stderr().as_fd().try_clone_to_owned().map(File::from),
        LogFile::File(path) => append_to(path, heir).map_err(|error| named_in(path, &error)),
    }
}

/// Whether it could be opened, as far as a look can tell.
pub fn look(named: &LogFile, heir: Option<&User>) -> io::Result<()> {
    match named {
        LogFile::Stderr => Ok(()),
        LogFile::File(path) => could_append_to(path, heir).map_err(|error| named_in(path, &error)),
    }
}

fn named_in(path: &Path, error: &io::Error) -> io::Error {
    let says = format!("cannot open the log {}: {error}; choose another place with log.file", path.display());
    io::Error::new(error.kind(), says)
}
