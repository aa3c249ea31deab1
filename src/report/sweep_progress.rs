//! How far a sweep is, on stderr: a bar with the last figures on a terminal, a line for each cell elsewhere, nothing where it is
//! not wanted.

use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::progress::Style;
use super::units::{rate, time};
use crate::record::experiment::{Cell, Measured};

/// Between two redraws of what goes on without an event: the time that has passed.
const TICK: Duration = Duration::from_secs(1);

/// Shows the progress of one sweep.
pub struct SweepMeter<W: Write> {
    shown: Shown<W>,
    done: usize,
    all: usize,
    /// The cell that is being measured, or what is done instead.
    now: String,
    /// What the last one showed.
    last: String,
    left: Option<Duration>,
}

enum Shown<W> {
    Bar(ProgressBar),
    Lines(W),
    Nothing,
}

impl<W: Write> SweepMeter<W> {
    /// A meter for so many cells, of which some were done before. Lines go to `stderr`; a bar finds the way there itself.
    pub fn new(style: Style, done: usize, all: usize, stderr: W) -> Self {
        let shown = match style {
            Style::Bar => Shown::Bar(bar(done, all, ProgressDrawTarget::stderr())),
            Style::Lines => Shown::Lines(stderr),
            Style::Quiet => Shown::Nothing,
        };
        Self { shown, done, all, now: String::new(), last: String::new(), left: None }
    }

    /// Something that is done besides measuring. A stderr that cannot be written to is no reason to end a sweep.
    pub fn doing(&mut self, what: &str) {
        what.clone_into(&mut self.now);
        self.draw();
        if let Shown::Lines(out) = &mut self.shown {
            let _ = writeln!(out, "{what}");
        }
    }

    /// Something that passes, and is worth no line of its own.
    pub fn passing(&mut self, what: &str) {
        what.clone_into(&mut self.now);
        self.draw();
    }

    /// Something that has to stand there afterwards as well.
    pub fn say(&mut self, sentence: &str) {
        match &mut self.shown {
            Shown::Bar(bar) => bar.println(sentence),
            Shown::Lines(out) => drop(writeln!(out, "{sentence}")),
            Shown::Nothing => {}
        }
    }

    /// A cell is being measured, and the sweep will take so much longer.
    pub fn began(&mut self, cell: &Cell, left: Option<Duration>) {
        self.now = name(cell);
        self.left = left;
        self.draw();
    }

    /// A cell is over; `figures` are what came of it.
    pub fn ended(&mut self, cell: &Cell, figures: &str, left: Option<Duration>) {
        self.done += 1;
        self.left = left;
        self.last = format!("{}: {figures}", name(cell));
        self.draw();
        let (done, all) = (self.done, self.all);
        if let Shown::Lines(out) = &mut self.shown {
            let left = left.map_or(String::new(), |left| format!("; {}", words(left)));
            let width = all.to_string().len();
            let _ = writeln!(out, "[{done:>width$}/{all}] {}{left}", self.last);
        }
    }

    /// So many cells will not be measured.
    pub fn fewer(&mut self, count: usize) {
        self.all = self.all.saturating_sub(count);
        if let Shown::Bar(bar) = &self.shown {
            bar.set_length(self.all as u64);
        }
        self.draw();
    }

    fn draw(&mut self) {
        let Shown::Bar(bar) = &self.shown else { return };
        let left = self.left.map_or(String::new(), |left| format!("{}, ", words(left)));
        let last = if self.last.is_empty() { String::new() } else { format!("\n  {}", self.last) };
        bar.set_position(self.done as u64);
        bar.set_message(format!("{left}{}{last}", self.now));
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Shown::Bar(bar) = self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar(done: usize, all: usize, target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(all as u64), target).with_position(done as u64);
    bar.enable_steady_tick(TICK);
    // A template of this file that cannot be parsed falls back to indicatif's own.
    match ProgressStyle::with_template("{pos}/{len} [{bar:24}] {elapsed} {msg}") {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}

/// `nginx 1k.html keep-alive c=50`, and the how-manieth time from the second on.
fn name(cell: &Cell) -> String {
    let Cell { target, document, connections, concurrency, repeat, .. } = cell;
    let again = if *repeat > 1 { format!(" ({repeat})") } else { String::new() };
    format!("{target} {document} {} c={concurrency}{again}", connections.name())
}

/// The figures of a measurement, in one line.
#[must_use]
pub fn figures(measured: &Measured) -> String {
    let Some(run) = measured.record.runs.first() else { return "nothing was measured".to_owned() };
    let mut words = vec![format!("{} requests/s", rate(run.answered_per_s))];
    let latency = run.latency.headline();
    if latency.count > 0 {
        words.push(format!("mean {}", time(latency.mean_ns)));
    }
    if !run.watched.is_empty() {
        let cpu_us: f64 = run.watched.iter().map(|watched| watched.cpu_per_request_us).sum();
        words.push(format!("{} of server CPU a request", time(cpu_us * 1000.0)));
    }
    if run.endings.failed() > 0 {
        words.push(format!("{} failed", run.endings.failed()));
    }
    if measured.restarted {
        words.push("the target had to be started again".to_owned());
    }
    words.join(", ")
}

/// One unit is enough for a guess.
fn words(left: Duration) -> String {
    match left.as_secs_f64().ceil() as u64 {
        seconds @ 0..100 => format!("{seconds} s left"),
        seconds @ 100..6000 => format!("{} min left", seconds.div_ceil(60)),
        seconds => format!("{} h {} min left", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::experiment::ConnectionKind;
    use crate::record::sample;

    fn cell(repeat: u64) -> Cell {
        let (target, document) = ("nginx".into(), "1k.html".into());
        let connections = ConnectionKind::KeepAlive;
        Cell { target, document, connections, concurrency: 50, repeat, requests: Some(10), duration_ms: None }
    }

    fn measured(restarted: bool) -> Measured {
        let mut record = sample::record();
        record.runs[0].answered_per_s = 12_345.6;
        Measured { cell: cell(1), restarted, time_wait: 0, record }
    }

    #[test]
    fn a_line_for_each_cell() {
        let mut out = Vec::new();
        let mut meter = SweepMeter::new(Style::Lines, 98, 100, &mut out);
        meter.doing("starting nginx");
        meter.passing("waiting for 5 sockets");
        meter.began(&cell(1), None);
        meter.ended(&cell(1), "5 requests/s", None);
        meter.say("mind");
        meter.began(&cell(2), Some(Duration::from_secs(5)));
        meter.ended(&cell(2), "6 requests/s", Some(Duration::ZERO));
        meter.finish();
        let expected = "starting nginx\n\
                        [ 99/100] nginx 1k.html keep-alive c=50: 5 requests/s\n\
                        mind\n\
                        [100/100] nginx 1k.html keep-alive c=50 (2): 6 requests/s; 0 s left\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_bar_shows_what_goes_on_and_the_last_figures() {
        let bar = bar(1, 3, ProgressDrawTarget::hidden());
        let (now, last) = (String::new(), String::new());
        let mut meter: SweepMeter<Vec<u8>> =
            SweepMeter { shown: Shown::Bar(bar.clone()), done: 1, all: 3, now, last, left: None };
        meter.ended(&cell(1), "5 requests/s", None);
        meter.began(&cell(2), Some(Duration::from_secs(200)));
        assert_eq!(bar.position(), 2);
        let expected = "4 min left, nginx 1k.html keep-alive c=50 (2)\n  nginx 1k.html keep-alive c=50: 5 requests/s";
        assert_eq!(bar.message(), expected);
        meter.finish();
    }

    #[test]
    fn what_will_not_be_measured_is_not_counted() {
        let mut out = Vec::new();
        let mut meter = SweepMeter::new(Style::Lines, 1, 144, &mut out);
        meter.fewer(48);
        meter.ended(&cell(1), "5 requests/s", None);
        meter.finish();
        assert_eq!(String::from_utf8(out).unwrap(), "[ 2/96] nginx 1k.html keep-alive c=50: 5 requests/s\n");
        let bar = bar(1, 3, ProgressDrawTarget::hidden());
        let (now, last) = (String::new(), String::new());
        let mut meter: SweepMeter<Vec<u8>> =
            SweepMeter { shown: Shown::Bar(bar.clone()), done: 1, all: 3, now, last, left: None };
        meter.fewer(2);
        assert_eq!((bar.position(), bar.length()), (1, Some(1)));
    }

    #[test]
    fn quiet_is_quiet() {
        let mut out = Vec::new();
        let mut meter = SweepMeter::new(Style::Quiet, 0, 1, &mut out);
        meter.doing("starting nginx");
        meter.say("mind");
        meter.ended(&cell(1), "5 requests/s", None);
        meter.finish();
        assert!(out.is_empty());
    }

    #[test]
    fn figures_of_a_measurement() {
        let words = figures(&measured(true));
        assert!(words.starts_with("12346 requests/s, mean "), "{words}");
        assert!(words.ends_with(", the target had to be started again"), "{words}");
        assert!(!figures(&measured(false)).contains("again"));
    }

    #[test]
    fn time_left() {
        let rows = [
            (0, "0 s left"),
            (99, "99 s left"),
            (100, "2 min left"),
            (5_999, "100 min left"),
            (9_000, "2 h 30 min left"),
        ];
        for (seconds, expected) in rows {
            assert_eq!(words(Duration::from_secs(seconds)), expected);
        }
    }
}
