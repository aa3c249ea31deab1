//! The lock on a pid file: whether it is held, and by which process, in the words of the kernel.
//!
//! There are two locks, because neither kind is enough. That of the open file (F_OFD_SETLK) lasts until the file is closed,
//! but the kernel does not tell whose it is. That of the process (F_SETLK) comes with a process id, passes to no child and is
//! gone before the id can be another's; but the kernel drops it when the process closes *any* descriptor of that file, as a
//! server does that finds its pid file among its documents. So the first says whether the server lives, and the second who
//! it is. Where that is missing, nobody is signalled.
//!
//! Both are write locks, which only those get who may write to the file. Before, it was flock(2), for which reading is
//! enough: anybody could lock the file, and `stop` signalled whatever number stood in it.
//!
//! Rejected: /proc/locks, which for flock(2) shows the number of the process that took the lock, even when that has ended,
//! a child goes on to hold the lock, and the number is somebody else's by now. And /proc/PID/fd: of a server that has changed its
//! user only root may look at it.

use std::fs::File;
use std::io;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use rustix::process::Pid;

/// What of the file stands for the life of the server, and what for its identity. No need for the bytes to be there.
const LIFE: libc::off_t = 0;
const IDENTITY: libc::off_t = 1;

/// Whose the lock is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// Nobody's.
    Nobody,
    /// This process's.
    Process(Pid),
    /// Of somebody whom the kernel does not name: in another namespace of process ids, or one that has lost its second
    /// lock.
    Unnamed,
}

/// Takes both locks, until the file is closed. False if somebody else has one of them.
pub fn take(file: &File) -> io::Result<bool> {
    let life = lock(libc::F_WRLCK, LIFE);
    let identity = lock(libc::F_WRLCK, IDENTITY);
    for taken in [fcntl(file, FcntlArg::F_OFD_SETLK(&life)), fcntl(file, FcntlArg::F_SETLK(&identity))] {
        match taken {
            Ok(_) => {}
            Err(Errno::EAGAIN | Errno::EACCES) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// Looks without locking, so that nobody who looks keeps a server from starting.
pub fn holder(file: &File) -> io::Result<Holder> {
    // A lock for reading would be kept out by a write lock only: those who may read the file have no say.
    let (mut life, mut identity) = (lock(libc::F_RDLCK, LIFE), lock(libc::F_RDLCK, IDENTITY));
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut life))?;
    if !is_held(&life) {
        return Ok(Holder::Nobody);
    }
    fcntl(file, FcntlArg::F_GETLK(&mut identity))?;
    Ok(named(&identity).map_or(Holder::Unnamed, Holder::Process))
}

/// Who has a lock of any kind on the file, and so keeps this process from taking it; `None` if the kernel does not say.
pub fn in_the_way(file: &File) -> io::Result<Option<Pid>> {
    let mut identity = lock(libc::F_WRLCK, IDENTITY);
    fcntl(file, FcntlArg::F_GETLK(&mut identity))?;
    Ok(named(&identity))
}

/// Zero is a process that is not visible from here, and -1 a lock of an open file.
fn named(answer: &libc::flock) -> Option<Pid> {
    Pid::from_raw(answer.l_pid.max(0)).filter(|_| is_held(answer))
}

fn is_held(answer: &libc::flock) -> bool {
    i32::from(answer.l_type) != libc::F_UNLCK
}

fn lock(kind: i32, byte: libc::off_t) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: byte,
        l_len: 1,
        l_pid: 0,
    }
}
