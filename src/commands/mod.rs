//! The commands: from what was typed to an exit code. They print; what they call does not.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

pub mod ab;
mod apart;
mod console;
pub mod doctor;
pub mod fixtures;
pub mod healthcheck;
pub mod instance;
pub mod launch;
pub mod load;
mod question;
pub mod serve;
mod signals;
pub mod sweep;
pub mod webbench;

/// Exit code for what cannot be done here and now: a taken port, a missing folder.
const FAILED: u8 = 1;
/// Exit code for a command line or configuration that cannot be meant, as clap has it.
const USAGE: u8 = 2;

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
