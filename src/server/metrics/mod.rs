//! What is counted, and how it is told.
//!
//! Each worker has its own [`Counters`]; nothing is added up until somebody asks. [`Snapshot`] is the sum, and
//! [`to_prometheus`] and [`to_json`] are its two forms. Both take the snapshot apart without `..`, so a counter that is
//! not shown does not compile.

mod prometheus;
mod reloads;
mod status;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::transfer::Way;
use crate::process::usage::Usage;

pub use prometheus::{CONTENT_TYPE as PROMETHEUS_CONTENT_TYPE, to_prometheus};
pub use reloads::Reloads;
pub use status::{About, to_json};

/// Status classes, in the order of [`Snapshot::requests`].
const STATUS_CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Why `accept` failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AcceptError {
    /// That one connection was already gone, or its network was.
    Connection,
    /// The process or the system is out of descriptors.
    Descriptors,
    /// The kernel is out of memory for sockets.
    Memory,
    /// Anything else.
    Other,
}

impl AcceptError {
    /// Label values, in the order of the variants.
    const NAMES: [&str; 4] = ["connection", "descriptors", "memory", "other"];
}

/// Which wait took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Timeout {
    /// A request head did not come to its end.
    Header,
    /// No further request came.
    Idle,
    /// The client took no byte of an answer.
    WriteStall,
    /// The client went on sending after its last answer.
    Linger,
}

impl Timeout {
    /// Label values, in the order of the variants.
    const NAMES: [&str; 4] = ["header", "idle", "write_stall", "linger"];
}

/// Label values of the ways to the socket, in the order of [`Way`].
const WAYS: [&str; 4] = ["memory", "sendfile", "copy", "stream"];

/// What one worker has counted since the start.
///
/// A worker writes its own counters only. Where the worker is one thread, that thread adds with a load and a store; where
/// its connections run on several threads, with `fetch_add`, whose lock prefix costs some 5 ns even when nobody contends.
/// Relaxed, because no counter says anything about other memory.
///
/// 128 bytes and not 64, because current x86 processors fetch cache lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Counters {
    writers: Writers,
    requests: [AtomicU64; 5],
    sent_bytes: AtomicU64,
    accepted: AtomicU64,
    closed: AtomicU64,
    parked: AtomicU64,
    woken: AtomicU64,
    accept_errors: [AtomicU64; 4],
    timeouts: [AtomicU64; 4],
    transfers: [AtomicU64; 4],
    threads_started: AtomicU64,
    access_log_dropped: AtomicU64,
}

/// Who adds to a worker's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Writers {
    /// The worker's thread alone. Timeouts are the exception: those only the main thread counts.
    One,
    /// Any thread.
    #[default]
    Many,
}

impl Counters {
    /// Counters at zero.
    pub fn new(writers: Writers) -> Self {
        Self { writers, ..Self::default() }
    }

    fn add(&self, counter: &AtomicU64, count: u64) {
        match self.writers {
            Writers::One => counter.store(counter.load(Relaxed) + count, Relaxed),
            Writers::Many => {
                counter.fetch_add(count, Relaxed);
            }
        }
    }

    /// A request has been answered with this status.
    pub fn request(&self, status: u16) {
        let class = (status / 100).clamp(1, 5) - 1;
        self.add(&self.requests[usize::from(class)], 1);
    }

    /// The kernel has taken this many bytes, heads included.
    pub fn sent(&self, bytes: u64) {
        self.add(&self.sent_bytes, bytes);
    }

    /// A connection has been accepted.
    pub fn accepted(&self) {
        self.add(&self.accepted, 1);
    }

    /// A connection has ended.
    pub fn closed(&self) {
        self.add(&self.closed, 1);
    }

    /// An idle connection has given its buffers back.
    pub fn parked(&self) {
        self.add(&self.parked, 1);
    }

    /// A parked connection is one no longer, because something came or because it ends.
    pub fn woken(&self) {
        self.add(&self.woken, 1);
    }

    /// `accept` has failed.
    pub fn accept_error(&self, class: AcceptError) {
        self.add(&self.accept_errors[class as usize], 1);
    }

    /// A connection was cut because of a deadline.
    pub fn timed_out(&self, kind: Timeout) {
        self.add(&self.timeouts[kind as usize], 1);
    }

    /// An answer's content goes to the socket this way.
    pub fn transferred(&self, way: Way) {
        self.add(&self.transfers[way as usize], 1);
    }

    /// A thread was made for a connection.
    pub fn thread_started(&self) {
        self.add(&self.threads_started, 1);
    }

    /// The access log's queue was full for this many lines.
    pub fn log_dropped(&self, lines: u64) {
        self.add(&self.access_log_dropped, lines);
    }
}

/// What is counted elsewhere and told in the same place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// Connections in the accept queues now.
    pub connections_waiting: u64,
    /// Requests whose document was in a worker's cache.
    pub cache_hits: u64,
    /// Requests whose document had to be opened.
    pub cache_misses: u64,
    /// Access log lines that the destination did not take.
    pub access_log_lost: u64,
    /// Lines of the server's own log that are lost.
    pub log_lost: u64,
    /// What the process takes of the machine.
    pub usage: Usage,
}

/// All workers' counters at one moment.
///
/// Each figure is exact, but they are read one after the other while the workers go on: two of them can differ by what
/// happened in between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Answers by status class, from 1xx to 5xx.
    pub requests: [u64; 5],
    /// Bytes that the kernel has taken.
    pub sent_bytes: u64,
    /// Connections accepted.
    pub accepted: u64,
    /// Connections ended.
    pub closed: u64,
    /// Times that a connection was parked.
    pub parked: u64,
    /// Times that a parked connection was woken.
    pub woken: u64,
    /// Failures of `accept`, in the order of [`AcceptError`].
    pub accept_errors: [u64; 4],
    /// Connections cut, in the order of [`Timeout`].
    pub timeouts: [u64; 4],
    /// Answers by the way of their content, in the order of `Way`.
    pub transfers: [u64; 4],
    /// Threads made for connections.
    pub threads_started: u64,
    /// Access log lines dropped because the queue was full.
    pub access_log_dropped: u64,
    /// What the caller counts.
    pub elsewhere: Elsewhere,
}

impl Snapshot {
    /// The sum over all workers.
    pub fn sum<'a>(workers: impl IntoIterator<Item = &'a Counters>, elsewhere: Elsewhere) -> Self {
        let mut sum = Self { elsewhere, ..Self::default() };
        for worker in workers {
            sum.add(worker);
        }
        sum
    }

    fn add(&mut self, worker: &Counters) {
        let Counters {
            requests,
            sent_bytes,
            accepted,
            closed,
            parked,
            woken,
            accept_errors,
            timeouts,
            transfers,
            threads_started,
            access_log_dropped,
            writers: _,
        } = worker;
        add_each(&mut self.requests, requests);
        self.sent_bytes += sent_bytes.load(Relaxed);
        self.closed += closed.load(Relaxed);
        self.accepted += accepted.load(Relaxed);
        self.woken += woken.load(Relaxed);
        self.parked += parked.load(Relaxed);
        add_each(&mut self.accept_errors, accept_errors);
        add_each(&mut self.timeouts, timeouts);
        add_each(&mut self.transfers, transfers);
        self.threads_started += threads_started.load(Relaxed);
        self.access_log_dropped += access_log_dropped.load(Relaxed);
    }
}

fn add_each<const N: usize>(sums: &mut [u64; N], counters: &[AtomicU64; N]) {
    for (sum, counter) in sums.iter_mut().zip(counters) {
        *sum += counter.load(Relaxed);
    }
}

/// How many are between a beginning and an end. The end is counted later but may be read earlier, so the difference
/// could be below nothing for a moment.
fn present(begun: u64, ended: u64) -> u64 {
    begun.saturating_sub(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot in which no two figures are the same, nor is a difference of two.
    pub(super) fn distinct() -> Snapshot {
        Snapshot {
            requests: [11, 12, 13, 14, 15],
            sent_bytes: 1_000_001,
            accepted: 900,
            closed: 200,
            parked: 800,
            woken: 300,
            accept_errors: [21, 22, 23, 24],
            timeouts: [31, 32, 33, 34],
            transfers: [61, 62, 63, 64],
            threads_started: 65,
            access_log_dropped: 41,
            elsewhere: Elsewhere {
                connections_waiting: 51,
                cache_hits: 52,
                cache_misses: 53,
                access_log_lost: 54,
                log_lost: 55,
                usage: Usage { threads: 71, resident_bytes: 72, virtual_bytes: 73, descriptors: 74 },
            },
        }
    }

    pub(super) fn about() -> About {
        About {
            version: "1.2.3",
            uptime: std::time::Duration::from_millis(61_900),
            started_unix_s: 76,
            workers: 2,
            listen: vec!["127.0.0.1:8080".into(), "unix:/run/\"q\".sock".into()],
            profile: "none",
            model: "event-loop",
            files_mode: "cached",
            transfer_path: "auto",
            stack_bytes: 75,
            reloads: reloads(),
        }
    }

    fn reloads() -> Reloads {
        let mut reloads = Reloads::default();
        for count in 0..81 + 82 {
            let refusal = (count >= 81).then_some("why");
            reloads.note(refusal, std::time::UNIX_EPOCH + std::time::Duration::from_secs(83));
        }
        reloads
    }

    fn times(count: u64, mut count_one: impl FnMut()) {
        (0..count).for_each(|_| count_one());
    }

    #[test]
    fn every_counter_of_every_worker_is_in_the_sum() {
        let workers = [Counters::default(), Counters::default(), Counters::default()];
        let expected = distinct();
        // The first worker counts all but one of each, the last one the one; the middle one has nothing to do.
        for (worker, share) in [(&workers[0], 1), (&workers[2], 0)] {
            let part = |whole: u64| if share == 1 { whole - 1 } else { 1 };
            for (class, &count) in (1..).zip(&expected.requests) {
                times(part(count), || worker.request(class * 100 + 4));
            }
            worker.sent(part(expected.sent_bytes));
            times(part(expected.accepted), || worker.accepted());
            times(part(expected.closed), || worker.closed());
            times(part(expected.parked), || worker.parked());
            times(part(expected.woken), || worker.woken());
            let classes = [AcceptError::Connection, AcceptError::Descriptors, AcceptError::Memory, AcceptError::Other];
            for (class, &count) in classes.into_iter().zip(&expected.accept_errors) {
                times(part(count), || worker.accept_error(class));
            }
            let kinds = [Timeout::Header, Timeout::Idle, Timeout::WriteStall, Timeout::Linger];
            for (kind, &count) in kinds.into_iter().zip(&expected.timeouts) {
                times(part(count), || worker.timed_out(kind));
            }
            let ways = [Way::Memory, Way::Sendfile, Way::Copy, Way::Stream];
            for (way, &count) in ways.into_iter().zip(&expected.transfers) {
                times(part(count), || worker.transferred(way));
            }
            times(part(expected.threads_started), || worker.thread_started());
            worker.log_dropped(part(expected.access_log_dropped));
        }
        assert_eq!(Snapshot::sum(&workers, expected.elsewhere), expected);
    }

    #[test]
    fn a_status_that_no_class_has_is_still_counted() {
        let counters = Counters::default();
        for status in [0, 99, 600, 999] {
            counters.request(status);
        }
        let sum = Snapshot::sum([&counters], Elsewhere::default());
        assert_eq!(sum.requests, [2, 0, 0, 0, 2]);
    }

    #[test]
    fn two_workers_never_share_a_cache_line() {
        assert_eq!(align_of::<Counters>(), 128);
        assert_eq!(size_of::<Counters>() % 128, 0);
    }
}
