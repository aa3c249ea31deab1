//! What will be done, resolved: nothing is optional that somebody would have to guess.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::record::Gate;
use crate::record::experiment::{Cell, Client, Document, Published};

/// One experiment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// Its name: `quick`, or the file's without its ending.
    pub name: String,
    /// What is asked, as one sentence that ends with a question mark.
    pub question: String,
    /// Who is compared; the first one is what the others are compared with.
    pub targets: Vec<TargetPlan>,
    /// What is asked for, each once.
    pub documents: Vec<Document>,
    /// Folder that has the documents, and that started targets serve.
    pub root: PathBuf,
    /// Every measurement, in the order in which they are made.
    pub cells: Vec<Cell>,
    /// How often each cell is measured.
    pub repeats: u64,
    /// Where the order came from.
    pub seed: u64,
    /// Before the first cell, for each target.
    pub warm_up: WarmUp,
    /// Load before each cell whose figures are thrown away.
    pub cell_warm_up: Duration,
    /// Between cells.
    pub cool_down: CoolDown,
    /// What makes a cell invalid, besides what always does.
    #[serde(with = "as_typed")]
    pub gates: Vec<Gate>,
    /// Ratios between 1/(1+band) and 1+band are no difference that matters.
    pub band: f64,
    /// The load tool's side.
    pub client: Client,
    /// The published figures that belong to the question.
    pub published: Vec<Published>,
    /// Where the command line wants some of the targets only: that it is so, as a clause.
    #[serde(default)]
    pub narrowed: Option<String>,
}

/// One target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetPlan {
    /// Its name.
    pub name: String,
    /// How it comes to be there.
    pub how: How,
    /// `{workers}` of its command.
    pub workers: u64,
    /// CPUs that it is pinned to, such as `0` or `0-1`; empty for all.
    pub cpus: String,
    /// How long it may take until it answers 200 for the first document.
    pub ready_within: Duration,
    /// How long it may take to end after SIGTERM, before SIGKILL.
    pub stop_within: Duration,
}

/// How a target comes to be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Our own server: the arguments of `quintain serve`, besides root, address and workers.
    Ours {
        /// `--profile nginx`, `--set …`.
        arguments: Vec<String>,
    },
    /// Another program, word by word, in which `{port}`, `{root}` and `{workers}` stand for theirs. It stays in the
    /// foreground and ends on SIGTERM.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// A command that prints the program's version; empty for none.
        version: Vec<String>,
    },
    /// Something that runs already.
    Running {
        /// `http://HOST:PORT`, without a path.
        url: String,
        /// Where its process id stands, if it can be watched.
        pid_file: Option<PathBuf>,
    },
}

/// Load whose figures nobody sees, so that a just-in-time compiler has compiled what will be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUp {
    /// How often.
    pub cycles: u32,
    /// How long each is, over each document.
    pub duration: Duration,
    /// The pause after each, in which compilers catch up.
    pub pause: Duration,
}

/// The wait until what the last cell left is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoolDown {
    /// Sockets in TIME_WAIT on this machine; the next cell begins below that.
    pub time_wait_below: u64,
    /// The longest wait; then it is measured all the same, and the count stands in the journal.
    pub at_most: Duration,
}

/// Gates as `--fail-if` takes them.
mod as_typed {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::record::Gate;

    pub fn serialize<S: Serializer>(gates: &[Gate], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(gates.iter().map(Gate::to_string))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Gate>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
    }
}
