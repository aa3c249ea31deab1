//! A child that is run to its end, and what it writes.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::child::{Child, Program, Start};
use super::wait::{Stop, first};

/// Most bytes that are kept of each stream.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Of stdout.
    pub stdout: usize,
    /// Of stderr.
    pub stderr: usize,
}

/// What a child wrote, and how it ended.
#[derive(Debug, Default)]
pub struct Output {
    /// As far as it fits its bound.
    pub stdout: Vec<u8>,
    /// As far as it fits its bound.
    pub stderr: Vec<u8>,
    /// How it ended.
    pub status: Option<ExitStatus>,
}

/// What came of it.
#[derive(Debug)]
pub enum Captured {
    /// It ended.
    Whole(Output),
    /// The sweep has to stop; the child has been ended.
    Stopped,
    /// It took too long, and has been ended.
    TooLong,
}

/// Runs a command. What is left of it after that is killed: nobody waits for its output any more.
///
/// # Errors
///
/// No process can be started.
pub fn capture(
    program: &Program,
    words: Vec<OsString>,
    bounds: Bounds,
    at_most: Duration,
    stop: &Stop,
) -> io::Result<Captured> {
    let mut child = Child::start(program, Start { words, cpus: "", stop_within: Duration::ZERO, log: None })?;
    let mut output = Output::default();
    let end = output.read(&mut child, bounds, at_most, stop)?;
    child.stop();
    output.status = child.ended();
    Ok(match end {
        End::Closed => Captured::Whole(output),
        End::Stopped => Captured::Stopped,
        End::TooLong => Captured::TooLong,
    })
}

enum End {
    Closed,
    Stopped,
    TooLong,
}

impl Output {
    /// Reads both streams until nobody has them open any more, which is the end of the child and of its guard.
    fn read(&mut self, child: &mut Child, bounds: Bounds, at_most: Duration, stop: &Stop) -> io::Result<End> {
        let (mut stdout, mut stderr) = child.streams().ok_or(io::ErrorKind::BrokenPipe)?;
        let until = Instant::now() + at_most;
        let (mut stdout_open, mut stderr_open) = (true, true);
        while stdout_open || stderr_open {
            let left = until.saturating_duration_since(Instant::now());
            // What is closed can always be read, and must not be waited for.
            let one = if stdout_open { stdout.as_fd() } else { stop.as_fd() };
            let other = if stderr_open { stderr.as_fd() } else { stop.as_fd() };
            match first([stop.as_fd(), one, other], Some(left))? {
                [true, ..] => return Ok(End::Stopped),
                [_, false, false] => return Ok(End::TooLong),
                [_, one, other] => {
                    stdout_open &= !one || piece(&mut stdout, &mut self.stdout, bounds.stdout)?;
                    stderr_open &= !other || piece(&mut stderr, &mut self.stderr, bounds.stderr)?;
                }
            }
        }
        Ok(End::Closed)
    }
}

/// Reads once, and says whether more may come. What does not fit is read all the same, so that nobody waits for a reader.
fn piece(from: &mut impl Read, to: &mut Vec<u8>, at_most: usize) -> io::Result<bool> {
    let mut buffer = [0; 16 << 10];
    let count = from.read(&mut buffer)?;
    let room = at_most.saturating_sub(to.len());
    to.extend_from_slice(&buffer[..count.min(room)]);
    Ok(count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_fits_is_kept_and_all_is_read() {
        let (mut from, mut to) = (io::Cursor::new(vec![1; 40_000]), Vec::new());
        let mut pieces = 0;
        while piece(&mut from, &mut to, 20_000).unwrap() {
            pieces += 1;
        }
        assert_eq!((pieces, to.len(), from.position()), (3, 20_000, 40_000));
    }
}
