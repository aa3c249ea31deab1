//! How requests ended: each in exactly one way.

use maud::{Markup, html};

use super::chart::{group_name, grouped, shown};
use super::table::{Column, Kind, table};
use crate::analysis::{Analysis, Point};
use crate::record::{Endings, Outcome};

/// The sum, and a table of those points of which not all requests ended well; `None` where nothing was measured.
pub(super) fn render(analysis: &Analysis) -> Option<Markup> {
    let mut all = Endings::default();
    points(analysis).for_each(|(_, _, point)| all.add(&point.endings));
    let failing: Vec<_> = points(analysis).filter(|(_, _, point)| point.endings.failed() > 0).collect();
    (!analysis.groups.is_empty()).then(|| {
        html! {
            p { (summary(&all)) }
            @if !failing.is_empty() { (of_points(&failing)) }
        }
    })
}

/// Each with its group and its target.
fn points(analysis: &Analysis) -> impl Iterator<Item = (String, &str, &Point)> {
    analysis.groups.iter().flat_map(|group| {
        group.series.iter().flat_map(move |series| {
            series.points.iter().map(move |point| (group_name(group), series.target.as_str(), point))
        })
    })
}

fn summary(all: &Endings) -> String {
    let [requests, ok, failed, aborted] =
        [all.all(), all.ok, all.failed(), all.aborted].map(|count| grouped(count as f64, 0));
    let end = match all.aborted {
        0 => String::new(),
        _ => format!(" {aborted} were on their way when a run ended, which is no failure."),
    };
    match all.failed() {
        0 => format!("Of {requests} requests none failed: {ok} ended well.{end}"),
        _ => format!("Of {requests} requests {failed} failed, and {ok} ended well.{end}"),
    }
}

fn of_points(failing: &[(String, &str, &Point)]) -> Markup {
    let columns = [
        Column("Document and connections", Kind::Words),
        Column("Target", Kind::Words),
        Column("Connections", Kind::Figures),
        Column("Requests", Kind::Figures),
        Column("Failed", Kind::Figures),
        Column("How", Kind::Words),
    ];
    let rows = html! {
        @for (group, target, point) in failing {
            tr {
                th scope="row" { (group) }
                td { (shown(target)) }
                td.figures { (grouped(point.concurrency as f64, 0)) }
                td.figures { (grouped(point.endings.all() as f64, 0)) }
                td.figures { (grouped(point.endings.failed() as f64, 0)) }
                td { (how(&point.endings)) }
            }
        }
    };
    table("endings-table", "Where requests failed, over all repeats", &columns, &rows)
}

fn how(endings: &Endings) -> String {
    let failures = Outcome::ALL.into_iter().filter(|outcome| outcome.is_failure() && endings.of(*outcome) > 0);
    let counts = failures.map(|outcome| format!("{} {}", grouped(endings.of(outcome) as f64, 0), outcome.name()));
    counts.collect::<Vec<_>>().join(", ")
}
