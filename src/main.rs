//! The program `quintain`: arguments to command to exit code.

use std::process::ExitCode;

use clap::Parser;
use quintain::cli::{Cli, Command};
use quintain::commands;

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Serve(args) => commands::serve::run(&args),
        Command::Load(args) => commands::load::run(&args),
        Command::Fixtures(args) => commands::fixtures::run(&args),
    }
}
