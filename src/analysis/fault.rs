//! What makes a measurement invalid, and for which verdict.

use crate::record::experiment::Measured;
use crate::record::{Doubt, Gate, Run};

use super::Metric;

/// Something that is wrong with a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// In how many of its repeats.
    pub repeats: usize,
    /// As a clause, with the figures of all of them: `the client had no CPU left, in 2 of 5 repeats`.
    pub words: String,
}

/// Kinds of faults, from the worst on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// Requests failed: a server that drops some of its work has time for the rest.
    Failures,
    /// The target had died before it, and was not warm, or died during it.
    Restarted,
    /// Ended by a signal before its time.
    Interrupted,
    /// Given up.
    Aborted,
    /// Nothing was answered.
    NoAnswer,
    /// A process that was watched ended: what it used last nobody knows.
    ProcessEnded,
    /// The client had no CPU left: requests/s is a lower bound, of whichever server.
    ClientWasTheLimit,
    /// Fewer connections were busy than the point says.
    ConcurrencyNotAchieved,
    /// Fewer requests went out than were asked for.
    RateNotAchieved,
    /// A gate of the plan broke.
    Gate,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Failures,
        Self::Restarted,
        Self::Interrupted,
        Self::Aborted,
        Self::NoAnswer,
        Self::ProcessEnded,
        Self::ClientWasTheLimit,
        Self::ConcurrencyNotAchieved,
        Self::RateNotAchieved,
        Self::Gate,
    ];

    /// Whether it keeps a point out of verdicts on this.
    ///
    /// The server's CPU for each request stays what it is when the client, or the plan, sets the pace: that is why it
    /// stands beside requests/s. A process that ended has taken its CPU time along, but not its answers.
    #[must_use]
    pub const fn concerns(self, metric: Metric) -> bool {
        match self {
            Self::Failures | Self::Restarted | Self::Interrupted | Self::Aborted | Self::NoAnswer => true,
            Self::ProcessEnded => matches!(metric, Metric::ServerCpu),
            Self::ClientWasTheLimit | Self::ConcurrencyNotAchieved | Self::RateNotAchieved | Self::Gate => {
                matches!(metric, Metric::RequestsPerSecond)
            }
        }
    }

    /// What it is, without figures, as a clause.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failures => "requests failed",
            Self::Restarted => "the server had died and was started again",
            Self::Interrupted => "the run was interrupted",
            Self::Aborted => "the run was given up, since nothing but failures came",
            Self::NoAnswer => "nothing was answered",
            Self::ProcessEnded => "a process of the server ended",
            Self::ClientWasTheLimit => "the client had no CPU left",
            Self::ConcurrencyNotAchieved => "not all connections were busy",
            Self::RateNotAchieved => "the rate was not reached",
            Self::Gate => "a gate of the plan broke",
        }
    }
}

/// All that is wrong with a point, each kind of fault once and each gate once.
pub(super) fn of(repeats: &[&Measured], gates: &[Gate]) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    // A gate is known by its place; what is built in has none.
    let kinds = FaultKind::ALL.into_iter().filter(|kind| *kind != FaultKind::Gate).map(|kind| (kind, None));
    let checks = kinds.chain(gates.iter().map(|gate| (FaultKind::Gate, Some(gate))));
    for (kind, gate) in checks {
        let found: Vec<&Run> = repeats.iter().filter_map(|repeat| check(kind, gate, repeat)).collect();
        if !found.is_empty() {
            let words = in_repeats(&words(kind, gate, &found), found.len(), repeats.len());
            faults.push(Fault { kind, repeats: found.len(), words });
        }
    }
    faults
}

fn in_repeats(words: &str, found: usize, all: usize) -> String {
    match (found, all) {
        (_, 1) => words.to_owned(),
        (found, all) if found == all => format!("{words}, in all {all} repeats"),
        _ => format!("{words}, in {found} of {all} repeats"),
    }
}

/// The run of a measurement, if it has the fault.
fn check<'a>(kind: FaultKind, gate: Option<&Gate>, measured: &'a Measured) -> Option<&'a Run> {
    let run = measured.record.runs.first()?;
    let doubted = |doubt| run.verdict.doubts.contains(&doubt);
    let has_it = match kind {
        FaultKind::Failures => run.endings.failed() > 0,
        FaultKind::Gate => gate.is_some_and(|gate| broken(gate, run).is_some()),
        FaultKind::Restarted => measured.restarted,
        FaultKind::Interrupted => run.interrupted,
        FaultKind::Aborted => run.aborted,
        FaultKind::NoAnswer => run.endings.answered() == 0,
        FaultKind::ProcessEnded => run.watched.iter().any(|process| process.gone),
        FaultKind::ClientWasTheLimit => doubted(Doubt::ClientWasTheLimit),
        FaultKind::ConcurrencyNotAchieved => doubted(Doubt::ConcurrencyNotAchieved),
        FaultKind::RateNotAchieved => doubted(Doubt::RateNotAchieved),
    };
    has_it.then_some(run)
}

/// The clause for the runs that have the fault, at least one. The mildest of them alone would not tell of the others.
fn words(kind: FaultKind, gate: Option<&Gate>, found: &[&Run]) -> String {
    match kind {
        FaultKind::Failures => {
            let sum = |count: fn(&Run) -> u64| found.iter().map(|run| count(run)).fold(0, u64::saturating_add);
            let (failed, all) = (sum(|run| run.endings.failed()), sum(|run| run.endings.all()));
            format!("{failed} of {all} requests failed")
        }
        FaultKind::ConcurrencyNotAchieved => busy(found),
        FaultKind::Gate => {
            let first = found.first().zip(gate).and_then(|(run, gate)| broken(gate, run)).unwrap_or_default();
            if found.len() > 1 { format!("{first}, the first of them") } else { first }
        }
        _ => kind.name().to_owned(),
    }
}

/// `on average only 502 to 556 of 1000 connections were busy`.
fn busy(found: &[&Run]) -> String {
    let all = found.iter().map(|run| run.settings.connections).max().unwrap_or(0);
    let decimals = usize::from(all < 10);
    let figures: Vec<f64> = found.iter().map(|run| run.client.achieved_concurrency).collect();
    let low = format!("{:.decimals$}", figures.iter().copied().fold(f64::INFINITY, f64::min));
    let high = format!("{:.decimals$}", figures.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let range = if low == high { low } else { format!("{low} to {high}") };
    format!("on average only {range} of {all} connections were busy")
}

/// A gate is asked of whole runs only: see [`Gate`].
fn broken(gate: &Gate, run: &Run) -> Option<String> {
    let whole = !run.interrupted && !run.aborted;
    gate.broken(run).filter(|_| whole).map(|broken| format!("{} (the plan's gate is {gate})", broken.fact()))
}
