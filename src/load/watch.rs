//! The processes of `--watch` as the record tells of them.

use std::io;
use std::time::Duration;

use crate::process::watch::{Observed, Watch};
use crate::record::Watched;

/// The processes that are watched during a run.
#[derive(Debug)]
pub struct Watches(Vec<Watch>);

impl Watches {
    /// Begins to watch all of them.
    ///
    /// # Errors
    ///
    /// One of them cannot be watched; the message says which and why.
    pub fn open(pids: &[u32]) -> io::Result<Self> {
        pids.iter().map(|pid| Watch::open(*pid)).collect::<io::Result<_>>().map(Self)
    }

    /// Looks at them now. Meant to be called every 200 ms to 1 s.
    pub fn sample(&mut self) {
        self.0.iter_mut().for_each(Watch::sample);
    }

    /// Looks for the last time, after `wall` time in which `ended` requests have ended.
    #[must_use]
    pub fn finish(self, ended: u64, wall: Duration) -> Vec<Watched> {
        self.0.into_iter().map(|watch| watched(watch.finish(), ended, wall)).collect()
    }
}

fn watched(seen: Observed, ended: u64, wall: Duration) -> Watched {
    const US: f64 = 1e6;
    let cpu_s = seen.cpu.as_secs_f64();
    let of_wall = |time: Duration| ratio(time.as_secs_f64(), wall.as_secs_f64());
    Watched {
        pid: seen.pid,
        name: seen.name,
        cpu_s,
        cpu_per_request_us: ratio(cpu_s * US, ended as f64),
        cpus_used: of_wall(seen.cpu),
        cpus_allowed: seen.cpus_allowed,
        busiest_thread: of_wall(seen.busiest.cpu),
        busiest_thread_delay: of_wall(seen.busiest.run_delay),
        threads_max: seen.threads_max,
        resident_max_bytes: seen.resident_max_bytes,
        descriptors_max: seen.descriptors_max,
        voluntary_switches: seen.voluntary_switches,
        involuntary_switches: seen.involuntary_switches,
        gone: seen.gone,
    }
}

/// 0 of nothing: the record has no place for what is not a number.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::schedule::ThreadTimes;

    fn observed() -> Observed {
        let busiest = ThreadTimes { cpu: Duration::from_millis(1800), run_delay: Duration::from_millis(100) };
        Observed {
            pid: 7,
            name: "server".to_owned(),
            cpu: Duration::from_secs(3),
            busiest,
            cpus_allowed: 4,
            threads_max: 5,
            resident_max_bytes: 6,
            descriptors_max: 8,
            voluntary_switches: 9,
            involuntary_switches: 10,
            gone: true,
        }
    }

    #[test]
    fn figures_for_each_request_and_for_each_second() {
        let expected = Watched {
            pid: 7,
            name: "server".to_owned(),
            cpu_s: 3.0,
            cpu_per_request_us: 30.0,
            cpus_used: 1.5,
            cpus_allowed: 4,
            busiest_thread: 0.9,
            busiest_thread_delay: 0.05,
            threads_max: 5,
            resident_max_bytes: 6,
            descriptors_max: 8,
            voluntary_switches: 9,
            involuntary_switches: 10,
            gone: true,
        };
        assert_eq!(watched(observed(), 100_000, Duration::from_secs(2)), expected);
    }

    #[test]
    fn a_run_without_requests_or_time_has_figures_that_are_numbers() {
        let watched = watched(observed(), 0, Duration::ZERO);
        assert_eq!((watched.cpu_per_request_us, watched.cpus_used, watched.busiest_thread), (0.0, 0.0, 0.0));
    }

    #[test]
    fn all_are_watched_or_none() {
        let own = std::process::id();
        assert!(Watches::open(&[own, 4_194_305]).is_err());
        let mut watches = Watches::open(&[own, own]).expect("they can be watched");
        watches.sample();
        let watched = watches.finish(1, Duration::from_secs(1));
        assert_eq!(watched.iter().map(|one| one.pid).collect::<Vec<_>>(), [own, own]);
    }
}
