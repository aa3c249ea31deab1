//! Whether a body is the one that was expected, looked at as it passes.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

/// What bodies are compared with, and which of them.
#[derive(Debug, Clone)]
pub struct Verify {
    /// The expected body.
    pub expected: Expected,
    /// Of so many answers one is looked at; 1 is all.
    pub one_in: u64,
}

/// As settings show it: `content`, or `content 1 in N`.
impl fmt::Display for Verify {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.one_in {
            0 | 1 => write!(to, "content"),
            one_in => write!(to, "content 1 in {one_in}"),
        }
    }
}

/// The expected body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// Bytes with this SHA-256.
    Sha256([u8; 32]),
}

/// What a hash is written behind.
const SHA256: &str = "sha256:";

/// Largest file that bodies are compared with: it is held in memory. Larger ones have a hash.
const MOST_FILE_BYTES: u64 = 1 << 30;

/// Why a text says nothing to compare bodies with.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The file cannot be read.
    #[error("cannot read '{}', which bodies are to be compared with: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A folder, a pipe, a device.
    #[error("cannot compare bodies with '{}': it is not a file", .0.display())]
    NotAFile(PathBuf),
    /// Larger than what is held in memory.
    #[error("'{}' is larger than 1 GiB, which is too much to be held in memory; write {SHA256}HEX instead, \
             as sha256sum prints it", .0.display())]
    TooLarge(PathBuf),
    /// Not 64 digits.
    #[error("'{SHA256}{text}' has {} characters where a SHA-256 has 64 hexadecimal digits", text.chars().count())]
    Digits {
        /// What stands behind the prefix.
        text: String,
    },
    /// A character that is no digit.
    #[error("'{SHA256}{text}' has '{character}' in it, which is not a hexadecimal digit")]
    NotHexadecimal {
        /// What stands behind the prefix.
        text: String,
        /// The first one that is wrong.
        character: char,
    },
}

impl Expected {
    /// What was typed: `FILE`, or `sha256:HEX`. A file whose name begins so is written as `./sha256:...`.
    ///
    /// # Errors
    ///
    /// The file is none or cannot be read, or the digits are not those of a SHA-256.
    pub fn parse(text: &str) -> Result<Self, VerifyError> {
        match text.strip_prefix(SHA256) {
            Some(digits) => Ok(Self::Sha256(hash(digits)?)),
            None => Ok(Self::Bytes(content(PathBuf::from(text))?)),
        }
    }
}

fn hash(digits: &str) -> Result<[u8; 32], VerifyError> {
    if let Some(character) = digits.chars().find(|character| !character.is_ascii_hexdigit()) {
        return Err(VerifyError::NotHexadecimal { text: digits.to_owned(), character });
    }
    if digits.len() != 64 {
        return Err(VerifyError::Digits { text: digits.to_owned() });
    }
    let mut hash = [0; 32];
    for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&digits[at..at + 2], 16).expect("two hexadecimal digits");
    }
    Ok(hash)
}

fn content(path: PathBuf) -> Result<Arc<[u8]>, VerifyError> {
    // Asked before it is opened: opening a pipe waits for somebody to write.
    match path.metadata() {
        Ok(facts) if !facts.is_file() => return Err(VerifyError::NotAFile(path)),
        Ok(facts) if facts.len() > MOST_FILE_BYTES => return Err(VerifyError::TooLarge(path)),
        Ok(_) => {}
        Err(error) => return Err(VerifyError::File { path, error }),
    }
    match read(&path) {
        Ok(content) => Ok(content.into()),
        Err(error) => Err(VerifyError::File { path, error }),
    }
}

/// The content of a file. The limit holds also for one that grows meanwhile, or whose length the system does not say.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(MOST_FILE_BYTES).read_to_end(&mut content)?;
    Ok(content)
}

/// What was found about a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// It is the expected one.
    Same,
    /// It has another length. With a SHA-256 that is not to be told from other bytes.
    LengthDiffers,
    /// It has the expected length, and other bytes.
    ContentDiffers,
}

/// The bodies of one connection, one after the other, each compared piece by piece.
#[derive(Debug)]
pub struct Check {
    expected: Expected,
    one_in: u64,
    progress: Progress,
    /// Made for the first body whose hash is wanted, and used again.
    hasher: Option<Box<Sha256>>,
}

/// How far the present body is compared.
#[derive(Debug, Clone, Copy)]
enum Progress {
    /// It is not looked at.
    Unseen,
    /// So many bytes have come.
    Bytes { came: u64, are_same: bool },
    /// The hasher has what has come.
    Sha256,
}

impl Check {
    /// A check for the bodies of one connection.
    pub fn new(verify: &Verify) -> Self {
        let expected = verify.expected.clone();
        Self { expected, one_in: verify.one_in.max(1), progress: Progress::Unseen, hasher: None }
    }

    /// Begins the body of the `nth` answer, counted from 0 over whatever one in N is meant of; the first is looked at. Says
    /// whether this one is: if not, its bytes may be thrown away unread. Whatever came before is forgotten.
    #[inline]
    pub fn begin(&mut self, nth: u64) -> bool {
        let is_looked_at = nth.is_multiple_of(self.one_in);
        self.progress = match &self.expected {
            _ if !is_looked_at => Progress::Unseen,
            Expected::Bytes(_) => Progress::Bytes { came: 0, are_same: true },
            Expected::Sha256(_) => {
                self.hasher.get_or_insert_default().reset();
                Progress::Sha256
            }
        };
        is_looked_at
    }

    /// The next piece of the body.
    #[inline]
    pub fn feed(&mut self, piece: &[u8]) {
        match (&mut self.progress, &self.expected, &mut self.hasher) {
            (Progress::Bytes { came, are_same }, Expected::Bytes(expected), _) => {
                *are_same = *are_same && rest(expected, *came).starts_with(piece);
                *came += piece.len() as u64;
            }
            (Progress::Sha256, _, Some(hasher)) => hasher.update(piece),
            _ => {}
        }
    }

    /// The body is whole. One that is not looked at is taken for the expected one.
    pub fn finish(&mut self) -> Finding {
        let progress = std::mem::replace(&mut self.progress, Progress::Unseen);
        let is_same = match (progress, &self.expected, &mut self.hasher) {
            (Progress::Bytes { came, .. }, Expected::Bytes(expected), _) if came != expected.len() as u64 => {
                return Finding::LengthDiffers;
            }
            (Progress::Bytes { are_same, .. }, ..) => are_same,
            (Progress::Sha256, Expected::Sha256(expected), Some(hasher)) => {
                hasher.finalize_reset().as_slice() == expected
            }
            _ => true,
        };
        if is_same { Finding::Same } else { Finding::ContentDiffers }
    }
}

/// What of the expected bytes is still to come.
fn rest(expected: &[u8], came: u64) -> &[u8] {
    usize::try_from(came).ok().and_then(|came| expected.get(came..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    /// `sha256sum` of `hello`.
    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    fn bytes(content: &[u8]) -> Expected {
        Expected::Bytes(content.into())
    }

    fn finding(check: &mut Check, pieces: &[&[u8]]) -> Finding {
        assert!(check.begin(0));
        pieces.iter().for_each(|piece| check.feed(piece));
        check.finish()
    }

    #[test]
    fn what_bodies_are() {
        let sha256 = Expected::parse(&format!("sha256:{HELLO}")).unwrap();
        let rows: [(Expected, &[&[u8]], Finding); 13] = [
            (bytes(b"hello"), &[b"hello"], Finding::Same),
            (bytes(b"hello"), &[b"", b"he", b"llo", b""], Finding::Same),
            (bytes(b"hello"), &[b"hellO"], Finding::ContentDiffers),
            (bytes(b"hello"), &[b"Hel", b"lo"], Finding::ContentDiffers),
            (bytes(b"hello"), &[b"hell"], Finding::LengthDiffers),
            (bytes(b"hello"), &[b"hello", b"!"], Finding::LengthDiffers),
            (bytes(b"hello"), &[b"something", b" else"], Finding::LengthDiffers),
            (bytes(b"hello"), &[], Finding::LengthDiffers),
            (bytes(b""), &[], Finding::Same),
            (sha256.clone(), &[b"hel", b"lo"], Finding::Same),
            (sha256.clone(), &[b"hellO"], Finding::ContentDiffers),
            (sha256.clone(), &[b"hello", b"!"], Finding::ContentDiffers),
            (sha256, &[], Finding::ContentDiffers),
        ];
        for (expected, pieces, found) in rows {
            let mut check = Check::new(&Verify { expected, one_in: 1 });
            assert_eq!(finding(&mut check, pieces), found, "{pieces:?}");
            assert_eq!(finding(&mut check, pieces), found, "{pieces:?}, again");
        }
    }

    #[test]
    fn what_a_cut_body_leaves_behind_is_forgotten() {
        for expected in [bytes(b"hello"), Expected::parse(&format!("sha256:{HELLO}")).unwrap()] {
            let mut check = Check::new(&Verify { expected, one_in: 1 });
            assert!(check.begin(0));
            check.feed(b"something else");
            assert_eq!(finding(&mut check, &[b"hello"]), Finding::Same);
        }
    }

    #[test]
    fn one_in_so_many_is_looked_at() {
        let looked_at = |one_in| {
            let mut check = Check::new(&Verify { expected: bytes(b"hello"), one_in });
            let wrong = |nth: u64| {
                let is_looked_at = check.begin(nth);
                check.feed(b"hellO");
                let expected = if is_looked_at { Finding::ContentDiffers } else { Finding::Same };
                assert_eq!(check.finish(), expected);
                is_looked_at
            };
            (0..7).map(wrong).collect::<Vec<_>>()
        };
        assert_eq!(looked_at(3), [true, false, false, true, false, false, true]);
        assert_eq!(looked_at(1), [true; 7]);
    }

    #[test]
    fn as_settings_show_it() {
        let shown = |one_in| Verify { expected: bytes(b""), one_in }.to_string();
        assert_eq!((shown(1), shown(100)), ("content".to_owned(), "content 1 in 100".to_owned()));
    }

    #[test]
    fn what_may_be_typed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("body");
        fs::write(&file, "hello").unwrap();
        assert_eq!(Expected::parse(file.to_str().unwrap()).unwrap(), bytes(b"hello"));
        let lower = Expected::parse(&format!("sha256:{HELLO}")).unwrap();
        assert_eq!(lower, Expected::parse(&format!("sha256:{}", HELLO.to_uppercase())).unwrap());
        assert_eq!(lower, Expected::Sha256(Sha256::digest(b"hello").into()));
    }

    #[test]
    fn what_may_not() {
        let error = |text: &str| Expected::parse(text).unwrap_err().to_string();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (none, large, here) = (path("none"), path("large"), path("."));
        // Sparse: it takes no room on the disk.
        File::create(&large).unwrap().set_len(MOST_FILE_BYTES + 1).unwrap();
        let rows = [
            (
                none.clone(),
                format!(
                    "cannot read '{none}', which bodies are to be compared with: No such file or directory (os error 2)"
                ),
            ),
            (here.clone(), format!("cannot compare bodies with '{here}': it is not a file")),
            ("sha256:".to_owned(), "'sha256:' has 0 characters where a SHA-256 has 64 hexadecimal digits".to_owned()),
            (
                format!("sha256:{}", &HELLO[1..]),
                format!("'sha256:{}' has 63 characters where a SHA-256 has 64 hexadecimal digits", &HELLO[1..]),
            ),
            (
                format!("sha256:{}é", &HELLO[1..]),
                format!("'sha256:{}é' has 'é' in it, which is not a hexadecimal digit", &HELLO[1..]),
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(error(&text), expected, "{text}");
        }
        assert!(error(&large).contains("is larger than 1 GiB"));
    }

    proptest! {
        /// However a body is cut, both kinds of expectation agree about it.
        #[test]
        fn cuts_make_no_difference(
            body in proptest::collection::vec(any::<u8>(), 0..80),
            wrong in any::<Option<proptest::sample::Index>>(),
            lengths in proptest::collection::vec(0usize..30, 0..8),
        ) {
            let mut sent = body.clone();
            if let (Some(at), false) = (wrong, body.is_empty()) {
                sent[at.index(body.len())] ^= 1;
            }
            let expected = if sent == body { Finding::Same } else { Finding::ContentDiffers };
            for verify in [bytes(&body), Expected::Sha256(Sha256::digest(&body).into())] {
                let mut check = Check::new(&Verify { expected: verify, one_in: 1 });
                let mut rest = &sent[..];
                check.begin(0);
                for length in &lengths {
                    let (piece, after) = rest.split_at((*length).min(rest.len()));
                    check.feed(piece);
                    rest = after;
                }
                check.feed(rest);
                prop_assert_eq!(check.finish(), expected);
            }
        }
    }
}
