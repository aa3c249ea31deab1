//! The report of one run.

use super::super::units::{bytes, counted, percent, rate, seconds};
use super::{heading, honesty, labelled, latency};
use crate::record::{FirstFailure, Outcome, Run};

/// The whole report.
pub(super) fn render(run: &Run) -> String {
    let blocks = [
        heading(run, true),
        verdict(run),
        throughput(run) + &latency::render(&run.latency),
        endings(run) + &answers(run) + &transfer(run),
        honesty::render(run),
    ];
    blocks.join("\n")
}

/// What limited the run, and every reason to doubt its figures.
fn verdict(run: &Run) -> String {
    let mut text = labelled("Verdict", &run.verdict.words);
    if run.interrupted {
        text += &labelled("Warning", "interrupted: this is what was measured until then.");
    }
    if run.aborted {
        text += &labelled("Warning", "given up, since nothing but failures came (--abort-after).");
    }
    text.extend(run.verdict.warnings.iter().map(|warning| labelled("Warning", warning)));
    text
}

fn throughput(run: &Run) -> String {
    let received = run.transfer.received_bytes as f64 / run.elapsed_s.max(f64::MIN_POSITIVE);
    let words = format!(
        "{} requests/s answered ({} in {}), {}/s received",
        rate(run.answered_per_s),
        run.endings.answered(),
        seconds(run.elapsed_s),
        bytes(received),
    );
    labelled("Throughput", &words)
}

/// How requests ended: what did not occur is not listed, and failures have a line of their own.
fn endings(run: &Run) -> String {
    let endings = &run.endings;
    let occurred = |outcome: Outcome| (endings.of(outcome) > 0).then(|| counted_outcome(outcome, endings.of(outcome)));
    let (all, failed) = (endings.all(), endings.failed());
    let mut good = vec![format!("{} of {} ok", endings.ok, counted(all, "request"))];
    good.extend(occurred(Outcome::Aborted));
    let mut text = labelled("Endings", &good.join(", "));
    if failed > 0 {
        let failures: Vec<_> = Outcome::ALL.into_iter().filter(|o| o.is_failure()).filter_map(occurred).collect();
        let share = percent(failed as f64 / all as f64);
        text += &labelled("FAILED", &format!("{failed} ({share}): {}", failures.join(", ")));
        text.extend(run.first_failure.as_ref().map(first_failure));
    }
    if run.connections.stale_keep_alive > 0 {
        let stale = run.connections.stale_keep_alive;
        let words = format!("{} closed by the server between two requests; no failures", counted(stale, "connection"));
        text += &labelled("Keep-alive", &words);
    }
    text
}

fn first_failure(first: &FirstFailure) -> String {
    let FirstFailure { outcome, errno: _, reason } = first;
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    labelled("", &format!("the first: {outcome}{reason}"))
}

fn counted_outcome(outcome: Outcome, count: u64) -> String {
    format!("{count} {}", outcome.name())
}

/// Status codes, unless all are 200, and what the first answer looked like.
fn answers(run: &Run) -> String {
    let mut text = String::new();
    if run.statuses.keys().any(|status| *status != 200) {
        let statuses: Vec<_> = run.statuses.iter().map(|(status, count)| format!("{status}: {count}")).collect();
        text += &labelled("Statuses", &statuses.join(", "));
    }
    if let Some(first) = &run.first_answer {
        let server = if first.server.is_empty() { "a server without a name" } else { &first.server };
        let words = format!("the first: {} from {server}, {} of body", first.status, counted(first.body_bytes, "byte"));
        text += &labelled("Answers", &words);
    }
    text
}

fn transfer(run: &Run) -> String {
    let [received, bodies, sent] =
        [run.transfer.received_bytes, run.transfer.received_body_bytes, run.transfer.sent_bytes]
            .map(|count| bytes(count as f64));
    let connections = counted(run.connections.opened, "connection");
    let words = format!("{received} received ({bodies} of bodies), {sent} sent, over {connections}");
    labelled("Transfer", &words)
}
