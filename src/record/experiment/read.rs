//! From the two files of a sweep's folder back to values: for reports, and for a sweep that is resumed.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::Error;

use super::{Entry, Experiment, VERSION, plausible};

/// What is planned, and where: written before the first cell.
pub const EXPERIMENT_FILE: &str = "experiment.json";
/// What happened: a line for each.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// Longest line of a journal, and longest `experiment.json`. A record with its histograms has some 20 KB, a plan of the most
/// cells with the longest names 75 MB.
const LONGEST: u64 = 256 << 20;

/// What a sweep left.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// What was planned, and where.
    pub experiment: Experiment,
    /// What happened, in its order.
    pub entries: Vec<Entry>,
    /// The journal ended in the middle of a line: the sweep was killed, or the disk was full.
    pub torn: bool,
}

/// A folder that does not hold what a sweep leaves.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The folder has no experiment.
    #[error("{} has no {EXPERIMENT_FILE}: this is not the folder of a sweep", .0.display())]
    NoExperiment(PathBuf),
    /// The system does not let it be read.
    #[error("{}: {}", .0.display(), .1)]
    System(PathBuf, io::Error),
    /// A file of another time.
    #[error(
        "{} has version {version} and was written by {tool}; this program reads version {VERSION}: use the program that \
         wrote it, or measure again",
        .path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// What wrote it.
        tool: String,
    },
    /// Something else than a sweep writes.
    #[error("{} is not what a sweep writes: {}", .0.display(), .1)]
    NotAnExperiment(PathBuf, serde_json::Error),
    /// A whole line that is none of a journal.
    #[error("{}, line {line}: {reason}; without this line the rest can be read", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1 on.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

/// Reads a sweep's folder. No journal is one without a line: the sweep was killed before its first cell ended.
///
/// # Errors
///
/// [`ReadError`], with the file in its words.
pub fn read(folder: &Path) -> Result<Results, ReadError> {
    let experiment = experiment(folder)?;
    let path = folder.join(JOURNAL_FILE);
    let (entries, torn) = match open(&path) {
        Ok(file) => journal(BufReader::new(file), &path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Vec::new(), false),
        Err(error) => return Err(ReadError::System(path, error)),
    };
    Ok(Results { experiment, entries, torn })
}

/// Reads `experiment.json` alone.
///
/// # Errors
///
/// [`ReadError`], with the file in its words.
pub fn experiment(folder: &Path) -> Result<Experiment, ReadError> {
    let path = folder.join(EXPERIMENT_FILE);
    let text = match text_of(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ReadError::NoExperiment(folder.to_owned()));
        }
        Err(error) => return Err(ReadError::System(path, error)),
    };
    // The version first: what a field of another version lacks would hide the reason.
    match serde_json::from_str::<Stamp>(&text) {
        Ok(Stamp { version, tool }) if version != VERSION => return Err(ReadError::Version { path, version, tool }),
        Ok(_) => {}
        Err(error) => return Err(ReadError::NotAnExperiment(path, error)),
    }
    let read = serde_json::from_str(&text).and_then(|read| match plausible::experiment(&read) {
        Some(reason) => Err(serde_json::Error::custom(reason)),
        None => Ok(read),
    });
    read.map_err(|error| ReadError::NotAnExperiment(path, error))
}

/// A pipe would be waited for, and a device has no end.
fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "this is no file that a sweep writes, but something else of its name",
        ))
    }
}

fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// What every version has.
#[derive(Deserialize)]
struct Stamp {
    version: u32,
    #[serde(default = "unnamed")]
    tool: String,
}

fn unnamed() -> String {
    "an unnamed program".to_owned()
}

/// The entries of a journal, and whether its last line is torn. Only what no newline ends may be torn: the newline is the last
/// byte that is written of a line.
fn journal(mut journal: impl BufRead, path: &Path) -> Result<(Vec<Entry>, bool), ReadError> {
    let mut entries = Vec::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = journal.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        read.map_err(|error| ReadError::System(path.to_owned(), error))?;
        if line.is_empty() {
            break;
        }
        let whole = line.ends_with(b"\n");
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(entry) => match plausible::entry(&entry) {
                Some(reason) => return Err(ReadError::Line { path: path.to_owned(), line: number, reason }),
                None => entries.push(entry),
            },
            Err(_) if !whole && (line.len() as u64) < LONGEST => return Ok((entries, true)),
            Err(error) => {
                return Err(ReadError::Line { path: path.to_owned(), line: number, reason: error.to_string() });
            }
        }
    }
    Ok((entries, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::experiment::{Cell, Client, ConnectionKind, LeftOut, Machine, Measured, Published, Restarted};
    use crate::record::{Run, plain, sample};

    fn planned() -> Experiment {
        Experiment {
            version: VERSION,
            tool: "quintain 0.1.0".to_owned(),
            plan: "quick".to_owned(),
            question: "How fast is it?".to_owned(),
            started_unix_s: 1.7e9,
            seed: 7,
            repeats: 3,
            targets: Vec::new(),
            documents: Vec::new(),
            cells: Vec::new(),
            gates: Vec::new(),
            band: 0.02,
            client: Client::default(),
            machine: Machine::default(),
            published: Vec::new(),
            course: None,
            narrowed: None,
        }
    }

    fn left_out() -> Entry {
        Entry::LeftOut(LeftOut { target: "a".to_owned(), document: None, reason: "It answers 404.".to_owned() })
    }

    fn restarted() -> Entry {
        Entry::Restarted(Restarted { target: "b".to_owned(), reason: "signal 9".to_owned() })
    }

    /// A folder with this journal.
    fn folder(journal: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(EXPERIMENT_FILE), serde_json::to_string(&planned()).unwrap()).unwrap();
        fs::write(folder.path().join(JOURNAL_FILE), journal).unwrap();
        folder
    }

    fn lines() -> [String; 2] {
        [left_out(), restarted()].map(|entry| serde_json::to_string(&entry).unwrap())
    }

    #[test]
    fn what_was_written_comes_back() {
        let [first, second] = lines();
        let folder = folder(&format!("{first}\n\n{second}\n"));
        let expected = Results { experiment: planned(), entries: vec![left_out(), restarted()], torn: false };
        assert_eq!(read(folder.path()).unwrap(), expected);
    }

    /// Those of the time before it was kept have none.
    #[test]
    fn an_experiment_without_its_course_is_read() {
        let folder = folder("");
        let mut written = serde_json::to_value(planned()).unwrap();
        assert!(written.as_object_mut().unwrap().remove("course").is_some());
        fs::write(folder.path().join(EXPERIMENT_FILE), written.to_string()).unwrap();
        assert_eq!(read(folder.path()).unwrap().experiment, planned());
    }

    #[test]
    fn a_torn_last_line_is_told_wherever_it_is_torn() {
        let [first, second] = lines();
        for end in 1..second.len() {
            let folder = folder(&format!("{first}\n{}", &second[..end]));
            let results = read(folder.path()).unwrap();
            assert_eq!((results.entries.len(), results.torn), (1, true), "{end}");
        }
        let whole = read(folder(&format!("{first}\n{second}")).path()).unwrap();
        assert_eq!((whole.entries.len(), whole.torn), (2, false), "only the newline is missing");
    }

    #[test]
    fn a_whole_line_that_is_none_is_refused_with_its_number() {
        let [first, second] = lines();
        let folder = folder(&format!("{first}\n{{\"moon\": 1}}\n{second}\n"));
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("journal.jsonl, line 2: unknown variant `moon`"), "{error}");
    }

    /// They would be drawn as far as the axes reach, and a little further.
    #[test]
    fn figures_that_nobody_measures_are_refused() {
        let folder = folder("");
        let refused = |change: &dyn Fn(&mut Experiment)| {
            let mut planned = planned();
            change(&mut planned);
            fs::write(folder.path().join(EXPERIMENT_FILE), serde_json::to_string(&planned).unwrap()).unwrap();
            read(folder.path()).unwrap_err().to_string()
        };
        let band = refused(&|planned| planned.band = 1e308);
        assert!(band.ends_with("is not what a sweep writes: a band of 1e308 is not between 0 and 0.5"), "{band}");
        let figure = refused(&|planned| planned.published = vec![published(-5.0)]);
        assert!(figure.ends_with("published requests/s of -5e0 are nothing that can be measured"), "{figure}");
    }

    fn published(requests_per_s: f64) -> Published {
        Published {
            source: "a paper".to_owned(),
            server: "a server".to_owned(),
            document: "1k.html".to_owned(),
            connections: ConnectionKind::Short,
            concurrency: 50,
            requests_per_s,
            note: String::new(),
        }
    }

    #[test]
    fn a_line_with_figures_that_nobody_measures_is_refused_with_its_number() {
        let mut record = sample::record();
        record.runs = vec![plain::run()];
        let cell = Cell {
            target: "a".to_owned(),
            document: "1k.html".to_owned(),
            connections: ConnectionKind::Short,
            concurrency: 50,
            repeat: 1,
            requests: Some(100),
            duration_ms: None,
        };
        let refused = |change: &dyn Fn(&mut Run)| {
            let mut measured = Measured { cell: cell.clone(), restarted: false, time_wait: 0, record: record.clone() };
            change(&mut measured.record.runs[0]);
            let line = serde_json::to_string(&Entry::Measured(Box::new(measured))).unwrap();
            read(folder(&format!("{line}\n")).path()).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(refused(&|_| {}), Ok(()));
        let rate = refused(&|run| run.answered_per_s = -1.0).unwrap_err();
        assert!(rate.contains("line 1: requests/s of -1e0 are nothing that can be measured"), "{rate}");
        let cpu = refused(&|run| run.client.cpu_per_request_us = 1e308).unwrap_err();
        assert!(cpu.contains("line 1: CPU for each request of the client of 1e308 are nothing"), "{cpu}");
    }

    #[test]
    fn only_files_are_read() {
        for name in [EXPERIMENT_FILE, JOURNAL_FILE] {
            let folder = folder("");
            fs::remove_file(folder.path().join(name)).unwrap();
            std::os::unix::fs::symlink("/dev/null", folder.path().join(name)).unwrap();
            let error = read(folder.path()).unwrap_err().to_string();
            assert!(
                error.ends_with(&format!(
                    "/{name}: this is no file that a sweep writes, but something else of its name"
                )),
                "{error}"
            );
        }
    }

    #[test]
    fn without_a_journal_nothing_happened() {
        let folder = folder("");
        fs::remove_file(folder.path().join(JOURNAL_FILE)).unwrap();
        let results = read(folder.path()).unwrap();
        assert_eq!((results.entries.len(), results.torn), (0, false));
    }

    #[test]
    fn another_version_is_named_whatever_it_holds() {
        let folder = folder("");
        fs::write(folder.path().join(EXPERIMENT_FILE), r#"{"version": 9, "tool": "quintain 9.0.0"}"#).unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        let expected = "experiment.json has version 9 and was written by quintain 9.0.0; this program reads version 1: use the \
                        program that wrote it, or measure again";
        assert!(error.ends_with(expected), "{error}");
    }

    #[test]
    fn another_folder_is_named() {
        let empty = tempfile::tempdir().unwrap();
        let error = read(empty.path()).unwrap_err().to_string();
        assert!(error.ends_with("has no experiment.json: this is not the folder of a sweep"), "{error}");
        fs::write(empty.path().join(EXPERIMENT_FILE), "[]").unwrap();
        let error = read(empty.path()).unwrap_err().to_string();
        assert!(error.contains("experiment.json is not what a sweep writes: "), "{error}");
    }
}
