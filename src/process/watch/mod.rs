//! Watches another process from outside while it is under load.
//!
//! The watcher shares a CPU with the client that it belongs to, so it must be cheap: a sample reads one file and asks for
//! one folder's size. Threads cost two files each; they are read at both ends and, in between, as often as comes to
//! `THREADS_A_SAMPLE` for each sample.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::schedule::ThreadTimes;
use files::Stat;
use threads::Threads;

mod files;
mod threads;

/// Threads that are read for each sample, on average. Reading one takes some 20 us.
const THREADS_A_SAMPLE: u64 = 64;

/// A process that is being watched.
#[derive(Debug)]
pub struct Watch {
    pid: u32,
    folder: PathBuf,
    first: Stat,
    last: Stat,
    threads: Threads,
    samples_until_walk: u64,
    seen: Seen,
}

/// The peaks of the samples.
#[derive(Debug, Default)]
struct Seen {
    threads_max: u64,
    resident_pages_max: u64,
    descriptors_max: u64,
    gone: bool,
}

/// What a watch saw between its first and its last sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Its id.
    pub pid: u32,
    /// Its name, as `comm` has it: the first 15 bytes of the program's name.
    pub name: String,
    /// CPU time, user and system, of all threads, those that ended included.
    pub cpu: Duration,
    /// The thread that was on a CPU, or waiting for one, for the longest.
    pub busiest: ThreadTimes,
    /// CPUs that its threads may run on, taken together.
    pub cpus_allowed: u64,
    /// Most threads seen.
    pub threads_max: u64,
    /// Most resident memory seen, in bytes.
    pub resident_max_bytes: u64,
    /// Most descriptors seen.
    pub descriptors_max: u64,
    /// Switches because a thread waited. Those of threads that ended count as far as they were seen.
    pub voluntary_switches: u64,
    /// Switches because a thread's time was up.
    pub involuntary_switches: u64,
    /// It ended before the watch did; the figures are those of the last sample before.
    pub gone: bool,
}

impl Watch {
    /// Begins to watch.
    ///
    /// # Errors
    ///
    /// There is no such process, or its files must not be read; the message says which.
    pub fn open(pid: u32) -> io::Result<Self> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let first = Stat::read(&folder).map_err(|error| explain(pid, &error))?;
        if first.is_zombie {
            return Err(explain(pid, &io::ErrorKind::NotFound.into()));
        }
        files::descriptors(&folder).map_err(|error| explain(pid, &error))?;
        let (last, threads, seen) = (first.clone(), Threads::default(), Seen::default());
        let mut watch = Self { pid, folder, first, last, threads, samples_until_walk: 0, seen };
        watch.sample();
        Ok(watch)
    }

    /// Looks at the process now. Meant to be called some times a second.
    pub fn sample(&mut self) {
        if !self.look() {
            return;
        }
        if self.samples_until_walk == 0 {
            self.threads.walk(&self.folder.join("task"));
            self.samples_until_walk = samples_a_walk(self.last.threads);
        }
        self.samples_until_walk -= 1;
    }

    /// Looks for the last time.
    #[must_use]
    pub fn finish(mut self) -> Observed {
        self.samples_until_walk = 0;
        self.sample();
        let threads = self.threads.totals();
        let ticks = files::ticks(self.last.cpu_ticks.saturating_sub(self.first.cpu_ticks));
        Observed {
            pid: self.pid,
            name: self.last.name,
            cpu: within_ticks(threads.cpu, ticks),
            busiest: threads.busiest,
            cpus_allowed: self.threads.cpus_allowed(),
            threads_max: self.seen.threads_max,
            resident_max_bytes: self.seen.resident_pages_max * rustix::param::page_size() as u64,
            descriptors_max: self.seen.descriptors_max,
            voluntary_switches: threads.voluntary,
            involuntary_switches: threads.involuntary,
            gone: self.seen.gone,
        }
    }

    /// Reads what concerns the whole process; false if there is nothing left to read.
    fn look(&mut self) -> bool {
        if self.seen.gone {
            return false;
        }
        match Stat::read(&self.folder) {
            // The id has been given to another process.
            Ok(stat) if stat.started != self.first.started => self.seen.gone = true,
            Ok(stat) => {
                self.seen.gone = stat.is_zombie;
                self.last = stat;
            }
            Err(error) => self.seen.gone = is_gone(&error),
        }
        self.seen.threads_max = self.seen.threads_max.max(self.last.threads);
        self.seen.resident_pages_max = self.seen.resident_pages_max.max(self.last.resident_pages);
        let descriptors = files::descriptors(&self.folder).unwrap_or(0);
        if !self.seen.gone {
            self.seen.descriptors_max = self.seen.descriptors_max.max(descriptors);
        }
        !self.seen.gone
    }
}

/// How many samples go to one walk over so many threads; at least one.
fn samples_a_walk(threads: u64) -> u64 {
    threads.div_ceil(THREADS_A_SAMPLE).max(1)
}

/// CPU time of all threads, from the two figures that there are: the sum over the threads that were seen is in nanoseconds
/// but lacks what a thread used between its last reading and its end, and `stat` has everything but in clock ticks. The sum
/// stands as long as the ticks, user and system rounded down each, leave room for it.
fn within_ticks(sum: Duration, ticks: Duration) -> Duration {
    if sum.abs_diff(ticks) <= files::ticks(2) { sum } else { ticks }
}

/// A read that fails for another reason, such as too few descriptors, says nothing about the process.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

fn explain(pid: u32, error: &io::Error) -> io::Error {
    let reason = match error.kind() {
        _ if is_gone(error) => "there is no such process".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "its files in /proc may not be read; watch it as its own user, or as root".to_owned()
        }
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), format!("process {pid} cannot be watched: {reason}"))
}

#[cfg(test)]
mod tests;
