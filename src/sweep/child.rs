//! The sweep's side of a child process: start, wait, stop. Between it and the program stands a guard: see [`super::launcher`].

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{self, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::wait::first;

/// What a guard needs beyond the time that it gives to its program.
const GRACE: Duration = Duration::from_secs(10);

/// The executable file of this process.
#[derive(Debug, Clone)]
pub struct Program {
    file: PathBuf,
}

impl Program {
    /// How a command names the program that [`super::launcher`] itself is: in that process this path leads to the same file.
    pub const ITSELF: &'static str = "/proc/self/exe";

    /// The one that runs here, even if another file has taken its name meanwhile, as a build does: what was measured with two
    /// programs would not be one experiment.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self { file: Self::ITSELF.into() }
    }

    /// To be completed with arguments. None of this program's own variables reach it: a plan says all that counts.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        command.arg0("quintain").stdin(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("QUINTAIN_")) {
            command.env_remove(name);
        }
        command
    }
}

/// What is to be started.
#[derive(Debug)]
pub struct Start<'a> {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// CPUs that it is pinned to, such as `0-1`; empty for all.
    pub cpus: &'a str,
    /// From SIGTERM to SIGKILL; zero for SIGKILL at once.
    pub stop_within: Duration,
    /// Where it writes both its streams; without it they come back by pipes.
    pub log: Option<File>,
}

/// A child with its guard. Dropping it ends both.
#[derive(Debug)]
pub struct Child {
    guard: process::Child,
    /// Readable when the guard has ended, and with it everybody.
    end: OwnedFd,
    stop_within: Duration,
    ended: Option<ExitStatus>,
}

impl Child {
    /// Starts it. To be called on the main thread: see [`super::launcher`].
    pub fn start(program: &Program, start: Start<'_>) -> io::Result<Self> {
        let Start { words, cpus, stop_within, log } = start;
        let mut command = program.command();
        command.args(["launch", "--parent", &process::id().to_string()]);
        command.args(["--stop-within-ms", &stop_within.as_millis().to_string()]);
        if !cpus.is_empty() {
            command.args(["--cpus", cpus]);
        }
        command.arg("--").args(words);
        match log {
            Some(file) => command.stdout(file.try_clone()?).stderr(file),
            None => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
        };
        // Ctrl-C in a terminal goes to its foreground group: the sweep alone, which then stops the others in order.
        let mut guard = command.process_group(0).spawn()?;
        match pidfd_open(Pid::from_child(&guard), PidfdFlags::empty()) {
            Ok(end) => Ok(Self { guard, end, stop_within, ended: None }),
            Err(error) => {
                // Its program has the guard's death for a signal.
                let _ = guard.kill().and_then(|()| guard.wait());
                Err(error.into())
            }
        }
    }

    /// The guard's process id. What came from the program is below it.
    #[must_use]
    pub fn guard(&self) -> u32 {
        self.guard.id()
    }

    /// What it writes, if it has no log; once.
    pub fn streams(&mut self) -> Option<(ChildStdout, ChildStderr)> {
        self.guard.stdout.take().zip(self.guard.stderr.take())
    }

    /// How it ended, if it has: by then nothing is left of it.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.guard.try_wait().ok().flatten();
        }
        self.ended
    }

    /// Something that can be read when it has ended.
    #[must_use]
    pub fn end(&self) -> &OwnedFd {
        &self.end
    }

    /// Asks it to end, and does not wait for that.
    pub fn ask_to_stop(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Ends it, and returns when nothing is left of it.
    pub fn stop(&mut self) {
        self.ask_to_stop();
        let ended = first([self.end.as_fd()], Some(self.stop_within + GRACE));
        if !matches!(ended, Ok([true])) {
            self.signal(Signal::KILL);
        }
        if self.ended.is_none() {
            self.ended = self.guard.wait().ok();
        }
    }

    fn signal(&mut self, signal: Signal) {
        // Until its exit code is taken the id is its own.
        if self.ended().is_none() {
            let _ = kill_process(Pid::from_child(&self.guard), signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.stop();
        }
    }
}

/// How a child ended, for people: its guard has made a number of the signal that ended it.
#[must_use]
pub fn end_of(status: Option<ExitStatus>) -> String {
    match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code @ 129..=192), _)) => format!("signal {}", code - 128),
        Some((Some(code), _)) => format!("exit code {code}"),
        Some((_, Some(signal))) => format!("its guard, by signal {signal}"),
        _ => "for an unknown reason".to_owned(),
    }
}
