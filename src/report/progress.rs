//! How far a run is, on stderr: a bar on a terminal, a line every tenth of the run elsewhere, nothing where it is not wanted.

use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::units::{counted, rate, time};
use crate::record::Progress;

/// Steps of the bar, and of a run: finer than any terminal is wide.
const STEPS: u64 = 1000;
/// How many lines a run that is not watched gets.
const LINES: u64 = 10;

/// How to show progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A bar that stays in its place.
    Bar,
    /// A line every tenth of the run.
    Lines,
    /// Nothing.
    Quiet,
}

impl Style {
    /// The style for a stderr that is a terminal or is not, and a user who wants quiet (`-q`) or does not.
    #[must_use]
    pub const fn new(is_terminal: bool, quiet: bool) -> Self {
        match (quiet, is_terminal) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Bar,
            (false, false) => Self::Lines,
        }
    }
}

/// Shows the progress of one run.
pub struct Meter<W: Write> {
    /// What the run is of several, with what parts it from the figures; empty for a single one.
    title: String,
    shown: Shown<W>,
    /// The update before this one: rates are of the time between the two, so that a stall is seen while it lasts.
    last: Progress,
}

enum Shown<W> {
    Bar(ProgressBar),
    Lines { out: W, tenths: u64 },
    Nothing,
}

impl<W: Write> Meter<W> {
    /// A meter at zero. The title (`step 3 of 20`) tells one run of several from the others and is empty for a single one. Lines
    /// go to `stderr`; a bar finds the way there itself.
    pub fn new(style: Style, title: &str, stderr: W) -> Self {
        let shown = match style {
            Style::Bar => Shown::Bar(bar(ProgressDrawTarget::stderr())),
            Style::Lines => Shown::Lines { out: stderr, tenths: 0 },
            Style::Quiet => Shown::Nothing,
        };
        let title = if title.is_empty() { String::new() } else { format!("{title}: ") };
        Self { title, shown, last: Progress::default() }
    }

    /// Shows an update. A stderr that cannot be written to is no reason to end a measurement.
    pub fn update(&mut self, now: &Progress) {
        let step = (done(now) * STEPS as f64) as u64;
        let words = || format!("{}{}", self.title, words(&self.last, now));
        match &mut self.shown {
            Shown::Bar(bar) => {
                bar.set_message(words());
                bar.set_position(step);
                self.last = *now;
            }
            Shown::Lines { out, tenths } => {
                let reached = step * LINES / STEPS;
                if reached > *tenths {
                    *tenths = reached;
                    let _ = writeln!(out, "{:>3} %  {}", reached * 100 / LINES, words());
                    self.last = *now;
                }
            }
            Shown::Nothing => {}
        }
    }

    /// Takes the bar away, so that the report stands alone.
    pub fn finish(self) {
        if let Shown::Bar(bar) = self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar(target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(STEPS), target);
    // A template of this file that cannot be parsed falls back to indicatif's own.
    match ProgressStyle::with_template("{percent:>3} % [{bar:24}] {msg}") {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}

/// The part of the run that is over, between 0 and 1: by requests or by time, whichever is nearer to its end.
fn done(progress: &Progress) -> f64 {
    let by_requests = progress.requests.map_or(0.0, |all| progress.ended as f64 / all as f64);
    let by_time = progress.duration.map_or(0.0, |all| progress.elapsed.as_secs_f64() / all.as_secs_f64());
    // Also makes 0 of a NaN, which a run of no requests would give.
    by_requests.max(by_time).clamp(0.0, 1.0)
}

/// Rate and mean latency since the last update; failures so far; what is left.
fn words(last: &Progress, now: &Progress) -> String {
    let mut words = vec![format!("{} requests/s", rate(rate_since(last, now)))];
    let latencies = now.latencies.saturating_sub(last.latencies);
    if latencies > 0 {
        let sum_ns = now.latency_sum_ns.saturating_sub(last.latency_sum_ns);
        words.push(format!("mean {}", time(sum_ns as f64 / latencies as f64)));
    }
    if now.failed > 0 {
        words.push(format!("{} failed", now.failed));
    }
    words.extend(left(now));
    words.join(", ")
}

fn rate_since(last: &Progress, now: &Progress) -> f64 {
    let seconds = now.elapsed.saturating_sub(last.elapsed).as_secs_f64();
    let ended = now.ended.saturating_sub(last.ended);
    if seconds > 0.0 { ended as f64 / seconds } else { 0.0 }
}

fn left(now: &Progress) -> Option<String> {
    let requests = now.requests.map(|all| format!("{} left", counted(all.saturating_sub(now.ended), "request")));
    let time = now.duration.map(|all| format!("{} left", whole_seconds(all.saturating_sub(now.elapsed))));
    // Where both could end the run, the time is what a waiting user asks for.
    time.or(requests)
}

fn whole_seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64().ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, ended: u64) -> Progress {
        Progress {
            elapsed: Duration::from_secs(seconds),
            ended,
            latency_sum_ns: ended * 2_000_000,
            latencies: ended,
            duration: Some(Duration::from_secs(20)),
            ..Progress::default()
        }
    }

    fn lines(title: &str, updates: &[Progress]) -> String {
        let mut out = Vec::new();
        let mut meter = Meter::new(Style::Lines, title, &mut out);
        updates.iter().for_each(|progress| meter.update(progress));
        meter.finish();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_every_tenth() {
        let failing = Progress { failed: 3, ..at(5, 1_600) };
        let updates = [at(1, 100), at(2, 1_000), at(3, 1_100), failing, at(20, 9_000), at(20, 9_000)];
        let expected = " 10 %  500 requests/s, mean 2.00 ms, 18 s left
 20 %  200 requests/s, mean 2.00 ms, 3 failed, 15 s left
100 %  493 requests/s, mean 2.00 ms, 0 s left\n";
        assert_eq!(lines("", &updates), expected);
    }

    #[test]
    fn one_run_of_several_has_a_title() {
        let text = lines("step 3 of 20", &[at(2, 1_000)]);
        assert_eq!(text, " 10 %  step 3 of 20: 500 requests/s, mean 2.00 ms, 18 s left\n");
    }

    #[test]
    fn a_stall_is_seen() {
        assert_eq!(words(&at(5, 1_000), &at(6, 1_000)), "0.00 requests/s, 14 s left");
    }

    #[test]
    fn the_nearer_end_counts() {
        let both = |seconds, ended| Progress { requests: Some(1_000), ..at(seconds, ended) };
        assert_eq!([done(&both(2, 500)), done(&both(15, 500)), done(&both(21, 0))], [0.5, 0.75, 1.0]);
        let by_requests = Progress { requests: Some(1_000), duration: None, ..at(2, 999) };
        assert_eq!(left(&by_requests).unwrap(), "1 request left");
        let none = Progress { requests: Some(0), ..Progress::default() };
        assert_eq!((done(&none), done(&Progress::default())), (0.0, 0.0));
    }

    #[test]
    fn a_bar_follows_the_run() {
        let mut meter =
            Meter { title: String::new(), shown: Shown::Bar(bar(ProgressDrawTarget::hidden())), last: at(4, 0) };
        let updates: &mut Meter<Vec<u8>> = &mut meter;
        updates.update(&at(5, 1_600));
        let Shown::Bar(bar) = &meter.shown else { panic!("a bar") };
        assert_eq!((bar.position(), bar.message()), (250, "1600 requests/s, mean 2.00 ms, 15 s left".to_owned()));
        meter.finish();
    }

    #[test]
    fn quiet_is_quiet() {
        assert_eq!([Style::new(true, true), Style::new(false, true)], [Style::Quiet; 2]);
        assert_eq!([Style::new(true, false), Style::new(false, false)], [Style::Bar, Style::Lines]);
        let mut out = Vec::new();
        let mut meter = Meter::new(Style::Quiet, "", &mut out);
        meter.update(&at(20, 9_000));
        meter.finish();
        assert!(out.is_empty());
    }
}
