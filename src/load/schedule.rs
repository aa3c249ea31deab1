//! When the next request is due, as a value: no clock, no sockets.

use super::plan::{Arrivals, Pace};

const SECOND_NS: f64 = 1e9;

/// When a request is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// As soon as a connection is free.
    Now,
    /// At this time, in nanoseconds since the start of the run.
    At(u64),
    /// Never: all have been taken.
    Over,
}

/// The requests of one thread.
///
/// Of `n` requests over `t` threads, thread `i` has those with numbers i, i + t, i + 2t and so on. So the shares differ by
/// one at most, their sum is exactly `n`, and the uniform times of all threads together are equally far apart.
#[derive(Debug)]
pub struct Schedule {
    left: Option<u64>,
    times: Times,
}

#[derive(Debug)]
enum Times {
    Closed,
    Uniform { first: u64, step: u64, gap_ns: f64, taken: u64 },
    Poisson { gap_ns: f64, at: f64, random: fastrand::Rng },
}

impl Schedule {
    /// The share of one of `threads` threads.
    #[must_use]
    pub fn new(pace: Pace, requests: Option<u64>, thread: usize, threads: usize) -> Self {
        let (thread, threads) = (thread as u64, threads as u64);
        let left = requests.map(|all| all / threads + u64::from(thread < all % threads));
        let times = match pace {
            Pace::Closed => Times::Closed,
            Pace::Open { per_second, arrivals: Arrivals::Uniform } => {
                Times::Uniform { first: thread, step: threads, gap_ns: SECOND_NS / per_second, taken: 0 }
            }
            Pace::Open { per_second, arrivals: Arrivals::Poisson { seed } } => {
                // The sum of independent Poisson processes is one, of the sum of their rates.
                let gap_ns = SECOND_NS / per_second * threads as f64;
                let mut random = fastrand::Rng::with_seed(seed.wrapping_add(thread));
                let at = exponential(&mut random) * gap_ns;
                Times::Poisson { gap_ns, at, random }
            }
        };
        Self { left, times }
    }

    /// When the next request is due.
    #[must_use]
    pub fn next(&self) -> Due {
        if self.left == Some(0) {
            return Due::Over;
        }
        match &self.times {
            Times::Closed => Due::Now,
            // From the number, not by adding gaps: rounding does not add up.
            Times::Uniform { first, step, gap_ns, taken } => Due::At(((first + step * taken) as f64 * gap_ns) as u64),
            Times::Poisson { at, .. } => Due::At(*at as u64),
        }
    }

    /// How many of the requests that are left are due before `end`; of Poisson times, how many that is on average. They are
    /// not counted one by one: at 10^9 a second that would outlast the run.
    #[must_use]
    pub fn due_before(&self, end: u64) -> u64 {
        let Due::At(next) = self.next() else { return 0 };
        if next >= end {
            return 0;
        }
        let each_ns = match &self.times {
            Times::Closed => return 0,
            Times::Uniform { step, gap_ns, .. } => *step as f64 * gap_ns,
            Times::Poisson { gap_ns, .. } => *gap_ns,
        };
        let due = 1 + ((end - next - 1) as f64 / each_ns) as u64;
        self.left.map_or(due, |left| due.min(left))
    }

    /// How many requests are left, where they have been counted.
    #[inline]
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        self.left
    }

    /// Takes the next request out.
    pub fn take(&mut self) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
        match &mut self.times {
            Times::Closed => {}
            Times::Uniform { taken, .. } => *taken += 1,
            Times::Poisson { gap_ns, at, random } => *at += exponential(random) * *gap_ns,
        }
    }
}

/// A draw from the exponential distribution of mean 1.
fn exponential(random: &mut fastrand::Rng) -> f64 {
    // 1 - [0, 1) is never 0, of which there is no logarithm.
    -(1.0 - random.f64()).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn times(mut schedule: Schedule, most: usize) -> Vec<u64> {
        let mut times = Vec::new();
        while let Due::At(at) = schedule.next()
            && times.len() < most
        {
            times.push(at);
            schedule.take();
        }
        times
    }

    #[test]
    fn a_closed_loop_ends_after_its_share() {
        let mut schedule = Schedule::new(Pace::Closed, Some(3), 0, 2);
        assert_eq!(schedule.next(), Due::Now);
        schedule.take();
        schedule.take();
        assert_eq!(schedule.next(), Due::Over);
        assert_eq!(Schedule::new(Pace::Closed, Some(1), 1, 2).next(), Due::Over);
        assert_eq!(Schedule::new(Pace::Closed, None, 1, 2).next(), Due::Now);
    }

    #[test]
    fn uniform_times_of_all_threads_are_equally_far_apart() {
        let pace = Pace::Open { per_second: 3.0, arrivals: Arrivals::Uniform };
        let mut all: Vec<u64> = (0..2).flat_map(|thread| times(Schedule::new(pace, Some(7), thread, 2), 10)).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333, 1_666_666_666, 2_000_000_000]);
    }

    #[test]
    fn poisson_times_come_at_the_rate_and_not_evenly() {
        let pace = Pace::Open { per_second: 1000.0, arrivals: Arrivals::Poisson { seed: 7 } };
        let all = times(Schedule::new(pace, None, 1, 4), 10_000);
        assert_eq!(all, times(Schedule::new(pace, None, 1, 4), 10_000), "the same seed gives the same times");
        assert_ne!(all[..9], times(Schedule::new(pace, None, 2, 4), 9), "threads are independent");
        let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        // A quarter of the rate each; an exponential distribution deviates by its mean. 10,000 draws are within 5 %.
        assert!((mean / 4e6 - 1.0).abs() < 0.05, "{mean}");
        assert!((deviation / mean - 1.0).abs() < 0.05, "{deviation}");
    }

    #[test]
    fn what_is_due_before_the_end() {
        let uniform = |per_second, left, thread| {
            let pace = Pace::Open { per_second, arrivals: Arrivals::Uniform };
            Schedule::new(pace, left, thread, 2)
        };
        // Thread 1 of 2 at 10/s: 100, 300, 500 ms and so on.
        for (end_ms, expected) in [(0, 0), (100, 0), (101, 1), (300, 1), (301, 2), (1000, 5)] {
            assert_eq!(uniform(10.0, None, 1).due_before(end_ms * 1_000_000), expected, "{end_ms} ms");
        }
        assert_eq!(uniform(10.0, Some(4), 1).due_before(1_000_000_000), 2);
        assert_eq!(uniform(1e9, None, 0).due_before(2_000_000_000), 1_000_000_000);
        assert_eq!(Schedule::new(Pace::Closed, None, 0, 1).due_before(u64::MAX), 0);
        let poisson = Pace::Open { per_second: 1e9, arrivals: Arrivals::Poisson { seed: 1 } };
        let due = Schedule::new(poisson, None, 0, 1).due_before(1_000_000_000);
        assert!(due.abs_diff(1_000_000_000) < 1000, "{due}");
    }

    proptest! {
        #[test]
        fn shares_add_up(requests in 0_u64..10_000, threads in 1_usize..9) {
            let count = |thread| {
                let mut schedule = Schedule::new(Pace::Closed, Some(requests), thread, threads);
                let mut count = 0;
                while schedule.next() != Due::Over {
                    schedule.take();
                    count += 1;
                }
                count
            };
            let shares: Vec<u64> = (0..threads).map(count).collect();
            prop_assert_eq!(shares.iter().sum::<u64>(), requests);
            prop_assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }
}
