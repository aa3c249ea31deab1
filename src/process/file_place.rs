//! Where a file of the server's own stands, a log or the pid file: its folder, open, and its name in there.
//!
//! A server that root starts writes into folders that others may be able to write to. Who can, could put a link in a file's
//! place, and root would write to whatever it leads to, or give that away. So a file's name may be no link and the file may
//! have no other name; and while the process is root, no link on the way is followed that somebody else could have made. What
//! has been looked at is what is opened and what is removed, because folder and name are settled once.
//!
//! Rejected: `openat2` with RESOLVE_NO_SYMLINKS, for which root's own /var/run -> /run is a mistake.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    Access, AtFlags, CWD, FileType, Mode, OFlags, Stat, accessat, fstat, openat, readlinkat, statat, unlinkat,
};
use rustix::io::Errno;

/// Links on the way to a folder that are followed at the most, as the kernel has it.
const LINKS: usize = 40;

/// The place of one file, whether the file is there or not.
#[derive(Debug)]
pub struct FilePlace {
    folder: OwnedFd,
    name: OsString,
}

/// What stands in a place.
#[derive(Debug)]
pub enum Found {
    /// Nothing, and the process may put a file there.
    Nothing,
    /// A file, open.
    File(File),
    /// A device, a pipe, a socket.
    Other(FileType),
}

impl FilePlace {
    /// Finds the folder.
    pub fn of(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("that is the name of a folder"))?.to_owned();
        let folder = path.parent().unwrap_or(Path::new(""));
        // Who is not root gets nothing by a link that the kernel would not give to him in any case.
        let folder = if rustix::process::geteuid().is_root() { walk(folder)? } else { go(folder)? };
        Ok(Self { folder, name })
    }

    /// Opens the file, which has to be the only name of what it names. It is opened even if it is a pipe that nobody reads;
    /// a terminal does not become the process's own.
    pub fn open(&self, flags: OFlags, mode: Mode) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.folder, &self.name, flags, mode) {
            Ok(file) => File::from(file),
            Err(Errno::LOOP) => return Err(io::Error::other("it is a symbolic link; name the file itself")),
            Err(error) => return Err(error.into()),
        };
        let facts = file.metadata()?;
        if facts.is_file() && facts.nlink() > 1 {
            return Err(io::Error::other("the file has another name as well (a hard link)"));
        }
        Ok(file)
    }

    /// What [`open`](Self::open) would find or make, without making it. Only files are opened: the reader of a pipe would see a
    /// writer come and go.
    pub fn look(&self, flags: OFlags) -> io::Result<Found> {
        let there = match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {
                accessat(&self.folder, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
                return Ok(Found::Nothing);
            }
            there => FileType::from_raw_mode(there?.st_mode),
        };
        match there {
            FileType::RegularFile | FileType::Directory | FileType::Symlink => {
                self.open(flags, Mode::empty()).map(Found::File)
            }
            other => Ok(Found::Other(other)),
        }
    }

    /// Whether that file is the one in this place.
    #[must_use]
    pub fn holds(&self, file: &File) -> bool {
        let there = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        there.is_ok_and(|there| file.metadata().is_ok_and(|own| (there.st_dev, there.st_ino) == (own.dev(), own.ino())))
    }

    /// Removes the name.
    pub fn remove(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// Whether nobody but root could have put anything here.
    pub fn is_roots_alone(&self) -> io::Result<bool> {
        is_roots_alone(&self.folder)
    }
}

/// An empty path is the folder in which the process is.
fn at(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Goes to a folder as the kernel does.
fn go(path: &Path) -> rustix::io::Result<OwnedFd> {
    openat(CWD, at(path), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// One step, which is no link.
fn open_folder(beneath: impl std::os::fd::AsFd, path: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    openat(beneath, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Goes to a folder step by step, as the kernel would, but for links that somebody else could have put there.
fn walk(path: &Path) -> io::Result<OwnedFd> {
    let mut here = start_of(path)?;
    let mut ahead = steps(path);
    let mut links = 0;
    while let Some(step) = ahead.pop() {
        match open_folder(&here, &step) {
            Ok(folder) => here = folder,
            Err(Errno::NOTDIR) => {
                let target = follow(&here, &step)?;
                links += 1;
                if links > LINKS {
                    return Err(Errno::LOOP.into());
                }
                if target.is_absolute() {
                    here = start_of(&target)?;
                }
                ahead.append(&mut steps(&target));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(here)
}

fn start_of(path: &Path) -> rustix::io::Result<OwnedFd> {
    open_folder(CWD, if path.is_absolute() { "/" } else { "." })
}

/// The last step first.
fn steps(path: &Path) -> Vec<OsString> {
    let slash = |step: &OsStr| step == "/";
    path.iter().filter(|step| !slash(step)).map(OsStr::to_owned).rev().collect()
}

fn follow(folder: &OwnedFd, link: &OsStr) -> io::Result<PathBuf> {
    // What is no link either is no folder on the way.
    let target = readlinkat(folder, link, Vec::new()).map_err(|_| Errno::NOTDIR)?;
    if !is_roots_alone(folder)? {
        return Err(io::Error::other(format!(
            "others than root may have made the symbolic link {link:?} on the way; name the folder that it leads to"
        )));
    }
    Ok(OsString::from_vec(target.into_bytes()).into())
}

/// Not a folder of all such as /tmp either, where each may put what he likes.
fn is_roots_alone(folder: &OwnedFd) -> io::Result<bool> {
    let Stat { st_uid, st_mode, .. } = fstat(folder)?;
    Ok(st_uid == 0 && !Mode::from_raw_mode(st_mode).intersects(Mode::WGRP | Mode::WOTH))
}
