//! The bundled documents, where the plan names no folder and there is none: made for the time of the sweep.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::plan::Plan;
use crate::fixtures;
use crate::record::experiment::Document;

/// Beginning of the folders' names. Those of a server that has made the same documents for itself have another one.
const PREFIX: &str = "quintain-sweep-";

/// Most entries of the temporary folder that are looked at.
const LOOKED_AT: usize = 100_000;

/// How long nothing has happened in a folder that nobody needs any more: between making one and locking it there is a moment.
const STALE: Duration = Duration::from_secs(3600);

/// Documents that are there as long as this is.
#[derive(Debug)]
pub struct Made {
    folder: TempDir,
    /// The folder itself: its lock goes with the process, however that ends, and a later sweep sees that nobody needs it.
    _lock: File,
}

/// Makes the documents if the plan's root is not there, and lets the plan have them. They go when the value is dropped.
///
/// # Errors
///
/// They could not be written; or they are not the bundled ones, and the folder that the plan names has gone since it was read.
pub fn provide(plan: &mut Plan) -> io::Result<Option<Made>> {
    if plan.root.is_dir() {
        return Ok(None);
    }
    if !plan.documents.iter().all(is_bundled) {
        let says = format!("the folder of the documents, {}, is gone", plan.root.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, says));
    }
    remove_stale(&std::env::temp_dir(), STALE);
    let made = make()?;
    plan.root = made.folder.path().to_owned();
    Ok(Some(made))
}

fn make() -> io::Result<Made> {
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
    let lock = File::open(folder.path())?;
    // Where folders cannot be locked nobody takes one for stale either.
    let _ = lock.try_lock();
    fixtures::write(folder.path(), &fixtures::standard(), fixtures::STANDARD_SEED)?;
    Ok(Made { folder, _lock: lock })
}

/// Removes what sweeps have left that were killed. What cannot be removed stays, and is in nobody's way.
fn remove_stale(within: &Path, stale: Duration) {
    let Ok(entries) = fs::read_dir(within) else { return };
    for entry in entries.take(LOOKED_AT).flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) && is_stale(&entry.path(), stale) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether it is a folder of ours, old, and held by nobody. In a folder that everybody may write to the name says nothing.
fn is_stale(path: &Path, stale: Duration) -> bool {
    let Ok(facts) = path.symlink_metadata() else { return false };
    let age = facts.modified().ok().and_then(|modified| modified.elapsed().ok());
    let is_ours = facts.is_dir() && facts.uid() == rustix::process::geteuid().as_raw();
    is_ours && age.is_some_and(|age| age >= stale) && File::open(path).is_ok_and(|folder| folder.try_lock().is_ok())
}

fn is_bundled(Document { name, bytes }: &Document) -> bool {
    fixtures::standard().iter().any(|known| known.name() == name && known.bytes() == *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::shipped;
    use crate::sweep::written::{Judges, Surroundings, Text, Wishes, read};

    fn quick(working: &Path) -> Plan {
        let around =
            Surroundings { cpus: "0-1".parse().unwrap(), working: working.to_owned(), judges: Judges::default() };
        read(&Text::of(&shipped::ALL[0], working), &around, &Wishes::default()).unwrap()
    }

    #[test]
    fn what_is_missing_is_made_and_goes_again() {
        let working = tempfile::tempdir().unwrap();
        let mut plan = quick(working.path());
        assert_eq!(plan.root, working.path().join("fixtures"));
        let made = provide(&mut plan).unwrap().unwrap();
        for Document { name, bytes } in &plan.documents {
            assert_eq!(plan.root.join(name).metadata().unwrap().len(), *bytes, "{name}");
        }
        drop(made);
        assert!(!plan.root.exists());
        // As a resumed sweep finds it.
        assert!(provide(&mut plan).unwrap().is_some());
    }

    /// A sweep that is killed removes nothing: 8 MB stayed for each.
    #[test]
    fn what_a_killed_sweep_has_left_goes_with_the_next() {
        let temporary = tempfile::tempdir().unwrap();
        let path = |name: &str| temporary.path().join(name);
        for name in ["quintain-sweep-left", "quintain-sweep-held", "quintain-fixtures-served", "else"] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("1k.html"), "x").unwrap();
        }
        std::os::unix::fs::symlink(path("else"), path("quintain-sweep-link")).unwrap();
        let held = File::open(path("quintain-sweep-held")).unwrap();
        held.try_lock().unwrap();
        remove_stale(temporary.path(), STALE);
        assert!(path("quintain-sweep-left").exists(), "it may have been made just now");
        remove_stale(temporary.path(), Duration::ZERO);
        let mut left: Vec<_> = fs::read_dir(temporary.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["else", "quintain-fixtures-served", "quintain-sweep-held", "quintain-sweep-link"]);
        assert!(path("else/1k.html").exists());
        drop(held);
        remove_stale(temporary.path(), Duration::ZERO);
        assert!(!path("quintain-sweep-held").exists());
    }

    #[test]
    fn one_that_is_made_is_held() {
        let made = make().unwrap();
        assert!(!is_stale(made.folder.path(), Duration::ZERO));
        let path = made.folder.path().to_owned();
        drop(made);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_is_there_stays_as_it_is() {
        let working = tempfile::tempdir().unwrap();
        fs::create_dir(working.path().join("fixtures")).unwrap();
        let mut plan = Plan { root: working.path().join("fixtures"), ..quick(Path::new("/nowhere")) };
        assert!(provide(&mut plan).unwrap().is_none());
        assert_eq!(fs::read_dir(&plan.root).unwrap().count(), 0);
    }

    #[test]
    fn others_than_the_bundled_ones_cannot_be_made() {
        let mut plan = quick(Path::new("/nowhere"));
        plan.documents.push(Document { name: "1k.html".into(), bytes: 1025 });
        let error = provide(&mut plan).unwrap_err().to_string();
        assert_eq!(error, "the folder of the documents, /nowhere/fixtures, is gone");
    }
}
