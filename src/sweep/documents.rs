//! The bundled documents, where the plan names no folder and there is none: made for the time of the sweep.

use std::io;

use tempfile::TempDir;

use super::plan::Plan;
use crate::fixtures;
use crate::record::experiment::Document;

/// Makes the documents if the plan's root is not there, and lets the plan have them. They go when the value is dropped.
///
/// # Errors
///
/// They could not be written; or they are not the bundled ones, and the folder that the plan names has gone since it was read.
pub fn provide(plan: &mut Plan) -> io::Result<Option<TempDir>> {
    if plan.root.is_dir() {
        return Ok(None);
    }
    if !plan.documents.iter().all(is_bundled) {
        let says = format!("the folder of the documents, {}, is gone", plan.root.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, says));
    }
    let made = fixtures::bundled()?;
    plan.root = made.path().to_owned();
    Ok(Some(made))
}

fn is_bundled(Document { name, bytes }: &Document) -> bool {
    fixtures::standard().iter().any(|known| known.name() == name && known.bytes() == *bytes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::sweep::shipped;
    use crate::sweep::written::{Surroundings, Text, Wishes, read};

    fn quick(working: &Path) -> Plan {
        let around = Surroundings { cpus: "0-1".parse().unwrap(), working: working.to_owned() };
        read(&Text::of(&shipped::ALL[0], working), &around, &Wishes::default()).unwrap().plan
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

    #[test]
    fn a_folder_that_is_there_stays_as_it_is() {
        let working = tempfile::tempdir().unwrap();
        std::fs::create_dir(working.path().join("fixtures")).unwrap();
        let mut plan = Plan { root: working.path().join("fixtures"), ..quick(Path::new("/nowhere")) };
        assert!(provide(&mut plan).unwrap().is_none());
        assert_eq!(std::fs::read_dir(&plan.root).unwrap().count(), 0);
    }

    #[test]
    fn others_than_the_bundled_ones_cannot_be_made() {
        let mut plan = quick(Path::new("/nowhere"));
        plan.documents.push(Document { name: "1k.html".into(), bytes: 1025 });
        let error = provide(&mut plan).unwrap_err().to_string();
        assert_eq!(error, "the folder of the documents, /nowhere/fixtures, is gone");
    }
}
