//! A document over one kind of connections: its charts, its figures, its comparisons, and what is wrong.

use super::super::super::units::{bytes, rate, time};
use super::super::{invalid, reach, verdict};
use super::{Chart, cells, escaped};
use crate::analysis::{Analysis, Comparison, Group, Metric, Outcome, Point, Series, Spread};
use crate::record::Outcome as Ending;

pub(super) fn of_group(analysis: &Analysis, group: &Group, charts: &[Chart]) -> String {
    let Group { document, connections, .. } = group;
    let (name, length) = (escaped(&document.name), bytes(document.bytes as f64));
    let mut text = format!("\n## {name} ({length}), {} connections\n\n", connections.name());
    let of_it = charts.iter().filter(|chart| chart.document == document.name && chart.connections == *connections);
    text.extend(of_it.map(|chart| format!("![{}]({})\n\n", escaped(&chart.title), chart.file)));
    text += &figures(analysis, group);
    text += &curves(analysis, group);
    text + &faults(group)
}

const NAMES: [&str; 11] = [
    "concurrency",
    "target",
    "requests/s",
    "range",
    "compared",
    "server CPU for each",
    "compared",
    "p50",
    "p99",
    "memory",
    "failed",
];

fn figures(analysis: &Analysis, group: &Group) -> String {
    // Names of targets are the only texts; all else is figures.
    let lines = NAMES.map(|name| if name == "target" { "---" } else { "---:" });
    let mut text = cells(NAMES) + &cells(lines);
    for level in &group.levels {
        for series in &group.series {
            text.extend(series.at(*level).map(|point| row(analysis, group, series, point)));
        }
    }
    text
}

fn row(analysis: &Analysis, group: &Group, series: &Series, point: &Point) -> String {
    let compared = |metric| {
        let comparison = analysis.comparison(group, &series.target, metric, Some(point.concurrency));
        comparison.map(|comparison| verdict(comparison).unwrap_or_else(|| "-".to_owned())).unwrap_or_default()
    };
    let [rate_star, cpu_star] = Metric::ALL.map(|metric| if point.is_valid(metric) { "" } else { " \\*" });
    let median = |spread: &Option<Spread>, show: &dyn Fn(f64) -> String| {
        spread.as_ref().map_or_else(|| "-".to_owned(), |spread| show(spread.median))
    };
    let spread = &point.requests_per_s;
    cells([
        point.concurrency.to_string(),
        escaped(&series.target),
        format!("{}{rate_star}", rate(spread.median)),
        reach(spread).map_or_else(
            || "-".to_owned(),
            |share| format!("{} to {} ({:.0} %)", rate(spread.min), rate(spread.max), 100.0 * share),
        ),
        compared(Metric::RequestsPerSecond),
        median(&point.server_cpu_us, &|us| format!("{}{cpu_star}", time(us * 1e3))),
        compared(Metric::ServerCpu),
        median(&point.latency_ms.p50, &|ms| time(ms * 1e6)),
        median(&point.latency_ms.p99, &|ms| time(ms * 1e6)),
        median(&point.resident_bytes, &bytes),
        point.endings.failed().to_string(),
    ])
}

/// The comparisons of whole curves, with their intervals.
fn curves(analysis: &Analysis, group: &Group) -> String {
    let compared = group.series.iter().flat_map(|series| {
        Metric::ALL.into_iter().filter_map(|metric| analysis.headline(group, &series.target, metric))
    });
    let lines: String = compared.map(curve).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn curve(comparison: &Comparison) -> String {
    let Comparison { target, baseline, metric, pairs, levels, outcome, .. } = comparison;
    let levels: Vec<String> = levels.iter().map(u64::to_string).collect();
    let found = match outcome {
        Outcome::NotComparable(reason) => format!("not comparable: {}", escaped(reason)),
        Outcome::Compared(estimate) => format!(
            "{} ({}), **{}**, p {} (t, Holm), p {} (Wilcoxon), {pairs} pairs over c = {}",
            estimate.shown_ratio(),
            estimate.shown_interval(),
            estimate.word,
            p_value(estimate.p_holm),
            p_value(estimate.p_wilcoxon),
            levels.join(", ")
        ),
    };
    format!("- {metric}, {} to {}: {found}\n", escaped(target), escaped(baseline))
}

fn p_value(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("= {p:.4}") }
}

/// What is wrong with points, for which verdict, and how failed requests ended.
fn faults(group: &Group) -> String {
    let [rates, cpu] = Metric::ALL.map(|metric| invalid(group, metric));
    let mut lines = Vec::new();
    lines.extend(rates.iter().map(|reason| format!("- \\* not valid for requests/s: {}\n", escaped(reason))));
    lines.extend(cpu.iter().map(|reason| format!("- \\* not valid for server CPU: {}\n", escaped(reason))));
    let points = group.series.iter().flat_map(|series| series.points.iter().map(move |point| (series, point)));
    lines.extend(points.filter(|(_, point)| point.endings.failed() > 0).map(failures));
    if lines.is_empty() { String::new() } else { format!("\n{}", lines.concat()) }
}

fn failures((series, point): (&Series, &Point)) -> String {
    let endings = Ending::ALL.into_iter().filter(|ending| ending.is_failure() && point.endings.of(*ending) > 0);
    let counts: Vec<String> = endings.map(|ending| format!("{} {}", point.endings.of(ending), ending.name())).collect();
    format!("- {} at {} failed: {}\n", escaped(&series.target), point.concurrency, counts.join(", "))
}
