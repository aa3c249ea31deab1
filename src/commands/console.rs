//! What the faces of other tools share: stdout and stderr without a prefix, and the interrupt that ends a run early.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

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

/// A flag that the first interrupt raises, so that the run ends with its report. The second one ends the program.
///
/// # Errors
///
/// The system accepts no handler.
pub fn interruptible() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    // This one looks before the other one raises: the order of registration is the order of their calls.
    flag::register_conditional_default(SIGINT, Arc::clone(&stop))?;
    flag::register(SIGINT, Arc::clone(&stop))?;
    Ok(stop)
}
