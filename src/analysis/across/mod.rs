//! Two results beside each other: a new version, another kernel, another setting.
//!
//! They were not measured in blocks, so no repeat of one belongs to a repeat of the other, and whatever changed with time
//! between them is in every ratio. What can be said in spite of that is said with Welch's t and the rank-sum test, by the same
//! rules and in the same words as within one result.

mod answer;
mod change;
mod differences;
#[cfg(test)]
mod tests;

pub use differences::Difference;

use super::{Analysis, Comparison, Metric};
use crate::record::experiment::ConnectionKind;

/// One of the two.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What it is called: mostly its folder.
    pub name: String,
    /// What it found.
    pub analysis: Analysis,
}

/// Two results, the one that the other is compared with first.
#[derive(Debug, Clone, PartialEq)]
pub struct Across {
    /// Stands below the line of each ratio.
    pub before: Side,
    /// Stands above it.
    pub after: Side,
    /// What else differs between them.
    pub differences: Vec<Difference>,
    /// Each target at each concurrency, and over its curves.
    pub changes: Vec<Change>,
    /// The answer, in sentences; the first one is the headline.
    pub answer: Vec<String>,
    /// What a reader has to know before believing it, in sentences.
    pub warnings: Vec<String>,
}

/// A target against itself in the other result.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its name, which is the same in both.
    pub target: String,
    /// How it came out. Its `target` is the name of the later result and its `baseline` that of the earlier; its `pairs` are
    /// the repeats of the one that has fewer.
    pub comparison: Comparison,
}

impl Across {
    /// Compares two results.
    #[must_use]
    pub fn of(before: Side, after: Side) -> Self {
        let mut across = Self {
            differences: differences::all(&before.analysis.experiment, &after.analysis.experiment),
            changes: change::all(&before, &after),
            before,
            after,
            answer: Vec::new(),
            warnings: Vec::new(),
        };
        across.answer = answer::sentences(&across);
        across.warnings = answer::warnings(&across);
        across
    }

    /// How many comparisons were made.
    #[must_use]
    pub fn compared(&self) -> usize {
        self.changes.iter().filter(|change| change.comparison.estimate().is_some()).count()
    }

    /// The changes that speak for a document and a kind of connections: of whole curves, or of the only concurrency.
    pub fn headlines(&self, document: &str, connections: ConnectionKind) -> impl Iterator<Item = &Change> {
        let here = move |change: &&Change| {
            let comparison = &change.comparison;
            comparison.document == document && comparison.connections == connections
        };
        let has_curve = self.changes.iter().filter(here).any(|change| change.comparison.concurrency.is_none());
        self.changes.iter().filter(here).filter(move |change| change.comparison.concurrency.is_none() == has_curve)
    }
}
