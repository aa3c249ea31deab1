//! The program `quintain`: arguments to command to exit code.

use std::process::ExitCode;

use clap::Parser;
use quintain::cli::{Cli, Command, Face};
use quintain::commands;

fn main() -> ExitCode {
    commands::signals::let_through();
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    match Face::called_as(&program) {
        Some(Face::Ab) => return commands::ab::run(&program.to_string_lossy(), words),
        Some(Face::Webbench) => return commands::webbench::run(words),
        None => {}
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(words) => return commands::answer(&words),
    };
    match cli.command {
        Command::Serve(args) => commands::serve::run(&args),
        Command::Load(args) => commands::load::run(&args),
        Command::Ab(args) => commands::ab::run("ab", args.words),
        Command::Webbench(args) => commands::webbench::run(args.words),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Stop(args) => commands::instance::stop(&args),
        Command::Reload(args) => commands::instance::reload(&args),
        Command::Status(args) => commands::instance::status(&args),
        Command::Healthcheck(args) => commands::healthcheck::run(&args),
        Command::Fixtures(args) => commands::fixtures::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Launch(args) => commands::launch::run(args),
    }
}
