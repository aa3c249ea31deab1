//! A distribution of times: exact moments beside a histogram of three significant digits.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// The percentiles that every distribution states.
pub const PERCENTILES: [f64; 10] = [50.0, 66.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999, 100.0];

/// Times of requests. Count, sum, smallest and largest are exact; percentiles are from the histogram, and so exact to three
/// significant digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Distribution {
    /// How many times.
    pub count: u64,
    /// Their mean; 0 of none.
    pub mean_ns: f64,
    /// Their standard deviation, with n - 1; 0 of fewer than two.
    pub deviation_ns: f64,
    /// The smallest.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// Value at each of [`PERCENTILES`], as pairs of percentile and nanoseconds.
    pub percentiles_ns: Vec<(f64, u64)>,
    /// The HdrHistogram (V2, deflated, base64) of nanoseconds, from which all percentiles can be had and which can be merged.
    pub histogram: String,
}

/// A histogram that is not one.
#[derive(Debug, thiserror::Error)]
#[error("the record's histogram cannot be read: {0}")]
pub struct HistogramError(String);

impl Distribution {
    /// From a histogram and the exact moments of what went into it.
    #[must_use]
    pub fn new(histogram: &Histogram<u64>, moments: &Moments) -> Self {
        let Moments { count, min_ns, max_ns, .. } = *moments;
        let at = |percentile: f64| (percentile, moments.clamp(histogram.value_at_percentile(percentile)));
        Self {
            count,
            mean_ns: moments.mean(),
            deviation_ns: moments.deviation(),
            min_ns: if count == 0 { 0 } else { min_ns },
            max_ns,
            percentiles_ns: PERCENTILES.map(at).to_vec(),
            histogram: encode(histogram),
        }
    }

    /// The histogram.
    pub fn histogram(&self) -> Result<Histogram<u64>, HistogramError> {
        let bytes = STANDARD.decode(&self.histogram).map_err(|error| HistogramError(error.to_string()))?;
        Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| HistogramError(error.to_string()))
    }

    /// Value at one of [`PERCENTILES`].
    #[must_use]
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        self.percentiles_ns.iter().find(|(known, _)| (known - percentile).abs() < 1e-9).map(|(_, value)| *value)
    }
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    match V2DeflateSerializer::new().serialize(histogram, &mut bytes) {
        Ok(_) => STANDARD.encode(bytes),
        // Writing into memory fails only for histograms whose counts do not fit 64 bits.
        Err(_) => String::new(),
    }
}

/// The exact part of a distribution, kept while measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u128,
    /// The sum of their squares: 10^10 times of an hour fit.
    pub squares: u128,
    /// The smallest; `u64::MAX` of none.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, sum_ns: 0, squares: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Moments {
    /// Adds a time.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.squares += u128::from(ns) * u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds another thread's.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.squares += other.squares;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The mean; 0 of none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 }
    }

    /// The standard deviation with n - 1; 0 of fewer than two.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        // The difference is exact for as long as it fits: no digits cancel, as they would in floating point.
        let count = u128::from(self.count);
        let spread = match (self.squares.checked_mul(count), self.sum_ns.checked_mul(self.sum_ns)) {
            (Some(left), Some(right)) => left.saturating_sub(right) as f64 / self.count as f64,
            _ => (self.squares as f64 - self.mean() * self.sum_ns as f64).max(0.0),
        };
        (spread / (self.count - 1) as f64).sqrt()
    }

    fn clamp(&self, value: u64) -> u64 {
        if self.count == 0 { 0 } else { value.clamp(self.min_ns, self.max_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_exact_and_add_up() {
        let times = [2_000_000_000_003_u64, 2_000_000_000_001, 2_000_000_000_005];
        let mut all = Moments::default();
        let mut parts = [Moments::default(), Moments::default()];
        for (at, time) in times.into_iter().enumerate() {
            all.record(time);
            parts[at % 2].record(time);
        }
        let [mut first, second] = parts;
        first.add(&second);
        assert_eq!(first, all);
        assert_eq!((all.count, all.min_ns, all.max_ns), (3, times[1], times[2]));
        assert_eq!((all.mean(), all.deviation()), (2_000_000_000_003.0, 2.0));
    }

    #[test]
    fn none_and_one_have_no_deviation() {
        let mut moments = Moments::default();
        assert_eq!((moments.mean(), moments.deviation()), (0.0, 0.0));
        moments.record(7);
        assert_eq!((moments.mean(), moments.deviation()), (7.0, 0.0));
    }

    #[test]
    fn a_distribution_gives_its_histogram_back() {
        let mut histogram = Histogram::new(3).unwrap();
        let mut moments = Moments::default();
        for time in (1..=1000).map(|n| n * 10_000) {
            histogram.record(time).unwrap();
            moments.record(time);
        }
        let distribution = Distribution::new(&histogram, &moments);
        assert_eq!(distribution.histogram().unwrap(), histogram);
        assert_eq!((distribution.min_ns, distribution.max_ns, distribution.count), (10_000, 10_000_000, 1000));
        // An exact largest value, not the upper end of its bucket.
        assert_eq!(distribution.percentile_ns(100.0), Some(10_000_000));
        let median = distribution.percentile_ns(50.0).unwrap();
        assert!(median.abs_diff(5_000_000) < 5_000, "{median}");
        assert!(Distribution { histogram: "?".into(), ..distribution }.histogram().is_err());
    }

    #[test]
    fn of_nothing() {
        let distribution = Distribution::new(&Histogram::new(3).unwrap(), &Moments::default());
        assert_eq!((distribution.min_ns, distribution.max_ns, distribution.mean_ns), (0, 0, 0.0));
        assert!(distribution.percentiles_ns.iter().all(|(_, value)| *value == 0));
    }
}
