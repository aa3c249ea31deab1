//! What may be typed after `quintain doctor`.

use clap::Args;

use super::values;

/// What may be typed after `quintain doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is changed: the commands that would are printed. The exit code is 0 unless something makes so many connections
impossible, or the URL does not answer; then it is 1.

Examples:
  quintain doctor                                     what 1000 connections to this machine would meet
  quintain doctor --connections 10000 --url http://127.0.0.1:8080/1k.html")]
pub struct DoctorArgs {
    /// Connections at once that are to be possible
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = values::connections)]
    pub connections: u32,

    /// Ask this URL once, and judge the way to it
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}
