//! The runs of one call: a warm-up, then one run, the steps of a ramp, or the stages of a search.
//!
//! It decides what is run next and puts the record together. It runs nothing itself: the caller's closure does that over the
//! engine, and so may show progress and keep what is not part of a record.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::plan::{End, Keep, Pace, Plan};
use super::search;
use crate::record::{Gate, Kind, Need, Record, Run, VERSION};

mod part;
mod seeking;

#[cfg(test)]
mod tests;

pub use part::Part;
use seeking::Seeking;

/// What one call will do.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// What every run has in common. A step has a pace of its own, a stage an end too.
    pub plan: Plan,
    /// Which runs there are.
    pub sequence: Sequence,
    /// What breaks a run. They guide a search; of other sequences the caller asks them afterwards.
    pub gates: Vec<Gate>,
    /// The command line, for the record.
    pub command: Vec<String>,
}

/// Which runs there are.
#[derive(Debug, Clone, PartialEq)]
pub enum Sequence {
    /// One.
    Single,
    /// One at each of these rates: see [`steps`](super::steps::steps).
    Steps(Vec<f64>),
    /// As many as the search takes.
    FindMax(search::Options),
}

/// A gate on something that the runs would not measure.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("--fail-if '{gate}' needs {need}")]
pub struct Unmet {
    /// The gate.
    pub gate: Gate,
    /// What is missing.
    pub need: Need,
}

/// A run that could not be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed<E> {
    /// Why.
    pub error: E,
    /// What was measured before, if anything was.
    pub measured: Option<Box<Record>>,
}

impl Campaign {
    /// Whether the runs will have what the gates look at; to be asked before anything is sent.
    pub fn check(&self) -> Result<(), Unmet> {
        let open = self.sequence != Sequence::Single || matches!(self.plan.pace, Pace::Open { .. });
        let has = |need: &Need| match need {
            Need::Rate => open,
            Need::Watch => !self.plan.watch.is_empty(),
        };
        let unmet = |gate: &Gate| gate.needs().filter(|need| !has(need)).map(|need| Unmet { gate: *gate, need });
        self.gates.iter().find_map(unmet).map_or(Ok(()), Err)
    }

    /// Makes the runs, each by one call of `measure`, and their record; none if `stop` was set before the first run.
    ///
    /// A run that was interrupted is the last one. It is kept, and not judged: half a run may keep to a gate that the whole
    /// would have broken.
    pub fn run<E>(
        &self,
        stop: &AtomicBool,
        mut measure: impl FnMut(&Plan, &Part) -> Result<Run, E>,
    ) -> Result<Option<Record>, Failed<E>> {
        let mut runs = Runs { stop, measure: &mut measure, measured: Vec::new() };
        let (kind, ended, found) = match &self.sequence {
            Sequence::Single => (Kind::Single, runs.all(vec![(self.plan.clone(), Part::Single)]), None),
            Sequence::Steps(rates) => (Kind::Steps, runs.all(part::steps(&self.plan, rates)), None),
            Sequence::FindMax(options) => {
                let mut seeking = Seeking::new(&self.plan, &self.gates, *options);
                let ended = seeking.run(&mut runs);
                (Kind::FindMax, ended, Some(seeking))
            }
        };
        let (found_rate_per_s, finding) = found.map_or((None, None), |seeking| seeking.end(runs.measured.len()));
        let record = (!runs.measured.is_empty()).then(|| Record {
            version: VERSION,
            tool: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            command: self.command.clone(),
            kind,
            runs: runs.measured,
            found_rate_per_s,
            finding,
        });
        match ended {
            Ok(()) | Err(Cut::Interrupted) => Ok(record),
            Err(Cut::Failed(error)) => Err(Failed { error, measured: record.map(Box::new) }),
        }
    }
}

/// Why no further run is made.
enum Cut<E> {
    Interrupted,
    Failed(E),
}

/// The runs until now, and the way to more.
struct Runs<'a, E> {
    stop: &'a AtomicBool,
    measure: &'a mut dyn FnMut(&Plan, &Part) -> Result<Run, E>,
    measured: Vec<Run>,
}

impl<E> Runs<'_, E> {
    fn all(&mut self, parts: Vec<(Plan, Part)>) -> Result<(), Cut<E>> {
        for (plan, part) in parts {
            self.one(plan, &part)?;
        }
        Ok(())
    }

    /// The run of a plan, after its warm-up if it is the first one: the others find a server that is warm.
    fn one(&mut self, mut plan: Plan, part: &Part) -> Result<&Run, Cut<E>> {
        if !self.measured.is_empty() {
            plan.warm_up = Duration::ZERO;
        } else if !plan.warm_up.is_zero() {
            let End { abort_after, fatal, .. } = plan.end;
            let end = End { requests: None, duration: Some(plan.warm_up), abort_after, fatal };
            let warm_up = Plan { end, keep: Keep::default(), warm_up: Duration::ZERO, ..plan.clone() };
            if self.ask(&warm_up, &Part::WarmUp)?.interrupted {
                return Err(Cut::Interrupted);
            }
        }
        let run = self.ask(&plan, part)?;
        let interrupted = run.interrupted;
        self.measured.push(run);
        match self.measured.last() {
            Some(run) if !interrupted => Ok(run),
            _ => Err(Cut::Interrupted),
        }
    }

    fn ask(&mut self, plan: &Plan, part: &Part) -> Result<Run, Cut<E>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Cut::Interrupted);
        }
        (self.measure)(plan, part).map_err(Cut::Failed)
    }
}
