//! One target: how it comes to be there, whether it answers as it should, what it consists of, and its end.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::child::{Child, Program, Start};
use super::error::{Cut, SweepError};
use super::plan::{How, TargetPlan};
use super::tree::descendants;
use super::wait::{Stop, first};
use crate::process::watch::Watch;
use crate::record::experiment::{self, Document, TargetKind};

mod command;
mod log;
mod log_bound;
mod probe;
mod version;

pub use log_bound::LogBound;
pub use probe::Probe;

/// Folder of what belongs to the targets, below that of the sweep: a log each, and a place for what they write.
pub const FOLDER: &str = "targets";

/// Most processes of one target that are watched; each costs the load tool's watcher some time.
pub const WATCHED_MAX: usize = 64;

/// Between two looks at whether a target answers.
const PAUSE: Duration = Duration::from_millis(50);

/// What targets stand on.
#[derive(Debug)]
pub struct Ground<'a> {
    /// This program.
    pub program: &'a Program,
    /// The sweep's folder.
    pub folder: &'a Path,
    /// The documents' folder.
    pub root: &'a Path,
    /// Whether the sweep has to stop.
    pub stop: &'a Stop,
}

/// A target, whether it runs or not.
#[derive(Debug)]
pub struct Target<'a> {
    plan: &'a TargetPlan,
    /// `http://127.0.0.1:8101`.
    url: String,
    /// What starts it, word by word; empty for one that runs.
    words: Vec<String>,
    /// Its own folder.
    folder: PathBuf,
    /// How long its log was before it was started last.
    logged_before: u64,
    child: Option<Child>,
    version: String,
}

/// A target that takes no part, and why, as the second half of a sentence about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Out(pub String);

impl<'a> Target<'a> {
    /// A target that is not started yet, and its port; one that runs has its own.
    #[must_use]
    pub fn new(plan: &'a TargetPlan, port: u16, ground: &Ground<'_>) -> Self {
        let folder = ground.folder.join(FOLDER).join(&plan.name);
        let (url, words) = match &plan.how {
            How::Running { url, .. } => (url.clone(), Vec::new()),
            started => (format!("http://127.0.0.1:{port}"), command::words(started, plan, port, ground.root, &folder)),
        };
        Self { plan, url, words, folder, logged_before: 0, child: None, version: String::new() }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        &self.plan.name
    }

    /// Where it answers, without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where it writes both its streams, if it is started here.
    #[must_use]
    pub fn log(&self) -> Option<PathBuf> {
        self.is_ours_to_start().then(|| log::path(&self.folder))
    }

    /// What it says of itself.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// As the experiment tells of it.
    #[must_use]
    pub fn described(&self) -> experiment::Target {
        let kind = match self.plan.how {
            How::Ours { .. } => TargetKind::Ours,
            How::Command { .. } => TargetKind::Command,
            How::Running { .. } => TargetKind::Running,
        };
        experiment::Target {
            name: self.plan.name.clone(),
            kind,
            command: command::shown(&self.words),
            url: self.url.clone(),
            version: self.version.clone(),
            workers: (kind != TargetKind::Running).then_some(self.plan.workers),
            cpus: self.plan.cpus.clone(),
        }
    }

    /// Starts it, and returns when it has answered 200 for this document, or why it has not.
    ///
    /// # Errors
    ///
    /// The sweep has to stop, or nothing can be started or written at all.
    pub fn come_up(&mut self, document: &Document, ground: &Ground<'_>) -> Result<Result<(), Out>, Cut> {
        if self.words.is_empty() {
            return self.is_there(document, ground);
        }
        let log = log::path(&self.folder);
        self.logged_before = log::length(&log);
        self.child = match self.start(&log, ground) {
            Ok(child) => Some(child),
            // With the folders in their places its words are longer than they were in the plan.
            Err(SweepError::Start(error)) if error.kind() == ErrorKind::ArgumentListTooLong => {
                return Ok(Err(Out(format!("its command cannot be started: {error}"))));
            }
            Err(error) => return Err(error.into()),
        };
        let answered = self.until_ready(document, ground)?;
        if answered.is_err() {
            self.stop();
        }
        Ok(answered)
    }

    fn start(&self, log: &Path, ground: &Ground<'_>) -> Result<Child, SweepError> {
        let folder = command::work_folder(&self.folder);
        fs::create_dir_all(&folder).map_err(|error| SweepError::write(&folder, error))?;
        let opened = OpenOptions::new().create(true).append(true).open(log);
        let log = opened.map_err(|error| SweepError::write(log, error))?;
        let words = self.words.iter().map(Into::into).collect();
        let start = Start { words, cpus: &self.plan.cpus, stop_within: self.plan.stop_within, log: Some(log) };
        Child::start(ground.program, start).map_err(SweepError::Start)
    }

    fn until_ready(&mut self, document: &Document, ground: &Ground<'_>) -> Result<Result<(), Out>, Cut> {
        let until = Instant::now() + self.plan.ready_within;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let probe = probe::ask(&self.url, document, left, ground)?;
            // First: if it has ended, somebody else has answered.
            if let Some(end) = self.ended() {
                return Ok(Err(Out(end)));
            }
            if let Some(server) = probe.status_is_right() {
                return self.is_up(server, ground).map(Ok);
            }
            if left.is_zero() {
                let (within, asked) = (self.plan.ready_within.as_secs_f64(), &document.name);
                let reason = format!("it did not answer 200 for /{asked} within {within} s: {}", probe.reason());
                return Ok(Err(Out(log::besides(&reason, &log::path(&self.folder), self.logged_before))));
            }
            self.pause(ground)?;
        }
    }

    /// A moment, or until it ends.
    fn pause(&self, ground: &Ground<'_>) -> Result<(), Cut> {
        let Some(child) = &self.child else { return Ok(()) };
        match first([ground.stop.as_fd(), child.end().as_fd()], Some(PAUSE)) {
            Ok([false, _]) => Ok(()),
            Ok([true, _]) => Err(Cut::Stopped),
            Err(error) => Err(SweepError::Start(error).into()),
        }
    }

    /// One that runs is there or not: nobody waits for it.
    fn is_there(&mut self, document: &Document, ground: &Ground<'_>) -> Result<Result<(), Out>, Cut> {
        let probe = self.ask(document, ground)?;
        match probe.status_is_right() {
            Some(server) => self.is_up(server, ground).map(Ok),
            None => Ok(Err(Out(format!("it does not answer 200 for /{}: {}", document.name, probe.reason())))),
        }
    }

    /// What can be known of it only now.
    fn is_up(&mut self, server: &str, ground: &Ground<'_>) -> Result<(), Cut> {
        if self.version.is_empty() {
            let version = version::of(self.plan, ground)?;
            self.version = if version.is_empty() { version::shown(server) } else { version };
        }
        Ok(())
    }

    /// Asks for a document once, and compares the answer with the file.
    ///
    /// # Errors
    ///
    /// The sweep has to stop, or no process can be started.
    pub fn ask(&self, document: &Document, ground: &Ground<'_>) -> Result<Probe, Cut> {
        probe::ask(&self.url, document, probe::ANSWER, ground)
    }

    /// How it ended, as a sentence, if it has; never of one that was running.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.as_mut()?.ended()?;
        Some(log::explained(&log::end(status), &log::path(&self.folder), self.logged_before))
    }

    /// Whether it was started for this, and so could be started again.
    #[must_use]
    pub fn is_ours_to_start(&self) -> bool {
        !self.words.is_empty()
    }

    /// Its processes, to be watched: at most [`WATCHED_MAX`], and whether that was all of them.
    #[must_use]
    pub fn processes(&self) -> (Vec<u32>, bool) {
        let below = |pid| descendants(pid, WATCHED_MAX + 1);
        let mut all = match (&self.child, self.pid()) {
            (Some(child), _) => below(child.guard()),
            (None, Some(pid)) => std::iter::once(pid).chain(below(pid)).collect(),
            (None, None) => Vec::new(),
        };
        let is_all = all.len() <= WATCHED_MAX;
        all.truncate(WATCHED_MAX);
        (all, is_all)
    }

    /// Of one that was running, its process, as its pid file has it now: it may be restarted by whoever it belongs to.
    fn pid(&self) -> Option<u32> {
        match &self.plan.how {
            How::Running { pid_file: Some(file), .. } => running_process(file),
            _ => None,
        }
    }

    /// Whether nobody will see what it takes of the machine.
    #[must_use]
    pub fn is_unwatched(&self) -> bool {
        self.child.is_none() && self.pid().is_none()
    }

    /// Asks it to end, and does not wait for that.
    pub fn ask_to_stop(&mut self) {
        if let Some(child) = &mut self.child {
            child.ask_to_stop();
        }
    }

    /// Ends it, if it was started for this.
    pub fn stop(&mut self) {
        // Dropping it does that.
        self.child = None;
    }
}

/// The process that a pid file names, if it can be watched by whoever we are.
#[must_use]
pub fn running_process(file: &Path) -> Option<u32> {
    /// More digits than a process id has.
    const LONGEST: u64 = 32;
    // A pipe that somebody named by mistake would hold the sweep up for ever.
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(file).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    let pid = text.trim().parse().ok()?;
    Watch::open(pid).is_ok().then_some(pid)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// Whoever it belongs to may restart it: a dead process in its place would be watched for the rest of the sweep.
    #[test]
    fn the_process_of_one_that_runs_is_the_one_of_its_pid_file_now() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let plan = TargetPlan {
            name: "r".into(),
            how: How::Running { url: "http://127.0.0.1:1".into(), pid_file: Some(file.path().to_owned()) },
            workers: 1,
            cpus: String::new(),
            ready_within: Duration::ZERO,
            stop_within: Duration::ZERO,
        };
        let (program, stop) = (Program::of_this_process(), Stop::by(std::io::pipe().unwrap().0));
        let ground = Ground { program: &program, folder: Path::new("/r"), root: Path::new("/d"), stop: &stop };
        let target = Target::new(&plan, 0, &ground);
        assert!(target.is_unwatched(), "an empty file");

        let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        for pid in [std::process::id(), other.id()] {
            fs::write(file.path(), format!("{pid}\n")).unwrap();
            assert_eq!(target.processes().0.first(), Some(&pid));
            assert!(!target.is_unwatched());
        }
        drop(other.stdin.take());
        other.wait().unwrap();
        assert!(target.is_unwatched() && target.processes().0.is_empty(), "it has ended");
    }
}
