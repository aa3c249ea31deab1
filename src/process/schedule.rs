//! What the scheduler gave a thread: time on a CPU, and time in the queue for one.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The scheduler's account of one thread since it began.
///
/// CPU time alone does not show a thread that wants a CPU and does not get one: beside a busy neighbour it stays at 60 %
/// and looks idle. The sum of both is how much of the time the thread had something to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// On a CPU, user and system.
    pub cpu: Duration,
    /// Runnable, but not running. Zero where the kernel does not count it.
    pub run_delay: Duration,
}

impl ThreadTimes {
    /// Of the calling thread until now.
    ///
    /// The delay is in `/proc/thread-self/schedstat`; a kernel without CONFIG_SCHED_INFO has no such file, or has zeros,
    /// and the delay is then zero. The file has the CPU time as well, but as of the last tick, up to 10 ms ago;
    /// clock_gettime(2) counts up to the call.
    #[must_use]
    pub fn now() -> Self {
        let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let run_delay = Self::parse(&stat).unwrap_or_default().run_delay;
        Self { cpu: thread_clock(), run_delay }
    }

    /// The text of a `schedstat`: nanoseconds on a CPU, nanoseconds runnable, number of timeslices (the kernel's
    /// Documentation/scheduler/sched-stats.rst).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok().map(Duration::from_nanos));
        Some(Self { cpu: numbers.next()??, run_delay: numbers.next()?? })
    }

    /// What came since `earlier`, of the same thread.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { cpu: self.cpu.saturating_sub(earlier.cpu), run_delay: self.run_delay.saturating_sub(earlier.run_delay) }
    }

    /// For how long the thread had something to do.
    #[must_use]
    pub fn busy(self) -> Duration {
        self.cpu + self.run_delay
    }
}

fn thread_clock() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.cast_unsigned(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn a_schedstat_file() {
        let times = |cpu, delay| ThreadTimes { cpu: Duration::from_nanos(cpu), run_delay: Duration::from_nanos(delay) };
        assert_eq!(ThreadTimes::parse("841878 13482 2\n"), Some(times(841_878, 13_482)));
        assert_eq!(ThreadTimes::parse("0 0 0\n"), Some(ThreadTimes::default()));
        assert_eq!(ThreadTimes::parse("841878\n"), None);
        assert_eq!(ThreadTimes::parse(""), None);
        assert_eq!(ThreadTimes::parse("-1 2 3\n"), None);
    }

    #[test]
    fn differences() {
        let times = |cpu, delay| ThreadTimes { cpu: Duration::from_nanos(cpu), run_delay: Duration::from_nanos(delay) };
        let passed = times(70, 9).since(times(50, 4));
        assert_eq!(passed, times(20, 5));
        assert_eq!(passed.busy(), Duration::from_nanos(25));
        // A clock that went back is no panic.
        assert_eq!(times(50, 4).since(times(70, 9)), ThreadTimes::default());
    }

    #[test]
    fn of_this_thread() {
        let before = ThreadTimes::now();
        let mut sum = 0_u64;
        for number in 0..100_000 {
            sum = black_box(sum.wrapping_add(number));
        }
        let passed = ThreadTimes::now().since(before);
        assert!(passed.cpu > Duration::ZERO, "{passed:?}");
    }
}
