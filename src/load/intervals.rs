//! The run in equal intervals, in bounded memory: when the table is full, neighbours are merged and the width doubles.

use crate::record::{Interval, Intervals};

/// Width of an interval at the start.
const WIDTH_NS: u64 = 1_000_000_000;
/// Most rows: more than an hour of seconds.
const ROWS: usize = 4096;

/// What ended when.
#[derive(Debug)]
pub struct IntervalLog {
    width_ns: u64,
    rows: Vec<Interval>,
}

impl Default for IntervalLog {
    fn default() -> Self {
        Self { width_ns: WIDTH_NS, rows: Vec::new() }
    }
}

impl IntervalLog {
    /// A request ended at `now` nanoseconds since the start; of some, a latency is known.
    #[inline]
    pub fn ended(&mut self, now: u64, well: bool, latency_ns: Option<u64>) {
        let row = self.row(now);
        row.ok += u64::from(well);
        row.failed += u64::from(!well);
        if let Some(latency) = latency_ns {
            row.latency_sum_ns = row.latency_sum_ns.saturating_add(latency);
            row.latency_max_ns = row.latency_max_ns.max(latency);
        }
    }

    /// Bytes came.
    #[inline]
    pub fn received(&mut self, now: u64, bytes: u64) {
        self.row(now).received_bytes += bytes;
    }

    #[inline]
    fn row(&mut self, now: u64) -> &mut Interval {
        let mut at = (now / self.width_ns) as usize;
        while at >= ROWS {
            self.widen();
            at = (now / self.width_ns) as usize;
        }
        if at >= self.rows.len() {
            self.rows.resize(at + 1, Interval::default());
        }
        &mut self.rows[at]
    }

    fn widen(&mut self) {
        self.width_ns *= 2;
        let merged = self.rows.chunks(2).map(|pair| {
            let mut sum = pair[0];
            pair.get(1).iter().for_each(|more| add(&mut sum, more));
            sum
        });
        self.rows = merged.collect();
    }

    /// Adds another thread's.
    pub fn add(&mut self, other: &Self) {
        while self.width_ns < other.width_ns {
            self.widen();
        }
        for (at, row) in other.rows.iter().enumerate() {
            add(self.row(at as u64 * other.width_ns), row);
        }
    }

    /// As they stand in a record.
    pub fn record(&self) -> Intervals {
        Intervals { width_s: self.width_ns as f64 / 1e9, rows: self.rows.clone() }
    }
}

fn add(sum: &mut Interval, more: &Interval) {
    sum.ok += more.ok;
    sum.failed += more.failed;
    sum.received_bytes += more.received_bytes;
    sum.latency_sum_ns = sum.latency_sum_ns.saturating_add(more.latency_sum_ns);
    sum.latency_max_ns = sum.latency_max_ns.max(more.latency_max_ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_second() {
        let mut log = IntervalLog::default();
        log.ended(0, true, Some(5));
        log.ended(999_999_999, true, Some(7));
        log.received(2_000_000_000, 10);
        log.ended(2_000_000_000, false, None);
        let first = Interval { ok: 2, latency_sum_ns: 12, latency_max_ns: 7, ..Interval::default() };
        let third = Interval { failed: 1, received_bytes: 10, ..Interval::default() };
        assert_eq!(log.record(), Intervals { width_s: 1.0, rows: vec![first, Interval::default(), third] });
    }

    #[test]
    fn a_long_run_has_wider_rows_and_loses_nothing() {
        const SECONDS: u64 = 3 * ROWS as u64;
        let mut log = IntervalLog::default();
        let mut other = IntervalLog::default();
        for second in 0..SECONDS {
            log.ended(second * WIDTH_NS, true, Some(second));
        }
        other.ended(5 * WIDTH_NS, false, None);
        other.add(&log);
        log.ended(5 * WIDTH_NS, false, None);
        assert_eq!(other.record(), log.record());
        let record = log.record();
        assert!(record.rows.len() <= ROWS && record.width_s == 4.0, "{} of {}", record.rows.len(), record.width_s);
        assert_eq!(record.rows.iter().map(|row| row.ok).sum::<u64>(), SECONDS);
        assert_eq!(record.rows.iter().map(|row| row.latency_max_ns).max(), Some(SECONDS - 1));
    }
}
