//! Where comparisons stand. A report asks several times for those of each of its points, and to look through all of them each time
//! would take as the square of their number.

use std::collections::HashMap;

use crate::record::experiment::ConnectionKind;

use super::{Comparison, Metric};

/// What tells the comparisons of a target and a document apart.
type Of = (ConnectionKind, Metric, Option<u64>);

/// Places in a list by document, target, and the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Index(HashMap<String, HashMap<String, HashMap<Of, usize>>>);

impl Index {
    /// Of two with the same key, the first.
    pub(super) fn of(comparisons: &[Comparison]) -> Self {
        let mut index = Self::default();
        for (at, comparison) in comparisons.iter().enumerate() {
            let Comparison { document, connections, concurrency, metric, target, .. } = comparison;
            let targets = index.0.entry(document.clone()).or_default();
            let rest = targets.entry(target.clone()).or_default();
            rest.entry((*connections, *metric, *concurrency)).or_insert(at);
        }
        index
    }

    pub(super) fn place(&self, document: &str, target: &str, of: Of) -> Option<usize> {
        self.0.get(document)?.get(target)?.get(&of).copied()
    }
}
