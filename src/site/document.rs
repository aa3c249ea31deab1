//! The facts of one opened file, with its header values ready to be sent.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::HeaderValue;
use memmap2::Mmap;
use rustix::fs::Stat;
use sha2::{Digest, Sha256};

use super::conditions::Validators;
use super::root::{OpenError, lend_addresses};
use super::variants::Coding;

/// One representation of a resource, as it is sent.
#[derive(Debug)]
pub struct Document {
    /// The bytes, or where they are.
    pub content: Content,
    /// How many there are.
    pub length: u64,
    /// A strong validator: it changes with the file, and differs between the codings of one document.
    pub etag: HeaderValue,
    /// Left out where HTTP has no date for it.
    pub last_modified: Option<HeaderValue>,
    /// The type of the document, not of its coding.
    pub content_type: HeaderValue,
    /// Set on a precompressed neighbour.
    pub content_encoding: Option<HeaderValue>,
    /// Other codings of the same document exist: the answer says `Vary: Accept-Encoding`.
    pub varies: bool,
}

/// The bytes of a document, or where they are.
#[derive(Debug)]
pub enum Content {
    /// Read into memory.
    Memory(Bytes),
    /// Kept open. The mapping only lends addresses: nothing in this process reads through it.
    Open(OpenFile),
}

/// A file that is too large for memory.
#[derive(Debug)]
pub struct OpenFile {
    /// Where the bytes are to be taken from.
    pub file: OwnedFd,
    /// As long as the file was when it was opened, and never empty.
    pub map: Mmap,
}

impl OpenFile {
    /// A range of the file as a slice that names it, for a `Buf` to show.
    ///
    /// It is to be recognised by its address and sent from [`file`](Self::file), never to be read: the file may have
    /// been shortened since, and reading beyond its end would end the process.
    pub fn slice(&self, range: Range<u64>) -> &[u8] {
        // A mapping is no longer than `usize::MAX`, so a range that does not fit is out of bounds as well.
        let bound = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        &self.map[bound(range.start)..bound(range.end)]
    }
}

impl Document {
    pub(super) fn validators(&self) -> Validators<'_> {
        Validators {
            etag: Some(self.etag.as_bytes()),
            last_modified: self.last_modified.as_ref().map(HeaderValue::as_bytes),
        }
    }
}

/// What tells one state of a file from another. ctime is in it because mtime can be set by anyone, and is by `rsync -a`
/// and `cp -p`: a file replaced by an older one of the same size differs in nothing else but the inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    pub length: u64,
    modified: Moment,
    changed: Moment,
}

/// A file's time: seconds since 1970, negative before, and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    seconds: i64,
    nanoseconds: u64,
}

impl From<&Stat> for Stamp {
    fn from(stat: &Stat) -> Self {
        Stamp {
            device: stat.st_dev,
            inode: stat.st_ino,
            length: u64::try_from(stat.st_size).unwrap_or(0),
            modified: Moment { seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec },
            changed: Moment { seconds: stat.st_ctime, nanoseconds: stat.st_ctime_nsec },
        }
    }
}

impl Stamp {
    fn of(file: &OwnedFd) -> Result<Self, OpenError> {
        Ok(Stamp::from(&rustix::fs::fstat(file)?))
    }

    /// Sixteen digits are 64 bits: among n states of one document two share a tag with a chance near n²/2⁶⁵.
    fn etag(&self, coding: Option<Coding>) -> HeaderValue {
        let mut hash = Sha256::new();
        hash.update(self.device.to_le_bytes());
        hash.update(self.inode.to_le_bytes());
        hash.update(self.length.to_le_bytes());
        for moment in [self.modified, self.changed] {
            hash.update(moment.seconds.to_le_bytes());
            hash.update(moment.nanoseconds.to_le_bytes());
        }
        hash.update(coding.map_or("", Coding::token));
        let digits: String = hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        HeaderValue::try_from(format!("\"{digits}\"")).expect("hexadecimal digits are visible ASCII")
    }

    /// Whether the file had been at rest for so long that another write must have given it another stamp. Clocks of file
    /// systems tick: every 10 ms on kernels before 6.13, every 2 s on FAT. Two writes within a tick look like one.
    fn is_settled(&self, wall: SystemTime) -> bool {
        const COARSEST_TICK: Duration = Duration::from_secs(2);
        let Ok(changed) = u64::try_from(self.changed.seconds) else {
            return true;
        };
        let changed = UNIX_EPOCH.checked_add(Duration::from_secs(changed));
        changed.is_some_and(|changed| wall.duration_since(changed).is_ok_and(|age| age > COARSEST_TICK))
    }
}

/// A document as it was loaded, and what tells whether its file has changed since.
#[derive(Debug)]
pub(super) struct Representation {
    pub document: Arc<Document>,
    stamp: Stamp,
    settled: bool,
}

impl Representation {
    /// Loads an opened file. `name` is that of the document, also for a coding of it.
    pub fn load(
        file: OwnedFd,
        stamp: Stamp,
        name: &[u8],
        coding: Option<Coding>,
        varies: bool,
        memory_max: u64,
    ) -> Result<Self, OpenError> {
        let (content, stamp) = load_content(file, stamp, memory_max)?;
        let wall = SystemTime::now();
        let document = Document {
            content,
            length: stamp.length,
            etag: stamp.etag(coding),
            last_modified: last_modified(stamp.modified.seconds, wall),
            content_type: content_type(name),
            content_encoding: coding.map(|coding| HeaderValue::from_static(coding.token())),
            varies,
        };
        Ok(Representation { document: Arc::new(document), stamp, settled: stamp.is_settled(wall) })
    }

    /// Whether the file that now stands in its place is certainly the one that was loaded.
    pub fn is_current(&self, now: &Stamp) -> bool {
        self.settled && self.stamp == *now
    }
}

/// How often a file is read again because it was written to while it was read.
const READ_ATTEMPTS: usize = 8;

/// Reads a file that fits, maps one that does not. The stamps before and after the reading must agree: what is served is
/// whole, old or new.
fn load_content(file: OwnedFd, mut stamp: Stamp, memory_max: u64) -> Result<(Content, Stamp), OpenError> {
    for _ in 0..READ_ATTEMPTS {
        if stamp.length > memory_max && stamp.length > 0 {
            let map = lend_addresses(&file, stamp.length)?;
            return Ok((Content::Open(OpenFile { file, map }), stamp));
        }
        let content = read(&file, stamp.length)?;
        let after = Stamp::of(&file)?;
        if after == stamp && content.len() as u64 == stamp.length {
            return Ok((Content::Memory(content.into()), stamp));
        }
        stamp = after;
    }
    Err(OpenError::Unavailable)
}

/// At most `length` bytes from the beginning of a file.
fn read(file: &OwnedFd, length: u64) -> Result<Vec<u8>, OpenError> {
    let length = usize::try_from(length).map_err(|_| OpenError::Unavailable)?;
    let mut content = Vec::new();
    content.try_reserve_exact(length).map_err(|_| OpenError::Unavailable)?;
    content.resize(length, 0);
    let mut filled = 0;
    while filled < length {
        match rustix::io::pread(file, &mut content[filled..], filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    content.truncate(filled);
    Ok(content)
}

/// The date to send for a file last modified then. There is none before 1970 and from 9999 on: `httpdate` panics outside
/// its range, and such times are always mistakes. A time yet to come is sent as now (RFC 9110, section 8.8.2.1).
#[expect(clippy::disallowed_methods, reason = "this is the check")]
fn last_modified(modified: i64, wall: SystemTime) -> Option<HeaderValue> {
    const YEAR_9999: u64 = 253_370_764_800;
    let seconds = u64::try_from(modified).ok().filter(|&seconds| seconds < YEAR_9999)?;
    let date = (UNIX_EPOCH + Duration::from_secs(seconds)).min(wall);
    HeaderValue::try_from(httpdate::fmt_http_date(date)).ok()
}

/// The type that goes with a name's extension.
fn content_type(name: &[u8]) -> HeaderValue {
    match mime_guess::from_path(OsStr::from_bytes(name)).first_raw() {
        Some(kind) if needs_charset(kind) => {
            HeaderValue::try_from(format!("{kind}; charset=utf-8")).expect("media types are visible ASCII")
        }
        Some(kind) => HeaderValue::from_static(kind),
        None => HeaderValue::from_static("application/octet-stream"),
    }
}

/// Text is UTF-8 here; unsaid, a browser would guess. So it is for scripts, which their page's encoding decides otherwise.
/// JSON is left alone, because it is always UTF-8 and the type defines no such parameter (RFC 8259, section 11), and so is XML
/// that is no `text/`, because the parameter would overrule what the file says of itself (RFC 7303, section 3.2).
fn needs_charset(kind: &str) -> bool {
    kind.starts_with("text/") || kind == "application/javascript"
}
