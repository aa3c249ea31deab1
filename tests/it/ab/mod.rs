//! ApacheBench's face beside the real ab: the same words, the same target, and what stdout, stderr and the exit code are.
//!
//! Two runs never have the same times, so figures are replaced by `N`, and runs of blanks by one. What counts requests and
//! bytes is compared as it stands. Not compared: ab's notes on medians and deviations (`WARNING:` and `ERROR:`), which depend on how
//! busy the machine is, and our own lines on stderr (`quintain: ...`).

mod calls;
mod ends;
mod reports;
mod scripted;
mod seed;

use std::process::{Command, Output};

use regex_lite::Regex;

use crate::peers;

/// Lines whose figures must be the same.
const COUNTS: [&str; 9] = [
    "Server Port:",
    "Document Length:",
    "Concurrency Level:",
    "Complete requests:",
    "Failed requests:",
    "Non-2xx responses:",
    "Keep-Alive requests:",
    "Total transferred:",
    "HTML transferred:",
];

/// The real ab with these words; `None` if it is not installed and need not be.
#[track_caller]
fn real(words: &[&str]) -> Option<Output> {
    peers::run("ab", words)
}

/// Ours with the same words.
fn ours(words: &[&str]) -> Output {
    command(words).output().expect("the binary under test can be executed")
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
    command.arg("ab").args(words);
    command
}

/// Runs both and compares everything that can be the same. `None` if there is no ab.
#[track_caller]
fn same(words: &[&str]) -> Option<Output> {
    let theirs = real(words)?;
    let ours = ours(words);
    compare(&theirs, &ours, words);
    let counts = |output: &Output| {
        let text = stdout(output);
        let is_count = |line: &&str| COUNTS.iter().any(|label| line.starts_with(label));
        text.lines().filter(is_count).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(counts(&ours), counts(&theirs), "{words:?}");
    Some(ours)
}

/// Compares two runs but for their figures.
#[track_caller]
fn compare(theirs: &Output, ours: &Output, what: &[&str]) {
    assert_eq!(shape(&stdout(ours)), shape(&stdout(theirs)), "stdout of {what:?}; ours:\n{}", stdout(ours));
    assert_eq!(shape(&stderr(ours)), shape(&stderr(theirs)), "stderr of {what:?}; ours:\n{}", stderr(ours));
    assert_eq!(ours.status.code(), theirs.status.code(), "exit code of {what:?}: {}", stderr(ours));
}

/// A text without its figures, and without what depends on how busy the machine is.
fn shape(text: &str) -> String {
    let notes = Regex::new(r"(?m)^(WARNING|ERROR): The median .*\n.*\n").expect("a pattern");
    let ours = Regex::new(r"(?m)^quintain: .*\n").expect("a pattern");
    let text = ours.replace_all(&notes.replace_all(text, ""), "").into_owned();
    let figures = Regex::new(r"\d+").expect("a pattern").replace_all(&text, "N").into_owned();
    Regex::new(r"[ \t]+").expect("a pattern").replace_all(&figures, " ").into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
