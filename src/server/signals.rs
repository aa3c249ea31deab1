//! The signals that a server understands.

use std::io;

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
}

/// The signals, from [`Signals::install`] on.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    user1: Signal,
}

impl Signals {
    /// Takes the signals over from the system, which would end the process. Needs a runtime.
    pub fn install() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            user1: signal(SignalKind::user_defined1())?,
        })
    }

    /// Waits for the next one. Those of one kind that come while one is being obeyed count once.
    pub async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.terminate.recv() => Wish::Stop("SIGTERM"),
            _ = self.interrupt.recv() => Wish::Stop("SIGINT"),
            _ = self.hang_up.recv() => Wish::Reload,
            _ = self.user1.recv() => Wish::ReopenLogs,
        }
    }

    /// Waits for one that asks to end, and passes over the others.
    pub async fn next_stop(&mut self) -> &'static str {
        loop {
            if let Wish::Stop(name) = self.next().await {
                return name;
            }
        }
    }
}
