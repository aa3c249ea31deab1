//! Why there is no run.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use super::super::{FAILED, USAGE, fail};

/// Why there is no run, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The command line cannot be meant: exit code 2.
    Usage(String),
    /// It can, but not here and now: exit code 1.
    Failed(String),
}

impl Refusal {
    /// A command line that cannot be meant.
    pub fn usage(sentence: impl Display) -> Self {
        Self::Usage(sentence.to_string())
    }

    /// What cannot be done here and now.
    pub fn failed(sentence: impl Display) -> Self {
        Self::Failed(sentence.to_string())
    }

    /// Says it, and gives the exit code.
    pub fn exit(&self) -> ExitCode {
        match self {
            Self::Usage(sentence) => fail(USAGE, sentence),
            Self::Failed(sentence) => fail(FAILED, sentence),
        }
    }
}

/// The content of a file that a flag names, of at most so many bytes.
pub fn content(flag: &str, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
    let failed = |error: &io::Error| Refusal::failed(format_args!("cannot read {flag} {}: {error}", path.display()));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(&error))?;
    let read = file.take(most + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if read as u64 > most {
        return Err(Refusal::failed(format_args!("{flag} {} is larger than {most} bytes", path.display())));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn files_up_to_their_bound() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"12345").unwrap();
        assert_eq!(content("--body", file.path(), 5), Ok(b"12345".to_vec()));
        let Err(Refusal::Failed(sentence)) = content("--body", file.path(), 4) else { panic!("not refused") };
        assert!(sentence.starts_with("--body /") && sentence.ends_with(" is larger than 4 bytes"), "{sentence}");
        let Err(Refusal::Failed(sentence)) = content("--verify", Path::new("/nowhere/x"), 4) else { panic!("read") };
        assert_eq!(sentence, "cannot read --verify /nowhere/x: No such file or directory (os error 2)");
    }
}
