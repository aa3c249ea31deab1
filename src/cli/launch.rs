//! What a sweep says to `quintain launch`. Nobody types it, and the help does not list it.

use std::ffi::OsString;

use clap::Args;

use super::values::Cpus;

/// What a sweep says to `quintain launch`.
#[derive(Debug, Args)]
pub struct LaunchArgs {
    /// Whose child this process has to be
    #[arg(long, value_name = "PID")]
    pub parent: u32,

    /// CPUs that the program is pinned to
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<Cpus>,

    /// From SIGTERM to SIGKILL
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub stop_within_ms: u64,

    /// Become the program, instead of standing guard over it
    #[arg(long = "become")]
    pub becomes: bool,

    /// The program and its arguments
    #[arg(last = true, required = true)]
    pub words: Vec<OsString>,
}
