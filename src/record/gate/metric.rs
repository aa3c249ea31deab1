//! What a gate compares: names, units, and where a run has the figure.

use std::fmt;

use super::GateError;
use super::unit::Unit;
use crate::record::{ClientThread, Distribution, PERCENTILES, Run};

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// A percentile of the headline latency, from 0 to 100.
    Percentile(f64),
    /// Mean of the headline latency.
    Mean,
    /// The shortest headline latency.
    Min,
    /// The longest headline latency.
    Max,
    /// Requests that failed; as a share, of those that ended (what the end of the run cut off did not).
    Failed,
    /// Whole answers with a status outside of 200 to 299; as a share, of whole answers.
    Non2xx,
    /// Answered requests per second.
    Rate,
    /// Achieved over asked rate, of an open loop.
    AchievedRate,
    /// CPU and run delay over wall time of the client's busiest thread.
    Client,
    /// CPU time of the watched processes, together, for each ended request.
    CpuPerRequest,
}

/// What must have been asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A fixed rate.
    Rate,
    /// A watched process.
    Watch,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rate => "an open loop: --rate R, or --find-max",
            Self::Watch => "the server's process: --watch PID",
        })
    }
}

/// The metrics with a name of their own; percentiles are `p` and a number.
const NAMED: [(&str, Metric); 9] = [
    ("mean", Metric::Mean),
    ("min", Metric::Min),
    ("max", Metric::Max),
    ("failed", Metric::Failed),
    ("non2xx", Metric::Non2xx),
    ("rate", Metric::Rate),
    ("achieved_rate", Metric::AchievedRate),
    ("client", Metric::Client),
    ("cpu_per_request", Metric::CpuPerRequest),
];

/// Percentiles that are offered to who misspelt one.
const OFFERED: [&str; 5] = ["p50", "p90", "p95", "p99", "p99.9"];

impl Metric {
    /// Reads a name.
    pub(super) fn read(name: &str) -> Result<Self, GateError> {
        if let Some((_, metric)) = NAMED.iter().find(|(known, _)| *known == name) {
            return Ok(*metric);
        }
        match name.strip_prefix('p').filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit())) {
            Some(percentile) => {
                let percentile = percentile.parse().ok().filter(|percentile| (0.0..=100.0).contains(percentile));
                percentile.map(Self::Percentile).ok_or_else(|| GateError::NotAPercentile(name.to_owned()))
            }
            None => Err(GateError::UnknownMetric { name: name.to_owned(), nearest: nearest(name) }),
        }
    }

    /// All names, as a list in words.
    pub(super) fn known() -> String {
        let names: Vec<_> = NAMED.iter().map(|(name, _)| *name).collect();
        format!("percentiles (p0 to p100, such as p99.9), {}", names.join(", "))
    }

    /// The units that its bound may have.
    pub(super) const fn units(self) -> &'static [Unit] {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Min | Self::Max | Self::CpuPerRequest => Unit::TIMES,
            Self::Failed | Self::Non2xx => &[Unit::Percent, Unit::Count],
            Self::Rate => &[Unit::PerSecond, Unit::Count],
            Self::AchievedRate | Self::Client => &[Unit::Percent, Unit::Fraction],
        }
    }

    /// What its bound must be, in words.
    pub(super) const fn takes(self) -> &'static str {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Min | Self::Max | Self::CpuPerRequest => {
                "a time with its unit (ns, us, ms, s), such as 5ms"
            }
            Self::Failed | Self::Non2xx => "a number of requests or their share, such as 10 or 0.1%",
            Self::Rate => "a number of answers per second, such as 10000",
            Self::AchievedRate | Self::Client => "a share, such as 0.99 or 99%",
        }
    }

    /// What a run must have been asked for to have this figure.
    pub(super) const fn needs(self) -> Option<Need> {
        match self {
            Self::AchievedRate => Some(Need::Rate),
            Self::CpuPerRequest => Some(Need::Watch),
            _ => None,
        }
    }

    /// The figure of a run in a unit of this metric, if the run has it.
    pub(super) fn of(self, run: &Run, unit: Unit) -> Option<f64> {
        let latency = run.latency.headline();
        let measured = |of: fn(&Distribution) -> f64| (latency.count > 0).then(|| of(latency));
        let ended = run.endings.all() - run.endings.aborted;
        match self {
            Self::Percentile(percentile) => unit.of_time(percentile_ns(latency, percentile)?),
            Self::Mean => unit.of_time(measured(|latency| latency.mean_ns)?),
            Self::Min => unit.of_time(measured(|latency| latency.min_ns as f64)?),
            Self::Max => unit.of_time(measured(|latency| latency.max_ns as f64)?),
            Self::Failed => unit.of_count(run.endings.failed(), ended),
            Self::Non2xx => {
                let others = run.statuses.iter().filter(|(status, _)| !(200..300).contains(*status));
                unit.of_count(others.map(|(_, count)| count).sum(), run.statuses.values().sum())
            }
            Self::Rate => Some(run.answered_per_s),
            Self::AchievedRate => unit.of_share(run.client.achieved_rate?),
            Self::Client => unit.of_share(run.client.threads.iter().map(load).reduce(f64::max)?),
            Self::CpuPerRequest => {
                let each_us = run.watched.iter().map(|process| process.cpu_per_request_us);
                unit.of_time(each_us.reduce(|sum, more| sum + more)? * 1e3)
            }
        }
    }

    /// Why a run may lack the figure.
    pub(super) const fn absent_because(self) -> &'static str {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Min | Self::Max | Self::Non2xx => "no request was answered",
            Self::Failed | Self::Rate => "no request ended",
            Self::AchievedRate => "the run had no rate to keep",
            Self::Client => "the client's threads were not measured",
            Self::CpuPerRequest => "no process was watched",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Percentile(percentile) = self {
            return write!(f, "p{percentile}");
        }
        f.write_str(NAMED.iter().find(|(_, metric)| metric == self).map_or("", |(name, _)| name))
    }
}

fn nearest(name: &str) -> &'static str {
    let known = NAMED.iter().map(|(known, _)| *known).chain(OFFERED);
    let scored = known.map(|known| (strsim::jaro_winkler(&name.to_lowercase(), known), known));
    scored.max_by(|(one, _), (other, _)| one.total_cmp(other)).map_or("p99", |(_, known)| known)
}

/// Percentiles that the distribution states are read from it: the largest is exact there.
fn percentile_ns(latency: &Distribution, percentile: f64) -> Option<f64> {
    if latency.count == 0 {
        return None;
    }
    if PERCENTILES.contains(&percentile) {
        return latency.percentile_ns(percentile).map(|ns| ns as f64);
    }
    let ns = latency.histogram().ok()?.value_at_percentile(percentile);
    Some(ns.clamp(latency.min_ns, latency.max_ns) as f64)
}

fn load(thread: &ClientThread) -> f64 {
    let ClientThread { cpu_s, run_delay_s, wall_s } = thread;
    if *wall_s > 0.0 { (cpu_s + run_delay_s) / wall_s } else { 0.0 }
}
