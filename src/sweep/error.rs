//! Why a sweep does not go on.

use std::io;
use std::path::{Path, PathBuf};

use crate::record::experiment::{LeftOut, ReadError};

/// Why a sweep does not go on. What stands in the journal is safe, whatever it is.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// Something cannot be written: mostly a full disk.
    #[error("cannot write {}: {error}", .path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The folder is in use for something else.
    #[error("{} is not empty; name another folder, or go on with what is there by --resume", .0.display())]
    NotEmpty(PathBuf),
    /// Another sweep writes to it.
    #[error("another sweep is writing to {}; wait for its end, or name another folder", .0.display())]
    Taken(PathBuf),
    /// It cannot be resumed.
    #[error("{}", .0)]
    Read(#[from] ReadError),
    /// The resolved plan is not there, or is not one.
    #[error("{}: {reason}; without it the sweep cannot be resumed", .path.display())]
    NoPlan {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It can be, but what would follow is not what was there before.
    #[error("{}: {what}; what would follow could not be compared with what is there: begin a new sweep", .folder.display())]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// What has changed.
        what: String,
    },
    /// A target that took part until now does not come back.
    #[error("{target} took part until now, and {reason}; put that right and resume once more")]
    NotBack {
        /// Its name.
        target: String,
        /// Why.
        reason: String,
    },
    /// There is nobody to measure.
    #[error("no target is left: {}", reasons(.0))]
    NobodyLeft(Vec<LeftOut>),
    /// What else is written of a measurement could not be.
    #[error("{0}")]
    Keep(String),
    /// No process can be started.
    #[error("cannot start a process: {0}")]
    Start(io::Error),
}

impl SweepError {
    /// Something cannot be written.
    pub fn write(path: &Path, error: io::Error) -> Self {
        Self::Write { path: path.to_owned(), error }
    }
}

fn reasons(left_out: &[LeftOut]) -> String {
    let sentence = |left: &LeftOut| match &left.document {
        Some(document) => format!("{}, {document}: {}", left.target, left.reason),
        None => format!("{}: {}", left.target, left.reason),
    };
    left_out.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

/// What ends a sweep before its end.
#[derive(Debug)]
pub enum Cut {
    /// Somebody wanted it to stop.
    Stopped,
    /// It cannot go on.
    Failed(SweepError),
}

impl From<SweepError> for Cut {
    fn from(error: SweepError) -> Self {
        Self::Failed(error)
    }
}
