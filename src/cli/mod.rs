//! What may be typed. No decisions: settings of the server are read and checked where configuration is, so that a flag, a
//! variable and a line of config.toml mean the same; values of the load tool are read here and checked against one another in
//! `commands`.

use clap::{Parser, Subcommand};

pub mod ab;
mod doctor;
mod faces;
mod fixtures;
mod healthcheck;
mod instance;
mod launch;
mod load;
mod report;
mod serve;
mod sweep;
pub mod values;
pub mod webbench;

pub use doctor::DoctorArgs;
pub use faces::{Face, FaceArgs};
pub use fixtures::FixturesArgs;
pub use healthcheck::HealthcheckArgs;
pub use instance::{InstanceArgs, StopArgs};
pub use launch::LaunchArgs;
pub use load::LoadArgs;
pub use report::ReportArgs;
pub use serve::ServeArgs;
pub use sweep::SweepArgs;

/// A static-file HTTP/1 server made to be hit.
#[derive(Debug, Parser)]
#[command(name = "quintain", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve a folder of files over HTTP/1.
    Serve(ServeArgs),
    /// Send requests to an HTTP/1 server and measure its answers.
    Load(Box<LoadArgs>),
    /// ApacheBench: all of ab's options, and its report to the letter; `quintain ab -h` lists them.
    Ab(FaceArgs),
    /// WebBench: all of its options, and its two lines; `quintain webbench -h` lists them.
    Webbench(FaceArgs),
    /// Compare servers: documents x concurrency x kinds of connections x repeats, as a plan says.
    Sweep(SweepArgs),
    /// Write down what a sweep found, or compare two of them.
    Report(ReportArgs),
    /// End a server that runs: running answers may finish first.
    Stop(StopArgs),
    /// Let a server that runs read its configuration again.
    Reload(InstanceArgs),
    /// Say whether a server runs: exit code 0 if it does, 3 if not, 1 if it died.
    Status(InstanceArgs),
    /// Ask a server once: exit code 0 if it is well, 1 if not; for containers and monitoring.
    Healthcheck(HealthcheckArgs),
    /// Write documents to serve: the usual six, or any sizes.
    Fixtures(FixturesArgs),
    /// Say what this machine means for so many connections.
    Doctor(DoctorArgs),
    /// Stand between a sweep and one of its children.
    #[command(hide = true)]
    Launch(LaunchArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_promises_only_what_exists() {
        let help = Cli::command().render_long_help().to_string();
        assert!(help.starts_with("A static-file HTTP/1 server made to be hit\n"), "{help}");
    }
}
