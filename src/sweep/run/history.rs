//! What the journal of a sweep that is resumed says of it.

use std::collections::{HashMap, HashSet};

use super::super::folder::Before;
use super::Counts;
use crate::record::experiment::{Cell, Entry, LeftOut};

/// What has been done before; nothing, of a new sweep.
#[derive(Debug, Default)]
pub struct History {
    measured: HashSet<Cell>,
    not_measured: HashSet<Cell>,
    left_out: Vec<LeftOut>,
    restarts: HashMap<String, u32>,
}

impl History {
    /// Of a sweep that was begun before.
    pub fn of(before: Option<&Before>) -> Self {
        let mut history = Self::default();
        for entry in before.iter().flat_map(|before| &before.entries) {
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
    pub fn is_done(&self, cell: &Cell) -> bool {
        self.measured.contains(cell) || self.not_measured.contains(cell)
    }

    /// Whether nothing is to be done for the cell any more.
    pub fn settles(&self, cell: &Cell) -> bool {
        self.is_done(cell) || self.is_left_out(&cell.target, Some(&cell.document))
    }

    /// Whether a target is left out, or one of its documents.
    pub fn is_left_out(&self, target: &str, document: Option<&str>) -> bool {
        self.left_out
            .iter()
            .any(|left| left.target == target && (left.document.is_none() || left.document.as_deref() == document))
    }

    /// Whether anything was measured of a target, or tried.
    pub fn has_seen(&self, target: &str) -> bool {
        self.measured.iter().chain(&self.not_measured).any(|cell| cell.target == target)
    }

    /// How often it has been started again.
    pub fn restarts(&self, target: &str) -> u32 {
        self.restarts.get(target).copied().unwrap_or(0)
    }

    /// What left out targets were left out for.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// How many cells are done, and of these how many will not be.
    pub fn counts(&self, cells: &[Cell]) -> Counts {
        let skipped = cells.iter().filter(|cell| !self.is_done(cell) && self.settles(cell)).count();
        Counts { measured: self.measured.len(), not_measured: self.not_measured.len(), skipped }
    }
}
