//! epoll: each descriptor is registered once, edge-triggered, for both directions.
//!
//! rustix and not mio: an open loop waits for times finer than the millisecond to which mio rounds its timeouts up.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

/// Events of one wait.
const EVENTS: usize = 512;

/// What happened to a descriptor.
#[derive(Debug, Clone, Copy)]
pub struct Readiness {
    /// The number that it was registered with.
    pub key: u64,
    /// It can be written to, or tells an error when it is.
    pub writable: bool,
    /// It can be read, or tells an error when it is.
    pub readable: bool,
    /// The peer has ended its side, or the connection broke: nothing will come after what is there.
    pub ended: bool,
}

/// An epoll instance and the events of its last wait.
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Poller {
    /// An epoll instance.
    pub fn new() -> Result<Self, Errno> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS) })
    }

    /// Registers a descriptor for as long as it is open. What is ready already is told by the next wait.
    pub fn add(&self, fd: BorrowedFd<'_>, key: u64) -> Result<(), Errno> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        epoll::add(&self.epoll, fd, epoll::EventData::new_u64(key), flags)
    }

    /// Waits for at most so long, and returns how many descriptors are ready. A signal ends the wait.
    pub fn wait(&mut self, longest_ns: u64) -> Result<usize, Errno> {
        const SECOND_NS: u64 = 1_000_000_000;
        let timeout = Timespec { tv_sec: (longest_ns / SECOND_NS) as i64, tv_nsec: (longest_ns % SECOND_NS) as i64 };
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(count) => Ok(count),
            Err(Errno::INTR) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// One of the events of the last wait.
    #[inline]
    pub fn event(&self, at: usize) -> Readiness {
        let epoll::Event { flags, data } = self.events[at];
        let broken = epoll::EventFlags::ERR | epoll::EventFlags::HUP;
        let ended = flags.intersects(broken | epoll::EventFlags::RDHUP);
        Readiness {
            key: data.u64(),
            writable: flags.intersects(broken | epoll::EventFlags::OUT),
            readable: ended || flags.contains(epoll::EventFlags::IN),
            ended,
        }
    }
}
