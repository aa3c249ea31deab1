//! A slice of an open file in a write: recognised by its address, sent without being touched.
//!
//! hyper hands body slices through unchanged (its queue strategy), so an `IoSlice` that lies inside the mapping of the
//! file of the current answer names a file range. The kernel then copies from the page cache by itself.
//! Sources: sendfile(2); nginx `ngx_linux_sendfile_chain.c` for "a short count does not mean a full socket".

use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::site::{Content, Document, OpenFile};

/// The most that one `sendfile` asks for: Linux transfers at most 0x7ffff000 bytes a call (sendfile(2), NOTES).
const MOST_A_CALL: usize = 0x7fff_f000;

/// Bytes that the copying path moves through user space at a time.
const COPY_CHUNK: usize = 256 * 1024;

/// The range of `document`'s file that `slice` stands for: offset and length.
pub fn locate(document: &Document, slice: &[u8]) -> Option<(u64, usize)> {
    let Content::Open(OpenFile { map, .. }) = &document.content else { return None };
    let base = map.as_ptr() as usize;
    let offset = (slice.as_ptr() as usize).checked_sub(base)?;
    (offset < map.len()).then_some((offset as u64, slice.len()))
}

/// Sends bytes of the file from the page cache. `Ok(0)` never comes back: a file that ends early is an error.
pub fn send(socket: impl AsFd, file: impl AsFd, mut offset: u64, length: usize) -> io::Result<usize> {
    match rustix::fs::sendfile(socket, file, Some(&mut offset), length.min(MOST_A_CALL))? {
        0 => Err(truncated()),
        sent => Ok(sent),
    }
}

/// Sends bytes of the file through a buffer of this process, for file systems that refuse `sendfile` and for those
/// who ask for it. What the socket does not take is read again next time: the page cache is the buffer.
pub fn copy(socket: impl AsFd, file: impl AsFd, offset: u64, length: usize) -> io::Result<usize> {
    thread_local! {
        static BUFFER: std::cell::RefCell<Box<[u8]>> = std::cell::RefCell::new(vec![0; COPY_CHUNK].into_boxed_slice());
    }
    BUFFER.with_borrow_mut(|buffer| {
        let wanted = length.min(buffer.len());
        let chunk = match rustix::io::pread(file, &mut buffer[..wanted], offset)? {
            0 => return Err(truncated()),
            read => &buffer[..read],
        };
        Ok(rustix::net::send(socket, chunk, rustix::net::SendFlags::NOSIGNAL)?)
    })
}

/// Whether the kernel said that it cannot send this file that way at all.
pub fn refused(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::OVERFLOW))
}

/// The announced length cannot be kept: the connection must break. Padding would be a lie that the client cannot see
/// (RFC 9112 section 8 on incomplete messages).
pub fn truncated() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was being sent")
}
