//! The journal: a line for each thing that happened, on the disk before the next one happens.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::SweepError;
use crate::record::experiment::{Entry, JOURNAL_FILE};

/// How much is read at once, from the end, to find where the last whole line ends.
const PIECE: u64 = 64 << 10;

/// A journal that is written to.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Where the next line begins.
    end: u64,
}

impl Journal {
    /// Opens the journal of a folder, whose reader has found nothing wrong with it but a torn last line, and takes that away.
    /// A last line that lacks nothing but its newline is given one.
    ///
    /// # Errors
    ///
    /// [`SweepError::Write`].
    pub fn open(folder: &Path) -> Result<Self, SweepError> {
        let path = folder.join(JOURNAL_FILE);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mended = opened.and_then(|mut file| Ok((mend(&mut file)?, file)));
        let (end, file) = mended.map_err(|error| SweepError::write(&path, error))?;
        Ok(Self { file, path, end })
    }

    /// Appends a line. When this returns it is on the disk; after an error there is nothing of it in the file.
    ///
    /// # Errors
    ///
    /// [`SweepError::Write`].
    pub fn append(&mut self, entry: &Entry) -> Result<(), SweepError> {
        let written = serde_json::to_vec(entry).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.write(&line)
        });
        written.map_err(|error| {
            // A full disk takes half a line. The reader would take it for torn, but nothing could be appended to it.
            let _ = self.file.set_len(self.end);
            SweepError::write(&self.path, error)
        })
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(line)?;
        // With the length, which is part of the data that can be read back.
        self.file.sync_data()?;
        self.end += line.len() as u64;
        Ok(())
    }
}

/// Makes the file end with a whole line, and says how long it is.
fn mend(file: &mut File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let whole = after_last_newline(file, length)?;
    if whole == length {
        return Ok(length);
    }
    file.seek(SeekFrom::Start(whole))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    if serde_json::from_slice::<Entry>(&tail).is_ok() {
        file.write_all(b"\n")?;
        file.sync_data()?;
        return Ok(length + 1);
    }
    file.set_len(whole)?;
    file.sync_data()?;
    Ok(whole)
}

/// The end of the last whole line; zero without one.
fn after_last_newline(file: &mut File, length: u64) -> io::Result<u64> {
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(PIECE);
        file.seek(SeekFrom::Start(start))?;
        let mut piece = Vec::new();
        Read::by_ref(file).take(end - start).read_to_end(&mut piece)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::record::experiment::Restarted;

    fn entry(reason: &str) -> Entry {
        Entry::Restarted(Restarted { target: "a".into(), reason: reason.into() })
    }

    fn line(reason: &str) -> String {
        format!(r#"{{"restarted":{{"target":"a","reason":"{reason}"}}}}"#)
    }

    #[test]
    fn lines_come_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let text = || fs::read_to_string(folder.path().join(JOURNAL_FILE)).unwrap();
        let mut journal = Journal::open(folder.path()).unwrap();
        journal.append(&entry("1")).unwrap();
        assert_eq!(text(), format!("{}\n", line("1")));
        drop(journal);
        let mut journal = Journal::open(folder.path()).unwrap();
        journal.append(&entry("2")).unwrap();
        journal.append(&entry("3")).unwrap();
        assert_eq!(text(), format!("{}\n{}\n{}\n", line("1"), line("2"), line("3")));
    }

    #[test]
    fn what_is_torn_goes_and_what_is_whole_stays() {
        let long = "x".repeat(3 * PIECE as usize);
        let rows = [
            (String::new(), String::new()),
            (line("1"), format!("{}\n", line("1"))),
            (line("1")[..20].to_owned(), String::new()),
            (format!("{}\n{{", line("1")), format!("{}\n", line("1"))),
            (format!("{}\n\0\0\0\0", line("1")), format!("{}\n", line("1"))),
            (format!("{}\n{}", line("1"), line(&long)), format!("{}\n{}\n", line("1"), line(&long))),
            (format!("{}\n{}", line("1"), &line(&long)[..150_000]), format!("{}\n", line("1"))),
        ];
        for (before, after) in rows {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(JOURNAL_FILE);
            fs::write(&path, &before).unwrap();
            let mut journal = Journal::open(folder.path()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
            journal.append(&entry("next")).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{after}{}\n", line("next")));
        }
    }

    #[test]
    fn a_line_that_does_not_fit_leaves_nothing() {
        let file = File::options().read(true).write(true).open("/dev/full").unwrap();
        let mut journal = Journal { file, path: "/dev/full".into(), end: 0 };
        let error = journal.append(&entry("1")).unwrap_err().to_string();
        assert!(error.starts_with("cannot write /dev/full: No space left on device"), "{error}");
        assert_eq!(journal.end, 0);
    }
}
