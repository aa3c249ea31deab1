//! What may be typed. No decisions: values are read and checked where configuration is, so that a flag, a variable and a line
//! of config.toml mean the same.

use clap::{Parser, Subcommand};

mod fixtures;
mod serve;

pub use fixtures::FixturesArgs;
pub use serve::ServeArgs;

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
    /// Write documents to serve: the usual six, or any sizes.
    Fixtures(FixturesArgs),
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
