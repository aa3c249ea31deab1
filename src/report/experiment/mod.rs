//! What an experiment found, as text: for the terminal, for spreadsheets, for programs, and for a page that is read on its own.
//!
//! All four say the same. What words mean is decided in `analysis`; here they are only set.

use std::collections::BTreeMap;

use crate::analysis::{Comparison, FaultKind, Group, Metric, Spread};

pub mod csv;
pub mod json;
pub mod markdown;
mod moment;
pub mod table;

/// The ratio and its word: `1.31 better`.
fn verdict(comparison: &Comparison) -> Option<String> {
    let estimate = comparison.estimate()?;
    Some(format!("{} {}", estimate.shown_ratio(), estimate.word))
}

/// How far a run lies from the median at most, as a share of it: one figure for a range, and none where a single run has
/// none, or nothing was answered.
fn reach(spread: &Spread) -> Option<f64> {
    let Spread { min, median, max, ref values } = *spread;
    (values.len() > 1 && median > 0.0).then(|| (max - median).max(median - min) / median)
}

/// What keeps points out of verdicts on this, each reason once: `the client had no CPU left, in all 5 repeats: nginx at 50,
/// 500; tomcat at 50`.
fn invalid(group: &Group, metric: Metric) -> Vec<String> {
    let mut places: BTreeMap<(FaultKind, &str), Vec<String>> = BTreeMap::new();
    for series in &group.series {
        let mut levels: BTreeMap<(FaultKind, &str), Vec<String>> = BTreeMap::new();
        for point in &series.points {
            for fault in point.faults_of(metric) {
                levels.entry((fault.kind, &fault.words)).or_default().push(point.concurrency.to_string());
            }
        }
        for (reason, levels) in levels {
            places.entry(reason).or_default().push(format!("{} at {}", series.target, levels.join(", ")));
        }
    }
    places.into_iter().map(|((_, words), places)| format!("{words}: {}", places.join("; "))).collect()
}
