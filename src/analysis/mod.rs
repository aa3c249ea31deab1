//! What the figures of an experiment mean: medians and ranges, comparisons, words. Pure: from records to values, which
//! `report` draws and writes.
//!
//! The run is the sample, never the request: requests of one run share its luck (Kalibera and Jones, "Rigorous Benchmarking
//! in Reasonable Time", ISMM 2013, section 3).

use crate::record::Endings;
use crate::record::experiment::{ConnectionKind, Document, Experiment, LeftOut, NotMeasured, Published, Restarted};
pub use crate::statistics::Spread;

/// Everything that a report says about one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// What was planned, and where.
    pub experiment: Experiment,
    /// Cells that were measured, of those that were planned.
    pub measured: usize,
    /// The answer, in sentences; the first one answers the question.
    pub answer: Vec<String>,
    /// What a reader has to know before believing it, in sentences.
    pub warnings: Vec<String>,
    /// A chart each: one document, one kind of connections.
    pub groups: Vec<Group>,
    /// All comparisons that were made, in the order of the groups; their number is what Holm's correction is over.
    pub comparisons: Vec<Comparison>,
    /// Targets and documents that took no part.
    pub left_out: Vec<LeftOut>,
    /// Cells that were tried in vain.
    pub not_measured: Vec<NotMeasured>,
    /// Targets that died and were started again.
    pub restarted: Vec<Restarted>,
}

/// One document over one kind of connections.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What was asked for.
    pub document: Document,
    /// How.
    pub connections: ConnectionKind,
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
    /// Why it is drawn hollow and takes no part in a verdict on requests/s; empty for a valid one.
    pub broken: Vec<String>,
    /// Answered requests per second.
    pub requests_per_s: Spread,
    /// CPU of the target's processes for each request, in microseconds; `None` where it could not be watched.
    pub server_cpu_us: Option<Spread>,
    /// CPU of the client for each request, in microseconds.
    pub client_cpu_us: Spread,
    /// Latency of the whole cycle, in milliseconds, of the percentiles that are asked for most.
    pub latency_ms: Percentiles,
    /// Peak of the target's resident memory, over all its processes, in bytes.
    pub resident_bytes: Option<Spread>,
    /// Most threads of the target.
    pub threads: Option<Spread>,
    /// Context switches of the target for each request.
    pub switches: Option<Spread>,
    /// How the requests of all repeats ended.
    pub endings: Endings,
}

/// Percentiles of latency.
#[derive(Debug, Clone, PartialEq)]
pub struct Percentiles {
    /// Half of the requests.
    pub p50: Spread,
    /// Nine of ten.
    pub p90: Spread,
    /// All but one of a hundred.
    pub p99: Spread,
    /// The slowest.
    pub max: Spread,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Answered requests per second: more is better.
    RequestsPerSecond,
    /// The server's CPU for each request: less is better.
    ServerCpu,
}

/// One target against the first one, over the blocks in which both were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What was asked for.
    pub document: String,
    /// How.
    pub connections: ConnectionKind,
    /// Connections at once; `None` for the whole curve: each repeat's mean of the log ratios over all concurrencies.
    pub concurrency: Option<u64>,
    /// What is compared.
    pub metric: Metric,
    /// Whose figure stands above the line of the ratio.
    pub target: String,
    /// Whose stands below: the first target.
    pub baseline: String,
    /// Blocks in which both are valid.
    pub pairs: usize,
    /// How it came out.
    pub outcome: Outcome,
}

/// How a comparison came out.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Too little to compare, in words.
    NotComparable(String),
    /// Compared.
    Compared(Estimate),
}

/// A ratio, how sure it is, and the word for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Target over baseline: the exponential of the mean log ratio.
    pub ratio: f64,
    /// Lower end of its 95 % interval (paired t).
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Of the t test that the ratio is within the band, before Holm's correction.
    pub p_t: f64,
    /// Of the exact Wilcoxon signed-rank test that it is 1.
    pub p_wilcoxon: f64,
    /// `p_t` after Holm's correction over all comparisons.
    pub p_holm: f64,
    /// The word.
    pub word: Word,
    /// Where no difference was shown: how many more repeats one of this size would need.
    pub more_repeats: Option<u64>,
}

/// What may be said. For CPU "more" is dearer; the words are about the target's quality, not about the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The target is better.
    Better,
    /// It is worse.
    Worse,
    /// The interval does not exclude the band.
    NoDifferenceShown,
    /// The two tests disagree.
    Borderline,
}
