//! A sweep that measures: a new one, or one that goes on.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::ab_texts::AbTexts;
use super::obstacles;
use super::watcher::Watcher;
use crate::commands::signals::{self, INTERRUPTED};
use crate::commands::{FAILED, fail, report, say};
use crate::process::limits;
use crate::sweep::child::Program;
use crate::sweep::documents;
use crate::sweep::error::SweepError;
use crate::sweep::folder::{Before, Folder};
use crate::sweep::history::{Counts, History};
use crate::sweep::machine;
use crate::sweep::plan::Plan;
use crate::sweep::run::{self, Ended, Orders};
use crate::sweep::wait::Stop;
use crate::sweep::written::Surroundings;

/// Where results go if nobody says where.
const RESULTS: &str = "results";

/// Measures a plan.
pub(super) fn begin(plan: Plan, text: &str, out: Option<&Path>, around: &Surroundings, quiet: bool) -> ExitCode {
    let path = out.map_or_else(|| usual_folder(&plan.name), Path::to_owned);
    if around.working.join(&path).to_str().is_none() {
        let says = "its name is not UTF-8, and could not be handed to a command; name another folder by --out";
        return fail(FAILED, &format_args!("{}: {says}", around.working.join(&path).display()));
    }
    match Folder::create(&path, &plan, text) {
        Ok(folder) => measure(plan, &folder, None, around, quiet),
        Err(error) => fail(FAILED, &error),
    }
}

/// Goes on with what is in a folder.
pub(super) fn resume(path: &Path, around: &Surroundings, quiet: bool) -> ExitCode {
    match Folder::resume(path) {
        Ok((folder, before)) => measure(before.plan.clone(), &folder, Some(&before), around, quiet),
        Err(error) => fail(FAILED, &error),
    }
}

/// `results/quick-20261201-114400`, in UTC: it sorts by time.
fn usual_folder(plan: &str) -> PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    Path::new(RESULTS).join(format!("{plan}-{now}"))
}

fn measure(mut plan: Plan, folder: &Folder, before: Option<&Before>, around: &Surroundings, quiet: bool) -> ExitCode {
    // For this process and all that it starts: ten thousand connections have two ends.
    let _ = limits::raise();
    let made = match documents::provide(&mut plan) {
        Ok(made) => made,
        Err(error) => return fail(FAILED, &format_args!("cannot make the documents: {error}")),
    };
    let stop = match listen() {
        Ok(stop) => stop,
        Err(error) => return fail(FAILED, &format_args!("cannot listen to signals: {error}")),
    };
    let nothing = History::default();
    let history = before.map_or(&nothing, |before| &before.history);
    let mut watcher = Watcher::new(&plan, AbTexts::of(&plan, folder.path()), history, quiet);
    // Nothing is in the way of what is measured already.
    if watcher.left() > 0 {
        for remark in plan.narrowed.clone().into_iter().chain(obstacles::of(&plan, around)) {
            watcher.remark(&remark);
        }
    }
    let (machine, program) = (machine::read(Path::new("/")), Program::of_this_process());
    let orders = Orders { plan: &plan, folder, before, machine: &machine, program: &program, stop: &stop };
    let ended = run::run(&orders, &mut watcher);
    let left = watcher.left();
    watcher.finish();
    drop(made);
    match ended {
        Ok(Ended::Whole(counts)) => whole(counts, folder.path(), quiet),
        Ok(Ended::Stopped(counts)) => stopped(counts, left, plan.cells.len(), folder.path()),
        Err(error) => failed(&error, folder.path()),
    }
}

/// From now on the first SIGINT or SIGTERM lets the sweep end in order, and the second ends it at once: the guards of its
/// children see to the rest. So does a SIGHUP, of which a terminal that is closed may send two; under `nohup` it stays ignored.
fn listen() -> io::Result<Stop> {
    let (reader, writer) = UnixStream::pair()?;
    let _ = signals::listen()?;
    let hang_up = (!signals::is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
        pipe::register(signal, writer.try_clone()?)?;
    }
    Ok(Stop::by(reader))
}

// === What is said in the end ===

/// With the report: whoever has waited for the figures wants to see them.
fn whole(counts: Counts, folder: &Path, quiet: bool) -> ExitCode {
    let sentence = format!("{}; the results are in {}", told(counts), folder.display());
    if counts.measured == 0 {
        return fail(FAILED, &sentence);
    }
    if !quiet {
        say(&sentence);
    }
    report::present(folder, folder, false)
}

/// So many of all are left. What is left out is counted as a whole, and not only as far as the sweep had come.
fn stopped(counts: Counts, left: usize, all: usize, folder: &Path) -> ExitCode {
    let Counts { measured, not_measured, .. } = counts;
    let counts = Counts { skipped: all.saturating_sub(measured + not_measured + left), ..counts };
    let read = match measured {
        0 => String::new(),
        _ => format!(", or read what is there so far with `quintain report {}`", folder.display()),
    };
    say(&format_args!("interrupted: {}, of {all}; {}{read}", told(counts), go_on(folder)));
    ExitCode::from(INTERRUPTED)
}

fn failed(error: &SweepError, folder: &Path) -> ExitCode {
    match error {
        SweepError::Changed { .. } => fail(FAILED, error),
        _ => fail(FAILED, &format_args!("{error}; {}", go_on(folder))),
    }
}

fn go_on(folder: &Path) -> String {
    format!("go on with `quintain sweep --resume {}`", folder.display())
}

/// `240 measurements are made, 3 could not be, 20 are left out`.
fn told(Counts { measured, not_measured, skipped }: Counts) -> String {
    let mut words = match measured {
        1 => "1 measurement is made".to_owned(),
        _ => format!("{measured} measurements are made"),
    };
    if not_measured > 0 {
        words.push_str(&format!(", {not_measured} could not be"));
    }
    if skipped > 0 {
        words.push_str(&format!(", {skipped} left out"));
    }
    words
}
