//! How it was measured, so that somebody can do it again.

use maud::{Markup, html};

use super::chart::{grouped, shown, shown_sentence};
use super::typography::sentence;
use crate::analysis::Analysis;
use crate::record::experiment::{Cell, Client, Experiment};

/// Sentences, and the facts of the plan.
pub(super) fn render(analysis: &Analysis) -> Markup {
    html! {
        ul.prose { @for words in &analysis.method { li { (sentence(words)) } } }
        dl.facts {
            @for (name, value) in facts(&analysis.experiment) { div { dt { (name) } dd { (value) } } }
        }
    }
}

fn facts(experiment: &Experiment) -> Vec<(&'static str, String)> {
    let Client { threads, cpus, sources } = &experiment.client;
    let or = |text: &str, else_shown: &str| if text.is_empty() { else_shown.to_owned() } else { shown_sentence(text) };
    vec![
        ("Plan", shown(&experiment.plan)),
        ("Measurements", grouped(experiment.cells.len() as f64, 0)),
        ("Repeats", experiment.repeats.to_string()),
        ("Each measurement", length(&experiment.cells)),
        ("Order", format!("from seed {}", experiment.seed)),
        ("Gates of the plan", or(&experiment.gates.join(", "), "none besides the built-in ones")),
        ("Band", format!("{} %", experiment.band * 100.0)),
        ("Client threads", threads.map_or_else(|| "as many as it chose".to_owned(), |threads| threads.to_string())),
        ("Client CPUs", or(cpus, "all")),
        ("Client addresses", or(sources, "the system's choice")),
    ]
}

/// How long measurements are, in requests or seconds; several lengths as a range.
fn length(cells: &[Cell]) -> String {
    let requests = range(cells.iter().filter_map(|cell| cell.requests), |requests| grouped(requests as f64, 0));
    let seconds = range(cells.iter().filter_map(|cell| cell.duration_ms), |ms| (ms as f64 / 1000.0).to_string());
    let lengths = [requests.map(|text| text + " requests"), seconds.map(|text| text + " s")];
    lengths.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The least and the most of some figures; `None` of none.
fn range(figures: impl Iterator<Item = u64> + Clone, show: fn(u64) -> String) -> Option<String> {
    let (least, most) = (figures.clone().min()?, figures.max()?);
    Some(if least == most { show(least) } else { format!("{} to {}", show(least), show(most)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::experiment::ConnectionKind;

    fn cell(requests: Option<u64>, duration_ms: Option<u64>) -> Cell {
        let (target, document) = ("a".to_owned(), "1k.html".to_owned());
        Cell { target, document, connections: ConnectionKind::Short, concurrency: 1, repeat: 1, requests, duration_ms }
    }

    #[test]
    fn lengths_are_ranges_where_they_differ() {
        let rows = [
            (vec![cell(Some(20_000), None); 2], "20,000 requests"),
            (vec![cell(Some(500), None), cell(Some(20_000), None)], "500 to 20,000 requests"),
            (vec![cell(None, Some(1500)), cell(None, Some(60_000))], "1.5 to 60 s"),
            (vec![cell(Some(500), None), cell(None, Some(3000))], "500 requests, 3 s"),
            (vec![], ""),
        ];
        for (cells, expected) in rows {
            assert_eq!(length(&cells), expected);
        }
    }
}
