//! The report of several runs: a row for each, and no figure over all of them.

use super::super::units::{rate, time};
use super::latency::known_percentile;
use super::{heading, labelled, wrapped};
use crate::record::{Doubt, Finding, Limit, Run};

/// The whole report. What was found stands first where the runs are those of a search.
pub(super) fn render(runs: &[Run], finding: Option<&Finding>) -> String {
    let result = finding.map(|finding| search(runs, finding) + "\n").unwrap_or_default();
    let heading = runs.first().map(|run| heading(run, false)).unwrap_or_default();
    format!("{heading}\n{result}{}{}", table(runs), remarks(runs))
}

/// What the search ended with, and what limited its last run.
fn search(runs: &[Run], finding: &Finding) -> String {
    let mut text = labelled("Search", &finding.words);
    if let Some(last) = runs.last() {
        text += &labelled("Last run", &last.verdict.words);
        text.extend(last.verdict.warnings.iter().map(|warning| labelled("Warning", warning)));
    }
    text
}

fn table(runs: &[Run]) -> String {
    let names = ["asked/s", "answered/s", "p50", "p99", "p99.9", "max", "failed"].map(str::to_owned);
    let mut text = meaning_of_latency(runs).to_owned() + &row(names, "limited by");
    text.extend(runs.iter().map(run_row));
    text
}

fn meaning_of_latency(runs: &[Run]) -> &'static str {
    if runs.iter().all(|run| run.latency.response.is_some()) {
        "Times are response times, from when a request was due to the last byte of its answer.\n\n"
    } else {
        ""
    }
}

fn run_row(run: &Run) -> String {
    let times = run.latency.headline();
    let asked = run.settings.rate_per_s.map_or_else(|| "-".to_owned(), rate);
    let max = if times.count == 0 { "-".to_owned() } else { time(times.max_ns as f64) };
    let [p50, p99, p999] = [50.0, 99.0, 99.9].map(|percentile| known_percentile(percentile, times));
    let failed = run.endings.failed().to_string();
    let limit = format!("{}{}", limit(run.verdict.limit), client_mark(run));
    row([asked, rate(run.answered_per_s), p50, p99, p999, max, failed], &limit)
}

fn row(cells: [String; 7], limit: &str) -> String {
    let cells: String = cells.iter().map(|cell| format!("{cell:>11}")).collect();
    format!("{}  {limit}\n", cells)
}

const fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::ServerCpu => "server CPU",
        Limit::ClientCpu => "client CPU",
        Limit::Connections => "connections",
        Limit::Network => "network",
        Limit::Rate => "asked rate",
        Limit::Failures => "failures",
        Limit::Unknown => "unknown",
    }
}

const MAY_BE_CLIENT: &str = " *";
const WAS_CLIENT: &str = " **";
const WAS_LATE: &str = " late";

/// The client's part in a row's figures.
fn client_mark(run: &Run) -> &'static str {
    let doubts = &run.verdict.doubts;
    if doubts.contains(&Doubt::ClientWasTheLimit) {
        WAS_CLIENT
    } else if doubts.contains(&Doubt::ClientMayBeTheLimit) {
        MAY_BE_CLIENT
    } else if doubts.contains(&Doubt::SentLate) {
        WAS_LATE
    } else {
        ""
    }
}

/// What the marks mean that occur, and what must be known of the run as a whole.
fn remarks(runs: &[Run]) -> String {
    let meanings = [
        (MAY_BE_CLIENT, "*  the client may have been the limit"),
        (
            WAS_LATE,
            "late: the client sent some requests more than 1 ms after they were due; times are too long by that",
        ),
        (WAS_CLIENT, "** the client was the limit: the row is a lower bound of what the server can do"),
    ];
    let occurring = meanings.iter().filter(|(mark, _)| runs.iter().any(|run| client_mark(run) == *mark));
    let mut text: String = occurring.map(|(_, meaning)| format!("{meaning}\n")).collect();
    if runs.iter().any(|run| run.interrupted) {
        text += &wrapped("", "Interrupted: the last row is what was measured until then, and steps are missing.", 0);
    }
    if runs.iter().any(|run| run.aborted) {
        text += &wrapped("", "A step was given up, since nothing but failures came (--abort-after).", 0);
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}
