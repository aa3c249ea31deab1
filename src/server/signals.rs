//! The signals that a server understands.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// To end; the name of the signal.
    Stop(&'static str),
    /// To read the configuration again: SIGHUP, as every server has it.
    Reload,
    /// To open the log files again, because they were renamed: SIGUSR1, as nginx has it.
    ReopenLogs,
    /// Nothing: SIGUSR2, at which nginx starts another program on its sockets. Without a word here it would end the process.
    Nothing,
}

/// The signals, from [`Signals::install`] on.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    hang_up: Signal,
    user1: Signal,
    user2: Signal,
}

impl Signals {
    /// Takes the signals over from the system, which would end the process. Needs a runtime.
    pub fn install() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            hang_up: signal(SignalKind::hangup())?,
            user1: signal(SignalKind::user_defined1())?,
            user2: signal(SignalKind::user_defined2())?,
        })
    }

    /// Waits for the next one. Those of one kind that come while one is being obeyed count once.
    pub async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.terminate.recv() => Wish::Stop("SIGTERM"),
            _ = self.interrupt.recv() => Wish::Stop("SIGINT"),
            // As nginx has it: what is under way is finished.
            _ = self.quit.recv() => Wish::Stop("SIGQUIT"),
            _ = self.hang_up.recv() => Wish::Reload,
            _ = self.user1.recv() => Wish::ReopenLogs,
            _ = self.user2.recv() => Wish::Nothing,
        }
    }
}

/// The time in which the main thread hears nothing, because it waits for a disk that may never answer: of the signals that
/// ask to end the second one ends the process from the signal handler, as it is. The first one is heard afterwards.
pub struct Deaf(Vec<SigId>);

impl Deaf {
    /// From now on, until this is dropped.
    pub fn begin() -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let mut deaf = Self(Vec::new());
        for signal in [SIGTERM, SIGINT, SIGQUIT] {
            // In this order: an action looks at the flag before the next one sets it.
            deaf.0.push(flag::register_conditional_shutdown(signal, KILLED + signal, Arc::clone(&asked))?);
            deaf.0.push(flag::register(signal, Arc::clone(&asked))?);
        }
        Ok(deaf)
    }
}

impl Drop for Deaf {
    fn drop(&mut self) {
        for action in self.0.drain(..) {
            signal_hook::low_level::unregister(action);
        }
    }
}

/// Added to the number of the signal: the exit code that a shell gives to a process which a signal has ended. To end by the
/// signal itself is what process 1 of a container cannot do.
const KILLED: i32 = 128;
