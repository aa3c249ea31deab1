//! What a target writes to its streams, and what of it explains its end.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::super::child::end_of;

/// How much of the end of a log is looked at.
const TAIL: u64 = 4 << 10;

/// Longest sentence that is taken from it.
const SENTENCE: usize = 300;

/// What the scripts of `peers/` end with if a package is not installed: EX_UNAVAILABLE of sysexits.h.
const MISSING: i32 = 69;

pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("output.log")
}

/// How long the log is: what an earlier start wrote does not explain the end of this one.
pub(super) fn length(log: &Path) -> u64 {
    fs::metadata(log).map_or(0, |facts| facts.len())
}

/// How a target ended.
pub(super) fn end(status: ExitStatus) -> String {
    match status.code() {
        Some(0) => "it ended (exit code 0), and it has to stay in the foreground".to_owned(),
        Some(MISSING) => format!("something that it needs is not installed (exit code {MISSING})"),
        _ => format!("it ended ({})", end_of(Some(status))),
    }
}

/// A reason, with what the target said last.
pub(super) fn explained(reason: &str, log: &Path, from: u64) -> String {
    match last_words(log, from) {
        Some(words) => format!("{reason}: {words}"),
        None => reason.to_owned(),
    }
}

/// A reason that is no end of the target, and beside it what the target said last, which may have to do with it.
pub(super) fn besides(reason: &str, log: &Path, from: u64) -> String {
    match last_words(log, from) {
        Some(words) => format!("{reason}; the last that it wrote is: {words}"),
        None => reason.to_owned(),
    }
}

/// The last line that is not indented: below an error there may be a hundred lines of where it came from.
fn last_words(log: &Path, from: u64) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    // One that is shorter than it was has begun anew meanwhile.
    let from = if from > length { 0 } else { from };
    file.seek(SeekFrom::Start(from.max(length.saturating_sub(TAIL)))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let text = String::from_utf8_lossy(&tail);
    let is_said = |line: &&str| !line.trim().is_empty() && !line.starts_with([' ', '\t']);
    let line = text.lines().rfind(is_said)?.trim();
    Some(line.chars().filter(|c| !c.is_control()).take(SENTENCE).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn ends() {
        let of = |code: i32| end(ExitStatus::from_raw(code << 8));
        assert_eq!(of(0), "it ended (exit code 0), and it has to stay in the foreground");
        assert_eq!(of(1), "it ended (exit code 1)");
        assert_eq!(of(137), "it ended (signal 9)");
        assert_eq!(of(69), "something that it needs is not installed (exit code 69)");
    }

    #[test]
    fn the_last_words_of_this_start() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let rows: [(&str, u64, Option<&str>); 7] = [
            ("", 0, None),
            ("  \n\n", 0, None),
            ("old\n", 4, None),
            ("old\nnew", 4, Some("new")),
            ("new", 4, Some("new")),
            ("Error: x\r\n\tat a\n\tat b\n \n", 0, Some("Error: x")),
            ("é\x1b[1mred\n", 0, Some("é[1mred")),
        ];
        for (text, from, expected) in rows {
            fs::write(log.path(), text).unwrap();
            assert_eq!(last_words(log.path(), from).as_deref(), expected, "{text:?}");
        }
        fs::write(log.path(), format!("{}\n{}", "x".repeat(10_000), "y".repeat(1_000))).unwrap();
        assert_eq!(explained("it ended", log.path(), 0), format!("it ended: {}", "y".repeat(SENTENCE)));
        assert_eq!(explained("it ended", Path::new("/nowhere"), 0), "it ended");
        let said = besides("it answers 404", log.path(), 0);
        assert_eq!(said, format!("it answers 404; the last that it wrote is: {}", "y".repeat(SENTENCE)));
    }
}
