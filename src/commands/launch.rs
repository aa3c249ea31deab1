//! `quintain launch`: for sweeps, between the runner and each of its children.

use std::process::ExitCode;
use std::time::Duration;

use super::{FAILED, fail};
use crate::cli::LaunchArgs;
use crate::sweep::launcher::{Order, become_program, guard};

/// Stands guard over the program, or becomes it.
#[must_use]
pub fn run(args: LaunchArgs) -> ExitCode {
    let LaunchArgs { parent, cpus, stop_within_ms, becomes, words } = args;
    let cpus = cpus.map_or(Vec::new(), |cpus| cpus.0);
    let order = Order { parent, cpus, stop_within: Duration::from_millis(stop_within_ms), words };
    if becomes {
        return ExitCode::from(become_program(&order));
    }
    match guard(&order) {
        Ok(code) => ExitCode::from(code),
        Err(error) => fail(FAILED, &format_args!("cannot stand guard over a child of the sweep: {error}")),
    }
}
