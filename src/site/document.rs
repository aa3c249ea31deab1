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
use crate::config::plan::{EtagForm, LabelsPlan};

/// One representation of a resource, as it is sent.
#[derive(Debug)]
pub struct Document {
    /// The bytes, or where they are.
    pub content: Content,
    /// How many there are.
    pub length: u64,
    /// In the form that [`LabelsPlan`] asks for. It changes with the file, and differs between the codings of one
    /// document.
    pub etag: Option<HeaderValue>,
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
            etag: self.etag.as_ref().map(HeaderValue::as_bytes),
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

    fn etag(&self, form: EtagForm, coding: Option<Coding>) -> Option<HeaderValue> {
        let Moment { seconds, nanoseconds } = self.modified;
        let tag = match form {
            EtagForm::Digest => self.digest(coding),
            // A coding is a file of its own, with a length and time of its own: so nginx and Tomcat have it.
            EtagForm::SecondsAndLength => {
                let sign = if seconds < 0 { "-" } else { "" };
                format!("\"{sign}{:x}-{:x}\"", seconds.unsigned_abs(), self.length)
            }
            EtagForm::WeakLengthAndMilliseconds => {
                let milliseconds = seconds.saturating_mul(1000).saturating_add_unsigned(nanoseconds / 1_000_000);
                format!("W/\"{}-{milliseconds}\"", self.length)
            }
            EtagForm::None => return None,
        };
        Some(HeaderValue::try_from(tag).expect("digits are visible ASCII"))
    }

    /// Sixteen digits are 64 bits: among n states of one document two share a tag with a chance near n²/2⁶⁵.
    fn digest(&self, coding: Option<Coding>) -> String {
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
        format!("\"{digits}\"")
    }

    /// Whether the file had been at rest for so long that another write must have given it another stamp. Clocks of
    /// file systems tick (every 10 ms on kernels before 6.13, every 2 s on FAT), and two writes within a tick look
    /// like one; a write that is under way while the file is read has set the times already. Git calls such files
    /// racily clean.
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

/// How files are made into documents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loading {
    /// Larger files are kept open instead of read.
    pub memory_max: u64,
    pub labels: LabelsPlan,
}

impl Representation {
    /// Loads an opened file. `name` is that of the document, also for a coding of it.
    pub fn load(
        file: OwnedFd,
        stamp: Stamp,
        name: &[u8],
        coding: Option<Coding>,
        varies: bool,
        loading: Loading,
    ) -> Result<Self, OpenError> {
        let Loading { memory_max, labels: LabelsPlan { etag, charset } } = loading;
        let (content, stamp) = load_content(file, stamp, memory_max)?;
        let wall = SystemTime::now();
        let document = Document {
            content,
            length: stamp.length,
            etag: stamp.etag(etag, coding),
            last_modified: last_modified(stamp.modified.seconds, wall),
            content_type: content_type(name, charset),
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

/// Reads a file that fits, maps one that does not. The stamps before and after the reading must agree: what is served
/// is whole, old or new.
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

/// The date to send for a file last modified then. There is none before 1970 and from 9999 on: `httpdate` panics
/// outside its range, and such times are always mistakes. A time yet to come is sent as now (RFC 9110, section
/// 8.8.2.1).
#[expect(clippy::disallowed_methods, reason = "this is the check")]
fn last_modified(modified: i64, wall: SystemTime) -> Option<HeaderValue> {
    const YEAR_9999: u64 = 253_370_764_800;
    let seconds = u64::try_from(modified).ok().filter(|&seconds| seconds < YEAR_9999)?;
    let date = (UNIX_EPOCH + Duration::from_secs(seconds)).min(wall).max(UNIX_EPOCH);
    HeaderValue::try_from(httpdate::fmt_http_date(date)).ok()
}

/// The type that goes with a name's extension.
fn content_type(name: &[u8], charset: bool) -> HeaderValue {
    match mime_guess::from_path(OsStr::from_bytes(name)).first_raw() {
        Some(kind) if charset && needs_charset(kind) => with_charset(kind),
        Some(kind) => HeaderValue::from_static(kind),
        None => HeaderValue::from_static("application/octet-stream"),
    }
}

/// The usual types are static text: such a value is copied into each answer without counting references.
fn with_charset(kind: &'static str) -> HeaderValue {
    match kind {
        "text/html" => HeaderValue::from_static("text/html; charset=utf-8"),
        "text/css" => HeaderValue::from_static("text/css; charset=utf-8"),
        "text/javascript" => HeaderValue::from_static("text/javascript; charset=utf-8"),
        "text/plain" => HeaderValue::from_static("text/plain; charset=utf-8"),
        _ => HeaderValue::try_from(format!("{kind}; charset=utf-8")).expect("media types are visible ASCII"),
    }
}

/// Text is UTF-8 here; unsaid, a browser would guess. So it is for scripts, which their page's encoding decides
/// otherwise. JSON is left alone, because it is always UTF-8 and the type defines no such parameter (RFC 8259,
/// section 11), and so is XML that is no `text/`, because the parameter would overrule what the file says of itself
/// (RFC 7303, section 3.2).
fn needs_charset(kind: &str) -> bool {
    kind.starts_with("text/") || kind == "application/javascript"
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::{Seek, Write};

    use proptest::prelude::*;

    use super::*;

    const JANUARY_2020: i64 = 1_577_836_800;

    fn wall(seconds: i64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds as u64)
    }

    #[test]
    fn dates_that_http_can_say_are_said() {
        let table = [
            (i64::MIN, None),
            (-1, None),
            (0, Some("Thu, 01 Jan 1970 00:00:00 GMT")),
            (1_577_836_799, Some("Tue, 31 Dec 2019 23:59:59 GMT")),
            (JANUARY_2020, Some("Wed, 01 Jan 2020 00:00:00 GMT")),
            // Yet to come: as now.
            (JANUARY_2020 + 1, Some("Wed, 01 Jan 2020 00:00:00 GMT")),
            (4_102_444_800, Some("Wed, 01 Jan 2020 00:00:00 GMT")),
            (253_370_764_799, Some("Wed, 01 Jan 2020 00:00:00 GMT")),
            (253_370_764_800, None),
            (253_402_300_800, None),
            (i64::MAX, None),
        ];
        for (modified, expected) in table {
            let date = last_modified(modified, wall(JANUARY_2020));
            assert_eq!(date.as_ref().map(HeaderValue::as_bytes), expected.map(str::as_bytes), "{modified}");
        }
    }

    #[test]
    fn types_go_by_the_last_extension() {
        let table = [
            ("a.html", "text/html; charset=utf-8"),
            ("A.HTML", "text/html; charset=utf-8"),
            ("dir.css/a.txt", "text/plain; charset=utf-8"),
            ("a.css", "text/css; charset=utf-8"),
            ("a.js", "text/javascript; charset=utf-8"),
            ("a.mjs", "application/javascript; charset=utf-8"),
            ("a.md", "text/markdown; charset=utf-8"),
            ("a.json", "application/json"),
            ("a.svg", "image/svg+xml"),
            ("a.xhtml", "application/xhtml+xml"),
            ("a.png", "image/png"),
            ("a.wasm", "application/wasm"),
            ("a.woff2", "font/woff2"),
            ("a.tar.gz", "application/gzip"),
            ("a.unheard-of", "application/octet-stream"),
            ("html", "application/octet-stream"),
            ("a.", "application/octet-stream"),
            ("", "application/octet-stream"),
        ];
        for (name, expected) in table {
            assert_eq!(content_type(name.as_bytes(), true), expected, "{name}");
        }
        assert_eq!(content_type(b"\xff\xfe.html", true), "text/html; charset=utf-8");
        assert_eq!(content_type(b"a.\xff", true), "application/octet-stream");
        assert_eq!(content_type(b"a.html", false), "text/html");
    }

    fn stamp() -> Stamp {
        let moment = Moment { seconds: JANUARY_2020, nanoseconds: 500 };
        Stamp { device: 1, inode: 2, length: 3, modified: moment, changed: moment }
    }

    #[test]
    fn an_etag_differs_with_everything_that_it_is_made_of() {
        let later = Moment { seconds: JANUARY_2020, nanoseconds: 501 };
        let older = Moment { seconds: JANUARY_2020 - 1, nanoseconds: 500 };
        let stamps = [
            stamp(),
            Stamp { device: 9, ..stamp() },
            Stamp { inode: 9, ..stamp() },
            Stamp { length: 9, ..stamp() },
            Stamp { modified: later, ..stamp() },
            Stamp { modified: older, ..stamp() },
            Stamp { changed: later, ..stamp() },
        ];
        let mut etags: Vec<HeaderValue> = stamps.iter().map(|stamp| digest(stamp, None)).collect();
        etags.extend(Coding::ALL.map(|coding| digest(&stamp(), Some(coding))));
        for (place, etag) in etags.iter().enumerate() {
            let digits = etag.to_str().unwrap().strip_prefix('"').unwrap().strip_suffix('"').unwrap();
            assert!(digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()), "{etag:?}");
            assert!(!etags[..place].contains(etag), "{etag:?}");
        }
        assert_eq!(digest(&stamp(), None), digest(&stamp(), None));
    }

    fn digest(stamp: &Stamp, coding: Option<Coding>) -> HeaderValue {
        stamp.etag(EtagForm::Digest, coding).unwrap()
    }

    #[test]
    fn etags_in_the_forms_of_other_servers() {
        let at = |seconds, nanoseconds| Stamp { length: 1024, modified: Moment { seconds, nanoseconds }, ..stamp() };
        let (nginx, tomcat) = (EtagForm::SecondsAndLength, EtagForm::WeakLengthAndMilliseconds);
        let table = [
            (nginx, at(0x6b0e_3d77, 999_999_999), Some("\"6b0e3d77-400\"")),
            (nginx, at(-1, 0), Some("\"-1-400\"")),
            (nginx, at(i64::MIN, 0), Some("\"-8000000000000000-400\"")),
            (tomcat, at(1_796_095_351, 269_999_999), Some("W/\"1024-1796095351269\"")),
            (tomcat, at(-2, 250_000_000), Some("W/\"1024--1750\"")),
            (tomcat, at(i64::MIN, 0), Some("W/\"1024--9223372036854775808\"")),
            (EtagForm::None, at(1, 0), None),
        ];
        for (form, stamp, expected) in table {
            let etag = stamp.etag(form, None);
            assert_eq!(etag.as_ref().map(HeaderValue::as_bytes), expected.map(str::as_bytes), "{stamp:?}");
        }
    }

    #[test]
    fn a_file_is_settled_when_its_last_change_is_two_ticks_old() {
        let table = [(-1, false), (0, false), (2, false), (3, true), (1000, true)];
        for (age, expected) in table {
            assert_eq!(stamp().is_settled(wall(JANUARY_2020 + age)), expected, "{age}");
        }
        let ancient = Moment { seconds: -1, nanoseconds: 0 };
        assert!(Stamp { changed: ancient, ..stamp() }.is_settled(wall(JANUARY_2020)));
        let absurd = Moment { seconds: i64::MAX, nanoseconds: 0 };
        assert!(!Stamp { changed: absurd, ..stamp() }.is_settled(wall(JANUARY_2020)));
    }

    fn load(path: &std::path::Path, memory_max: u64) -> Representation {
        let file = OwnedFd::from(File::open(path).unwrap());
        let stamp = Stamp::of(&file).unwrap();
        let labels = LabelsPlan { etag: EtagForm::Digest, charset: true };
        Representation::load(file, stamp, b"a.html", None, false, Loading { memory_max, labels }).unwrap()
    }

    #[test]
    fn small_files_are_read_and_large_ones_kept_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        fs::write(&path, "0123456789").unwrap();
        let small = load(&path, 10);
        assert!(matches!(&small.document.content, Content::Memory(bytes) if bytes == "0123456789"));
        let large = load(&path, 9);
        let Content::Open(open) = &large.document.content else { panic!("read") };
        assert_eq!((large.document.length, open.map.len()), (10, 10));
        // The slices are addresses in the mapping, at the offset that they name.
        let start = open.map.as_ptr() as usize;
        for range in [0..10, 3..7, 10..10, 0..0] {
            let slice = open.slice(range.clone());
            assert_eq!(
                (slice.as_ptr() as usize - start, slice.len()),
                (range.start as usize, (range.end - range.start) as usize)
            );
        }
        fs::write(&path, "").unwrap();
        assert!(matches!(load(&path, 0).document.content, Content::Memory(ref bytes) if bytes.is_empty()));
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_slice_beyond_the_mapping_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        fs::write(&path, "0123456789").unwrap();
        if let Content::Open(open) = &load(&path, 0).document.content {
            open.slice(0..11);
        }
    }

    /// The stamp that a file was opened with is old by the time it is read: what counts is the state that was read.
    #[test]
    fn a_file_that_changed_after_it_was_opened_is_read_as_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        fs::write(&path, "old").unwrap();
        let mut file = File::options().read(true).write(true).open(&path).unwrap();
        let reader = OwnedFd::from(File::open(&path).unwrap());
        let old = Stamp::of(&reader).unwrap();
        for (content, length) in [("longer", 6), ("s", 1)] {
            file.set_len(0).unwrap();
            file.rewind().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            let (read, stamp) = load_content(reader.try_clone().unwrap(), old, 100).unwrap();
            assert!(matches!(read, Content::Memory(bytes) if bytes == content));
            assert_eq!(stamp.length, length);
        }
    }

    proptest! {
        #[test]
        fn no_date_panics_or_lies_ahead(modified in any::<i64>(), now in 0i64..253_000_000_000) {
            if let Some(date) = last_modified(modified, wall(now)) {
                let date = httpdate::parse_http_date(date.to_str().unwrap()).unwrap();
                prop_assert!(date <= wall(now));
            }
        }
    }
}
