//! Going into the background: fork, a session of its own, and a word to the shell when the server serves, or why not.
//!
//! Own code: the crate daemonize is not maintained any more, and tells the shell nothing of what came of the start.

use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open};

/// Where the kernel lists the threads of this process.
const THREADS: &str = "/proc/self/task";

/// Longest sentence that travels from the child to its parent.
const SENTENCE: u64 = 64 * 1024;

/// What became of a start in the background.
#[derive(Debug)]
pub enum Outcome {
    /// The server serves.
    Serving,
    /// It ended with this code and these words.
    Failed(u8, String),
}

/// Which of the two processes goes on here.
#[derive(Debug)]
pub enum Side {
    /// The one that the shell waits for.
    Parent(Outcome),
    /// The server.
    Child(Readiness),
}

/// The child's way to tell its parent how the start went.
#[derive(Debug)]
pub struct Readiness {
    pipe: PipeWriter,
}

/// Forks. The parent comes back when the child serves, has ended, or has taken longer than `patience` and was ended; the
/// child at once, in a session of its own, in the folder `/`, reading from and writing to nothing but stderr.
pub fn detach(patience: Duration) -> io::Result<Side> {
    let threads = fs::read_dir(THREADS).map_err(|error| {
        let says =
            format!("whether one thread alone runs stands in {THREADS}, which cannot be read: {error}; mount /proc");
        io::Error::new(error.kind(), says)
    })?;
    let threads = threads.count();
    if threads != 1 {
        return Err(io::Error::other(format!("{threads} threads run already; only one would go on in the background")));
    }
    let (reader, writer) = io::pipe()?;
    let parent = rustix::process::getpid();
    // SAFETY: what makes a fork unsound is another thread, whose locks would stay locked in the child for ever; there
    // is none, as was counted above, and only a thread of this process could make one.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop(reader);
            end_with(parent)?;
            leave_terminal()?;
            Ok(Side::Child(Readiness { pipe: writer }))
        }
        child => {
            drop(writer);
            let child = Pid::from_raw(child).ok_or(io::ErrorKind::InvalidData)?;
            Ok(Side::Parent(wait_for(child, reader, Instant::now() + patience)))
        }
    }
}

// === The child ===

/// Until it serves, the child ends with whoever waits for it: somebody who gives up a start that hangs would leave it behind,
/// to serve at some time after all. SIGKILL, because nothing less reaches whoever ignores it.
fn end_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have gone before.
    if rustix::process::getppid() == Some(parent) {
        Ok(())
    } else {
        Err(io::Error::other("whoever waits for the server has ended"))
    }
}

fn leave_terminal() -> io::Result<()> {
    rustix::process::setsid()?;
    // The usual mask is inherited from whoever typed the command; a service's files should not depend on that.
    rustix::process::umask(Mode::from_raw_mode(0o022));
    // A working directory would keep its file system from being unmounted.
    rustix::process::chdir("/")?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}

impl Readiness {
    /// The server serves: the parent ends with 0, and from now on nothing of this process holds the shell's stderr.
    pub fn serving(mut self) -> io::Result<()> {
        let null = File::options().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stderr(&null)?;
        // Before the word: the parent's next step is its end.
        rustix::process::set_parent_process_death_signal(None)?;
        self.pipe.write_all(&[0])
    }

    /// The start has failed: the parent says `why` and ends with `code`.
    pub fn failed(mut self, code: u8, why: &str) {
        // The parent ends with these words, and the child has a pid file to remove.
        let _ = rustix::process::set_parent_process_death_signal(None);
        // A parent that was ended meanwhile has nobody to tell.
        let _ = self.pipe.write_all(&[code]).and_then(|()| self.pipe.write_all(why.as_bytes()));
    }
}

// === The parent ===

fn wait_for(child: Pid, mut pipe: PipeReader, deadline: Instant) -> Outcome {
    let mut words = Vec::new();
    match read_until(&mut pipe, &mut words, deadline) {
        Ok(true) => match words.split_first() {
            Some((0, _)) => Outcome::Serving,
            Some((code, why)) => Outcome::Failed(*code, String::from_utf8_lossy(why).into_owned()),
            None => Outcome::Failed(1, format!("the server ended before it served: {}", end_of(child))),
        },
        Ok(false) => {
            let _ = rustix::process::kill_process(child, Signal::KILL);
            Outcome::Failed(1, format!("the server did not serve in time and was ended: {}", end_of(child)))
        }
        Err(error) => Outcome::Failed(1, format!("cannot hear from the server, which may run all the same: {error}")),
    }
}

/// Reads the child's words until their end. A zero is all that a server that serves says: its end comes with the server's.
fn read_until(pipe: &mut PipeReader, words: &mut Vec<u8>, deadline: Instant) -> io::Result<bool> {
    while (words.len() as u64) < SENTENCE {
        if !is_ready_before(deadline, &*pipe)? {
            return Ok(false);
        }
        let mut buffer = [0; 1024];
        match pipe.read(&mut buffer)? {
            0 => return Ok(true),
            count => words.extend_from_slice(&buffer[..count]),
        }
        if words.first() == Some(&0) {
            return Ok(true);
        }
    }
    Ok(true)
}

/// Whether there is something to read, or an end to see.
fn is_ready_before(deadline: Instant, descriptor: impl AsFd) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut ready = [PollFd::new(&descriptor, PollFlags::IN)];
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut ready, Some(&timeout)) {
            Ok(count) => return Ok(count > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// How a child ended that has closed its pipe without a word, or that was killed. One that waits for a disk which does not
/// answer has not even heard of it.
fn end_of(child: Pid) -> String {
    const END: Duration = Duration::from_secs(5);
    if let Ok(handle) = pidfd_open(child, PidfdFlags::empty())
        && !is_ready_before(Instant::now() + END, handle).unwrap_or(true)
    {
        let number = child.as_raw_nonzero();
        return format!(
            "process {number} is still there, most likely because it waits for a device that does not answer"
        );
    }
    match rustix::process::waitpid(Some(child), WaitOptions::NOHANG) {
        Ok(Some((_, status))) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (_, Some(signal)) => format!("signal {signal}"),
            _ => "for an unknown reason".to_owned(),
        },
        _ => "for an unknown reason".to_owned(),
    }
}
