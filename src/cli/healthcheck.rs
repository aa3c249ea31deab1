//! What may be typed after `quintain healthcheck`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::config::parse_duration;

/// What may be typed after `quintain healthcheck`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --url the server is found where `serve` with the same configuration file and environment listens: at admin.listen, if
it is set, with a GET for /healthz, which has to be answered with 2xx or 3xx; else at the first address of server.listen, with
a GET for /, where only 5xx is no answer of a server that is well: the folder need not have an index.

With --url the answer has to be 2xx or 3xx.")]
pub struct HealthcheckArgs {
    /// What to ask for, for a server whose address was given to it as a flag
    #[arg(long, value_name = "URL", conflicts_with = "config")]
    pub url: Option<String>,

    /// The server's configuration file [default: $QUINTAIN_CONFIG, else ./config.toml if it is there]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// How long connecting may take, and then how long the head of the answer
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "1s")]
    pub wait: Duration,
}
