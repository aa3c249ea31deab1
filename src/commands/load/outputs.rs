//! The files that results go to, opened before the run: ab opens them after it, and loses a run to a typing error.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::refusal::Refusal;
use crate::cli::LoadArgs;

/// Where each result goes, as far as it was asked for.
#[derive(Debug)]
pub struct Outputs {
    /// The report, which else goes to stdout.
    pub report: Option<Output>,
    /// Percentile text.
    pub hdr: Option<Output>,
    /// Percentiles as CSV.
    pub percentiles: Option<Output>,
    /// A row for each answered request.
    pub rows: Option<Output>,
}

impl Outputs {
    /// Opens all files.
    pub fn open(args: &LoadArgs) -> Result<Self, Refusal> {
        let named =
            [("--output-file", &args.output_file), ("--hdr", &args.hdr), ("-e", &args.percentiles), ("-g", &args.rows)];
        let mut taken: Vec<(&str, &Path)> = Vec::new();
        for (flag, path) in named.iter().filter_map(|(flag, path)| Some((*flag, path.as_deref()?))) {
            if let Some((other, _)) = taken.iter().find(|(_, other)| *other == path) {
                let path = path.display();
                return Err(Refusal::usage(format_args!("{other} and {flag} both write to {path}; name two files")));
            }
            taken.push((flag, path));
        }
        let [report, hdr, percentiles, rows] =
            named.map(|(flag, path)| path.as_ref().map(|path| Output::open(flag, path)).transpose());
        Ok(Self { report: report?, hdr: hdr?, percentiles: percentiles?, rows: rows? })
    }
}

/// One file.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: File,
}

impl Output {
    /// What stands there stays until the new result is there.
    fn open(flag: &str, path: &Path) -> Result<Self, Refusal> {
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let refused =
            |error| Refusal::failed(format_args!("cannot open {flag} {} for writing: {error}", path.display()));
        Ok(Self { path: path.to_owned(), file: opened.map_err(refused)? })
    }

    /// Replaces the file's content by what `write` writes.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Refusal> {
        self.replace(write)
            .map_err(|error| Refusal::failed(format_args!("cannot write {}: {error}", self.path.display())))
    }

    fn replace(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        // A pipe or a terminal has no length to cut.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        let mut buffered = BufWriter::new(&self.file);
        write(&mut buffered)?;
        buffered.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::args;
    use super::*;

    #[test]
    fn a_file_keeps_its_content_until_there_is_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        fs::write(&path, "the last run, a long text").unwrap();
        let outputs = Outputs::open(&args(&["-o", path.to_str().unwrap(), "http://h/"])).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the last run, a long text");
        assert!(outputs.hdr.is_none() && outputs.percentiles.is_none() && outputs.rows.is_none());
        outputs.report.unwrap().write(|file| file.write_all(b"this run")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "this run");
    }

    #[test]
    fn what_cannot_be_written_is_said_before_the_run() {
        for flag in ["-o", "--hdr", "-e", "-g"] {
            match Outputs::open(&args(&[flag, "/nowhere/x", "http://h/"])) {
                Err(Refusal::Failed(said)) => assert!(said.contains(" /nowhere/x for writing: No such file"), "{said}"),
                other => panic!("{flag}: {other:?}"),
            }
        }
        let Err(Refusal::Usage(said)) = Outputs::open(&args(&["-e", "x", "-g", "x", "http://h/"])) else {
            panic!("not refused")
        };
        assert_eq!(said, "-e and -g both write to x; name two files");
    }

    #[test]
    fn a_failed_write_names_the_file() {
        let full = Output::open("-e", Path::new("/dev/full")).unwrap();
        let Err(Refusal::Failed(said)) = full.write(|file| file.write_all(b"x")) else { panic!("written") };
        assert_eq!(said, "cannot write /dev/full: No space left on device (os error 28)");
    }
}
