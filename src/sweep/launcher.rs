//! `quintain launch`: what stands between a sweep and each of its children, so that none of them outlives it.
//!
//! The sweep starts a *guard*, and the guard the program, by a second call that pins itself, takes its precautions and then
//! becomes the program. Between fork and exec the same would need unsafe code.
//!
//! A death signal on the program alone would not do. A master that is killed leaves its workers, a script leaves the server
//! that it waits for, and some servers take no notice of SIGTERM. The guard gets the death signal instead, has the program and
//! whatever came from it below itself, and ends with the last of them. It waits for signals and takes no CPU.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, kill_process_group, set_child_subreaper,
    set_parent_process_death_signal, wait,
};
use rustix::thread::{CpuSet, sched_setaffinity};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::child::Program;
use super::tree::descendants;
use super::wait::first;
use crate::process::affinity::Pins;

/// The guard's exit code if whoever started it had ended by then, and nothing was started.
pub const ORPHANED: u8 = 75;

/// The exit codes of shells for a program that is not there, and for one that may not be executed.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// How long what was killed may take to be gone. Only the kernel can hold it up.
const KILLED_WITHIN: Duration = Duration::from_secs(5);

/// Between two looks at who is left of those that were killed.
const ROUND: Duration = Duration::from_millis(20);

/// What is to be launched.
#[derive(Debug)]
pub struct Order {
    /// Whose child the launcher has to be. If it is another one's, that one has ended already.
    pub parent: u32,
    /// CPUs that the program may run on; empty for all.
    pub cpus: Vec<usize>,
    /// From SIGTERM to SIGKILL.
    pub stop_within: Duration,
    /// The program and its arguments.
    pub words: Vec<OsString>,
}

// === The guard ===

/// Starts the program in a process group of its own, waits for its end or for a signal, and returns when nothing is left of
/// it: with its exit code, or 128 and the number of the signal that ended it, as shells do.
///
/// # Errors
///
/// The system refuses what a guard needs, or to start anything.
pub fn guard(order: &Order) -> io::Result<u8> {
    let signals = Signals::listen()?;
    if !tie_to(order.parent)? {
        return Ok(ORPHANED);
    }
    // What loses its parent becomes the guard's child, not that of the first process of the system.
    set_child_subreaper(Some(getpid()))?;
    let program = start(order)?;
    Guard { program, signals, code: None }.wait(order.stop_within)
}

/// Asks for SIGTERM at the parent's end, and says whether it was still there.
///
/// The signal is sent when the *thread* ends that made the child: a sweep makes its children on its main thread.
fn tie_to(parent: u32) -> io::Result<bool> {
    set_parent_process_death_signal(Some(Signal::TERM))?;
    Ok(getppid().is_some_and(|pid| pid.as_raw_nonzero().get().cast_unsigned() == parent))
}

fn start(Order { cpus, words, .. }: &Order) -> io::Result<Pid> {
    let mut command = Program::of_this_process().command();
    command.args(["launch", "--become", "--parent", &std::process::id().to_string()]);
    if !cpus.is_empty() {
        command.args(["--cpus", &list(cpus)]);
    }
    // A group of its own: the program gets no Ctrl-C from a terminal, and its signals do not reach the guard.
    let child = command.arg("--").args(words).process_group(0).spawn()?;
    // From here on it is waited for with all the others that may come.
    Ok(Pid::from_child(&child))
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

struct Guard {
    program: Pid,
    signals: Signals,
    /// The program's exit code, once it has ended.
    code: Option<u8>,
}

impl Guard {
    fn wait(mut self, stop_within: Duration) -> io::Result<u8> {
        loop {
            let anybody_left = self.reap();
            if let Some(code) = self.code {
                if anybody_left {
                    self.kill()?;
                }
                return Ok(code);
            }
            if self.signals.next(None)? == Next::Stop {
                return self.stop(stop_within);
            }
        }
    }

    /// SIGTERM for the program and its group, some time for the end of everybody, and then SIGKILL.
    fn stop(mut self, within: Duration) -> io::Result<u8> {
        let until = Instant::now() + within;
        if !within.is_zero() {
            let _ = kill_process_group(self.program, Signal::TERM);
            // One that somebody has stopped would not hear of it before it is killed.
            let _ = kill_process_group(self.program, Signal::CONT);
        }
        while self.reap() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.kill()?;
                break;
            }
            self.signals.a_child(left)?;
        }
        Ok(self.code.unwrap_or(128 + Signal::KILL.as_raw() as u8))
    }

    /// SIGKILL for everybody, until nobody is left: what is killed may have had children that nobody saw.
    fn kill(&mut self) -> io::Result<()> {
        let until = Instant::now() + KILLED_WITHIN;
        while self.reap() {
            if Instant::now() > until {
                return Err(io::Error::other("what was killed does not end"));
            }
            if self.code.is_none() {
                let _ = kill_process_group(self.program, Signal::KILL);
            }
            for pid in descendants(std::process::id(), usize::MAX).into_iter().filter_map(as_pid) {
                let _ = kill_process(pid, Signal::KILL);
            }
            self.signals.a_child(ROUND)?;
        }
        Ok(())
    }

    /// Takes the exit codes of all that have ended, and says whether anybody is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => self.code = Some(code(status)),
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }
}

fn as_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(pid.cast_signed())
}

fn code(status: WaitStatus) -> u8 {
    let signal = status.terminating_signal().map(|signal| 128 + signal);
    u8::try_from(status.exit_status().or(signal).unwrap_or_default()).unwrap_or(u8::MAX)
}

/// What a guard waits for.
struct Signals {
    /// Readable from the first wish on that it should stop.
    stop: UnixStream,
    /// Readable when a child has ended.
    child: UnixStream,
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    Stop,
    Child,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let (stop, stop_writer) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            pipe::register(signal, stop_writer.try_clone()?)?;
        }
        let (child, child_writer) = UnixStream::pair()?;
        pipe::register(SIGCHLD, child_writer)?;
        child.set_nonblocking(true)?;
        Ok(Self { stop, child })
    }

    fn next(&mut self, at_most: Option<Duration>) -> io::Result<Next> {
        let [stop, _] = first([self.stop.as_fd(), self.child.as_fd()], at_most)?;
        self.drain();
        Ok(if stop { Next::Stop } else { Next::Child })
    }

    fn a_child(&mut self, at_most: Duration) -> io::Result<()> {
        first([self.child.as_fd()], Some(at_most))?;
        self.drain();
        Ok(())
    }

    /// Signals that come while nobody looks are one signal.
    fn drain(&mut self) {
        while self.child.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    }
}

// === The program ===

/// Becomes the program. Returns, with the exit code that shells have for it, only if that fails.
#[must_use]
pub fn become_program(order: &Order) -> u8 {
    match prepared(order) {
        Ok(Some(mut command)) => {
            let error = command.exec();
            let name = command.get_program().to_string_lossy().into_owned();
            refuse(&format_args!("cannot start {name}: {error}"), &error)
        }
        Ok(None) => ORPHANED,
        Err(error) => refuse(&error, &error),
    }
}

/// The program, in a process that is pinned and ends with its guard; none if that one has ended already.
fn prepared(Order { parent, cpus, words, .. }: &Order) -> io::Result<Option<Command>> {
    // The guard ends last of all, unless somebody kills it.
    if !tie_to(*parent)? {
        return Ok(None);
    }
    confine(cpus)?;
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments);
    if program == Program::ITSELF {
        command.arg0("quintain");
    }
    Ok(Some(command))
}

fn confine(cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    if let Some(cpu) = Pins::to(cpus.to_vec()).not_allowed() {
        return Err(io::Error::other(format!("this process may not run on CPU {cpu} (see `nproc` and taskset)")));
    }
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    sched_setaffinity(None, &set).map_err(|error| io::Error::other(format!("cannot be pinned to CPUs: {error}")))
}

/// Says why on stderr, which is the target's log.
fn refuse(sentence: &dyn std::fmt::Display, error: &io::Error) -> u8 {
    let _ = writeln!(io::stderr(), "quintain: {sentence}");
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
}
