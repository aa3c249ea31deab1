//! From measured cells to curves.

use std::collections::BTreeSet;

use crate::record::Gate;
use crate::record::experiment::{Cell, ConnectionKind, Document, Experiment, Measured};

use super::journal::Journal;
use super::{Group, Series, point};

/// The groups of an experiment in which anything was measured: by documents in the plan's order, and within each by kinds of
/// connections in theirs.
pub(super) fn groups(experiment: &Experiment, journal: &Journal<'_>) -> Vec<Group> {
    let gates = gates(experiment);
    let mut groups = Vec::new();
    for document in &experiment.documents {
        for connections in kinds(experiment, document) {
            let levels = levels(experiment, document, connections);
            let of = |cell: &Cell| cell.document == document.name && cell.connections == connections;
            let cells: Vec<_> = journal.measured.iter().filter(|(cell, _)| of(cell)).map(|(_, cell)| *cell).collect();
            let series = series(experiment, &levels, &cells, &gates);
            let published = experiment
                .published
                .iter()
                .filter(|figure| figure.document == document.name && figure.connections == connections);
            let published = published.cloned().collect();
            groups.push(Group { document: document.clone(), connections, levels, series, published });
        }
    }
    groups.retain(|group| !group.series.is_empty());
    groups
}

/// The gates of a plan that can be read; [`super::warnings`] tells of the others.
fn gates(experiment: &Experiment) -> Vec<Gate> {
    experiment.gates.iter().filter_map(|gate| gate.parse().ok()).collect()
}

fn kinds(experiment: &Experiment, document: &Document) -> Vec<ConnectionKind> {
    let planned = experiment.cells.iter().filter(|cell| cell.document == document.name).map(|cell| cell.connections);
    planned.collect::<BTreeSet<_>>().into_iter().collect()
}

fn levels(experiment: &Experiment, document: &Document, connections: ConnectionKind) -> Vec<u64> {
    let of = |cell: &&Cell| cell.document == document.name && cell.connections == connections;
    let levels: BTreeSet<_> = experiment.cells.iter().filter(of).map(|cell| cell.concurrency).collect();
    levels.into_iter().collect()
}

/// The curves of all targets that have a point. `cells` come sorted by repeat.
fn series(experiment: &Experiment, levels: &[u64], cells: &[&Measured], gates: &[Gate]) -> Vec<Series> {
    let of = |target: &str| {
        let points = levels.iter().filter_map(|level| {
            let here = |measured: &&&Measured| measured.cell.target == target && measured.cell.concurrency == *level;
            let repeats: Vec<&Measured> = cells.iter().filter(here).copied().collect();
            point::of(*level, &repeats, gates)
        });
        Series { target: target.to_owned(), points: points.collect() }
    };
    let all = experiment.targets.iter().map(|target| of(&target.name));
    all.filter(|series| !series.points.is_empty()).collect()
}
