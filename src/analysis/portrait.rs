//! What a target did, where there is nobody to compare it with.

use super::words::{case, range, rate, ratio, time_us};
use super::{Analysis, Group, Metric, Point, Series};
use crate::record::experiment::ConnectionKind;

/// The sentences; the first one has the highest figure.
pub(super) fn sentences(analysis: &Analysis) -> Vec<String> {
    let mut targets: Vec<&str> =
        analysis.groups.iter().flat_map(|group| &group.series).map(|series| series.target.as_str()).collect();
    targets.dedup();
    targets.sort_unstable();
    targets.dedup();
    targets.into_iter().flat_map(|target| of_target(&analysis.groups, target)).collect()
}

fn of_target(groups: &[Group], target: &str) -> Vec<String> {
    let curves: Vec<(&Group, &Series)> =
        groups.iter().filter_map(|group| Some((group, group.series_of(target)?))).collect();
    [best(&curves), cpu(&curves), kept(groups, target)].into_iter().flatten().collect()
}

/// The highest figure: of valid points, or else of all, with the reason why it is none.
fn best(curves: &[(&Group, &Series)]) -> Option<String> {
    let points =
        || curves.iter().flat_map(|(group, series)| series.points.iter().map(move |point| (*group, *series, point)));
    let valid = points().filter(|(.., point)| point.broken.is_empty());
    let highest = |one: &(&Group, &Series, &Point), other: &(&Group, &Series, &Point)| {
        one.2.requests_per_s.median.total_cmp(&other.2.requests_per_s.median)
    };
    let (group, series, point) = valid.max_by(highest).or_else(|| points().max_by(highest))?;
    let spread = &point.requests_per_s;
    let figures = match spread.values.len() {
        1 => "once".to_owned(),
        _ => range(&[spread.min, spread.max], rate),
    };
    let hollow = points().filter(|(.., point)| !point.broken.is_empty()).count();
    let doubt = match point.broken.first() {
        Some(reason) => format!(" (no point is valid; of this one: {reason})"),
        None if hollow > 0 => format!(" (of the points that are valid; {hollow} are not)"),
        None => String::new(),
    };
    Some(format!(
        "{} answered at best {} requests/s ({figures}): at {} at concurrency {}{doubt}.",
        series.target,
        rate(spread.median),
        case(group),
        point.concurrency
    ))
}

/// The cheapest request and the dearest.
fn cpu(curves: &[(&Group, &Series)]) -> Option<String> {
    let of = |(group, series): &(&Group, &Series)| -> Vec<(f64, String)> {
        let valid = series.points.iter().filter(|point| point.is_valid(Metric::ServerCpu));
        let figure = |point: &Point| {
            let at = format!("{} at concurrency {}", case(group), point.concurrency);
            Some((point.server_cpu_us.as_ref()?.median, at))
        };
        valid.filter_map(figure).collect()
    };
    let figures: Vec<_> = curves.iter().flat_map(of).collect();
    let (least, at_least) = figures.iter().min_by(|one, other| one.0.total_cmp(&other.0))?;
    let (most, at_most) = figures.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(match figures.len() {
        1 => format!("A request took {} of server CPU.", time_us(*least)),
        _ => format!(
            "A request took from {} of server CPU ({at_least}) to {} ({at_most}).",
            time_us(*least),
            time_us(*most)
        ),
    })
}

/// Kept connections beside short ones: medians of the same document and concurrency. No test: the two kinds are not measured
/// in one block.
fn kept(groups: &[Group], target: &str) -> Option<String> {
    let [rates, cpu] = Metric::ALL.map(|metric| kept_ratios(groups, target, metric));
    let mut parts = Vec::new();
    if !rates.is_empty() {
        parts.push(format!("{} times the requests/s", range(&rates, ratio)));
    }
    if !cpu.is_empty() {
        parts.push(format!("{} times the server CPU for each request", range(&cpu, ratio)));
    }
    (!parts.is_empty()).then(|| {
        format!(
            "Beside short connections, kept ones had {} (medians at the same document and concurrency).",
            parts.join(" and ")
        )
    })
}

fn kept_ratios(groups: &[Group], target: &str, metric: Metric) -> Vec<f64> {
    let of_kind = |kind: ConnectionKind| groups.iter().filter(move |group| group.connections == kind);
    let median = |group: &Group, level: u64| {
        let point = group.series_of(target)?.at(level).filter(|point| point.is_valid(metric))?;
        Some(point.figure(metric)?.median).filter(|median| *median > 0.0)
    };
    let mut ratios = Vec::new();
    for kept in of_kind(ConnectionKind::KeepAlive) {
        for short in of_kind(ConnectionKind::Short).filter(|short| short.document == kept.document) {
            let both = kept.levels.iter().filter_map(|level| Some(median(kept, *level)? / median(short, *level)?));
            ratios.extend(both);
        }
    }
    ratios
}
