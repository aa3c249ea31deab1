//! "Connection Times (ms)" of ab: four rows of whole microseconds, rounded the way ab rounds them.

use super::sorted::Sorted;
use crate::record::{Distribution, HistogramError, Latency};

/// What ab makes of one row of times, in microseconds.
#[derive(Debug, PartialEq)]
pub(super) struct Times {
    pub(super) count: u64,
    pub(super) min_us: u64,
    pub(super) mean_us: u64,
    pub(super) median_us: u64,
    pub(super) max_us: u64,
    pub(super) sum_us: u64,
    /// With n - 1; the only figure that ab does not round to whole milliseconds.
    pub(super) deviation_ms: f64,
}

/// Whole milliseconds, halves up.
pub(super) const fn round_ms(us: u64) -> u64 {
    (us + 500) / 1000
}

/// The rows in ab's order.
pub(super) struct ConnectionTimes {
    pub(super) connect: Times,
    pub(super) processing: Times,
    pub(super) waiting: Times,
    pub(super) total: Times,
}

impl ConnectionTimes {
    /// # Errors
    ///
    /// A histogram of the record cannot be read.
    pub(super) fn new(latency: &Latency) -> Result<Self, HistogramError> {
        let requests = latency.total.count;
        Ok(Self {
            // A request on a connection that was there has connected in no time, and counts.
            connect: Times::new(&latency.connect, requests)?,
            processing: Times::new(&latency.service, requests)?,
            waiting: Times::new(&latency.first_byte, latency.first_byte.count)?,
            total: Times::new(&latency.total, requests)?,
        })
    }
}

impl Times {
    /// Of times and as many zeros beside them as make `count`.
    fn new(times: &Distribution, count: u64) -> Result<Self, HistogramError> {
        let sorted = Sorted::new(times, count)?;
        let count = sorted.len();
        let sum_ns = times.mean_ns * times.count as f64;
        let mean_ns = if count == 0 { 0.0 } else { sum_ns / count as f64 };
        Ok(Self {
            count,
            min_us: sorted.ns(0) / 1000,
            mean_us: (mean_ns / 1000.0) as u64,
            median_us: sorted.median_ns() / 1000,
            max_us: times.max_ns / 1000,
            sum_us: (sum_ns / 1000.0) as u64,
            deviation_ms: deviation_ns(times, count, mean_ns) / 1e6,
        })
    }
}

/// The deviation of times and zeros around their common mean: squares around one mean are moved to the other.
fn deviation_ns(times: &Distribution, count: u64, mean_ns: f64) -> f64 {
    if count < 2 || times.count == 0 {
        return 0.0;
    }
    if count == times.count {
        return times.deviation_ns;
    }
    let own = times.deviation_ns.powi(2) * (times.count - 1) as f64;
    let moved = own + times.count as f64 * (times.mean_ns - mean_ns).powi(2);
    let zeros = (count - times.count) as f64 * mean_ns.powi(2);
    ((moved + zeros) / (count - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    #[test]
    fn zeros_count_as_if_they_had_been_recorded() {
        let some = [250_000, 1_250_000, 3_500_000_u64];
        let all = [0, 0, 0, 250_000, 1_250_000, 3_500_000];
        let combined = Times::new(&sample::distribution(some), 6).unwrap();
        let recorded = Times::new(&sample::distribution(all), 6).unwrap();
        assert!((combined.deviation_ms - recorded.deviation_ms).abs() < 1e-9);
        assert_eq!(Times { deviation_ms: 0.0, ..combined }, Times { deviation_ms: 0.0, ..recorded });
    }

    #[test]
    fn halves_are_rounded_up() {
        assert_eq!([0, 499, 500, 1499, 1500].map(round_ms), [0, 0, 1, 1, 2]);
    }
}
