//! What the faces of other tools share: stdout and stderr without a prefix.

use std::io::{self, Write};

/// Writes to stdout, now: what a tool says before a run must be there during it.
///
/// # Errors
///
/// Nobody reads.
pub fn put(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes to stderr. Where that is full or nobody reads it, the exit code has to say enough.
pub fn tell(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
