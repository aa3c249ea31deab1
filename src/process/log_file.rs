//! Opening a file that lines are appended to.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens or creates it. Lines are appended, so that a rotation by "copy and truncate" works without telling the server.
/// Others may not read it: it tells who asked for what.
pub fn append_to(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK a FIFO would keep the server from starting until somebody reads it; with it the kernel says so.
    // Writing is meant to wait: it has a thread of its own. A terminal named here must not become the daemon's own.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    let file = OpenOptions::new().append(true).create(true).mode(0o640).custom_flags(flags).open(path)?;
    rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}
