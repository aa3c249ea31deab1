//! What the journal of a sweep that is resumed says of it.

use std::collections::{HashMap, HashSet};

use crate::record::experiment::{Cell, Entry, LeftOut};

/// Cells of all that were planned, those of the time before a sweep was resumed among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// With a record.
    pub measured: usize,
    /// Tried, without one.
    pub not_measured: usize,
    /// Not tried: their target or document was left out.
    pub skipped: usize,
}

/// What has been done before; nothing, of a new sweep. Without the records: a long sweep has thousands of them.
#[derive(Debug, Clone, Default)]
pub struct History {
    measured: HashSet<Cell>,
    not_measured: HashSet<Cell>,
    left_out: Vec<LeftOut>,
    restarts: HashMap<String, u32>,
}

impl History {
    /// What these entries say.
    #[must_use]
    pub fn of(entries: &[Entry]) -> Self {
        let mut history = Self::default();
        for entry in entries {
            match entry {
                Entry::Measured(measured) => drop(history.measured.insert(measured.cell.clone())),
                Entry::NotMeasured(tried) => drop(history.not_measured.insert(tried.cell.clone())),
                Entry::LeftOut(left_out) => history.left_out.push(left_out.clone()),
                Entry::Restarted(restarted) => *history.restarts.entry(restarted.target.clone()).or_default() += 1,
            }
        }
        history
    }

    /// Whether the cell has been measured, or tried in vain.
    #[must_use]
    pub fn is_done(&self, cell: &Cell) -> bool {
        self.measured.contains(cell) || self.not_measured.contains(cell)
    }

    /// Whether nothing is to be done for the cell any more.
    #[must_use]
    pub fn settles(&self, cell: &Cell) -> bool {
        self.is_done(cell) || self.is_left_out(&cell.target, Some(&cell.document))
    }

    /// Whether a target is left out, or one of its documents.
    #[must_use]
    pub fn is_left_out(&self, target: &str, document: Option<&str>) -> bool {
        self.left_out
            .iter()
            .any(|left| left.target == target && (left.document.is_none() || left.document.as_deref() == document))
    }

    /// Whether anything was measured of a target, or tried.
    #[must_use]
    pub fn has_seen(&self, target: &str) -> bool {
        self.measured.iter().chain(&self.not_measured).any(|cell| cell.target == target)
    }

    /// How often it has been started again.
    #[must_use]
    pub fn restarts(&self, target: &str) -> u32 {
        self.restarts.get(target).copied().unwrap_or(0)
    }

    /// What left out targets were left out for.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// How many cells have been done, and how many of these will not be.
    #[must_use]
    pub fn counts(&self, cells: &[Cell]) -> Counts {
        let skipped = cells.iter().filter(|cell| !self.is_done(cell) && self.settles(cell)).count();
        Counts { measured: self.measured.len(), not_measured: self.not_measured.len(), skipped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::experiment::{ConnectionKind, Measured, NotMeasured, Restarted};
    use crate::record::sample;

    fn cell(target: &str, document: &str, repeat: u64) -> Cell {
        let (target, document, connections) = (target.into(), document.into(), ConnectionKind::Short);
        Cell { target, document, connections, concurrency: 1, repeat, requests: Some(1), duration_ms: None }
    }

    fn history() -> History {
        let left_out = |target: &str, document: Option<&str>| {
            let (target, document) = (target.into(), document.map(str::to_owned));
            Entry::LeftOut(LeftOut { target, document, reason: String::new() })
        };
        let (a, record) = (cell("a", "x", 1), sample::record());
        History::of(&[
            Entry::Measured(Box::new(Measured { cell: a, restarted: false, time_wait: 0, record })),
            Entry::NotMeasured(NotMeasured { cell: cell("a", "x", 2), reason: String::new() }),
            left_out("b", None),
            left_out("c", Some("x")),
            Entry::Restarted(Restarted { target: "a".into(), reason: String::new() }),
        ])
    }

    #[test]
    fn what_needs_nothing_any_more() {
        let history = history();
        let rows = [
            (cell("a", "x", 1), true, true),
            (cell("a", "x", 2), true, true),
            (cell("a", "x", 3), false, false),
            (cell("b", "x", 1), false, true),
            (cell("c", "x", 1), false, true),
            (cell("c", "y", 1), false, false),
        ];
        for (cell, done, settled) in &rows {
            assert_eq!((history.is_done(cell), history.settles(cell)), (*done, *settled), "{cell:?}");
        }
        let cells = rows.map(|(cell, ..)| cell);
        assert_eq!(history.counts(&cells), Counts { measured: 1, not_measured: 1, skipped: 2 });
    }

    #[test]
    fn who_took_part() {
        let history = history();
        assert!(history.has_seen("a") && !history.has_seen("b") && !history.has_seen("c"));
        assert_eq!((history.restarts("a"), history.restarts("b")), (1, 0));
        assert!(history.is_left_out("b", None) && !history.is_left_out("c", None));
        assert_eq!(history.left_out().len(), 2);
    }
}
