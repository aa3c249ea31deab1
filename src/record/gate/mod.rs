//! Gates: what breaks a run, as `--fail-if` says it.

use std::fmt;
use std::str::FromStr;

mod metric;
mod unit;

#[cfg(test)]
mod tests;

pub use metric::{Metric, Need};
use unit::Unit;

use super::Run;

/// A limit that breaks the run when it is passed: `p99>5ms`, `failed>0.1%`, `rate<10000`.
///
/// It is asked of whole runs only. Whether a run that was interrupted would have broken it nobody knows, so callers do not
/// ask it of those; what was measured until then is reported without a judgement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    metric: Metric,
    operator: Operator,
    /// In `unit`, as it was typed: what was measured is converted to it, and not the other way round, so that a value
    /// equal to the bound compares as equal.
    bound: f64,
    unit: Unit,
}

/// A gate that a run broke. Its text is a sentence with the figure that broke it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Broken {
    /// The gate.
    pub gate: Gate,
    /// What was measured, in the unit of the gate's bound; nothing where the run has no such figure (no p99 of a run that
    /// nobody answered), which breaks every gate.
    pub measured: Option<f64>,
}

/// Why a text is not a gate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GateError {
    /// Nothing to compare with.
    #[error("'{0}' has no < or >; write what breaks the run as METRIC>BOUND or METRIC<BOUND, such as 'p99>5ms'")]
    NoOperator(String),
    /// A metric that does not exist.
    #[error("there is no metric '{name}'; did you mean '{nearest}'? Known are {}", Metric::known())]
    UnknownMetric {
        /// As it was typed.
        name: String,
        /// The known one that is most like it.
        nearest: &'static str,
    },
    /// A percentile outside of 0 to 100.
    #[error("'{0}' is not a percentile; they go from p0 to p100, such as 'p99.9'")]
    NotAPercentile(String),
    /// A bound that is not a number, or has no unit, or a unit of something else.
    #[error("'{bound}' is no bound for {metric}, which is {}", metric.takes())]
    WrongBound {
        /// As it was typed.
        bound: String,
        /// What it was to bound.
        metric: Metric,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Gate {
    /// What it compares.
    #[must_use]
    pub const fn metric(&self) -> Metric {
        self.metric
    }

    /// What a run must have been asked for to have this metric at all.
    #[must_use]
    pub const fn needs(&self) -> Option<Need> {
        self.metric.needs()
    }

    /// Whether the run broke it, and by what.
    #[must_use]
    pub fn broken(&self, run: &Run) -> Option<Broken> {
        let measured = self.metric.of(run, self.unit);
        let holds = measured.is_some_and(|measured| !self.breaks(measured));
        (!holds).then_some(Broken { gate: *self, measured })
    }

    fn breaks(&self, measured: f64) -> bool {
        match self.operator {
            Operator::Above => measured > self.bound,
            Operator::AtLeast => measured >= self.bound,
            Operator::Below => measured < self.bound,
            Operator::AtMost => measured <= self.bound,
        }
    }
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let at = text.find(['<', '>']).ok_or_else(|| GateError::NoOperator(text.to_owned()))?;
        let (name, rest) = text.split_at(at);
        let (operator, bound) = Operator::read(rest).ok_or_else(|| GateError::NoOperator(text.to_owned()))?;
        let (metric, typed) = (Metric::read(name.trim())?, bound.trim());
        let wrong = || GateError::WrongBound { bound: typed.to_owned(), metric };
        let (bound, unit) = unit::read(typed, metric.units()).ok_or_else(wrong)?;
        Ok(Self { metric, operator, bound, unit })
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric, operator, bound, unit } = self;
        write!(f, "{metric}{}{bound}{}", operator.sign(), unit.name())
    }
}

impl Broken {
    /// What was measured, without the gate: `p99 was 7.31 ms`.
    #[must_use]
    pub fn fact(&self) -> String {
        let Gate { metric, unit, .. } = self.gate;
        match self.measured {
            Some(measured) => format!("{metric} was {}", unit.show(measured, |shown| self.gate.breaks(shown))),
            None => format!("there is no {metric}, because {}", metric.absent_because()),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: --fail-if '{}'", self.fact(), self.gate)
    }
}

impl Operator {
    const ALL: [Self; 4] = [Self::AtLeast, Self::AtMost, Self::Above, Self::Below];

    const fn sign(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        }
    }

    /// The operator that a text begins with, and what follows it. The longer signs stand first.
    fn read(text: &str) -> Option<(Self, &str)> {
        Self::ALL.into_iter().find_map(|operator| Some((operator, text.strip_prefix(operator.sign())?)))
    }
}
