//! The commands: from what was typed to an exit code. They print; what they call does not.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

pub mod ab;
mod apart;
mod beforehand;
mod console;
pub mod doctor;
pub mod fixtures;
pub mod healthcheck;
pub mod instance;
pub mod launch;
pub mod load;
mod question;
mod remarks;
pub mod report;
pub mod serve;
pub mod signals;
pub mod sweep;
pub mod webbench;

use crate::report::harmless;
use console::put;

/// Exit code for what cannot be done here and now: a taken port, a missing folder.
const FAILED: u8 = 1;
/// Exit code for a command line or configuration that cannot be meant, as clap has it.
const USAGE: u8 = 2;

fn fail(code: u8, error: &dyn Display) -> ExitCode {
    say(error);
    ExitCode::from(code)
}

/// Says a sentence on stderr, in one line: parts of it may come from a file that somebody else wrote. Where stderr is full or nobody reads it, the exit code has to say enough.
fn say(sentence: &dyn Display) {
    let _ = writeln!(io::stderr(), "quintain: {}", harmless::sentence(&sentence.to_string()));
}

/// Prints without `println!`'s panic when the reader has gone (`| head`).
fn print(text: &str) -> ExitCode {
    printed(put(text), FAILED)
}

/// A script that saves an answer on a full disk has none. A reader that has gone has had enough, and knows it.
fn printed(outcome: io::Result<()>, code: u8) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(code),
        Err(error) => fail(code, &format_args!("cannot write to stdout: {error}")),
    }
}

/// What there is to say instead of a command: help and version on stdout, mistakes of typing on stderr.
#[must_use]
pub fn answer(words: &clap::Error) -> ExitCode {
    let said = words.print().and_then(|()| io::stdout().flush());
    match said {
        Err(_) if !words.use_stderr() => printed(said, FAILED),
        _ => ExitCode::from(u8::try_from(words.exit_code()).unwrap_or(USAGE)),
    }
}
