//! What a target says of itself.

use std::time::Duration;

use super::super::capture::{Bounds, Captured, capture};
use super::super::error::{Cut, SweepError};
use super::super::plan::{How, TargetPlan};
use super::Ground;

/// How long a program may take to say it: a Java virtual machine has to start for that.
const WITHIN: Duration = Duration::from_secs(30);

/// Most that is kept of it.
const LONGEST: usize = 200;

/// The version; empty if nobody says it.
pub(super) fn of(plan: &TargetPlan, ground: &Ground<'_>) -> Result<String, Cut> {
    match &plan.how {
        How::Ours { .. } => Ok(concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned()),
        How::Command { version, .. } if !version.is_empty() => asked(version, ground),
        How::Command { .. } | How::Running { .. } => Ok(String::new()),
    }
}

fn asked(words: &[String], ground: &Ground<'_>) -> Result<String, Cut> {
    const BOUNDS: Bounds = Bounds { stdout: 4 << 10, stderr: 4 << 10 };
    let words = words.iter().map(Into::into).collect();
    match capture(ground.program, words, BOUNDS, WITHIN, ground.stop).map_err(SweepError::Start)? {
        Captured::Whole(output) if output.status.is_some_and(|status| status.success()) => {
            // nginx and Java say it on stderr.
            Ok(first_line(&output.stdout).or_else(|| first_line(&output.stderr)).unwrap_or_default())
        }
        // Its `Server` line may tell; that it cannot be asked is no reason not to measure it.
        Captured::Whole(_) | Captured::TooLong => Ok(String::new()),
        Captured::Stopped => Err(Cut::Stopped),
    }
}

fn first_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(shown)
}

/// As it is shown and kept: a `Server` line may be as long as a head.
pub(super) fn shown(line: &str) -> String {
    line.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines() {
        let rows: [(&[u8], Option<&str>); 4] = [
            (b"", None),
            (b" \n\n", None),
            (b"\nnginx version: nginx/1.22.1 \nbuilt", Some("nginx version: nginx/1.22.1")),
            (b"\xff\x07x", Some("\u{fffd}x")),
        ];
        assert_eq!(shown(&"n".repeat(6000)), "n".repeat(LONGEST));
        for (bytes, expected) in rows {
            assert_eq!(first_line(bytes).as_deref(), expected);
        }
    }
}
