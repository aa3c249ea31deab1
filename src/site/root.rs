//! The folder as an open handle, and how files beneath it are opened without a way out.
//!
//! Nothing here compares path strings. `openat2` with `RESOLVE_BENEATH` has the kernel refuse, during the walk and so
//! without a race, every step that would leave the folder: `..`, symbolic links out of it, and absolute symbolic links,
//! which start at `/` and therefore leave it even when they point back inside. Those are answered like files that do not
//! exist. Relative links that stay inside are followed.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use memmap2::{Mmap, MmapOptions};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::document::Stamp;

/// The root folder, held by a descriptor: the site stays the same folder when its path is renamed.
#[derive(Debug)]
pub(super) struct RootFolder {
    handle: OwnedFd,
}

/// What was found at a path.
#[derive(Debug)]
pub(super) enum Opened {
    /// A regular file, open for reading.
    File(OwnedFd, Stamp),
    Folder,
}

/// Why nothing was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenError {
    /// Nothing that may be served stands there.
    Nothing,
    Forbidden,
    /// Descriptors or memory ran out, or the file would not hold still: it may work in a moment.
    Unavailable,
    /// The disk failed.
    Failed(Errno),
}

/// Why a folder cannot be a site.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// There is nothing at the path.
    #[error("the folder {0:?} does not exist: create it, or name another with --root")]
    Missing(std::path::PathBuf),
    /// There is a file at the path.
    #[error("{0:?} is not a folder: name the folder that holds the documents with --root")]
    NotAFolder(std::path::PathBuf),
    /// The user of this process may not search the folder.
    #[error(
        "no permission to enter the folder {0:?}: let this user search it (chmod o+x on it and on the folders above it), or name another with --root"
    )]
    NoPermission(std::path::PathBuf),
    /// `openat2` is missing or blocked.
    #[error(
        "the kernel offers no openat2, which keeps requests inside the root: run on Linux 5.6 or later, in a container whose seccomp profile allows that call"
    )]
    NoOpenat2,
    /// Anything else.
    #[error("the folder {path:?} cannot be opened: {source}; mend that, or name another with --root")]
    Unopenable {
        /// The folder.
        path: std::path::PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// `openat2` gives up with EAGAIN when a rename elsewhere on the system makes it unsure whether `..` escaped; trying again
/// nearly always works. The bound is for a system that renames without a pause.
const OPEN_ATTEMPTS: usize = 16;

impl RootFolder {
    pub fn open(path: &Path) -> Result<Self, SiteError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| site_error(path, errno))?;
        let root = RootFolder { handle };
        // Opening with O_PATH asks for no permission on the folder itself, and nothing has called openat2 yet: both are
        // tried now, so that they stop the start and not each request.
        match root.openat2(b".", flags) {
            Ok(_) => Ok(root),
            // A seccomp filter of an old container runtime answers calls it does not know with EPERM.
            Err(Errno::NOSYS | Errno::PERM) => Err(SiteError::NoOpenat2),
            Err(errno) => Err(site_error(path, errno)),
        }
    }

    /// Opens a path below the root; the empty path is the root itself.
    pub fn open_beneath(&self, path: &[u8]) -> Result<Opened, OpenError> {
        // O_NONBLOCK: opening a FIFO must not wait for its writer. O_NOCTTY: nor may a terminal become ours.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = match self.openat2(path, flags) {
            Ok(file) => file,
            // A folder that may be searched and not read (mode 711) is a folder all the same.
            Err(Errno::ACCESS) if self.is_folder(path) => return Ok(Opened::Folder),
            Err(errno) => return Err(errno.into()),
        };
        let stat = rustix::fs::fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Opened::File(file, Stamp::from(&stat))),
            FileType::Directory => Ok(Opened::Folder),
            _ => Err(OpenError::Nothing),
        }
    }

    /// Opens a folder below the root for reading its entries.
    pub fn open_folder(&self, path: &[u8]) -> Result<OwnedFd, OpenError> {
        Ok(self.openat2(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)?)
    }

    /// The kind of what stands at a path, symbolic links followed, without opening it.
    pub fn file_type(&self, path: &[u8]) -> Result<FileType, OpenError> {
        let entry = self.openat2(path, OFlags::PATH | OFlags::CLOEXEC)?;
        Ok(FileType::from_raw_mode(rustix::fs::fstat(&entry)?.st_mode))
    }

    fn is_folder(&self, path: &[u8]) -> bool {
        self.file_type(path) == Ok(FileType::Directory)
    }

    fn openat2(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { b"." } else { path };
        // Magic links (those of /proc) jump without a walk that could be watched.
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..OPEN_ATTEMPTS {
            match rustix::fs::openat2(self.handle.as_fd(), path, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                other => return other,
            }
        }
        Err(Errno::AGAIN)
    }
}

impl From<Errno> for OpenError {
    fn from(errno: Errno) -> Self {
        match errno {
            // XDEV: it would have left the root. LOOP: a circle of links, or a magic one. NXIO, NODEV, OPNOTSUPP: a socket,
            // or a device with no driver. INVAL: a name that this file system cannot hold.
            Errno::NOENT
            | Errno::NOTDIR
            | Errno::NAMETOOLONG
            | Errno::XDEV
            | Errno::LOOP
            | Errno::NXIO
            | Errno::NODEV
            | Errno::OPNOTSUPP
            | Errno::INVAL
            | Errno::ILSEQ => OpenError::Nothing,
            Errno::ACCESS | Errno::PERM => OpenError::Forbidden,
            Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN | Errno::INTR => OpenError::Unavailable,
            other => OpenError::Failed(other),
        }
    }
}

fn site_error(path: &Path, errno: Errno) -> SiteError {
    let path = path.to_owned();
    match errno {
        Errno::NOENT => SiteError::Missing(path),
        Errno::NOTDIR => SiteError::NotAFolder(path),
        Errno::ACCESS => SiteError::NoPermission(path),
        other => SiteError::Unopenable { path, source: other.into() },
    }
}

/// Maps the first `length` bytes of an open file, for the sake of their addresses alone.
pub(super) fn lend_addresses(file: &OwnedFd, length: u64) -> Result<Mmap, OpenError> {
    let length = usize::try_from(length).map_err(|_| OpenError::Unavailable)?;
    // SAFETY: a mapped file may be rewritten or shortened by others at any time: reading it through a `&[u8]` would be a
    // data race, or end the process with SIGBUS. The invariant that excludes both is that nothing in this process reads
    // through the mapping. Its slices travel as names of byte ranges: `OpenFile::slice` makes them, the server's
    // transport recognises them by their addresses and has the kernel take the bytes from the descriptor instead
    // (sendfile or pread), and whoever handles them in between (the response body, hyper's write queue with the flattening
    // strategy off) passes pointer and length on. The mapping is read-only and private, so nothing can be written
    // through it either, and it lives in the `OpenFile` beside the descriptor, which every body keeps alive.
    let map = unsafe { MmapOptions::new().len(length).map_copy_read_only(file) };
    map.map_err(|error| match Errno::from_io_error(&error) {
        // Files of a system without mmap (some FUSE mounts) cannot be lent from.
        Some(errno) => OpenError::from(errno),
        None => OpenError::Unavailable,
    })
}
