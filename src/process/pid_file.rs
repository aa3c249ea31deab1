//! The file that holds the server's process id.
//!
//! What tells whether the server lives is a lock on the file and not the number in it: the kernel takes the lock away when
//! the process ends, however it ends, whereas a number may have become another process's.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Pid;

/// The pid file of this process, locked until it is dropped.
#[derive(Debug)]
pub struct PidFile {
    path: PathBuf,
    file: File,
}

/// Why there is no pid file.
#[derive(Debug, thiserror::Error)]
pub enum PidFileError {
    /// The server is there already.
    #[error("already running as process {pid}, says {}; stop that one first, or use another --pid-file", .path.display())]
    Taken {
        /// The file.
        path: PathBuf,
        /// The number in it; "unknown" if it has just been opened.
        pid: String,
    },
    /// It cannot be written or locked.
    #[error("cannot write the pid file {}: {error}; choose another place with --pid-file", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

/// Whoever looks at the lock holds it for a moment; a start waits that moment out.
const ATTEMPTS: u32 = 20;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

impl PidFile {
    /// Locks the file and writes this process's id into it. One that a dead server has left is taken over.
    pub fn take(path: &Path) -> Result<Self, PidFileError> {
        let explain = |error| PidFileError::Io { path: path.to_owned(), error };
        for _ in 0..ATTEMPTS {
            let file = open(path).map_err(explain)?;
            match file.try_lock() {
                // Somebody may have removed the file between the two calls; a lock on that one is seen by nobody.
                Ok(()) if is_at(&file, path) => {
                    // Before it counts as taken, or its end would remove it.
                    holds_nothing_else(&file).map_err(explain)?;
                    let mut taken = Self { path: path.to_owned(), file };
                    return taken.write().map(|()| taken).map_err(explain);
                }
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(explain(error)),
            }
            pause();
        }
        let pid = fs::read_to_string(path).ok().and_then(|text| parse(&text)).map_or("unknown".to_owned(), shown);
        Err(PidFileError::Taken { path: path.to_owned(), pid })
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        writeln!(self.file, "{}", std::process::id())
    }
}

impl Drop for PidFile {
    /// A server that has become another user may not be able to remove the file: an empty one says the same.
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) && fs::remove_file(&self.path).is_err() {
            let _ = self.file.set_len(0);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(0o644).open(path)
}

/// Whoever names another file by mistake keeps it: a device would be removed in the end, a document overwritten at once.
fn holds_nothing_else(mut file: &File) -> io::Result<()> {
    const LONGEST: u64 = 64;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut text = Vec::new();
    Read::take(&mut file, LONGEST).read_to_end(&mut text)?;
    let is_number = std::str::from_utf8(&text).is_ok_and(|text| text.is_empty() || parse(text).is_some());
    if is_number { Ok(()) } else { Err(io::Error::other("it holds something else than a process id")) }
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let there = fs::metadata(path).ok().map(identity);
    there.is_some() && there == file.metadata().ok().map(identity)
}

fn parse(text: &str) -> Option<Pid> {
    Pid::from_raw(text.trim().parse().ok().filter(|pid| *pid > 0)?)
}

fn shown(pid: Pid) -> String {
    pid.as_raw_nonzero().to_string()
}

#[expect(clippy::disallowed_methods, reason = "nothing is served yet, or by another process")]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// What a pid file says of its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instance {
    /// It runs as this process.
    Running(Pid),
    /// It has ended without removing its file; the number may be anybody's by now.
    Dead(Option<Pid>),
    /// It has ended, or never began.
    Absent,
}

/// Looks at a pid file without changing it.
pub fn look(path: &Path) -> io::Result<Instance> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Instance::Absent),
        Err(error) => return Err(error),
    };
    for _ in 0..ATTEMPTS {
        let locked = file.try_lock_shared();
        let mut text = String::new();
        (&mut file).take(64).read_to_string(&mut text)?;
        match (locked, parse(&text)) {
            (Ok(()), None) if text.is_empty() => return Ok(Instance::Absent),
            (Ok(()), pid) => return Ok(Instance::Dead(pid)),
            (Err(TryLockError::WouldBlock), Some(pid)) => return Ok(Instance::Running(pid)),
            // It has locked the file and not yet written its number.
            (Err(TryLockError::WouldBlock), None) => pause(),
            (Err(TryLockError::Error(error)), _) => return Err(error),
        }
        io::Seek::rewind(&mut file)?;
    }
    Err(io::Error::other("it is locked, but holds no process id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_whether_its_server_lives() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pid");
        let own = Pid::from_raw(std::process::id().cast_signed()).unwrap();
        assert_eq!(look(&path).unwrap(), Instance::Absent);
        fs::write(&path, "4000000\n").unwrap();
        assert_eq!(look(&path).unwrap(), Instance::Dead(Pid::from_raw(4_000_000)));
        let taken = PidFile::take(&path).unwrap();
        assert_eq!(look(&path).unwrap(), Instance::Running(own));
        let second = PidFile::take(&path).unwrap_err().to_string();
        assert!(second.contains(&format!("already running as process {}", std::process::id())), "{second}");
        drop(taken);
        assert!(!path.exists());
        assert_eq!(look(&path).unwrap(), Instance::Absent);
    }

    /// `--pid-file /dev/full` removed the device when the server ended, and a document would have been overwritten.
    #[test]
    fn what_is_no_pid_file_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join("config.toml");
        fs::write(&document, "[server]\n").unwrap();
        let device = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        for (path, reason) in [(&document, "it holds something else than a process id"), (&device, "it is not a file")]
        {
            let refused = PidFile::take(path).unwrap_err().to_string();
            assert!(refused.contains(reason), "{refused}");
            assert!(fs::symlink_metadata(path).is_ok());
        }
        assert_eq!(fs::read_to_string(&document).unwrap(), "[server]\n");
    }

    #[test]
    fn an_ended_server_does_not_remove_its_successors_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pid");
        let old = PidFile::take(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let new = PidFile::take(&path).unwrap();
        drop(old);
        assert!(matches!(look(&path).unwrap(), Instance::Running(_)));
        drop(new);
    }
}
