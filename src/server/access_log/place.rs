//! Where the lines go, and how that changes while the server runs: by a reload, or because the file was renamed.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use super::{Handle, StartError, Writer, start};
use crate::config::plan::{AccessFormat, AccessLog};
use crate::process::log_file::{append_to, could_append_to};
use crate::process::user::User;

/// Destinations that were replaced and whose last lines are still under way; the oldest is let go beyond that.
const RETIRED: usize = 16;

/// The access log of the server: where it goes now, and those that it went to before.
#[derive(Debug)]
pub struct Place {
    destination: AccessLog,
    format: AccessFormat,
    running: Option<(Handle, Writer)>,
    /// Connections that began under an older configuration may still have lines for these.
    retired: Vec<Writer>,
    lost: Arc<AtomicU64>,
}

/// A destination that is open and not yet in use.
#[derive(Debug)]
pub struct Next {
    destination: AccessLog,
    format: AccessFormat,
    /// `None`: the present one stays.
    opened: Option<Option<(Handle, Writer)>>,
}

impl Next {
    /// Whom those ask who have something to say.
    pub fn handle(&self, present: &Place) -> Option<Handle> {
        self.opened.as_ref().unwrap_or(&present.running).as_ref().map(|(handle, _)| handle.clone())
    }
}

impl Place {
    /// No log.
    pub fn none() -> Self {
        let (destination, format) = (AccessLog::Off, AccessFormat::Combined);
        Self { destination, format, running: None, retired: Vec::new(), lost: Arc::default() }
    }

    /// Opens another destination, unless it is the present one. A file becomes that of `heir`, whom the process is about to
    /// become.
    pub fn prepare(
        &self,
        destination: &AccessLog,
        format: AccessFormat,
        heir: Option<&User>,
    ) -> Result<Next, StartError> {
        let is_present = *destination == self.destination && format == self.format;
        let opened = if is_present { None } else { Some(start(destination, format, heir, &self.lost)?) };
        Ok(Next { destination: destination.clone(), format, opened })
    }

    /// Lines of requests that begin from now on go there.
    pub fn adopt(&mut self, next: Next) {
        let Next { destination, format, opened } = next;
        let Some(opened) = opened else { return };
        (self.destination, self.format) = (destination, format);
        if let Some((_, writer)) = std::mem::replace(&mut self.running, opened) {
            self.retired.retain(|writer| !writer.has_ended());
            self.retired.push(writer);
            let surplus = self.retired.len().saturating_sub(RETIRED);
            self.retired.drain(..surplus);
        }
    }

    /// Opens the file by its name again, after somebody has renamed it. Each line goes to the old file or to the new one,
    /// whole; if the new one cannot be opened, all go on to the old one.
    pub fn reopen(&self) -> io::Result<()> {
        let (Some((_, writer)), AccessLog::File(path)) = (&self.running, &self.destination) else { return Ok(()) };
        writer.move_to(Box::new(open_file(path, None)?));
        Ok(())
    }

    /// Lines that were queued and then not written, because the destination failed.
    pub fn lost(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.lost)
    }

    /// Writes what has been queued until now, and ends. False if that took longer than `patience` in all.
    pub fn stop(self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let running = self.running.map(|(_, writer)| writer);
        let mut all = self.retired.into_iter().chain(running);
        all.all(|writer| writer.stop(deadline.saturating_duration_since(Instant::now())))
    }
}

/// Opens a destination; `None` is off.
pub fn open(destination: &AccessLog, heir: Option<&User>) -> io::Result<Option<File>> {
    match destination {
        AccessLog::Off => Ok(None),
        AccessLog::Stdout => unbuffered(io::stdout()).map(Some),
        AccessLog::Stderr => unbuffered(io::stderr()).map(Some),
        AccessLog::File(path) => open_file(path, heir).map(Some),
    }
}

/// A standard stream without the library's own buffer, which would flush at every line.
fn unbuffered(stream: impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// Whether `open` would succeed, as far as a look can tell. Nothing is made.
pub fn look(destination: &AccessLog, heir: Option<&User>) -> io::Result<()> {
    match destination {
        AccessLog::Off | AccessLog::Stdout | AccessLog::Stderr => Ok(()),
        AccessLog::File(path) => could_append_to(path, heir).map_err(|error| named(path, &error)),
    }
}

fn open_file(path: &Path, heir: Option<&User>) -> io::Result<File> {
    append_to(path, heir).map_err(|error| named(path, &error))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot open the access log {}: {error}", path.display()))
}
