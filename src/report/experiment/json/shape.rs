//! The shape of `summary.json`, field by field.

use serde::Serialize;

use super::VERSION;
use crate::analysis::{self, Analysis, Fault, Group, Metric, Outcome, Percentiles, Point, Series};
use crate::record::Endings;
use crate::record::experiment::{self, ConnectionKind};

/// Everything that is known of an experiment but its single runs, which are in `journal.jsonl`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Summary {
    /// Version of this shape.
    version: u32,
    /// Name and version of the program that measured.
    tool: String,
    /// Name of the plan.
    plan: String,
    /// What was asked.
    question: String,
    /// When it began, in seconds since 1970.
    started_unix_s: f64,
    /// Measurements that were made.
    measured: usize,
    /// Measurements that were planned.
    planned: usize,
    /// How often each cell was to be measured.
    repeats: u64,
    /// Of the order of the cells.
    seed: u64,
    /// Ratios between 1/(1+band) and 1+band are no difference that matters.
    band: f64,
    /// Comparisons that were made.
    compared: usize,
    /// The answer, in sentences; the first one answers the question.
    answer: Vec<String>,
    /// What has to be known before any of it is believed.
    warnings: Vec<String>,
    /// How figures and words came about.
    method: Vec<String>,
    /// Who was compared.
    targets: Vec<Target>,
    /// Where.
    machine: Machine,
    /// One for each document and kind of connections.
    groups: Vec<Case>,
    /// All that were tried.
    comparisons: Vec<Comparison>,
    /// Targets and documents that took no part.
    left_out: Vec<LeftOut>,
    /// Measurements that were tried in vain.
    not_measured: Vec<NotMeasured>,
    /// Targets that died and were started again.
    restarted: Vec<Restarted>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Target {
    name: String,
    /// What it says of itself.
    version: String,
    /// What started it; empty for one that was running.
    command: Vec<String>,
    url: String,
    /// Where the plan says how many.
    workers: Option<u64>,
    /// CPUs that it was pinned to; empty for all.
    cpus: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Machine {
    kernel: String,
    cpu_model: String,
    cpus: u64,
    memory_bytes: u64,
}

/// One document over one kind of connections.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Case {
    document: String,
    bytes: u64,
    /// `short` or `keep-alive`.
    connections: &'static str,
    /// What the others are compared with.
    baseline: String,
    series: Vec<Curve>,
    published: Vec<Published>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Curve {
    target: String,
    /// By rising concurrency.
    points: Vec<Cell>,
}

/// One target at one concurrency.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Cell {
    concurrency: u64,
    /// The numbers of the repeats that were measured; the values of all spreads stand in their order.
    repeats: Vec<u64>,
    /// Whether it takes part in verdicts on requests/s.
    valid_for_requests_per_s: bool,
    /// Whether it takes part in verdicts on the server's CPU.
    valid_for_server_cpu: bool,
    /// What is wrong with it, as clauses.
    faults: Vec<String>,
    /// What limited it: what the load tool says of each repeat, counted where they differ.
    limited_by: String,
    requests_per_s: Spread,
    /// For each request; `null` where the server could not be watched.
    server_cpu_us: Option<Spread>,
    /// For each request; this and latency are `null` where in one of the repeats nothing was answered.
    client_cpu_us: Option<Spread>,
    /// Of the whole cycle: from the begin of the connect, or the send, to the last byte.
    latency_p50_ms: Option<Spread>,
    latency_p90_ms: Option<Spread>,
    latency_p99_ms: Option<Spread>,
    latency_max_ms: Option<Spread>,
    /// Peak, summed over the processes of the server.
    resident_bytes: Option<Spread>,
    threads: Option<Spread>,
    switches_per_request: Option<Spread>,
    /// Of all repeats together.
    endings: Endings,
}

/// A figure over the repeats.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Spread {
    median: f64,
    min: f64,
    max: f64,
    values: Vec<f64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Published {
    source: String,
    server: String,
    concurrency: u64,
    requests_per_s: f64,
    note: String,
}

/// A target against the baseline.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Comparison {
    document: String,
    connections: &'static str,
    /// `null` for the whole curve.
    concurrency: Option<u64>,
    /// Over which concurrencies it is.
    levels: Vec<u64>,
    /// `requests-per-s` or `server-cpu`.
    metric: &'static str,
    target: String,
    baseline: String,
    /// Repeats that have both.
    pairs: usize,
    /// Why there is no estimate; `null` where there is one.
    not_comparable: Option<String>,
    /// `null` where there is none.
    estimate: Option<Estimate>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Estimate {
    /// Target over baseline, as geometric mean.
    ratio: f64,
    /// Lower end of its 95 % interval.
    low: f64,
    /// Upper end.
    high: f64,
    /// Of the t test against the band.
    p_t: f64,
    /// Of the exact Wilcoxon signed-rank test of the same.
    p_wilcoxon: f64,
    /// `p_t` after Holm's correction.
    p_holm: f64,
    /// `better`, `worse`, `no-difference-shown` or `borderline`.
    word: String,
    /// How many more repeats would show a difference of this size.
    more_repeats: Option<u64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LeftOut {
    target: String,
    /// `null` for all of them.
    document: Option<String>,
    reason: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct NotMeasured {
    target: String,
    document: String,
    connections: &'static str,
    concurrency: u64,
    repeat: u64,
    reason: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Restarted {
    target: String,
    /// How it had ended.
    reason: String,
}

impl Summary {
    pub(super) fn of(analysis: &Analysis) -> Self {
        let experiment = &analysis.experiment;
        Self {
            version: VERSION,
            tool: experiment.tool.clone(),
            plan: experiment.plan.clone(),
            question: experiment.question.clone(),
            started_unix_s: experiment.started_unix_s,
            measured: analysis.measured,
            planned: experiment.cells.len(),
            repeats: experiment.repeats,
            seed: experiment.seed,
            band: experiment.band,
            compared: analysis.compared(),
            answer: analysis.answer.clone(),
            warnings: analysis.warnings.clone(),
            method: analysis.method.clone(),
            targets: experiment.targets.iter().map(Target::of).collect(),
            machine: Machine::of(&experiment.machine),
            groups: analysis.groups.iter().map(Case::of).collect(),
            comparisons: analysis.comparisons.iter().map(Comparison::of).collect(),
            left_out: analysis.left_out.iter().map(LeftOut::of).collect(),
            not_measured: analysis.not_measured.iter().map(NotMeasured::of).collect(),
            restarted: analysis.restarted.iter().map(Restarted::of).collect(),
        }
    }
}

impl Target {
    fn of(target: &experiment::Target) -> Self {
        let experiment::Target { name, kind: _, command, url, version, workers, cpus } = target.clone();
        Self { name, version, command, url, workers, cpus }
    }
}

impl Machine {
    fn of(machine: &experiment::Machine) -> Self {
        let experiment::Machine { kernel, cpu_model, cpus, memory_bytes, .. } = machine.clone();
        Self { kernel, cpu_model, cpus, memory_bytes }
    }
}

impl Case {
    fn of(group: &Group) -> Self {
        let published = group.published.iter().map(|figure| Published {
            source: figure.source.clone(),
            server: figure.server.clone(),
            concurrency: figure.concurrency,
            requests_per_s: figure.requests_per_s,
            note: figure.note.clone(),
        });
        Self {
            document: group.document.name.clone(),
            bytes: group.document.bytes,
            connections: group.connections.name(),
            baseline: group.baseline.clone(),
            series: group.series.iter().map(Curve::of).collect(),
            published: published.collect(),
        }
    }
}

impl Curve {
    fn of(series: &Series) -> Self {
        Self { target: series.target.clone(), points: series.points.iter().map(Cell::of).collect() }
    }
}

impl Cell {
    fn of(point: &Point) -> Self {
        let Percentiles { p50, p90, p99, max } = &point.latency_ms;
        let spread = |figures: &Option<analysis::Spread>| figures.as_ref().map(Spread::of);
        Self {
            concurrency: point.concurrency,
            repeats: point.numbers.clone(),
            valid_for_requests_per_s: point.is_valid(Metric::RequestsPerSecond),
            valid_for_server_cpu: point.is_valid(Metric::ServerCpu),
            limited_by: point.limited_by(),
            faults: point.faults.iter().map(|Fault { words, .. }| words.clone()).collect(),
            requests_per_s: Spread::of(&point.requests_per_s),
            server_cpu_us: spread(&point.server_cpu_us),
            client_cpu_us: spread(&point.client_cpu_us),
            latency_p50_ms: spread(p50),
            latency_p90_ms: spread(p90),
            latency_p99_ms: spread(p99),
            latency_max_ms: spread(max),
            resident_bytes: spread(&point.resident_bytes),
            threads: spread(&point.threads),
            switches_per_request: spread(&point.switches),
            endings: point.endings,
        }
    }
}

impl Spread {
    fn of(spread: &analysis::Spread) -> Self {
        let analysis::Spread { values, median, min, max } = spread.clone();
        Self { median, min, max, values }
    }
}

impl Comparison {
    fn of(comparison: &analysis::Comparison) -> Self {
        let (not_comparable, estimate) = match &comparison.outcome {
            Outcome::NotComparable(reason) => (Some(reason.clone()), None),
            Outcome::Compared(estimate) => (None, Some(Estimate::of(estimate))),
        };
        Self {
            document: comparison.document.clone(),
            connections: ConnectionKind::name(comparison.connections),
            concurrency: comparison.concurrency,
            levels: comparison.levels.clone(),
            metric: match comparison.metric {
                Metric::RequestsPerSecond => "requests-per-s",
                Metric::ServerCpu => "server-cpu",
            },
            target: comparison.target.clone(),
            baseline: comparison.baseline.clone(),
            pairs: comparison.pairs,
            not_comparable,
            estimate,
        }
    }
}

impl Estimate {
    fn of(estimate: &analysis::Estimate) -> Self {
        let analysis::Estimate { ratio, low, high, p_t, p_wilcoxon, p_holm, word, more_repeats } = estimate.clone();
        let word = word.to_string().replace(' ', "-");
        Self { ratio, low, high, p_t, p_wilcoxon, p_holm, word, more_repeats }
    }
}

impl LeftOut {
    fn of(out: &experiment::LeftOut) -> Self {
        let experiment::LeftOut { target, document, reason } = out.clone();
        Self { target, document, reason }
    }
}

impl NotMeasured {
    fn of(tried: &experiment::NotMeasured) -> Self {
        let experiment::NotMeasured { cell, reason } = tried.clone();
        let connections = cell.connections.name();
        let experiment::Cell { target, document, concurrency, repeat, .. } = cell;
        Self { target, document, connections, concurrency, repeat, reason }
    }
}

impl Restarted {
    fn of(restarted: &experiment::Restarted) -> Self {
        let experiment::Restarted { target, reason } = restarted.clone();
        Self { target, reason }
    }
}
