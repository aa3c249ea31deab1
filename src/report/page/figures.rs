//! Every figure that the charts show, and some that they do not.

use maud::{Markup, html};

use super::chart::{Dimension, group_name, grouped, shown};
use super::table::{Column, Kind, figure, hollow, judged, nothing, table};
use super::typography::{sentence, spread};
use crate::analysis::{Analysis, Group, Metric, Point, Spread};

const NS_PER_US: f64 = 1e3;
const NS_PER_MS: f64 = 1e6;

const COLUMNS: [Column; 15] = [
    Column("Target", Kind::Words),
    Column("Connections", Kind::Figures),
    Column("Repeats", Kind::Figures),
    Column("Requests/s", Kind::Figures),
    Column("Server CPU/request", Kind::Figures),
    Column("Client CPU/request", Kind::Figures),
    Column("Latency p50", Kind::Figures),
    Column("p90", Kind::Figures),
    Column("p99", Kind::Figures),
    Column("max", Kind::Figures),
    Column("Memory", Kind::Figures),
    Column("Threads", Kind::Figures),
    Column("Switches/request", Kind::Figures),
    Column("Limited by", Kind::Words),
    Column("Takes no part in verdicts because", Kind::Words),
];

/// A table for each group; `None` where nothing was measured.
pub(super) fn render(analysis: &Analysis) -> Option<Markup> {
    (!analysis.groups.is_empty()).then(|| {
        html! {
            p {
                "Medians over the repeats, and below them the lowest and the highest. Latency is that of a whole cycle, from the begin of \
                 the connect (or of the send, on a connection that was there) to the last byte; memory is the peak over all \
                 processes of the server. \"Waiting\" limits where client and server both have CPU left: a connection waits for its \
                 answer."
            }
            @for (number, group) in analysis.groups.iter().enumerate() {
                (table(&format!("figures-{}", number + 1), &group_name(group), &COLUMNS, &rows(group)))
            }
        }
    })
}

/// Concurrency by concurrency, so that what is compared stands together.
fn rows(group: &Group) -> Markup {
    let mut points: Vec<_> = group
        .series
        .iter()
        .flat_map(|series| series.points.iter().map(move |point| (series.target.as_str(), point)))
        .collect();
    points.sort_by_key(|(_, point)| point.concurrency);
    let first_of_level = |at: usize| at > 0 && points[at - 1].1.concurrency != points[at].1.concurrency;
    html! {
        @for (at, (target, point)) in points.iter().enumerate() { (row(target, point, first_of_level(at))) }
    }
}

fn row(target: &str, point: &Point, first_of_level: bool) -> Markup {
    let Point { concurrency, repeats, requests_per_s, server_cpu_us, client_cpu_us, latency_ms, .. } = point;
    let [rate_is_hollow, cpu_is_hollow] = Metric::ALL.map(|metric| !point.is_valid(metric));
    let measured = |figures: &Option<Spread>, one, dimension| match figures {
        Some(figures) => figure(&spread(figures, one, dimension)),
        None => nothing(),
    };
    let latencies = [&latency_ms.p50, &latency_ms.p90, &latency_ms.p99, &latency_ms.max];
    html! {
        tr.level[first_of_level] {
            th scope="row" { (shown(target)) }
            td.figures { (grouped(*concurrency as f64, 0)) }
            td.figures { (repeats) }
            td.figures.main.hollow[rate_is_hollow] {
                (hollow(rate_is_hollow)) (spread(requests_per_s, 1.0, Dimension::Rate))
            }
            @if let Some(us) = server_cpu_us { (judged(cpu_is_hollow, &spread(us, NS_PER_US, Dimension::Time))) } @else { (nothing()) }
            (measured(client_cpu_us, NS_PER_US, Dimension::Time))
            @for latency in latencies { (measured(latency, NS_PER_MS, Dimension::Time)) }
            (measured(&point.resident_bytes, 1.0, Dimension::Bytes))
            (measured(&point.threads, 1.0, Dimension::Count))
            (measured(&point.switches, 1.0, Dimension::Share))
            td { (point.limited_by()) }
            td.reasons { (reasons(point)) }
        }
    }
}

/// Those that keep its requests/s out, and then those that keep only its CPU out, which say so.
fn reasons(point: &Point) -> String {
    let of_rates = point.faults_of(Metric::RequestsPerSecond).map(|fault| sentence(&fault.words));
    let of_cpu = point.faults_of(Metric::ServerCpu).filter(|fault| !fault.kind.concerns(Metric::RequestsPerSecond));
    let of_cpu = of_cpu.map(|fault| format!("{} (CPU only)", sentence(&fault.words)));
    of_rates.chain(of_cpu).collect::<Vec<_>>().join("; ")
}
