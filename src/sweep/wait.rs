//! Waiting for whatever comes first, without waking up in between: the machine that waits is the one that is measured.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Waits until something can be read of one of these, or its other end is closed, but for no longer than `at_most` (for
/// ever without it). Says of which; of none if the time is over.
pub fn first<const N: usize>(of: [BorrowedFd<'_>; N], at_most: Option<Duration>) -> io::Result<[bool; N]> {
    let until = at_most.and_then(|at_most| Instant::now().checked_add(at_most));
    let mut watched = of.each_ref().map(|fd| PollFd::new(fd, PollFlags::IN));
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut watched, left.as_ref()) {
            Ok(_) => return Ok(watched.each_ref().map(|fd| !fd.revents().is_empty())),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether somebody wants the sweep to stop. Whoever owns the signals makes the descriptor readable, and nobody reads it, so
/// that the wish stays.
#[derive(Debug)]
pub struct Stop(OwnedFd);

impl Stop {
    /// A wish that comes by this descriptor.
    pub fn by(fd: impl Into<OwnedFd>) -> Self {
        Self(fd.into())
    }

    /// Whether it is there.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.within(Duration::ZERO)
    }

    /// Waits, and says whether the wish came meanwhile. A descriptor that cannot be waited for counts as a wish: a sweep that
    /// nobody can stop should not go on.
    #[must_use]
    pub fn within(&self, at_most: Duration) -> bool {
        first([self.0.as_fd()], Some(at_most)).map_or(true, |[asked]| asked)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_wish_stays() {
        let (reader, mut writer) = io::pipe().unwrap();
        let stop = Stop::by(reader);
        assert!(!stop.asked() && !stop.within(Duration::from_millis(1)));
        writer.write_all(b"x").unwrap();
        assert!(stop.asked() && stop.asked() && stop.within(Duration::from_secs(600)));
    }

    #[test]
    fn the_first_of_several() {
        let (quiet, _open) = io::pipe().unwrap();
        let (closed, end) = io::pipe().unwrap();
        drop(end);
        assert_eq!(first([quiet.as_fd(), closed.as_fd()], None).unwrap(), [false, true]);
        assert_eq!(first([quiet.as_fd()], Some(Duration::ZERO)).unwrap(), [false]);
    }
}
