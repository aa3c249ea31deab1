//! What signals mean to a command: Ctrl-C to a run, and what a server lives through.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;

/// Exit code of a run that was interrupted: 128 and the number of SIGINT, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// From now on the first SIGINT or SIGTERM sets the flag, which ends the run with its report, and the second ends the
/// process at once.
///
/// To be called when all else is ready: until then a signal ends the process as it always does.
pub fn listen() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: an action looks at the flag before the next one sets it.
        flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// From now on these do not end the process.
///
/// SIGHUP and SIGUSR1: whoever finds the pid file may send them before the server listens to them. SIGXFSZ: a log that may not
/// grow any more (`ulimit -f`) is then a write that fails, as on a full disk.
pub fn survive() -> io::Result<()> {
    survive_these(&[SIGHUP, SIGUSR1, libc::SIGXFSZ])
}

/// From now on a file that may not grow any more (`ulimit -f`) is a write that fails, as on a full disk, and not the end of
/// the process without a word.
pub fn survive_full_files() -> io::Result<()> {
    survive_these(&[libc::SIGXFSZ])
}

fn survive_these(signals: &[i32]) -> io::Result<()> {
    let nobody_looks = Arc::new(AtomicBool::new(false));
    for signal in signals {
        flag::register(*signal, Arc::clone(&nobody_looks))?;
    }
    Ok(())
}
