//! From measured cells to curves.

use std::collections::BTreeSet;

use crate::record::Gate;
use crate::record::experiment::{Cell, ConnectionKind, Document, Experiment, Measured, Target};

use super::journal::Journal;
use super::{Group, Series, point};

/// The groups of an experiment in which anything was measured: by documents in the plan's order, and within each by kinds of
/// connections in theirs.
pub(super) fn groups(experiment: &Experiment, journal: &Journal<'_>) -> Vec<Group> {
    let gates = gates(experiment);
    let mut groups = Vec::new();
    for document in &experiment.documents {
        for connections in kinds(experiment, document) {
            groups.push(group(experiment, journal, document, connections, &gates));
        }
    }
    groups.retain(|group| !group.series.is_empty());
    groups
}

fn group(
    experiment: &Experiment,
    journal: &Journal<'_>,
    document: &Document,
    connections: ConnectionKind,
    gates: &[Gate],
) -> Group {
    let here = |cell: &Cell| cell.document == document.name && cell.connections == connections;
    let planned: Vec<&Cell> = experiment.cells.iter().filter(|cell| here(cell)).collect();
    let levels = planned.iter().map(|cell| cell.concurrency).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
    let measured: Vec<&Measured> =
        journal.measured.iter().filter(|(cell, _)| here(cell)).map(|(_, measured)| *measured).collect();
    let is_in = |name: &str| measured.iter().any(|measured| measured.cell.target == name);
    let mut names = experiment.targets.iter().map(|target| target.name.as_str());
    let baseline = names.find(|name| is_in(name));
    let published = experiment
        .published
        .iter()
        .filter(|figure| figure.document == document.name && figure.connections == connections);
    Group {
        document: document.clone(),
        connections,
        baseline: baseline.unwrap_or_default().to_owned(),
        series: series(experiment, &levels, &measured, gates),
        published: published.cloned().collect(),
        levels,
    }
}

/// The gates of a plan that can be read; [`super::warnings`] tells of the others.
fn gates(experiment: &Experiment) -> Vec<Gate> {
    experiment.gates.iter().filter_map(|gate| gate.parse().ok()).collect()
}

fn kinds(experiment: &Experiment, document: &Document) -> Vec<ConnectionKind> {
    let planned = experiment.cells.iter().filter(|cell| cell.document == document.name).map(|cell| cell.connections);
    planned.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The curves of all targets that have a point. `cells` come sorted by repeat.
fn series(experiment: &Experiment, levels: &[u64], cells: &[&Measured], gates: &[Gate]) -> Vec<Series> {
    let of = |(place, target): (usize, &Target)| {
        let target = target.name.as_str();
        let points = levels.iter().filter_map(|level| {
            let here = |measured: &&&Measured| measured.cell.target == target && measured.cell.concurrency == *level;
            let repeats: Vec<&Measured> = cells.iter().filter(here).copied().collect();
            point::of(*level, &repeats, gates)
        });
        Series { target: target.to_owned(), place, points: points.collect() }
    };
    let all = experiment.targets.iter().enumerate().map(of);
    all.filter(|series| !series.points.is_empty()).collect()
}
