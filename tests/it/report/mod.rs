//! `quintain report`: what it writes from a sweep's folder, and how that looks in a browser.

mod browser;
mod files;
mod folder;
mod looks;

use std::path::Path;
use std::process::Command;

/// How the command ended.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs `quintain report` with these words.
fn report<W: AsRef<std::ffi::OsStr>>(words: &[W]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_quintain")).arg("report").args(words).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let ran = Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!ran.stderr.contains("panicked at"), "{ran:#?}");
    ran
}

/// Runs it over one folder and requires that it ends well.
#[track_caller]
fn reported(folder: &Path) -> Ran {
    let ran = report(&[folder]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran
}
