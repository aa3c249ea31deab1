//! The program `quintain`: arguments to command to exit code.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use quintain::cli::{Cli, Command, FixturesArgs, ServeArgs};
use quintain::config::plan::{Root, SitePlan};
use quintain::config::{self, Configuration, Surroundings};
use quintain::site::{Site, SiteError};
use quintain::{fixtures, server, telemetry};

/// Exit code for what cannot be done here and now: a taken port, a missing folder.
const FAILED: u8 = 1;
/// Exit code for a command line or configuration that cannot be meant, as clap has it.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Serve(args) => serve(&args),
        Command::Fixtures(args) => write_fixtures(&args),
    }
}

fn serve(args: &ServeArgs) -> ExitCode {
    match config::load(args.config.as_deref(), &args.flags(), &Surroundings::of_this_process()) {
        Ok(configuration) if args.check => check(&configuration),
        Ok(Configuration { plan, .. }) => {
            let log = match telemetry::init(plan.log.level, plan.log.format) {
                Ok(log) => log,
                Err(error) => return fail(FAILED, &error),
            };
            let outcome = server::run(plan);
            // The log's last lines come before the sentence that explains the exit code.
            drop(log);
            outcome.map_or_else(|error| fail(FAILED, &error), |()| ExitCode::SUCCESS)
        }
        Err(mistakes) => {
            for mistake in &mistakes.0 {
                say(mistake);
            }
            ExitCode::from(USAGE)
        }
    }
}

/// The listing comes first: it says where the name of a missing folder comes from.
fn check(configuration: &Configuration) -> ExitCode {
    let printed = print(&configuration.listing());
    open_folder(&configuration.plan.site).map_or_else(|error| fail(FAILED, &error), |()| printed)
}

/// Opens the folder as serving would. The bundled documents need none.
fn open_folder(plan: &SitePlan) -> Result<(), SiteError> {
    match &plan.root {
        Root::Folder(folder) => Site::open(folder, plan).map(drop),
        Root::Bundled(folder) if folder.is_dir() => Site::open(folder, plan).map(drop),
        Root::Bundled(_) => Ok(()),
    }
}

fn write_fixtures(FixturesArgs { out, size, seed }: &FixturesArgs) -> ExitCode {
    let documents = if size.is_empty() { fixtures::standard() } else { size.clone() };
    match fixtures::write(out, &documents, seed.unwrap_or(fixtures::STANDARD_SEED)) {
        Ok(written) => {
            let lines =
                written.iter().map(|file| format!("{}  {} bytes\n", out.join(&file.name).display(), file.bytes));
            print(&lines.collect::<String>())
        }
        Err(error) => fail(FAILED, &format_args!("cannot write documents to {}: {error}", out.display())),
    }
}

fn fail(code: u8, error: &dyn Display) -> ExitCode {
    say(error);
    ExitCode::from(code)
}

/// Says a sentence on stderr. Where stderr is full or nobody reads it, the exit code has to say enough.
fn say(sentence: &dyn Display) {
    let _ = writeln!(io::stderr(), "quintain: {sentence}");
}

/// Prints without `println!`'s panic when the reader has gone (`| head`).
fn print(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
