//! The program `quintain`: arguments to command to exit code.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use quintain::cli::{Cli, Command, ServeArgs};
use quintain::config::{self, Surroundings};

/// Exit code for a command line or configuration that cannot be meant, as clap has it.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Serve(args) => serve(&args),
        Command::Fixtures(args) => print(&format!("{args:#?}\n")),
    }
}

fn serve(args: &ServeArgs) -> ExitCode {
    match config::load(args.config.as_deref(), &args.flags(), &Surroundings::of_this_process()) {
        Ok(configuration) if args.check => print(&configuration.listing()),
        Ok(configuration) => print(&format!("{:#?}\n", configuration.plan)),
        Err(mistakes) => {
            for mistake in &mistakes.0 {
                eprintln!("quintain: {mistake}");
            }
            ExitCode::from(USAGE)
        }
    }
}

/// Prints without `println!`'s panic when the reader has gone (`| head`).
fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
