//! What there is to see if one looks for ten seconds: of several targets all whole curves against the first one, of one alone its
//! figures. Then the answer case by case.

use maud::{Markup, html};

use super::chart::{self, Dimension, Drawing, Size, group_name, grouped, shown};
use super::ratios;
use super::table::{Column, Kind, hollow, judged, table};
use super::typography::sentence;
use crate::analysis::{Analysis, Comparison, Group, Metric, Point, Spread};

/// `None` where nothing was measured.
pub(super) fn render(analysis: &Analysis) -> Option<Markup> {
    let charts = ratios::pair(|metric, size| drawing(analysis, metric, size));
    let more = analysis.answer.get(1..).unwrap_or_default();
    (!analysis.groups.is_empty()).then(|| {
        html! {
            @if let Some(charts) = charts { (against(analysis, &charts)) }
            @else if analysis.experiment.targets.len() == 1 { (alone(analysis)) }
            @if !more.is_empty() { ul.prose { @for words in more { li { (sentence(words)) } } } }
        }
    })
}

fn against(analysis: &Analysis, charts: &Markup) -> Markup {
    html! {
        p {
            "Each target against " strong { (baseline(analysis)) } ", with the 95 % interval of the ratio. " (ratios::LEGEND) " "
            a href="#comparisons" { "All comparisons" } "."
        }
        (charts)
    }
}

/// All comparisons of a metric that speak for their target; `None` without any.
pub(in crate::report) fn drawing(analysis: &Analysis, metric: Metric, size: Size) -> Option<Drawing> {
    let targets = &analysis.experiment.targets;
    let ratio = |comparison: &Comparison| {
        let place = targets.iter().position(|target| target.name == comparison.target)?;
        let who = if targets.len() > 2 { shown(&comparison.target) } else { String::new() };
        Some(ratios::ratio(comparison, place, &who))
    };
    let ratios: Vec<_> = headlines(analysis, metric).filter_map(ratio).collect();
    let title = format!("{}, as a ratio to {}", ratios::name(metric).0, baseline(analysis));
    (!ratios.is_empty()).then(|| chart::ratios(&ratios, analysis.experiment.band, &title, size))
}

/// Whom the others are compared with. A document that the first target has no part in has another one.
pub(in crate::report) fn baseline(analysis: &Analysis) -> String {
    let mut names: Vec<_> = analysis.comparisons.iter().map(|comparison| comparison.baseline.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [only] => shown(only),
        _ => "the first target of each document".to_owned(),
    }
}

/// Of each target in each group the comparison that speaks for it.
fn headlines(analysis: &Analysis, metric: Metric) -> impl Iterator<Item = &Comparison> {
    analysis.experiment.targets.iter().flat_map(move |target| {
        analysis.groups.iter().filter_map(move |group| analysis.headline(group, &target.name, metric))
    })
}

/// The figures of the only target: the lowest concurrency of each group and the highest.
fn alone(analysis: &Analysis) -> Markup {
    let columns = [
        Column("Document and connections", Kind::Words),
        Column("Connections", Kind::Figures),
        Column("Requests/s", Kind::Figures),
        Column("Server CPU/request", Kind::Figures),
        Column("Latency p50", Kind::Figures),
        Column("p99", Kind::Figures),
    ];
    let rows = html! { @for group in &analysis.groups { (rows(group)) } };
    let points = analysis.groups.iter().flat_map(|group| &group.series).flat_map(|series| &series.points);
    let any_hollow = points.into_iter().any(|point| Metric::ALL.into_iter().any(|metric| !point.is_valid(metric)));
    html! {
        (table("glance-table", "Medians over the repeats", &columns, &rows))
        @if any_hollow {
            p { "○ says less of the server than of what kept it from its work: " a href="#figures" { "all figures" } " have the reasons." }
        }
    }
}

fn rows(group: &Group) -> Markup {
    let points = group.series.first().map(|series| series.points.as_slice()).unwrap_or_default();
    let ends: Vec<_> = match points {
        [first, .., last] => vec![first, last],
        few => few.iter().collect(),
    };
    html! { @for (at, point) in ends.into_iter().enumerate() { (row(group, point, at == 0)) } }
}

fn row(group: &Group, point: &Point, first: bool) -> Markup {
    const NS_PER_US: f64 = 1e3;
    const NS_PER_MS: f64 = 1e6;
    let [rate_is_hollow, cpu_is_hollow] = Metric::ALL.map(|metric| !point.is_valid(metric));
    let time = |figures: &Option<Spread>, one| match figures {
        Some(figures) => Dimension::Time.words(figures.median * one),
        None => "–".to_owned(),
    };
    html! {
        tr.level[first].same[!first] {
            th scope="row" { @if first { (group_name(group)) } @else { span.unseen { (group_name(group)) } } }
            td.figures { (grouped(point.concurrency as f64, 0)) }
            td.figures.main.hollow[rate_is_hollow] { (hollow(rate_is_hollow)) (Dimension::Rate.words(point.requests_per_s.median)) }
            (judged(cpu_is_hollow, &html! { (time(&point.server_cpu_us, NS_PER_US)) }))
            td.figures { (time(&point.latency_ms.p50, NS_PER_MS)) }
            td.figures { (time(&point.latency_ms.p99, NS_PER_MS)) }
        }
    }
}
