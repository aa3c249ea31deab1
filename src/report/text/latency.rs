//! The table of times.

use super::super::units::time;
use super::{INDENT, labelled};
use crate::record::{Distribution, Latency};

/// Width of a column: `999 ms` and room.
const COLUMN: usize = 9;
/// The percentiles that are shown.
const SHOWN: [(f64, &str); 5] = [(50.0, "p50"), (90.0, "p90"), (99.0, "p99"), (99.9, "p99.9"), (99.99, "p99.99")];

/// A row for each kind of time. The first stands for the run: response time of an open loop, since only that does not leave out
/// what waited for the server, and the whole of a slot's cycle else.
pub(super) fn render(latency: &Latency) -> String {
    let Latency { service, total, connect, first_byte, response, timer_error: _ } = latency;
    let headline = match response {
        Some(response) => ("response", response),
        None => ("total", total),
    };
    let rows = [headline, ("service", service), ("first byte", first_byte), ("connect", connect)];
    let rows: Vec<_> = rows.into_iter().filter(|(_, times)| times.count > 0).collect();
    if rows.is_empty() {
        return labelled("Latency", "none: no request was answered");
    }
    let mut text = head();
    text.extend(rows.iter().map(|(label, times)| row(label, times)));
    if rows.iter().any(|(_, times)| SHOWN.iter().any(|(percentile, _)| !is_known(*percentile, times))) {
        text += &labelled("", "-: fewer requests than this percentile needs");
    }
    text
}

fn head() -> String {
    let percentiles = SHOWN.map(|(_, name)| name);
    let names = ["min", "mean", "sd"].into_iter().chain(percentiles).chain(["max"]);
    let cells: String = names.map(|name| format!("{name:>COLUMN$}")).collect();
    // Its left neighbour is a label, not a figure: the first column needs no room before it.
    format!("{:<INDENT$}{}\n", "Latency", &cells[1..])
}

fn row(label: &str, times: &Distribution) -> String {
    let moments = [times.min_ns as f64, times.mean_ns, times.deviation_ns].map(time);
    let percentiles = SHOWN.map(|(percentile, _)| known_percentile(percentile, times));
    let max = time(times.max_ns as f64);
    let cells: String =
        moments.into_iter().chain(percentiles).chain([max]).map(|cell| format!("{cell:>COLUMN$}")).collect();
    format!("  {label:<width$}{}\n", &cells[1..], width = INDENT - 2)
}

/// A percentile, or a dash where it would only be the longest time under another name.
pub(super) fn known_percentile(percentile: f64, times: &Distribution) -> String {
    match times.percentile_ns(percentile) {
        Some(ns) if is_known(percentile, times) => time(ns as f64),
        _ => "-".to_owned(),
    }
}

/// Whether at least one time can be expected to lie beyond the percentile.
fn is_known(percentile: f64, times: &Distribution) -> bool {
    // A hair less than 1: 10,000 times 0.01 % is not quite 1 in floating point.
    times.count as f64 * (100.0 - percentile) / 100.0 > 0.999
}
