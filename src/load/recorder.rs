//! What one thread has seen: counts and histograms, of a size that does not grow with the number of requests.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::exchange::{Answer, Asked};
use super::intervals::IntervalLog;
use super::rows::RowLog;
use crate::record::{Connections, Distribution, Endings, FirstAnswer, FirstFailure, Moments, Outcome, Row, Transfer};

/// Largest time that is told apart from larger ones: an hour, in nanoseconds.
const LARGEST_NS: u64 = 3_600_000_000_000;
/// Significant digits of the histograms.
const DIGITS: u8 = 3;
/// Status codes have three digits.
const STATUSES: usize = 1000;

/// A distribution that is being recorded.
#[derive(Debug, Clone)]
pub struct Times {
    histogram: Histogram<u64>,
    moments: Moments,
}

impl Default for Times {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LARGEST_NS, DIGITS).expect("bounds that a histogram accepts");
        Self { histogram, moments: Moments::default() }
    }
}

impl Times {
    /// Adds a time.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.moments.record(ns);
    }

    /// Adds another thread's.
    pub fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("histograms of the same bounds");
        self.moments.add(&other.moments);
    }

    /// As it stands in a record.
    pub fn distribution(&self) -> Distribution {
        Distribution::new(&self.histogram, &self.moments)
    }

    /// The exact moments.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Value at a percentile.
    pub fn percentile(&self, percentile: f64) -> u64 {
        // The histogram answers with the upper end of a bucket, which may lie above the exact largest value.
        if self.moments.count == 0 {
            0
        } else {
            self.histogram.value_at_percentile(percentile).min(self.moments.max_ns)
        }
    }
}

/// Everything that one thread has seen.
#[derive(Debug)]
pub struct Recorder {
    open_loop: bool,
    /// How requests ended.
    pub endings: Endings,
    /// Connections, and what became of them.
    pub connections: Connections,
    /// Bytes.
    pub transfer: Transfer,
    /// The run in intervals.
    pub intervals: IntervalLog,
    /// Service times on connections that were there.
    kept: Times,
    /// Service times of requests that opened their connection.
    fresh: Times,
    /// Connect and service time together, of the same requests.
    fresh_total: Times,
    connect: Times,
    first_byte: Times,
    response: Times,
    timer_error: Times,
    /// From the return of `epoll_wait` to the last event handled.
    pub lag: Times,
    /// The first whole answer.
    pub first_answer: Option<FirstAnswer>,
    /// The first failure.
    pub first_failure: Option<FirstFailure>,
    /// A row for each answered request, if somebody wants them.
    pub rows: Option<RowLog>,
    /// Requests that were due and not sent.
    pub never_sent: u64,
    /// When the last request that was sent had been due.
    pub last_due: u64,
    /// For how long requests had been on their way that the end of the run cut off, all of them together.
    pub cut_off_ns: u64,
    statuses: Box<[u64; STATUSES]>,
    failures_in_a_row: u64,
}

impl Recorder {
    /// An empty one.
    #[must_use]
    pub fn new(open_loop: bool) -> Self {
        Self {
            open_loop,
            endings: Endings::default(),
            connections: Connections::default(),
            transfer: Transfer::default(),
            intervals: IntervalLog::default(),
            kept: Times::default(),
            fresh: Times::default(),
            fresh_total: Times::default(),
            connect: Times::default(),
            first_byte: Times::default(),
            response: Times::default(),
            timer_error: Times::default(),
            lag: Times::default(),
            first_answer: None,
            first_failure: None,
            rows: None,
            never_sent: 0,
            cut_off_ns: 0,
            last_due: 0,
            statuses: Box::new([0; STATUSES]),
            failures_in_a_row: 0,
        }
    }

    /// A whole answer came.
    #[inline]
    pub fn answered(&mut self, answer: &Answer, now: u64) {
        let Answer { asked, outcome, status, first_byte, keep_alive, says_keep_alive, .. } = answer;
        *self.endings.of_mut(*outcome) += 1;
        self.failures_in_a_row = 0;
        if let Some(count) = self.statuses.get_mut(usize::from(*status)) {
            *count += 1;
        }
        self.connections.kept_alive += u64::from(*keep_alive);
        self.connections.said_keep_alive += u64::from(*says_keep_alive);
        let first_byte_ns = first_byte.saturating_sub(asked.written);
        self.first_byte.record(first_byte_ns);
        if let Some(rows) = &mut self.rows {
            rows.push(row(asked, first_byte_ns, now));
        }
        let headline = self.times(asked, now);
        self.intervals.ended(now, !outcome.is_failure(), Some(headline));
        if outcome.is_failure() {
            self.note_failure(*outcome, None);
        }
    }

    /// A request was given up after its timeout: it counts with the time that it has taken until now.
    pub fn timed_out(&mut self, asked: &Asked, now: u64) {
        let headline = self.times(asked, now);
        self.ended_badly(Outcome::TimedOut, now, Some(headline), None);
    }

    /// A request failed otherwise.
    pub fn failed(&mut self, outcome: Outcome, now: u64, errno: Option<i32>) {
        self.ended_badly(outcome, now, None, errno);
    }

    /// So many requests were cut off by the end of the run, all of them together so long after their beginnings. That is no
    /// latency, but their connections were busy for it.
    pub fn cut_off(&mut self, requests: u64, ages_ns: u64) {
        self.endings.aborted += requests;
        self.cut_off_ns += ages_ns;
    }

    /// A request was sent, this much later than due, though a connection was free.
    pub fn sent_late(&mut self, ns: u64) {
        self.timer_error.record(ns);
    }

    /// Failures since the last whole answer.
    pub fn failures_in_a_row(&self) -> u64 {
        self.failures_in_a_row
    }

    /// Sum and count of the headline latencies, for whoever watches.
    pub fn headline(&self) -> (u64, u64) {
        let moments = |times: &Times| (times.moments.sum_ns as u64, times.moments.count);
        if self.open_loop {
            return moments(&self.response);
        }
        let ((kept, kept_count), (fresh, fresh_count)) = (moments(&self.kept), moments(&self.fresh_total));
        (kept.wrapping_add(fresh), kept_count + fresh_count)
    }

    /// Records the times of a request that is over, and returns the headline one.
    #[inline]
    fn times(&mut self, asked: &Asked, now: u64) -> u64 {
        let service = now.saturating_sub(asked.sent);
        let total = match asked.connect_ns {
            None => {
                self.kept.record(service);
                service
            }
            Some(connect) => {
                self.connect.record(connect);
                self.fresh.record(service);
                self.fresh_total.record(connect + service);
                connect + service
            }
        };
        if !self.open_loop {
            return total;
        }
        let response = now.saturating_sub(asked.due);
        self.response.record(response);
        response
    }

    fn ended_badly(&mut self, outcome: Outcome, now: u64, headline: Option<u64>, errno: Option<i32>) {
        *self.endings.of_mut(outcome) += 1;
        self.failures_in_a_row += 1;
        self.intervals.ended(now, false, headline);
        self.note_failure(outcome, errno);
    }

    fn note_failure(&mut self, outcome: Outcome, errno: Option<i32>) {
        self.first_failure.get_or_insert_with(|| FirstFailure::new(outcome, errno));
    }

    /// Adds another thread's.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.kept, &other.kept),
            (&mut self.fresh, &other.fresh),
            (&mut self.fresh_total, &other.fresh_total),
            (&mut self.connect, &other.connect),
            (&mut self.first_byte, &other.first_byte),
            (&mut self.response, &other.response),
            (&mut self.timer_error, &other.timer_error),
            (&mut self.lag, &other.lag),
        ];
        for (times, more) in pairs {
            times.add(more);
        }
        self.endings.add(&other.endings);
        self.connections.add(&other.connections);
        self.transfer.add(&other.transfer);
        self.intervals.add(&other.intervals);
        for (count, more) in self.statuses.iter_mut().zip(other.statuses.iter()) {
            *count += more;
        }
        self.never_sent += other.never_sent;
        self.cut_off_ns += other.cut_off_ns;
        self.last_due = self.last_due.max(other.last_due);
        self.first_answer = self.first_answer.take().or_else(|| other.first_answer.clone());
        self.first_failure = self.first_failure.take().or_else(|| other.first_failure.clone());
    }

    /// Answered requests by status code.
    pub fn statuses(&self) -> BTreeMap<u16, u64> {
        let seen = self.statuses.iter().enumerate().filter(|(_, count)| **count > 0);
        seen.map(|(status, count)| (status as u16, *count)).collect()
    }

    /// All service times.
    pub fn service(&self) -> Times {
        let mut all = self.kept.clone();
        all.add(&self.fresh);
        all
    }

    /// All times of a slot's cycle.
    pub fn total(&self) -> Times {
        let mut all = self.kept.clone();
        all.add(&self.fresh_total);
        all
    }

    /// Times of connects.
    pub fn connect(&self) -> &Times {
        &self.connect
    }

    /// Times to the first byte.
    pub fn first_byte(&self) -> &Times {
        &self.first_byte
    }

    /// Response times and timer errors, of an open loop.
    pub fn open(&self) -> Option<(&Times, &Times)> {
        self.open_loop.then_some((&self.response, &self.timer_error))
    }
}

/// With the times of a slot's cycle, as ab has them.
fn row(asked: &Asked, first_byte_ns: u64, now: u64) -> Row {
    let connect_ns = asked.connect_ns.unwrap_or(0);
    Row {
        total_ns: connect_ns + now.saturating_sub(asked.sent),
        start_unix_us: asked.sent.saturating_sub(connect_ns) / 1000,
        connect_ns,
        first_byte_ns,
    }
}
