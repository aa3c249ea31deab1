//! The parts of a campaign: which run is it, and at which rate.

use std::fmt;

use crate::load::plan::{Arrivals, Pace, Plan};
use crate::load::search;
use crate::record::Purpose;

/// A run that is about to begin. Its text says which one it is, for progress on a terminal.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Load whose figures are thrown away.
    WarmUp,
    /// The only one.
    Single,
    /// One of a ramp.
    Step {
        /// From 1 on.
        number: usize,
        /// How many there are.
        of: usize,
        /// Requests per second.
        rate_per_s: f64,
    },
    /// One of a search.
    Stage {
        /// From 1 on.
        number: usize,
        /// Its rate, purpose and time.
        stage: search::Stage,
        /// What the stage before it broke; nothing if that passed, or if there was none.
        broke_before: Option<String>,
    },
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WarmUp => f.write_str("warm-up"),
            Self::Single => f.write_str("run"),
            Self::Step { number, of, rate_per_s } => write!(f, "step {number} of {of}: {}", PerSecond(*rate_per_s)),
            Self::Stage { number, stage, .. } => {
                let does = if stage.purpose == Purpose::Hold { "holding" } else { "trying" };
                write!(f, "stage {number}: {does} {} for {:?}", PerSecond(stage.rate_per_s), stage.duration)
            }
        }
    }
}

/// A rate for people.
pub(super) struct PerSecond(pub f64);

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(rate) = *self;
        // A search goes down to 1/s, where its steps are hundredths.
        if rate >= 100.0 || rate.fract() == 0.0 { write!(f, "{rate:.0}/s") } else { write!(f, "{rate:.2}/s") }
    }
}

/// The steps of a ramp.
pub(super) fn steps(plan: &Plan, rates: &[f64]) -> Vec<(Plan, Part)> {
    let of = rates.len();
    let step = |(at, rate)| (at_rate(plan, rate), Part::Step { number: at + 1, of, rate_per_s: rate });
    rates.iter().copied().enumerate().map(step).collect()
}

/// The same at another rate.
pub(super) fn at_rate(plan: &Plan, per_second: f64) -> Plan {
    let arrivals = match plan.pace {
        Pace::Open { arrivals, .. } => arrivals,
        Pace::Closed => Arrivals::Uniform,
    };
    Plan { pace: Pace::Open { per_second, arrivals }, ..plan.clone() }
}
