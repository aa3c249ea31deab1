//! The threads of a watched process: what each has used since the watch began, also those that came and went meanwhile.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::thread::CpuSet;

use super::files;
use crate::process::schedule::ThreadTimes;

/// Threads that one walk reads. Of a process with more, those that were made first are read.
pub(super) const MOST: usize = 4096;

/// What a thread has used since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) times: ThreadTimes,
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
}

impl Reading {
    fn since(self, earlier: Self) -> Self {
        Self {
            times: self.times.since(earlier.times),
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }
}

/// The sum over threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) cpu: Duration,
    /// Of the thread with the most time on a CPU or waiting for one.
    pub(super) busiest: ThreadTimes,
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
}

impl Totals {
    fn add(&mut self, used: Reading) {
        self.cpu += used.times.cpu;
        self.voluntary += used.voluntary;
        self.involuntary += used.involuntary;
        if used.times.busy() > self.busiest.busy() {
            self.busiest = used.times;
        }
    }
}

#[derive(Debug)]
struct Thread {
    /// At the first walk; zeros for a thread that began later.
    first: Reading,
    last: Reading,
    walk: u64,
}

/// All threads seen. Those that ended count with what they had used when they were last seen, and are no longer kept: the
/// map holds no more than [`MOST`].
#[derive(Debug, Default)]
pub(super) struct Threads {
    seen: HashMap<u32, Thread>,
    ended: Totals,
    cpus: CpuSet,
    walk: u64,
}

impl Threads {
    /// Reads every thread below `/proc/PID/task`. One that ends while it is being read stays as it was.
    pub(super) fn walk(&mut self, task: &Path) {
        self.walk += 1;
        for entry in fs::read_dir(task).into_iter().flatten().take(MOST).flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let Ok((reading, cpus)) = files::thread(&entry.path()) else { continue };
            allow(&mut self.cpus, &cpus);
            self.note(id, reading);
        }
        self.forget_the_ended();
    }

    /// CPUs that at least one thread may run on.
    pub(super) fn cpus_allowed(&self) -> u64 {
        u64::from(self.cpus.count())
    }

    /// Since the first walk.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = self.ended;
        self.seen.values().for_each(|thread| totals.add(thread.last.since(thread.first)));
        totals
    }

    fn note(&mut self, id: u32, reading: Reading) {
        let first = if self.walk == 1 { reading } else { Reading::default() };
        let walk = self.walk;
        let thread = self.seen.entry(id).or_insert(Thread { first, last: reading, walk });
        if reading.times.cpu < thread.last.times.cpu {
            // Time does not run backwards: another thread has been given the id.
            self.ended.add(thread.last.since(thread.first));
            thread.first = Reading::default();
        }
        thread.last = reading;
        thread.walk = walk;
    }

    fn forget_the_ended(&mut self) {
        let Self { seen, ended, walk, .. } = self;
        seen.retain(|_, thread| {
            let lives = thread.walk == *walk;
            if !lives {
                ended.add(thread.last.since(thread.first));
            }
            lives
        });
    }
}

/// Adds a list as `0-3,8`.
fn allow(cpus: &mut CpuSet, list: &str) {
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) else { continue };
        (first..=last.min(CpuSet::MAX_CPU - 1)).for_each(|cpu| cpus.set(cpu));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(cpu: u64, run_delay: u64, voluntary: u64) -> Reading {
        let times = ThreadTimes { cpu: Duration::from_nanos(cpu), run_delay: Duration::from_nanos(run_delay) };
        Reading { times, voluntary, involuntary: 2 * voluntary }
    }

    fn walk(threads: &mut Threads, readings: &[(u32, Reading)]) {
        threads.walk += 1;
        readings.iter().for_each(|(id, reading)| threads.note(*id, *reading));
        threads.forget_the_ended();
    }

    /// CPU, CPU and delay of the busiest, voluntary switches, in the units of [`reading`].
    fn totals(threads: &Threads) -> (u128, u128, u128, u64) {
        let Totals { cpu, busiest, voluntary, involuntary } = threads.totals();
        assert_eq!(involuntary, 2 * voluntary);
        (cpu.as_nanos(), busiest.cpu.as_nanos(), busiest.run_delay.as_nanos(), voluntary)
    }

    #[test]
    fn the_time_before_the_watch_is_not_counted() {
        let mut threads = Threads::default();
        walk(&mut threads, &[(1, reading(1000, 100, 10)), (2, reading(5000, 0, 0))]);
        assert_eq!(totals(&threads), (0, 0, 0, 0));
        walk(&mut threads, &[(1, reading(1030, 101, 12)), (2, reading(5010, 0, 1))]);
        assert_eq!(totals(&threads), (40, 30, 1, 3));
    }

    #[test]
    fn a_thread_that_began_later_counts_from_its_start() {
        let mut threads = Threads::default();
        walk(&mut threads, &[(1, reading(1000, 0, 0))]);
        walk(&mut threads, &[(1, reading(1001, 0, 0)), (2, reading(50, 7, 3))]);
        assert_eq!(totals(&threads), (51, 50, 7, 3));
    }

    #[test]
    fn a_thread_that_ended_keeps_what_it_was_seen_with() {
        let mut threads = Threads::default();
        walk(&mut threads, &[(1, reading(0, 0, 0))]);
        walk(&mut threads, &[(1, reading(1, 0, 0)), (2, reading(50, 7, 3))]);
        walk(&mut threads, &[(1, reading(2, 0, 0))]);
        assert_eq!(totals(&threads), (52, 50, 7, 3));
        assert_eq!(threads.seen.len(), 1, "the map does not grow with threads that are gone");
        walk(&mut threads, &[(1, reading(3, 0, 0))]);
        assert_eq!(totals(&threads), (53, 50, 7, 3), "it is counted once");
    }

    #[test]
    fn an_id_that_is_used_again_is_another_thread() {
        let mut threads = Threads::default();
        walk(&mut threads, &[(1, reading(1000, 0, 0))]);
        walk(&mut threads, &[(1, reading(1100, 0, 5))]);
        walk(&mut threads, &[(1, reading(30, 0, 1))]);
        assert_eq!(totals(&threads), (130, 100, 0, 6));
    }

    #[test]
    fn the_busiest_is_the_one_with_the_least_time_left() {
        let mut threads = Threads::default();
        walk(&mut threads, &[]);
        walk(&mut threads, &[(1, reading(60, 0, 0)), (2, reading(50, 45, 0))]);
        assert_eq!(totals(&threads), (110, 50, 45, 0));
    }

    #[test]
    fn lists_of_cpus() {
        for (lists, expected) in [
            (&["0"][..], 1),
            (&["0-3,8"], 5),
            (&["0-1", "1-2"], 3),
            (&[""], 0),
            (&["x-3,7"], 1),
            (&["1023-4095"], 1),
            (&["5000"], 0),
        ] {
            let mut cpus = CpuSet::new();
            lists.iter().for_each(|list| allow(&mut cpus, list));
            assert_eq!(cpus.count(), expected, "{lists:?}");
        }
    }
}
