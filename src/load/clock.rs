//! The run's clock: nanoseconds since its start, the same for all threads.

use rustix::time::{ClockId, clock_gettime};

/// A clock that began at some moment.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// Begins now.
    #[must_use]
    pub fn start() -> Self {
        Self { origin_ns: monotonic_ns() }
    }

    /// Nanoseconds since the start. Through the vDSO: some 20 ns, no system call.
    #[inline]
    #[must_use]
    pub fn now(self) -> u64 {
        monotonic_ns() - self.origin_ns
    }
}

#[inline]
fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
