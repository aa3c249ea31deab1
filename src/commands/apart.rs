//! Whether the files that the server writes are other ones than it reads, and than each other.
//!
//! This is about mistakes. What somebody else does to a file between this look and its opening, a link in its place for
//! example, is for those who open it (`process/file_place.rs`).

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::config::Configuration;
use crate::config::plan::{AccessLog, LogFile, Root};

/// Says which two settings name one file. The two logs may: their lines are written as a whole.
pub(super) fn check(configuration: &Configuration) -> Result<(), String> {
    let plan = &configuration.plan;
    let configured = configuration.file.as_deref().map(|file| ("the configuration", file));
    let pid_file = plan.process.pid_file.as_deref().map(|file| ("process.pid_file", file));
    let logs = [log(&plan.live.log.file), access_log(&plan.live.log.access)];
    let pairs = [(configured, pid_file), (configured, logs[0]), (configured, logs[1])];
    let pairs = pairs.into_iter().chain(logs.map(|log| (pid_file, log)));
    for ((one, file), (other, again)) in pairs.filter_map(|(one, other)| one.zip(other)) {
        if is_one_file(file, again) {
            return Err(format!("{one} and {other} are one file, {}; give each its own", again.display()));
        }
    }
    let (Root::Folder(root) | Root::Bundled(root)) = &plan.live.site.root;
    logs.into_iter().chain([pid_file]).flatten().try_for_each(|(name, file)| is_no_document(name, file, root))
}

fn log(file: &LogFile) -> Option<(&'static str, &Path)> {
    match file {
        LogFile::File(path) => Some(("log.file", path)),
        LogFile::Stderr => None,
    }
}

fn access_log(access: &AccessLog) -> Option<(&'static str, &Path)> {
    match access {
        AccessLog::File(path) => Some(("log.access", path)),
        AccessLog::Off | AccessLog::Stdout | AccessLog::Stderr => None,
    }
}

/// Whatever their names; of a file that is not there yet the folder counts, and the name in it.
fn is_one_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        // One device may be written to from anywhere.
        (Ok(one), Ok(other)) => one.is_file() && identity(&one) == identity(&other),
        (Err(_), Err(_)) => {
            one.file_name() == other.file_name() && folder(one).is_some() && folder(one) == folder(other)
        }
        _ => false,
    }
}

fn folder(file: &Path) -> Option<(u64, u64)> {
    let parent = file.parent()?;
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    fs::metadata(parent).ok().as_ref().map(identity)
}

fn identity(facts: &Metadata) -> (u64, u64) {
    (facts.dev(), facts.ino())
}

/// A log says who asked for what. And a client who asks for the pid file has the server close a descriptor of it, and with that
/// goes the lock by which `stop` knows whom to signal (`process/pid_lock.rs`).
fn is_no_document(name: &str, file: &Path, root: &Path) -> Result<(), String> {
    let (Some(root), Some(top)) = (fs::canonicalize(root).ok(), file.parent()) else { return Ok(()) };
    let top = if top.as_os_str().is_empty() { Path::new(".") } else { top };
    match fs::canonicalize(top) {
        Ok(folder) if folder.starts_with(root) => Err(format!(
            "{name} {} is in the folder that is served, where clients could ask for it; choose another place",
            file.display()
        )),
        _ => Ok(()),
    }
}
