//! Who watches a sweep: the progress on stderr, and ab's report of each measurement.

use std::collections::HashSet;
use std::io::{self, IsTerminal, Stderr};
use std::time::{Duration, Instant};

use super::ab_texts::AbTexts;
use crate::record::experiment::{Cell, LeftOut, Measured};
use crate::report::progress::Style;
use crate::report::sweep_progress::{SweepMeter, figures};
use crate::sweep::estimate;
use crate::sweep::history::History;
use crate::sweep::observer::{Event, Observer};
use crate::sweep::plan::Plan;

/// Around each measurement: processes that start and end.
const AROUND: Duration = Duration::from_millis(250);

/// Watches one sweep.
pub(super) struct Watcher<'a> {
    plan: &'a Plan,
    meter: SweepMeter<Stderr>,
    texts: AbTexts,
    pace: Pace,
    /// What is still to be measured.
    left: HashSet<&'a Cell>,
    /// Each remark is made once: most cells would repeat it.
    remarks: HashSet<String>,
    /// Why cells were not measured, which most of them would repeat too.
    reasons: HashSet<String>,
}

impl<'a> Watcher<'a> {
    /// What was left out before is not counted.
    pub(super) fn new(plan: &'a Plan, texts: AbTexts, history: &History, quiet: bool) -> Self {
        let style = Style::new(io::stderr().is_terminal(), quiet);
        let left: HashSet<_> = plan.cells.iter().filter(|cell| !history.settles(cell)).collect();
        let done = plan.cells.iter().filter(|cell| history.is_done(cell)).count();
        let meter = SweepMeter::new(style, done, done + left.len(), io::stderr());
        let expected = left.iter().map(|cell| expected(plan, cell)).sum();
        Self { plan, meter, texts, pace: Pace::new(expected), left, remarks: HashSet::new(), reasons: HashSet::new() }
    }

    /// Says a sentence once, if it is not to be quiet.
    pub(super) fn remark(&mut self, sentence: &str) {
        if self.remarks.insert(sentence.to_owned()) {
            self.meter.say(&format!("quintain: {sentence}"));
        }
    }

    /// These will not be measured, and are counted no more: a count that jumps over them says nothing of how far it is.
    fn leave_out(&mut self, is_out: impl Fn(&Cell) -> bool) {
        let out: Vec<_> = self.left.extract_if(|cell| is_out(cell)).collect();
        self.pace.skipped(out.iter().map(|cell| expected(self.plan, cell)).sum());
        self.meter.fewer(out.len());
    }

    fn ended(&mut self, cell: &Cell, figures: &str) {
        self.left.remove(cell);
        self.pace.ended(expected(self.plan, cell));
        self.meter.ended(cell, figures, Some(self.pace.left()));
    }

    /// How many cells are still to be measured.
    pub(super) fn left(&self) -> usize {
        self.left.len()
    }

    /// Takes the bar away.
    pub(super) fn finish(self) {
        self.meter.finish();
    }
}

impl Observer for Watcher<'_> {
    fn see(&mut self, event: Event<'_>) {
        match event {
            Event::Starting(target) => self.meter.doing(&format!("starting {target}")),
            Event::Ready { target, url, version } => {
                let version = if version.is_empty() { String::new() } else { format!(", {version}") };
                self.meter.say(&format!("{target}: {url}{version}"));
            }
            Event::LeftOut(left_out) => {
                self.meter.say(&format!("quintain: {}", sentence(left_out)));
                self.leave_out(|cell| concerns(left_out, cell));
            }
            Event::WarmingUp(target) => self.meter.doing(&format!("warming up {target}")),
            Event::Restarted(restarted) => {
                let (target, reason) = (&restarted.target, &restarted.reason);
                self.meter.say(&format!("quintain: {target} had to be started again: {reason}"));
            }
            Event::CoolingDown { time_wait, below } => {
                self.meter
                    .passing(&format!("waiting until fewer than {below} sockets are in TIME_WAIT; now {time_wait}"));
            }
            Event::Began(cell) => {
                self.pace.began();
                self.meter.began(cell, Some(self.pace.left()));
            }
            Event::Measured(measured) => self.ended(&measured.cell, &figures(measured)),
            Event::NotMeasured(tried) => {
                let reason =
                    if self.reasons.insert(tried.reason.clone()) { tried.reason.as_str() } else { "as before" };
                self.ended(&tried.cell, &format!("not measured: {reason}"));
            }
            Event::Skipped(skipped) => self.leave_out(|cell| cell == skipped),
            Event::Stopping => self.meter.passing("stopping the targets"),
            Event::Remark(remark) => self.remark(remark),
        }
    }

    fn keep(&mut self, measured: &Measured) -> Result<(), String> {
        self.texts.write(measured)
    }
}

fn sentence(LeftOut { target, document, reason }: &LeftOut) -> String {
    let what = document.as_ref().map_or(target.clone(), |document| format!("{document} of {target}"));
    format!("{what} is left out: {reason}")
}

fn concerns(LeftOut { target, document, .. }: &LeftOut, cell: &Cell) -> bool {
    cell.target == *target && document.as_ref().is_none_or(|document| cell.document == *document)
}

fn expected(plan: &Plan, cell: &Cell) -> Duration {
    let bytes =
        plan.documents.iter().find(|document| document.name == cell.document).map_or(0, |document| document.bytes);
    estimate::of_cell(cell, bytes) + plan.cell_warm_up + AROUND
}

/// How long it will take: what was expected of the cells that are left, times what those before took of what was expected of
/// them.
#[derive(Debug)]
struct Pace {
    began: Option<Instant>,
    expected: Duration,
    left: Duration,
}

impl Pace {
    fn new(left: Duration) -> Self {
        Self { began: None, expected: Duration::ZERO, left }
    }

    fn began(&mut self) {
        self.began.get_or_insert_with(Instant::now);
    }

    fn ended(&mut self, expected: Duration) {
        self.expected += expected;
        self.left = self.left.saturating_sub(expected);
    }

    fn skipped(&mut self, expected: Duration) {
        self.left = self.left.saturating_sub(expected);
    }

    fn left(&self) -> Duration {
        self.left_after(self.began.map_or(Duration::ZERO, |began| began.elapsed()))
    }

    fn left_after(&self, elapsed: Duration) -> Duration {
        if self.expected.is_zero() {
            return self.left;
        }
        self.left.mul_f64(elapsed.as_secs_f64() / self.expected.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_what_was_expected_and_what_it_took() {
        let seconds = Duration::from_secs;
        let mut pace = Pace::new(seconds(100));
        assert_eq!(pace.left_after(seconds(7)), seconds(100));
        pace.ended(seconds(10));
        assert_eq!(pace.left_after(seconds(20)), seconds(180));
        pace.skipped(seconds(40));
        assert_eq!(pace.left_after(seconds(20)), seconds(100));
        pace.ended(seconds(50));
        assert_eq!(pace.left_after(seconds(30)), Duration::ZERO);
    }
}
