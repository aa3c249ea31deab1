//! Configuration: from what was written to what will be done.
//!
//! ```text
//! settings.rs   the image of config.toml: name, type, range and default of each setting
//! written.rs    how a value is written and read back; units.rs and words.rs: the types
//! file.rs       the file's entries, with their lines
//! layers.rs     defaults < profile < file < environment < flags; where each value came from; mistakes
//! profiles.rs   the settings of servers that are stood in for
//! resolve.rs    settings -> plan, and the rules that span several settings
//! memory.rs     a plan that fits the memory that the process may use
//! plan/         what will be done: what the start uses up, and what a reload may change
//! reload.rs     what may change while the server runs
//! ```

use std::ffi::OsString;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

mod file;
mod layers;
mod memory;
mod paths;
pub mod plan;
mod profiles;
mod reload;
mod resolve;
mod settings;
pub(crate) mod units;
mod words;
pub(crate) mod written;

pub use layers::{Flag, Mistake};
pub use memory::Bounded;
pub use reload::NeedsRestart;
pub use units::{parse_duration, parse_size};

use layers::{Merged, Origin};
use plan::ServePlan;
use resolve::Conflict;
use settings::Settings;

/// What surrounds the process; an argument, so that a test can bring its own.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The environment variables.
    pub environment: Vec<(OsString, OsString)>,
    /// Where relative paths begin; empty is the working directory, for as long as the process stays there.
    pub folder: PathBuf,
    /// How many CPUs the process may use: those of its mask, within the quota of its control group.
    pub cpus: NonZeroUsize,
    /// Memory that the control group allows the process, in bytes.
    pub memory_bytes: Option<u64>,
}

impl Surroundings {
    /// Those of this process, on a machine that allows it so much.
    pub fn of_this_process(cpus: NonZeroUsize, memory_bytes: Option<u64>) -> Self {
        Surroundings { environment: std::env::vars_os().collect(), folder: PathBuf::new(), cpus, memory_bytes }
    }
}

/// A valid configuration of `quintain serve`.
pub struct Configuration {
    /// What to do.
    pub plan: ServePlan,
    /// The cache is smaller than what was configured, because the memory of the process is limited.
    pub bounded: Option<Bounded>,
    /// The file that was read, if any was.
    pub file: Option<PathBuf>,
    merged: Merged,
}

/// Everything that is wrong with a configuration, one sentence a line.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, mistake) in self.0.iter().enumerate() {
            let line_end = if number > 0 { "\n" } else { "" };
            write!(f, "{line_end}{mistake}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Self {
        Mistakes(vec![mistake])
    }
}

/// Connections that may wait on each listener, where nobody has set `server.backlog`.
pub fn default_backlog() -> u32 {
    Settings::default().server.backlog.0
}

/// Reads all layers and resolves them to a plan. `config` is the file that a flag named.
pub fn load(config: Option<&Path>, flags: &[Flag], around: &Surroundings) -> Result<Configuration, Mistakes> {
    let (file, merged) = merge(config, flags, around)?;
    let root_is_default = nobody_named_a_root(&merged);
    let mut plan = resolve::resolve(merged.settings.clone(), root_is_default, around.cpus);
    let mistakes: Vec<_> = resolve::conflicts(&plan).iter().map(|conflict| blame(conflict, &merged)).collect();
    if !mistakes.is_empty() {
        return Err(Mistakes(mistakes));
    }
    let bounded = around.memory_bytes.and_then(|limit_bytes| memory::bound(&mut plan, limit_bytes));
    plan.begin_paths_at(&around.folder);
    Ok(Configuration { plan, bounded, file, merged })
}

/// What --check prints is a configuration file that spells every default out; repeating the default folder there is not
/// naming one.
fn nobody_named_a_root(merged: &Merged) -> bool {
    match merged.origin("server.root") {
        Origin::Default | Origin::Profile(_) => true,
        Origin::File { .. } => merged.settings.server.root == Settings::default().server.root,
        Origin::Environment(_) | Origin::Flag(_) => false,
    }
}

fn merge(config: Option<&Path>, flags: &[Flag], around: &Surroundings) -> Result<(Option<PathBuf>, Merged), Mistakes> {
    let (file, mut written) = file::layer(config, &around.environment, &around.folder)?;
    written.extend(layers::environment(&around.environment)?);
    written.extend(layers::flags(flags));
    let mut merged = Merged::default();
    let mut mistakes = merged.apply(profiles::layer(profiles::chosen(&written)));
    mistakes.extend(merged.apply(written));
    if mistakes.is_empty() { Ok((file, merged)) } else { Err(Mistakes(mistakes)) }
}

/// A conflict is the mistake of whoever spoke last.
fn blame(Conflict { keys, says }: &Conflict, merged: &Merged) -> Mistake {
    let last = keys.iter().map(|key| merged.origin(key)).max().unwrap_or(&Origin::Default);
    Mistake::new(last, says)
}

impl Configuration {
    /// The settings in force, as lines of TOML, each with a comment that says where its value came from; and a comment
    /// where the machine allows less than one of them.
    pub fn listing(&self) -> String {
        let lines: Vec<String> = Settings::KEYS
            .iter()
            .zip(self.merged.settings.values())
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        let width = lines.iter().map(String::len).filter(|width| *width <= 60).max().unwrap_or(0);
        let origins = Settings::KEYS.iter().map(|key| self.merged.origin(key));
        let settings = lines.iter().zip(origins).map(|(line, origin)| format!("{line:width$}  # {origin}\n"));
        settings.chain(self.bounded.iter().map(|bounded| format!("# {bounded}\n"))).collect()
    }
}

#[cfg(test)]
mod tests;
