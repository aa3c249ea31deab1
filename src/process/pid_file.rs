//! The file that holds the server's process id.
//!
//! What tells whether the server lives is a lock on the file and not the number in it (`pid_lock.rs`): the kernel takes the
//! lock away when the process ends, however it ends, whereas a number may have become another process's.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

use super::file_place::{FilePlace, Found};
use super::pid_lock::{self, Holder};
use super::signalled::Signalled;

/// The pid file of this process, locked until it is dropped.
#[derive(Debug)]
pub struct PidFile {
    place: FilePlace,
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
        /// Who has locked it; "unknown" if that cannot be seen from here.
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

/// A file that is removed while it is taken is taken again, and a number that is not yet written is waited for.
const ATTEMPTS: u32 = 20;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// Longest content that can be a process id.
const LONGEST: u64 = 64;

impl PidFile {
    /// Locks the file and writes this process's id into it. One that a dead server has left is taken over.
    pub fn take(path: &Path) -> Result<Self, PidFileError> {
        let explain = |error| PidFileError::Io { path: path.to_owned(), error };
        let mut holder = None;
        for _ in 0..ATTEMPTS {
            let place = FilePlace::of(path).map_err(explain)?;
            let file = place.open(OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, MODE).map_err(explain)?;
            // Before it counts as taken, or its end would remove it.
            holds_nothing_else(&file).map_err(explain)?;
            if !pid_lock::take(&file).map_err(explain)? {
                holder = pid_lock::in_the_way(&file).map_err(explain)?;
                if holder.is_some() {
                    break;
                }
            } else if place.holds(&file) {
                let mut taken = Self { place, file };
                return taken.write().map(|()| taken).map_err(explain);
            }
            // Somebody has removed the file between the two calls (a lock on that one is seen by nobody), or ends.
            pause();
        }
        let pid = holder.map_or("unknown".to_owned(), |pid| pid.as_raw_nonzero().to_string());
        Err(PidFileError::Taken { path: path.to_owned(), pid })
    }

    /// Whether the file could be taken by a server that starts when no other one has it, as far as a look can tell. It does not
    /// matter who has it now: that may be the server for whose next start somebody asks.
    pub fn could_be_taken(path: &Path) -> Result<(), PidFileError> {
        let looked = FilePlace::of(path).and_then(|place| place.look(OFlags::RDWR | OFlags::APPEND));
        let looked = looked.and_then(|found| match found {
            Found::Nothing => Ok(()),
            Found::File(file) => holds_nothing_else(&file),
            Found::Other(_) => Err(io::Error::other(NO_FILE)),
        });
        looked.map_err(|error| PidFileError::Io { path: path.to_owned(), error })
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        writeln!(self.file, "{}", std::process::id())
    }
}

impl Drop for PidFile {
    /// A server that has become another user may not be able to remove the file: an empty one says the same.
    fn drop(&mut self) {
        if self.place.holds(&self.file) && self.place.remove().is_err() {
            let _ = self.file.set_len(0);
        }
    }
}

const NO_FILE: &str = "it is not a file";

/// Others may read it.
const MODE: Mode = Mode::from_raw_mode(0o644);

/// Whoever names another file by mistake keeps it: a device would be removed in the end, a document overwritten at once.
fn holds_nothing_else(file: &File) -> io::Result<()> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(NO_FILE));
    }
    let text = content(file)?;
    let is_number = std::str::from_utf8(&text).is_ok_and(|text| text.is_empty() || parse(text).is_some());
    if is_number { Ok(()) } else { Err(io::Error::other("it holds something else than a process id")) }
}

fn content(mut file: &File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    io::Seek::rewind(&mut file)?;
    file.take(LONGEST).read_to_end(&mut text)?;
    Ok(text)
}

fn parse(text: &str) -> Option<Pid> {
    Pid::from_raw(text.trim().parse().ok().filter(|pid| *pid > 0)?)
}

#[expect(clippy::disallowed_methods, reason = "nothing is served yet, or by another process")]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// What a pid file says of its server.
#[derive(Debug)]
pub enum Instance {
    /// It runs, as this process.
    Running(Signalled),
    /// It has ended without removing its file; the number may be anybody's by now.
    Dead(Option<Pid>),
    /// It has ended and could not remove its file, and so has emptied it.
    Emptied,
    /// It has ended, or never began: there is no such file.
    Absent,
}

/// Looks at a pid file without changing it.
pub fn look(path: &Path) -> io::Result<Instance> {
    let file = match place_of(path)?.open(OFlags::RDONLY, Mode::empty()) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Instance::Absent),
        Err(error) => return Err(error),
    };
    for _ in 0..ATTEMPTS {
        let text = String::from_utf8_lossy(&content(&file)?).into_owned();
        match (pid_lock::holder(&file)?, parse(&text)) {
            (Holder::Nobody, None) if text.is_empty() => return Ok(Instance::Emptied),
            (Holder::Nobody, pid) => return Ok(Instance::Dead(pid)),
            (Holder::Process(holder), Some(pid)) if holder == pid => match running(&file, pid)? {
                Some(process) => return Ok(Instance::Running(process)),
                // It has ended this moment.
                None => continue,
            },
            (Holder::Process(holder), Some(pid)) => return Err(locked_by_another(holder, pid)),
            // It has locked the file and not yet written its number.
            (Holder::Process(_) | Holder::Unnamed, None) => pause(),
            (Holder::Unnamed, Some(_)) => {
                return Err(io::Error::other("it is locked, but the kernel does not say by which process"));
            }
        }
    }
    Err(io::Error::other("it is locked, but holds no process id"))
}

/// A server may make its pid file and remove it, but not the folder: that one is not there is the mistake of whoever has typed it.
fn place_of(path: &Path) -> io::Result<FilePlace> {
    FilePlace::of(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => io::Error::new(
            io::ErrorKind::NotFound,
            "there is no such folder; name the --pid-file with which the server was started",
        ),
        _ => error,
    })
}

/// The process, if it holds the lock while there is a handle to it: then the handle is the holder's and not that of
/// another process which has got its number since.
fn running(file: &File, pid: Pid) -> io::Result<Option<Signalled>> {
    let Some(process) = Signalled::open(pid)? else { return Ok(None) };
    Ok((pid_lock::holder(file)? == Holder::Process(pid)).then_some(process))
}

fn locked_by_another(holder: Pid, pid: Pid) -> io::Error {
    let (holder, pid) = (holder.as_raw_nonzero(), pid.as_raw_nonzero());
    io::Error::other(format!(
        "it says {pid}, but process {holder} has locked it; if that is the server, signal it with kill, or else remove the file"
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_tells_whether_its_server_lives() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pid");
        assert!(matches!(look(&path).unwrap(), Instance::Absent));
        fs::write(&path, "4000000\n").unwrap();
        assert!(matches!(look(&path).unwrap(), Instance::Dead(pid) if pid == Pid::from_raw(4_000_000)));
        let taken = PidFile::take(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
        // Of one's own lock the kernel does not speak, and any close of the file gives it up.
        assert!(look(&path).unwrap_err().to_string().contains("does not say by which process"));
        let second = PidFile::take(&path).unwrap_err().to_string();
        assert!(second.contains("already running as process unknown"), "{second}");
        drop(taken);
        assert!(!path.exists());
        assert!(matches!(look(&path).unwrap(), Instance::Absent));
        fs::write(&path, "").unwrap();
        assert!(matches!(look(&path).unwrap(), Instance::Emptied));
    }

    /// `--pid-file /dev/full` removed the device when the server ended, and a document would have been overwritten.
    #[test]
    fn what_is_no_pid_file_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join("config.toml");
        fs::write(&document, "[server]\n").unwrap();
        let (link, hard) = (folder.path().join("link"), folder.path().join("hard"));
        fs::write(folder.path().join("other"), "").unwrap();
        std::os::unix::fs::symlink("other", &link).unwrap();
        fs::hard_link(folder.path().join("other"), &hard).unwrap();
        for (path, reason) in [
            (document.as_path(), "it holds something else than a process id"),
            (&link, "it is a symbolic link"),
            (&hard, "has another name as well"),
            (Path::new("/dev/null"), "it is not a file"),
        ] {
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
        assert!(look(&path).unwrap_err().to_string().contains("is locked"));
        drop(new);
    }
}
