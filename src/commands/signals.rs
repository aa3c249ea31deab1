//! What signals mean to a command: Ctrl-C to a run, and what a server lives through.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::sys::signal::SigSet;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::flag;

/// From now on signals reach this process, and the threads and processes that it starts. Whoever started it may have blocked
/// some, as a thread of a larger program does that waits for them itself, and SIGTERM would stay without an effect.
pub fn let_through() {
    // It fails for no set of signals.
    let _ = SigSet::all().thread_unblock();
}

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
/// SIGHUP, SIGUSR1 and SIGUSR2: whoever finds the pid file may send them before the server listens to them. SIGXFSZ: a log that may not
/// grow any more (`ulimit -f`) is then a write that fails, as on a full disk.
pub fn survive() -> io::Result<()> {
    survive_these(&[SIGHUP, SIGUSR1, SIGUSR2, libc::SIGXFSZ])
}

/// From now on a file that may not grow any more (`ulimit -f`) is a write that fails, as on a full disk, and not the end of
/// the process without a word.
pub fn survive_full_files() -> io::Result<()> {
    survive_these(&[libc::SIGXFSZ])
}

/// Whether a signal was ignored before anybody here listened to it, as `nohup` has SIGHUP ignored. Where the kernel does not say,
/// it is not.
pub fn is_ignored(signal: i32) -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores(&status, signal))
}

fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    (1..=64).contains(&signal) && mask >> (signal - 1) & 1 == 1
}

fn survive_these(signals: &[i32]) -> io::Result<()> {
    let nobody_looks = Arc::new(AtomicBool::new(false));
    for signal in signals {
        flag::register(*signal, Arc::clone(&nobody_looks))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_of_a_signal() {
        let status = "Name:\tx\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP) && ignores(status, libc::SIGPIPE));
        assert!(!ignores(status, SIGINT) && !ignores(status, SIGTERM) && !ignores(status, 0));
        assert!(!ignores("Name:\tx\n", SIGHUP) && !ignores("SigIgn:\tx\n", SIGHUP));
    }
}
