//! From the repeats of a cell to its point.

use crate::record::experiment::Measured;
use crate::record::{Endings, Gate, Limit, Run, Watched};

use super::{Metric, Percentiles, Point, Spread, fault};

/// The point of these repeats, in their order; `None` of none.
pub(super) fn of(concurrency: u64, repeats: &[&Measured], gates: &[Gate]) -> Option<Point> {
    let runs: Vec<&Run> = repeats.iter().filter_map(|measured| measured.record.runs.first()).collect();
    let faults = fault::of(repeats, gates);
    let concerning = faults.iter().filter(|fault| fault.kind.concerns(Metric::RequestsPerSecond));
    Some(Point {
        concurrency,
        repeats: repeats.len(),
        numbers: repeats.iter().map(|measured| measured.cell.repeat).collect(),
        broken: concerning.map(|fault| fault.words.clone()).collect(),
        requests_per_s: spread(&runs, |run| run.answered_per_s)?,
        server_cpu_us: answered(&runs).then(|| watched(&runs, |_, process| process.cpu_per_request_us)).flatten(),
        client_cpu_us: answered(&runs).then(|| spread(&runs, |run| run.client.cpu_per_request_us)).flatten(),
        latency_ms: percentiles(&runs),
        resident_bytes: watched(&runs, |_, process| process.resident_max_bytes as f64),
        threads: watched(&runs, |_, process| process.threads_max as f64),
        switches: answered(&runs).then(|| watched(&runs, switches)).flatten(),
        endings: endings(&runs),
        limits: limits(&runs),
        faults,
    })
}

/// Whether there is anything that a figure for each request could be of.
fn answered(runs: &[&Run]) -> bool {
    runs.iter().all(|run| run.endings.answered() > 0)
}

fn spread(runs: &[&Run], figure: impl Fn(&Run) -> f64) -> Option<Spread> {
    Spread::of(runs.iter().map(|run| figure(run)).collect())
}

/// A figure of the server: the sum over its processes. None at all if in one repeat nothing was watched.
fn watched(runs: &[&Run], figure: impl Fn(&Run, &Watched) -> f64) -> Option<Spread> {
    let all_watched = runs.iter().all(|run| !run.watched.is_empty());
    let sum = |run: &Run| run.watched.iter().map(|process| figure(run, process)).sum();
    all_watched.then(|| spread(runs, sum)).flatten()
}

/// Of a process, for each request that ended by itself: what the CPU is divided by, too.
fn switches(run: &Run, process: &Watched) -> f64 {
    let ended = run.endings.all() - run.endings.aborted;
    (process.voluntary_switches as f64 + process.involuntary_switches as f64) / ended.max(1) as f64
}

fn percentiles(runs: &[&Run]) -> Percentiles {
    let of = |figure: &dyn Fn(&Run) -> u64| answered(runs).then(|| spread(runs, |run| ms(figure(run)))).flatten();
    let at = |percentile: f64| of(&|run| run.latency.total.percentile_ns(percentile).unwrap_or(0));
    Percentiles { p50: at(50.0), p90: at(90.0), p99: at(99.0), max: of(&|run| run.latency.total.max_ns) }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// The most frequent one first.
fn limits(runs: &[&Run]) -> Vec<(Limit, usize)> {
    let count = |limit: Limit| (limit, runs.iter().filter(|run| run.verdict.limit == limit).count());
    let mut limits: Vec<_> = Limit::ALL.into_iter().map(count).filter(|(_, count)| *count > 0).collect();
    limits.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    limits
}

fn endings(runs: &[&Run]) -> Endings {
    runs.iter().fold(Endings::default(), |mut all, run| {
        all.add(&run.endings);
        all
    })
}
