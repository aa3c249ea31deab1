//! The name of a unix socket in the file system, which outlives the socket unless somebody removes it.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, accessat, flock, fstat, openat};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::process::user::User;

/// The name of a socket of this process. Dropping this removes it.
#[derive(Debug)]
pub struct SocketName {
    path: PathBuf,
    /// Device and inode: another server may have taken the name since.
    identity: Option<(u64, u64)>,
}

impl SocketName {
    /// What a socket has just been bound to.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), identity: identity(path) }
    }

    /// Makes `heir` the owner, whom the process is about to become. Only who may write to a socket may connect, so that a
    /// socket of root's would be of use to nobody else.
    ///
    /// Somebody else may be able to write to the folder, so what is given is what was looked at.
    pub fn give_to(&self, heir: &User) -> io::Result<()> {
        // A socket cannot be opened in another way.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let there = openat(CWD, &self.path, flags, Mode::empty())?;
        let facts = fstat(&there)?;
        let is_socket = FileType::from_raw_mode(facts.st_mode) == FileType::Socket;
        if !is_socket || facts.st_nlink != 1 || Some((facts.st_dev, facts.st_ino)) != self.identity {
            return Err(io::Error::other("something else has taken its name"));
        }
        heir.own(there).map_err(|error| io::Error::new(error.kind(), format!("it cannot be given to {heir}: {error}")))
    }
}

impl Drop for SocketName {
    fn drop(&mut self) {
        let _turn = Turn::take(&self.path);
        if self.identity.is_none() || identity(&self.path) != self.identity {
            return;
        }
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!("cannot remove the unix socket {}: {error}", self.path.display());
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// The turn to look at a name and to take it. Between its bind(2) and its listen(2) a server that starts looks like a dead
/// one, and the next to start would take its name away.
///
/// It is a lock on the folder, which leaves nothing behind. A folder that may not be read cannot be locked, and a lock that
/// somebody else does not let go of is no reason not to start: what is left then is to hope that nobody starts at the same time.
/// Rejected: a name of its own for each socket, put in place with rename(2): the kernel would go on showing the first one.
#[derive(Debug)]
pub struct Turn {
    _folder: Option<OwnedFd>,
}

impl Turn {
    /// Waits for it, for a second at most.
    pub fn take(path: &Path) -> Self {
        const TRIES: u32 = 100;
        const PAUSE: Duration = Duration::from_millis(10);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok();
        for _ in 0..TRIES {
            let locked = folder.as_ref().map(|folder| flock(folder, FlockOperation::NonBlockingLockExclusive));
            if locked != Some(Err(rustix::io::Errno::WOULDBLOCK)) {
                break;
            }
            #[expect(clippy::disallowed_methods, reason = "the server has not begun to serve, or has ended")]
            std::thread::sleep(PAUSE);
        }
        Self { _folder: folder }
    }
}

/// A name that a dead server left behind would make each restart fail. It is removed only if it is a socket and
/// nobody answers on it.
pub fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if !found.file_type().is_socket() => Err(io::ErrorKind::AlreadyExists.into()),
        // Without waiting: one whose queue is full is alive, and may be busy for ever.
        Ok(_) => match Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?.connect(&SockAddr::unix(path)?) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
            _ => Err(io::ErrorKind::AddrInUse.into()),
        },
    }
}

/// A name that is there already is a server's, which may be the one that this one is to follow, or a dead one's.
pub fn look_at_name(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(_) | Err(_) => {}
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?)
}
