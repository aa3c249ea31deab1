//! Opening a file that lines are appended to.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

use super::file_place::{FilePlace, Found};
use super::user::User;

/// Opens or creates it. Lines are appended, so that a rotation by "copy and truncate" works without telling the server.
/// Others may not read it: it tells who asked for what. It becomes the file of `heir`, whom the process is about to become,
/// and who could not open it again otherwise.
pub fn append_to(path: &Path, heir: Option<&User>) -> io::Result<File> {
    let file = if is_a_stream(path) { open_stream(path)? } else { open_file(path, heir)? };
    // It was opened without waiting, or a pipe would keep the server from starting until somebody reads it: the kernel says
    // so instead. Writing is meant to wait: it has a thread of its own.
    rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Whether [`append_to`] would succeed, as far as a look can tell; nothing is made and nothing given away.
pub fn could_append_to(path: &Path, heir: Option<&User>) -> io::Result<()> {
    if is_a_stream(path) {
        return Ok(());
    }
    let place = FilePlace::of(path)?;
    match (place.look(OFlags::WRONLY | OFlags::APPEND)?, heir) {
        (Found::File(file), Some(heir)) if !heir.is_this_process() => may_be_given(&place, &file, heir),
        (Found::Nothing | Found::File(_) | Found::Other(FileType::CharacterDevice | FileType::Fifo), _) => Ok(()),
        (Found::Other(_), _) => Err(io::Error::other(TAKES_NO_LINES)),
    }
}

const TAKES_NO_LINES: &str = "lines cannot be appended to what it is: neither a file, a terminal nor a pipe";

/// Whether the path is one of the system's names for what the process has open already, such as /dev/stdout. They are links
/// that nobody but root could have made.
#[must_use]
pub fn is_a_stream(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    let of_dev = ["stdin", "stdout", "stderr"].iter().any(|name| path == Path::new("/dev").join(name));
    of_dev || [Path::new("/dev/fd"), Path::new("/proc/self/fd")].contains(&folder)
}

fn open_stream(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    OpenOptions::new().append(true).custom_flags(flags).open(path)
}

fn open_file(path: &Path, heir: Option<&User>) -> io::Result<File> {
    let place = FilePlace::of(path)?;
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let (file, is_new) = match place.open(flags | OFlags::EXCL, MODE) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (place.open(flags, MODE)?, false),
        made => (made?, true),
    };
    let kind = file.metadata()?.file_type();
    if !(kind.is_file() || kind.is_char_device() || kind.is_fifo()) {
        return Err(io::Error::other(TAKES_NO_LINES));
    }
    // A device or a pipe is written to as whom it belongs to allows.
    if let Some(heir) = heir.filter(|heir| kind.is_file() && !heir.is_this_process()) {
        give(&place, &file, is_new, heir)?;
    }
    Ok(file)
}

const MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP);

fn give(place: &FilePlace, file: &File, is_new: bool, heir: &User) -> io::Result<()> {
    if !is_new {
        may_be_given(place, file, heir)?;
    }
    if heir.has_id(file.metadata()?.uid()) {
        return Ok(());
    }
    heir.own(file).map_err(|error| io::Error::new(error.kind(), format!("it cannot be given to {heir}: {error}")))
}

/// That the file has one name is no proof, because whoever has made another one can take it away again in time. So what was
/// there before is given only where root alone could have put it.
fn may_be_given(place: &FilePlace, file: &File, heir: &User) -> io::Result<()> {
    let owner = file.metadata()?.uid();
    if heir.has_id(owner) || place.is_roots_alone()? {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "it belongs to user {owner} and stands where others than root could have put it; \
         let it be made anew, or give it to {heir} with chown"
    )))
}
