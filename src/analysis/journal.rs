//! A journal, sorted by what it speaks of.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::experiment::{Cell, Entry, Experiment, LeftOut, Measured, NotMeasured, Restarted};

/// The entries of an experiment.
pub(super) struct Journal<'a> {
    /// Of each planned cell that was measured; where a journal has two lines for one, the later.
    pub(super) measured: BTreeMap<&'a Cell, &'a Measured>,
    /// Planned cells that were tried in vain and never with success, each once with its last reason.
    pub(super) not_measured: Vec<NotMeasured>,
    /// Who takes no part, each once.
    pub(super) left_out: Vec<LeftOut>,
    /// Who was started again.
    pub(super) restarted: Vec<Restarted>,
}

impl<'a> Journal<'a> {
    pub(super) fn of(experiment: &Experiment, entries: &'a [Entry]) -> Self {
        let planned: BTreeSet<&Cell> = experiment.cells.iter().collect();
        let mut journal =
            Self { measured: BTreeMap::new(), not_measured: Vec::new(), left_out: Vec::new(), restarted: Vec::new() };
        for entry in entries {
            match entry {
                Entry::Measured(measured) if planned.contains(&measured.cell) => journal.take(measured),
                // What nobody planned is no part of the experiment.
                Entry::Measured(_) => {}
                Entry::NotMeasured(tried) if planned.contains(&tried.cell) => journal.not_measured.push(tried.clone()),
                Entry::NotMeasured(_) => {}
                // A sweep that is resumed says it again.
                Entry::LeftOut(out) if journal.left_out.contains(out) => {}
                Entry::LeftOut(out) => journal.left_out.push(out.clone()),
                Entry::Restarted(restarted) => journal.restarted.push(restarted.clone()),
            }
        }
        let measured = &journal.measured;
        // A sweep that is resumed tries it again: the last reason is the one that stands.
        let mut told: BTreeSet<Cell> = BTreeSet::new();
        journal.not_measured.reverse();
        journal.not_measured.retain(|tried| !measured.contains_key(&tried.cell) && told.insert(tried.cell.clone()));
        journal.not_measured.reverse();
        journal
    }

    /// Cells that are measured, or should be: without those of whoever takes no part.
    pub(super) fn expected(&self, experiment: &Experiment) -> usize {
        experiment.cells.iter().filter(|cell| self.measured.contains_key(cell) || !self.is_left_out(cell)).count()
    }

    /// Cells that should be measured, and have not even been tried.
    pub(super) fn untried(&self, experiment: &Experiment) -> usize {
        let tried: BTreeSet<&Cell> = self.not_measured.iter().map(|tried| &tried.cell).collect();
        let is_known = |cell: &Cell| self.measured.contains_key(cell) || tried.contains(cell) || self.is_left_out(cell);
        experiment.cells.iter().filter(|cell| !is_known(cell)).count()
    }

    fn is_left_out(&self, cell: &Cell) -> bool {
        self.left_out.iter().any(|out| {
            out.target == cell.target && out.document.as_ref().is_none_or(|document| *document == cell.document)
        })
    }

    /// A record without a run would say nothing. No load tool writes one.
    fn take(&mut self, measured: &'a Measured) {
        if measured.record.runs.is_empty() {
            let reason = "the load tool's record holds no run".to_owned();
            self.not_measured.push(NotMeasured { cell: measured.cell.clone(), reason });
        } else {
            self.measured.insert(&measured.cell, measured);
        }
    }
}
