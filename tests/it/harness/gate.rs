//! Tests run side by side; the few that take thousands of descriptors or fill the machine take turns.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static HEAVY: Mutex<()> = Mutex::new(());

/// Held by a heavy test for as long as it runs.
pub fn machine_to_myself() -> MutexGuard<'static, ()> {
    // A heavy test that failed is no reason for the others to fail.
    HEAVY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Raises this process's descriptor limit as far as it may, which the servers inherit, and says how far that was.
pub fn raise_descriptor_limit() -> u64 {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("a soft limit up to the hard limit");
    maximum.unwrap_or(u64::MAX)
}

/// Says why a test does not test anything here. Not by `eprintln!`, which is captured and shown of failing tests only.
pub fn say_skipped(why: &str) {
    let _ = writeln!(io::stderr(), "skipped: {why}");
}
