//! The folder of one sweep: claimed by one process, begun once, and taken up again only by the program and on the machine that
//! began it.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::SweepError;
use super::history::History;
use super::plan::Plan;
use crate::record::experiment::{
    Cell, EXPERIMENT_FILE, Entry, Experiment, JOURNAL_FILE, Machine, ReadError, VERSION, read,
};

/// The plan as it was written, for people.
pub const PLAN_TEXT_FILE: &str = "plan.toml";

/// The plan as it was understood, with everything that was typed beside it: what a resumed sweep goes on with.
pub const PLAN_FILE: &str = "plan.json";

/// Name and version of this program, as an experiment names what measured it.
pub const TOOL: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));

/// A sweep's folder, which no other sweep writes to until this is dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The folder itself: its lock goes with the process, however that ends.
    _lock: File,
}

/// What is known of a sweep that was begun before.
#[derive(Debug)]
pub struct Before {
    /// The plan.
    pub plan: Plan,
    /// What was planned, and where; none if it was ended before its targets were there.
    pub experiment: Option<Experiment>,
    /// What has happened.
    pub history: History,
}

impl Folder {
    /// Claims a folder that is empty, or not there yet, and puts the plan into it.
    ///
    /// # Errors
    ///
    /// Somebody has it, something is in it, or it cannot be written.
    pub fn create(path: &Path, plan: &Plan, text: &str) -> Result<Self, SweepError> {
        fs::create_dir_all(path).map_err(|error| SweepError::write(path, error))?;
        let folder = Self::claim(path)?;
        let mut entries = fs::read_dir(path).map_err(|error| SweepError::write(path, error))?;
        if entries.next().is_some() {
            return Err(SweepError::NotEmpty(path.to_owned()));
        }
        folder.put(PLAN_TEXT_FILE, text.as_bytes())?;
        folder.put_json(PLAN_FILE, &Resolved { version: VERSION, tool: TOOL.to_owned(), plan: plan.clone() })?;
        Ok(folder)
    }

    /// Claims a folder that a sweep has begun, and reads what is there.
    ///
    /// # Errors
    ///
    /// Somebody has it, it is no sweep's folder, or it is another program's.
    pub fn resume(path: &Path) -> Result<(Self, Before), SweepError> {
        if !path.join(PLAN_FILE).exists() && !path.join(EXPERIMENT_FILE).exists() {
            return Err(ReadError::NoExperiment(path.to_owned()).into());
        }
        let folder = Self::claim(path)?;
        let Resolved { version: _, tool, plan } = folder.resolved()?;
        if tool != TOOL {
            return Err(folder.changed(format!("it was begun by {tool}, and this is {TOOL}")));
        }
        let (experiment, history) = folder.past(&plan)?;
        Ok((folder, Before { plan, experiment, history }))
    }

    /// What has happened, if it happened to this plan.
    fn past(&self, plan: &Plan) -> Result<(Option<Experiment>, History), SweepError> {
        let results = match read(&self.path) {
            Ok(results) => results,
            Err(ReadError::NoExperiment(_)) if !self.has_journal() => return Ok((None, History::default())),
            Err(ReadError::NoExperiment(_)) => {
                return Err(self.changed(format!("it has a {JOURNAL_FILE}, and no {EXPERIMENT_FILE} any more")));
            }
            Err(error) => return Err(error.into()),
        };
        if results.experiment.cells != plan.cells {
            return Err(self.changed(format!("{PLAN_FILE} and {EXPERIMENT_FILE} are of two plans")));
        }
        not_planned(&plan.cells, &results.entries).map_or(Ok(()), |what| Err(self.changed(what)))?;
        Ok((Some(results.experiment), History::of(&results.entries)))
    }

    /// The experiment is written first: a journal without one has lost it.
    fn has_journal(&self) -> bool {
        self.path.join(JOURNAL_FILE).metadata().is_ok_and(|facts| facts.len() > 0)
    }

    fn claim(path: &Path) -> Result<Self, SweepError> {
        let lock = File::open(path).map_err(|error| SweepError::write(path, error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(SweepError::Taken(path.to_owned())),
            Err(TryLockError::Error(error)) => Err(SweepError::write(path, error)),
        }
    }

    fn resolved(&self) -> Result<Resolved, SweepError> {
        let path = self.path.join(PLAN_FILE);
        let no_plan = |reason: String| SweepError::NoPlan { path: path.clone(), reason };
        let text = fs::read_to_string(&path).map_err(|error| no_plan(error.to_string()))?;
        let read: Resolved = serde_json::from_str(&text).map_err(|error| no_plan(error.to_string()))?;
        if read.version == VERSION { Ok(read) } else { Err(no_plan(format!("it has version {}", read.version))) }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `experiment.json`.
    ///
    /// # Errors
    ///
    /// [`SweepError::Write`].
    pub fn begin(&self, experiment: &Experiment) -> Result<(), SweepError> {
        self.put_json(EXPERIMENT_FILE, experiment)
    }

    /// Whether what follows can stand beside what is there: the machine, as far as it changes figures, the documents, and the
    /// targets' versions.
    ///
    /// # Errors
    ///
    /// [`SweepError::Changed`], with what is no more as it was.
    pub fn goes_on_with(&self, before: &Experiment, now: &Experiment) -> Result<(), SweepError> {
        let difference = of_machines(&before.machine, &now.machine).or_else(|| of_targets(before, now));
        difference.map_or(Ok(()), |what| Err(self.changed(what)))
    }

    fn changed(&self, what: String) -> SweepError {
        SweepError::Changed { folder: self.path.clone(), what }
    }

    fn put_json(&self, name: &str, value: &impl Serialize) -> Result<(), SweepError> {
        let text = serde_json::to_vec_pretty(value).map_err(io::Error::from);
        let mut text = text.map_err(|error| SweepError::write(&self.path.join(name), error))?;
        text.push(b'\n');
        self.put(name, &text)
    }

    /// The whole file or none, and on the disk.
    fn put(&self, name: &str, content: &[u8]) -> Result<(), SweepError> {
        let path = self.path.join(name);
        let fresh = self.path.join(format!(".{name}.new"));
        let written = File::create(&fresh).and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&fresh, &path)?;
            // The name is the folder's.
            self._lock.sync_all()
        });
        written.map_err(|error| {
            let _ = fs::remove_file(&fresh);
            SweepError::write(&path, error)
        })
    }
}

/// The content of [`PLAN_FILE`].
#[derive(Debug, Serialize, Deserialize)]
struct Resolved {
    version: u32,
    tool: String,
    plan: Plan,
}

/// What a journal has that no sweep of these cells writes: it is another one's, or two that somebody has put together.
fn not_planned(cells: &[Cell], entries: &[Entry]) -> Option<String> {
    let mut open: HashSet<&Cell> = cells.iter().collect();
    let mut tried = entries.iter().filter_map(|entry| match entry {
        Entry::Measured(measured) => Some(&measured.cell),
        Entry::NotMeasured(tried) => Some(&tried.cell),
        Entry::LeftOut(_) | Entry::Restarted(_) => None,
    });
    let Cell { target, document, connections, concurrency, repeat, .. } = tried.find(|cell| !open.remove(cell))?;
    let kind = connections.name();
    let what = format!("repeat {repeat} of {document} over {concurrency} {kind} connections of {target}");
    Some(format!("{JOURNAL_FILE} has {what}, which is not planned, or not once more"))
}

/// Memory and descriptors are left out: they change by themselves, and no figure with them.
fn of_machines(before: &Machine, now: &Machine) -> Option<String> {
    let of = |machine: &Machine| {
        let Machine { kernel, cpu_model, cpus, governors, .. } = machine;
        [kernel.clone(), cpu_model.clone(), cpus.to_string(), governors.join(" ")]
    };
    let named = ["the kernel", "the CPU", "the number of CPUs", "the frequency governor"];
    let was = |name: &str, before: &str, now: &str| format!("{name} is {now} now, and was {before} when it began");
    let pairs = named.into_iter().zip(of(before).into_iter().zip(of(now)));
    let mut differences = pairs.filter(|(_, (before, now))| before != now);
    let first = differences.next().map(|(name, (before, now))| was(name, &before, &now));
    first.or_else(|| {
        let names = before.sysctls.keys().chain(now.sysctls.keys());
        let value = |machine: &Machine, name: &str| machine.sysctls.get(name).cloned().unwrap_or_default();
        let mut values = names.map(|name| (name, value(before, name), value(now, name)));
        values.find(|(_, before, now)| before != now).map(|(name, before, now)| was(name, &before, &now))
    })
}

fn of_targets(before: &Experiment, now: &Experiment) -> Option<String> {
    let pairs = before.targets.iter().filter_map(|before| {
        let now = now.targets.iter().find(|now| now.name == before.name)?;
        Some((before, now))
    });
    // One that is left out says nothing of itself.
    let mut changed = pairs.filter(|(before, now)| before.version != now.version && !now.version.is_empty());
    let (before, now) = changed.next()?;
    Some(format!("{} is {} now, and was {} when it began", before.name, now.version, before.version))
}
