//! The folder as an open handle, and how files beneath it are opened without a way out.
//!
//! Nothing here compares path strings. `openat2` with `RESOLVE_BENEATH` has the kernel refuse, during the walk and so
//! without a race, every step that would leave the folder: `..`, symbolic links out of it, and absolute symbolic
//! links, which start at `/` and therefore leave it even when they point back inside. Those are answered like files
//! that do not exist. Relative links that stay inside are followed.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

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
    Missing(PathBuf),
    /// There is a file at the path.
    #[error("{0:?} is not a folder: name the folder that holds the documents with --root")]
    NotAFolder(PathBuf),
    /// The user of this process may not search the folder.
    #[error(
        "no permission to enter the folder {0:?}: let this user search it (chmod o+x on it and on the folders above \
         it), or name another with --root"
    )]
    NoPermission(PathBuf),
    /// `openat2` is missing or blocked.
    #[error(
        "the kernel offers no openat2, which keeps requests inside the root: run on Linux 5.6 or later, in a container \
         whose seccomp profile allows that call"
    )]
    NoOpenat2,
    /// Anything else.
    #[error("the folder {path:?} cannot be opened: {source}; mend that, or name another with --root")]
    Unopenable {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// `openat2` gives up with EAGAIN when a rename elsewhere on the system makes it unsure whether `..` escaped; trying
/// again nearly always works. The bound is for a system that renames without a pause.
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
            // XDEV: it would have left the root. LOOP: a circle of links, or a magic one. NXIO, NODEV, OPNOTSUPP: a
            // socket, or a device with no driver. INVAL: a name that this file system cannot hold.
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
    // SAFETY: a mapped file may be rewritten or shortened by others at any time: reading it through a `&[u8]` would
    // be a data race, or end the process with SIGBUS. The invariant that excludes both is that nothing in this
    // process reads through the mapping. Its slices travel as names of byte ranges: `OpenFile::slice` makes them, the
    // server's transport recognises them by their addresses and has the kernel take the bytes from the descriptor
    // instead (sendfile or pread), and whoever handles them in between (the response body, the connection's write
    // queue, which must not flatten its buffers) passes pointer and length on. The mapping is read-only and private,
    // so nothing can be written through it either, and it lives in the `OpenFile` beside the descriptor, which every
    // body keeps alive.
    let map = unsafe { MmapOptions::new().len(length).map_copy_read_only(file) };
    map.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NOMEM | Errno::AGAIN) | None => OpenError::Unavailable,
        // NODEV is a file system without mmap. It is not "no such file", as it is when opening.
        Some(errno) => OpenError::Failed(errno),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, mknodat};

    use super::*;

    /// What a path leads to, in a word.
    fn outcome(root: &RootFolder, path: &str) -> &'static str {
        match root.open_beneath(path.as_bytes()) {
            Ok(Opened::File(..)) => "file",
            Ok(Opened::Folder) => "folder",
            Err(OpenError::Nothing) => "nothing",
            Err(OpenError::Forbidden) => "forbidden",
            Err(OpenError::Unavailable) => "unavailable",
            Err(OpenError::Failed(errno)) => panic!("{path}: {errno}"),
        }
    }

    #[test]
    fn only_regular_files_beneath_the_root_are_opened() {
        let parent = tempfile::tempdir().unwrap();
        let root = parent.path().join("site");
        fs::create_dir_all(root.join("dir/deep")).unwrap();
        fs::create_dir(parent.path().join("site-leak")).unwrap();
        fs::write(parent.path().join("site-leak/secret"), "secret").unwrap();
        fs::write(root.join("file"), "file").unwrap();
        fs::write(root.join("dir/file"), "file").unwrap();
        symlink("dir/file", root.join("link-inside")).unwrap();
        symlink("../file", root.join("dir/link-up-inside")).unwrap();
        symlink("dir", root.join("link-folder")).unwrap();
        symlink(root.join("file"), root.join("link-absolute-inside")).unwrap();
        symlink("../site-leak/secret", root.join("link-outside")).unwrap();
        symlink("/etc/passwd", root.join("link-absolute-outside")).unwrap();
        symlink("../site-leak", root.join("link-folder-outside")).unwrap();
        symlink("../site/file", root.join("link-out-and-in")).unwrap();
        symlink("/proc/self/root", root.join("link-magic")).unwrap();
        symlink("gone", root.join("link-dangling")).unwrap();
        symlink("loop-b", root.join("loop-a")).unwrap();
        symlink("loop-a", root.join("loop-b")).unwrap();
        mknodat(CWD, root.join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
        let _socket = UnixListener::bind(root.join("socket")).unwrap();
        let root = RootFolder::open(&root).unwrap();
        let long_name = "n".repeat(300);
        let long_path = "dir/../".repeat(1000);
        let table = [
            ("", "folder"),
            ("file", "file"),
            ("dir", "folder"),
            ("dir/", "folder"),
            ("dir/file", "file"),
            ("link-inside", "file"),
            ("dir/link-up-inside", "file"),
            ("link-folder", "folder"),
            ("link-folder/file", "file"),
            ("gone", "nothing"),
            ("gone/file", "nothing"),
            ("file/", "nothing"),
            ("file/more", "nothing"),
            (&long_name, "nothing"),
            (&long_path, "nothing"),
            ("link-absolute-inside", "nothing"),
            ("link-outside", "nothing"),
            ("link-absolute-outside", "nothing"),
            ("link-folder-outside", "nothing"),
            ("link-folder-outside/secret", "nothing"),
            ("link-out-and-in", "nothing"),
            ("link-magic", "nothing"),
            ("link-magic/etc/passwd", "nothing"),
            ("link-dangling", "nothing"),
            ("loop-a", "nothing"),
            ("fifo", "nothing"),
            ("socket", "nothing"),
            // Targets are normalised before they come here; the kernel must not rely on it.
            ("..", "nothing"),
            ("../site-leak/secret", "nothing"),
            ("dir/../../site-leak/secret", "nothing"),
            ("/etc/passwd", "nothing"),
        ];
        for (path, expected) in table {
            assert_eq!(outcome(&root, path), expected, "{path}");
        }
    }

    #[test]
    fn the_root_stays_the_same_folder_when_it_is_renamed() {
        let parent = tempfile::tempdir().unwrap();
        let (before, after) = (parent.path().join("before"), parent.path().join("after"));
        fs::create_dir(&before).unwrap();
        fs::write(before.join("file"), "").unwrap();
        let root = RootFolder::open(&before).unwrap();
        fs::rename(&before, &after).unwrap();
        assert_eq!(outcome(&root, "file"), "file");
    }

    #[test]
    fn each_reason_against_a_root_is_one_sentence_with_a_way_out() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("file"), "").unwrap();
        let error = |name: &str| RootFolder::open(&parent.path().join(name)).unwrap_err();
        assert!(matches!(error("gone"), SiteError::Missing(_)));
        assert!(matches!(error("file"), SiteError::NotAFolder(_)));
        assert!(matches!(error("file/more"), SiteError::NotAFolder(_)));
        assert!(matches!(error(&"n".repeat(300)), SiteError::Unopenable { .. }));
        for name in ["gone", "file"] {
            let sentence = error(name).to_string();
            assert!(sentence.contains(name) && sentence.contains("--root") && !sentence.contains('\n'), "{sentence}");
        }
    }

    #[test]
    fn every_error_number_has_its_meaning() {
        let table = [
            (Errno::NOENT, OpenError::Nothing),
            (Errno::XDEV, OpenError::Nothing),
            (Errno::NXIO, OpenError::Nothing),
            (Errno::ACCESS, OpenError::Forbidden),
            (Errno::PERM, OpenError::Forbidden),
            (Errno::MFILE, OpenError::Unavailable),
            (Errno::NFILE, OpenError::Unavailable),
            (Errno::NOMEM, OpenError::Unavailable),
            (Errno::AGAIN, OpenError::Unavailable),
            (Errno::IO, OpenError::Failed(Errno::IO)),
        ];
        for (errno, expected) in table {
            assert_eq!(OpenError::from(errno), expected, "{errno}");
        }
    }
}
