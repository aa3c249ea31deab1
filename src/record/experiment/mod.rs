//! What a sweep leaves in its folder: `experiment.json`, written before the first cell, and `journal.jsonl`, one line for
//! each thing that happened since.
//!
//! The two are all that passes between running an experiment and reporting it. Lines are only ever appended, so a sweep
//! that was killed has lost nothing but, at worst, the end of its last line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

mod entry;
mod plausible;
mod read;

pub use entry::{Entry, LeftOut, Measured, NotMeasured, Restarted};
pub use read::{EXPERIMENT_FILE, JOURNAL_FILE, ReadError, Results, experiment, read};

/// The version of both files. It grows when a field changes its meaning or goes; a new field alone does not change it.
pub const VERSION: u32 = 1;

/// An experiment, as it was resolved before its first cell. It never changes afterwards; a resumed one reads it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// [`VERSION`].
    pub version: u32,
    /// Name and version of the program that measured.
    pub tool: String,
    /// Name of the plan: `quick`, or the file's without its ending.
    pub plan: String,
    /// What is asked, as one sentence that ends with a question mark.
    pub question: String,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// Where the order of the cells came from.
    pub seed: u64,
    /// How often each cell is measured.
    pub repeats: u64,
    /// Who is compared; the first one is what the others are compared with.
    pub targets: Vec<Target>,
    /// What is asked for.
    pub documents: Vec<Document>,
    /// Every measurement that is planned, each repeat by itself, in the order in which they are made.
    pub cells: Vec<Cell>,
    /// Besides the built-in ones, what makes a measurement invalid: `p99>5ms`.
    pub gates: Vec<String>,
    /// Ratios between 1/(1+band) and 1+band are no difference that matters: 0.02 is 2 %.
    pub band: f64,
    /// Who asks.
    pub client: Client,
    /// Where.
    pub machine: Machine,
    /// The published figures that belong to this question.
    pub published: Vec<Published>,
    /// What is done around the measurements; none of a sweep that was begun when this was not kept.
    #[serde(default)]
    pub course: Option<Course>,
    /// Where only some of the plan's targets were wanted: that it is so, as a clause.
    #[serde(default)]
    pub narrowed: Option<String>,
}

/// What is done around the measurements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// How often each target gets load over each document before its first cell.
    pub warm_up_cycles: u32,
    /// How long each time, in milliseconds.
    pub warm_up_ms: u64,
    /// The pause after each cycle, in milliseconds.
    pub warm_up_pause_ms: u64,
    /// Load before each cell that does not count, in milliseconds.
    pub cell_warm_up_ms: u64,
    /// Each cell waits until fewer sockets than this are in TIME_WAIT.
    pub time_wait_below: u64,
    /// But no longer than this, in milliseconds; zero for no wait.
    pub cool_down_at_most_ms: u64,
}

/// One of the servers that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its name in the plan.
    pub name: String,
    /// Where it came from.
    pub kind: TargetKind,
    /// The command that started it, word by word; empty for one that was running.
    pub command: Vec<String>,
    /// Where it answers, without a path: `http://127.0.0.1:8101`.
    pub url: String,
    /// What it says of itself: its program's version, or else its `Server` line; empty if it says nothing.
    pub version: String,
    /// Its workers, where the plan says how many.
    pub workers: Option<u64>,
    /// CPUs that it was pinned to, such as `0` or `0-1`; empty for all.
    pub cpus: String,
}

/// Where a target came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// Our own server, in the shape that the command says.
    Ours,
    /// Another program that was started for this.
    Command,
    /// Something that was running, and goes on.
    Running,
}

/// One of the documents that are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its name in reports, and of its file: `1k.html`.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// One measurement: what is measured, and the how-manieth time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the target.
    pub target: String,
    /// Name of the document.
    pub document: String,
    /// One request each, or as many as the server allows.
    pub connections: ConnectionKind,
    /// Connections at once.
    pub concurrency: u64,
    /// From 1 on. Cells of all targets that are equal but for the target form a block: they are measured one after the
    /// other, and are what a comparison pairs.
    pub repeat: u64,
    /// End after so many requests.
    pub requests: Option<u64>,
    /// End after so many milliseconds.
    pub duration_ms: Option<u64>,
}

/// Whether connections carry more than one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionKind {
    /// A connection for each request.
    Short,
    /// As many requests on a connection as the server allows.
    KeepAlive,
}

impl ConnectionKind {
    /// Its name in plans and reports, and what `--connections` of the load tool takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::KeepAlive => "keep-alive",
        }
    }
}

/// The load tool's side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Its threads; `None` is its own choice.
    pub threads: Option<u64>,
    /// CPUs that it was pinned to; empty for all.
    pub cpus: String,
    /// Its source addresses; empty is the system's choice.
    pub sources: String,
}

/// The machine, as far as two results need it to be the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -r`.
    pub kernel: String,
    /// Model of the CPUs.
    pub cpu_model: String,
    /// CPUs that this process may use.
    pub cpus: u64,
    /// Memory, or what a control group allows of it.
    pub memory_bytes: u64,
    /// Frequency governors, each once; empty where the kernel shows none, as in virtual machines.
    pub governors: Vec<String>,
    /// Descriptors that a process may open.
    pub descriptors: u64,
    /// The settings that the published tests tune, by their sysctl(8) names; one that the kernel does not show is not there.
    pub sysctls: BTreeMap<String, String>,
}

/// A figure that somebody published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Where it is from, as in `plans/published.csv`.
    pub source: String,
    /// The server, with its version where the source has it.
    pub server: String,
    /// Name of the document here.
    pub document: String,
    /// One request each, or kept.
    pub connections: ConnectionKind,
    /// Connections at once.
    pub concurrency: u64,
    /// Requests per second.
    pub requests_per_s: f64,
    /// What has to be said about it; mostly empty.
    pub note: String,
}
