//! One line of the journal.

use serde::{Deserialize, Serialize};

use super::Cell;
use crate::record::Record;

/// Something that happened. Externally tagged (`{"measured": {…}}`): serde's internal tags cannot carry maps whose keys are
/// numbers, and a record has one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// A cell was measured. A valid line of this kind, or of the next, is what makes a cell done.
    Measured(Box<Measured>),
    /// A cell was tried, and there is no record of it.
    NotMeasured(NotMeasured),
    /// A target takes no further part, or one of its documents does not.
    LeftOut(LeftOut),
    /// A target had died and was started again.
    Restarted(Restarted),
}

/// A measured cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Which.
    pub cell: Cell,
    /// The target had to be started again before it, or died during it.
    pub restarted: bool,
    /// Sockets in TIME_WAIT when it began, on the whole machine.
    pub time_wait: u64,
    /// What the load tool says: one run, with the processes of the target watched.
    pub record: Record,
}

/// A cell without a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotMeasured {
    /// Which.
    pub cell: Cell,
    /// Why, as a sentence.
    pub reason: String,
}

/// A target, or one of its documents, that takes no part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name.
    pub target: String,
    /// The document, or `None` for all of them.
    pub document: Option<String>,
    /// Why, as a sentence.
    pub reason: String,
}

/// A target that had died and was started again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restarted {
    /// Its name.
    pub target: String,
    /// How it had ended.
    pub reason: String,
}
