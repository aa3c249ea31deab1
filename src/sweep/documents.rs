//! The bundled documents, where the plan names no folder and there is none: made for the time of the sweep.

use std::io;

use tempfile::TempDir;

use super::plan::Plan;
use crate::fixtures;

/// Makes the documents if the plan's root is not there, and lets the plan have them. They go when the value is dropped.
///
/// # Errors
///
/// They could not be written.
pub fn provide(plan: &mut Plan) -> io::Result<Option<TempDir>> {
    if plan.root.is_dir() {
        return Ok(None);
    }
    let made = fixtures::bundled()?;
    plan.root = made.path().to_owned();
    Ok(Some(made))
}
