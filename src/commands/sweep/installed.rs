//! Whether the commands of a plan are there: their programs by looking, and what their start scripts need by asking for the
//! version. Whoever cannot say its version is mostly not installed; that is sure only when it is started, and then the target is
//! left out.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::sweep::capture::{Bounds, Captured, capture};
use crate::sweep::child::Program;
use crate::sweep::plan::{How, Plan, TargetPlan};
use crate::sweep::wait::Stop;

/// A Java virtual machine has to start for some.
const WITHIN: Duration = Duration::from_secs(20);

/// Most that is read of what they say.
const BOUNDS: Bounds = Bounds { stdout: 4 << 10, stderr: 4 << 10 };

/// Programs that are not there.
pub(super) fn missing(plan: &Plan) -> Vec<String> {
    let missing = |target: &TargetPlan| {
        let program = command(target)?.0.first()?;
        let says = format!("target {}: there is no program {program}, and the target will be left out.", target.name);
        (!is_program(program)).then_some(says)
    };
    plan.targets.iter().filter_map(missing).collect()
}

/// Commands that do not say their version.
pub(super) fn doubtful(plan: &Plan) -> Vec<String> {
    let Ok((_nobody, reader)) = UnixStream::pair() else { return Vec::new() };
    // Ctrl-C ends a dry run as it ends any program, and its children with it.
    let stop = Stop::by(reader);
    let doubtful = |target: &TargetPlan| {
        let (words, version) =
            command(target).filter(|(words, _)| words.first().is_some_and(|word| is_program(word)))?;
        let why = refusal(version, &stop)?;
        let (name, program) = (&target.name, words.first()?);
        Some(format!(
            "target {name}: {program} is there, but its version is not to be had ({why}). If it is not installed, the target will be left out."
        ))
    };
    plan.targets.iter().filter_map(doubtful).collect()
}

fn command(target: &TargetPlan) -> Option<(&[String], &[String])> {
    match &target.how {
        How::Command { words, version } => Some((words, version)),
        How::Ours { .. } | How::Running { .. } => None,
    }
}

/// Why a version is not to be had.
fn refusal(version: &[String], stop: &Stop) -> Option<String> {
    let program = version.first()?;
    if !is_program(program) {
        return Some(format!("there is no program {program}"));
    }
    let words = version.iter().map(Into::into).collect();
    match capture(&Program::of_this_process(), words, BOUNDS, WITHIN, stop) {
        Ok(Captured::Whole(output)) if output.status.is_some_and(|status| status.success()) => None,
        Ok(Captured::Whole(output)) => Some(last_words(&output.stderr).unwrap_or(format!("{program} has failed"))),
        Ok(Captured::TooLong | Captured::Stopped) => {
            Some(format!("{program} has not ended within {} s", WITHIN.as_secs()))
        }
        Err(error) => Some(io::Error::to_string(&error)),
    }
}

fn last_words(stderr: &[u8]) -> Option<String> {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(LONGEST).collect())
}

fn is_program(name: &str) -> bool {
    let runs =
        |path: &Path| path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0);
    if name.contains('/') {
        return runs(Path::new(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| runs(&folder.join(name)))
}
