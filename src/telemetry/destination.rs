//! Where the lines go, and how that changes while somebody writes.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::plan::LogFile;
use crate::process::log_file::{append_to, could_append_to};
use crate::process::user::User;

/// A destination that can be replaced. Clones are the same destination.
///
/// The lock is held for as long as it takes to copy a reference and never while something is written: a disk that does
/// not answer must not stop the one who wants to leave it.
#[derive(Debug, Clone)]
pub struct Destination(Arc<Mutex<Present>>);

#[derive(Debug)]
struct Present {
    named: LogFile,
    out: Arc<File>,
}

impl Destination {
    /// Opens it for the first time, for the process and for whom it is about to become.
    pub fn open(named: &LogFile, heir: Option<&User>) -> io::Result<Self> {
        let out = Arc::new(open(named, heir)?);
        Ok(Self(Arc::new(Mutex::new(Present { named: named.clone(), out }))))
    }

    /// Goes over to another one.
    pub fn change(&self, named: &LogFile) -> io::Result<()> {
        if self.lock().named == *named {
            return Ok(());
        }
        let out = Arc::new(open(named, None)?);
        *self.lock() = Present { named: named.clone(), out };
        Ok(())
    }

    /// Opens the same name again.
    pub fn reopen(&self) -> io::Result<()> {
        let named = self.lock().named.clone();
        if let LogFile::File(_) = named {
            let out = Arc::new(open(&named, None)?);
            *self.lock() = Present { named, out };
        }
        Ok(())
    }

    /// Whether the lines go elsewhere than to stderr.
    pub fn is_a_file(&self) -> bool {
        matches!(self.lock().named, LogFile::File(_))
    }

    fn lock(&self) -> MutexGuard<'_, Present> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    /// A line as a whole goes to one file, whichever that is when it begins.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let out = Arc::clone(&self.lock().out);
        (&*out).write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
