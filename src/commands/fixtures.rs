//! `quintain fixtures`.

use std::process::ExitCode;

use super::{FAILED, fail, print};
use crate::cli::FixturesArgs;
use crate::fixtures;

/// Writes the documents and lists them.
#[must_use]
pub fn run(FixturesArgs { out, size, seed }: &FixturesArgs) -> ExitCode {
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
