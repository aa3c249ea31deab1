//! What may be typed after `quintain stop`, `reload` and `status`: commands for a server that runs already.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::config::parse_duration;

/// Which server is meant.
#[derive(Debug, Args)]
pub struct InstanceArgs {
    /// The server's pid file, as in serve --pid-file
    #[arg(long, value_name = "FILE")]
    pub pid_file: PathBuf,
}

/// What may be typed after `quintain stop`.
#[derive(Debug, Args)]
pub struct StopArgs {
    /// The server.
    #[command(flatten)]
    pub instance: InstanceArgs,

    /// How long to wait for its end; longer than its timeouts.shutdown, or running answers look like a failure
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "30s")]
    pub wait: Duration,
}
