//! The runs of one call, with their progress on stderr.

use std::io::{self, IsTerminal, Stderr};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::super::say;
use crate::load::campaign::{Campaign, Failed, Part};
use crate::load::{self, Measured, Rows, RunError};
use crate::record::{Progress, Record};
use crate::report::progress::{Meter, Style};

/// For so long nothing but failures is no accident any more.
const PATIENCE: Duration = Duration::from_secs(1);

/// Makes the runs. Without a record the first one was interrupted before it had begun. The rows are those of the last run.
pub fn measure(
    campaign: &Campaign,
    stop: &AtomicBool,
    quiet: bool,
) -> (Result<Option<Record>, Failed<RunError>>, Option<Rows>) {
    let style = Style::new(io::stderr().is_terminal(), quiet);
    let mut last_rows = None;
    let made = campaign.run(stop, |plan, part| {
        let mut watcher = Watcher::new(style, part);
        let measured = load::run(plan, stop, &mut |progress| watcher.see(progress));
        watcher.meter.finish();
        let Measured { run, rows, heads: _ } = measured?;
        last_rows = rows;
        Ok(run)
    });
    (made, last_rows)
}

/// Looks at the progress of one run.
struct Watcher {
    meter: Meter<Stderr>,
    /// Whether a run that only fails is worth a sentence: a bar shows the failures all the time.
    warns: bool,
}

impl Watcher {
    fn new(style: Style, part: &Part) -> Self {
        if let (Part::Stage { broke_before: Some(broke), .. }, true) = (part, style != Style::Quiet) {
            say(&format_args!("the rate before broke a gate: {broke}"));
        }
        let title = if *part == Part::Single { String::new() } else { part.to_string() };
        Self { meter: Meter::new(style, &title, io::stderr()), warns: style == Style::Lines }
    }

    fn see(&mut self, progress: &Progress) {
        self.meter.update(progress);
        if self.warns && fails_only(progress) {
            self.warns = false;
            let Progress { failed, elapsed, .. } = progress;
            say(&format_args!(
                "all of {failed} requests have failed in {:.1} s; the run goes on (--abort-after N ends such a one)",
                elapsed.as_secs_f64()
            ));
        }
    }
}

fn fails_only(progress: &Progress) -> bool {
    progress.elapsed >= PATIENCE && progress.failed > 0 && progress.failed == progress.ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_failures() {
        let rows = [
            // Milliseconds, ended, failed: whether it fails only.
            ((1000, 5, 5), true),
            ((999, 5, 5), false),
            ((1000, 6, 5), false),
            ((1000, 0, 0), false),
        ];
        for ((millis, ended, failed), expected) in rows {
            let elapsed = Duration::from_millis(millis);
            assert_eq!(fails_only(&Progress { elapsed, ended, failed, ..Progress::default() }), expected);
        }
    }
}
