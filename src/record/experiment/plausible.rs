//! Figures that no sweep writes, found where they are read: what is computed from them would be nonsense, and some of it would
//! be drawn.

use super::{Entry, Experiment};

/// Most of anything that is counted or timed here. The fastest memory answers no 10^15 requests in a second, and no request
/// takes 30 years of CPU.
const MOST: f64 = 1e15;
/// Widest band that a plan may have.
const WIDEST_BAND: f64 = 0.5;

/// What is wrong with a plan, as a clause; `None` of one that can be meant.
pub(super) fn experiment(experiment: &Experiment) -> Option<String> {
    if !(0.0..=WIDEST_BAND).contains(&experiment.band) {
        return Some(format!("a band of {:e} is not between 0 and {WIDEST_BAND}", experiment.band));
    }
    let figures = experiment.published.iter().map(|published| published.requests_per_s);
    implausible("published requests/s", figures)
}

/// What is wrong with a line, as a clause; `None` of one that can be meant.
pub(super) fn entry(entry: &Entry) -> Option<String> {
    let Entry::Measured(measured) = entry else { return None };
    measured.record.runs.iter().find_map(|run| {
        let servers = run.watched.iter().map(|process| process.cpu_per_request_us);
        implausible("requests/s", [run.answered_per_s])
            .or_else(|| implausible("CPU for each request of the client", [run.client.cpu_per_request_us]))
            .or_else(|| implausible("CPU for each request of the server", servers))
    })
}

fn implausible(what: &str, figures: impl IntoIterator<Item = f64>) -> Option<String> {
    let odd = figures.into_iter().find(|figure| !(0.0..=MOST).contains(figure))?;
    Some(format!("{what} of {odd:e} are nothing that can be measured"))
}
