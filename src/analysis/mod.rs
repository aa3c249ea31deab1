//! What the figures of an experiment mean: medians and ranges, comparisons, words. Pure: from records to values, which
//! `report` draws and writes.
//!
//! The run is the sample, never the request: requests of one run share its luck (Kalibera and Jones, "Rigorous Benchmarking
//! in Reasonable Time", ISMM 2013, section 3).

use crate::record::experiment::{
    ConnectionKind, Document, Entry, Experiment, LeftOut, NotMeasured, Published, Restarted,
};
use crate::record::{Endings, Limit};

pub mod across;
mod answer;
mod compare;
mod comparison;
mod course;
mod fault;
mod group;
mod index;
mod journal;
mod judge;
mod method;
mod place;
mod point;
mod portrait;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
mod warnings;
mod words;

pub use comparison::{Comparison, Estimate, Metric, Outcome, Word};
pub use fault::{Fault, FaultKind};
pub use judge::LEVEL;

pub use crate::statistics::Spread;

use index::Index;
use journal::Journal;

/// Everything that a report says about one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// What was planned, and where.
    pub experiment: Experiment,
    /// Cells that were measured, of those that were planned.
    pub measured: usize,
    /// Cells that were measured or should have been: without those of targets and documents that took no part.
    pub expected: usize,
    /// Cells that nobody has tried, though their target takes part.
    pub untried: usize,
    /// The answer, in sentences; the first one answers the question.
    pub answer: Vec<String>,
    /// What a reader has to know before believing it, in sentences.
    pub warnings: Vec<String>,
    /// How figures and words came about, in sentences.
    pub method: Vec<String>,
    /// A chart each: one document, one kind of connections.
    pub groups: Vec<Group>,
    /// All comparisons that were tried, in the order of the groups. Holm's correction is over those that could be made.
    pub comparisons: Vec<Comparison>,
    /// Targets and documents that took no part.
    pub left_out: Vec<LeftOut>,
    /// Cells that were tried in vain.
    pub not_measured: Vec<NotMeasured>,
    /// Targets that died and were started again.
    pub restarted: Vec<Restarted>,
    /// Of the comparisons.
    index: Index,
}

/// One document over one kind of connections.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What was asked for.
    pub document: Document,
    /// How.
    pub connections: ConnectionKind,
    /// The concurrencies that were planned, rising.
    pub levels: Vec<u64>,
    /// What the others are compared with: of the targets that were measured here, the first. Of those that were planned the
    /// first may not be installed, and then the others would have nothing in common.
    pub baseline: String,
    /// One for each target that took part, in the plan's order.
    pub series: Vec<Series>,
    /// What others have published for it.
    pub published: Vec<Published>,
}

/// One target's curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name of the target.
    pub target: String,
    /// Its place among the targets of the plan: the colour and the mark by which it is known, whoever else is there.
    pub place: usize,
    /// By rising concurrency.
    pub points: Vec<Point>,
}

/// One target at one concurrency, over its repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Connections at once.
    pub concurrency: u64,
    /// Repeats that were measured.
    pub repeats: usize,
    /// Which ones, rising; the values of all spreads stand in this order.
    pub numbers: Vec<u64>,
    /// Why it is drawn hollow and takes no part in a verdict on requests/s; empty for a valid one.
    pub broken: Vec<String>,
    /// What limited it, and in how many of its repeats: what the load tool says of each run.
    pub limits: Vec<(Limit, usize)>,
    /// All that is wrong with it, whatever verdict it concerns.
    pub faults: Vec<Fault>,
    /// Answered requests per second.
    pub requests_per_s: Spread,
    /// CPU of the target's processes for each request, in microseconds; `None` where it could not be watched, and, as all
    /// figures of requests, where in one of the repeats none was answered.
    pub server_cpu_us: Option<Spread>,
    /// CPU of the client for each request, in microseconds.
    pub client_cpu_us: Option<Spread>,
    /// Latency of the whole cycle, in milliseconds, of the percentiles that are asked for most.
    pub latency_ms: Percentiles,
    /// Peak of the target's resident memory, summed over its processes (so that what they share counts for each), in
    /// bytes.
    pub resident_bytes: Option<Spread>,
    /// Most threads of the target.
    pub threads: Option<Spread>,
    /// Context switches of the target for each request.
    pub switches: Option<Spread>,
    /// How the requests of all repeats ended.
    pub endings: Endings,
}

/// Percentiles of latency; `None` where in one of the repeats nothing was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Percentiles {
    /// Half of the requests.
    pub p50: Option<Spread>,
    /// Nine of ten.
    pub p90: Option<Spread>,
    /// All but one of a hundred.
    pub p99: Option<Spread>,
    /// The slowest.
    pub max: Option<Spread>,
}

impl Analysis {
    /// What the entries of an experiment's journal mean.
    #[must_use]
    pub fn of(experiment: Experiment, entries: &[Entry]) -> Self {
        let journal = Journal::of(&experiment, entries);
        let groups = group::groups(&experiment, &journal);
        let comparisons = compare::all(&experiment, &groups);
        let mut analysis = Self {
            measured: journal.measured.len(),
            expected: journal.expected(&experiment),
            untried: journal.untried(&experiment),
            answer: Vec::new(),
            warnings: Vec::new(),
            method: Vec::new(),
            index: Index::of(&comparisons),
            comparisons,
            groups,
            left_out: journal.left_out.clone(),
            not_measured: journal.not_measured.clone(),
            restarted: journal.restarted.clone(),
            experiment,
        };
        analysis.answer = answer::sentences(&analysis);
        analysis.warnings = warnings::sentences(&analysis, &journal);
        analysis.method = method::sentences(&analysis);
        analysis
    }

    /// How often cells were measured: the least and the most. A sweep that did not end has fewer repeats than were planned.
    #[must_use]
    pub fn repeats(&self) -> Option<(usize, usize)> {
        let points = || self.groups.iter().flat_map(|group| &group.series).flat_map(|series| &series.points);
        let repeats = || points().map(|point| point.repeats);
        repeats().min().zip(repeats().max())
    }

    /// How many comparisons were made.
    #[must_use]
    pub fn compared(&self) -> usize {
        self.comparisons.iter().filter(|comparison| comparison.estimate().is_some()).count()
    }

    /// The comparison that speaks for a target in a group: that of the whole curve, or of the only concurrency.
    #[must_use]
    pub fn headline(&self, group: &Group, target: &str, metric: Metric) -> Option<&Comparison> {
        let concurrency = if let [only] = group.levels[..] { Some(only) } else { None };
        self.comparison(group, target, metric, concurrency)
    }

    /// The comparison of a target at a concurrency, or of its whole curve.
    #[must_use]
    pub fn comparison(
        &self,
        group: &Group,
        target: &str,
        metric: Metric,
        concurrency: Option<u64>,
    ) -> Option<&Comparison> {
        let at = self.index.place(&group.document.name, target, (group.connections, metric, concurrency))?;
        self.comparisons.get(at)
    }
}

impl Group {
    /// The curve of a target, if it took part.
    #[must_use]
    pub fn series_of(&self, target: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.target == target)
    }

    /// What others have published between the lowest concurrency that was measured and the highest: farther out there is
    /// nothing to lay it beside.
    pub fn published_beside(&self) -> impl Iterator<Item = &Published> {
        let levels = || self.series.iter().flat_map(|series| &series.points).map(|point| point.concurrency);
        let (least, most) = (levels().min(), levels().max());
        self.published.iter().filter(move |one| least <= Some(one.concurrency) && Some(one.concurrency) <= most)
    }
}

impl Series {
    /// What was measured at a concurrency.
    #[must_use]
    pub fn at(&self, concurrency: u64) -> Option<&Point> {
        self.points.iter().find(|point| point.concurrency == concurrency)
    }
}

impl Point {
    /// What keeps it out of verdicts on this.
    pub fn faults_of(&self, metric: Metric) -> impl Iterator<Item = &Fault> {
        self.faults.iter().filter(move |fault| fault.kind.concerns(metric))
    }

    /// Whether it takes part in verdicts on this.
    #[must_use]
    pub fn is_valid(&self, metric: Metric) -> bool {
        self.faults_of(metric).next().is_none()
    }

    /// What limited it: `server CPU`, or `server CPU 4, client CPU 2` where repeats differ.
    #[must_use]
    pub fn limited_by(&self) -> String {
        match self.limits.as_slice() {
            [(only, _)] => only.name().to_owned(),
            several => {
                several.iter().map(|(limit, count)| format!("{} {count}", limit.name())).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// The figure that is compared.
    #[must_use]
    pub const fn figure(&self, metric: Metric) -> Option<&Spread> {
        match metric {
            Metric::RequestsPerSecond => Some(&self.requests_per_s),
            Metric::ServerCpu => self.server_cpu_us.as_ref(),
        }
    }
}
