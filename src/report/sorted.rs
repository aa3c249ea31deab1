//! A distribution as a sorted list, which is what ab's rules count in. Values between the smallest and the largest come from the
//! histogram, exact to three digits.

use hdrhistogram::Histogram;

use crate::record::{Distribution, HistogramError};

/// Times in ascending order, as far as a histogram knows them.
pub(super) struct Sorted {
    histogram: Histogram<u64>,
    zeros: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Sorted {
    /// The times of a distribution, behind as many zeros as make `count` of them.
    ///
    /// # Errors
    ///
    /// The record's histogram cannot be read.
    pub(super) fn new(times: &Distribution, count: u64) -> Result<Self, HistogramError> {
        let histogram = times.histogram()?;
        let zeros = count.saturating_sub(histogram.len());
        Ok(Self { histogram, zeros, min_ns: times.min_ns, max_ns: times.max_ns })
    }

    /// How many.
    pub(super) fn len(&self) -> u64 {
        self.zeros + self.histogram.len()
    }

    /// The time at an index, from 0 on; beyond the end it is the last one, where ab reads past its array.
    pub(super) fn ns(&self, index: u64) -> u64 {
        let last = self.histogram.len().saturating_sub(1);
        let Some(index) = index.checked_sub(self.zeros) else { return 0 };
        match index {
            0 => self.min_ns,
            _ if index >= last => self.max_ns,
            // In the middle of its share, so that rounding cannot reach a neighbour's.
            _ => {
                let quantile = (index as f64 + 0.5) / self.histogram.len() as f64;
                self.histogram.value_at_quantile(quantile).clamp(self.min_ns, self.max_ns)
            }
        }
    }

    /// The median, of an even number the upper of the two in the middle, as ab has it. (Of an odd number ab takes the mean of
    /// the middle one and the next, which is a slip.)
    pub(super) fn median_ns(&self) -> u64 {
        self.ns(self.len() / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    #[test]
    fn every_time_has_its_place() {
        let sorted = Sorted::new(&sample::distribution([500, 100, 300, 200]), 6).unwrap();
        assert_eq!(sorted.len(), 6);
        let all: Vec<_> = (0..8).map(|index| sorted.ns(index)).collect();
        assert_eq!(all, [0, 0, 100, 200, 300, 500, 500, 500]);
    }

    #[test]
    fn places_of_many() {
        let sorted = Sorted::new(&sample::distribution((1..=100_000).map(|n| n * 1000)), 0).unwrap();
        for index in [0_u64, 1, 49_999, 50_000, 98_999, 99_998, 99_999] {
            let exact = (index + 1) * 1000;
            assert!(sorted.ns(index).abs_diff(exact) <= exact / 1000, "{index}: {}", sorted.ns(index));
        }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let median =
            |times: &[u64], count| Sorted::new(&sample::distribution(times.to_vec()), count).unwrap().median_ns();
        assert_eq!(median(&[], 0), 0);
        assert_eq!(median(&[7], 0), 7);
        assert_eq!(median(&[10, 20], 0), 20);
        assert_eq!(median(&[10, 20, 900], 0), 20);
        assert_eq!(median(&[10, 20], 4), 10);
        assert_eq!(median(&[10, 20], 5), 0);
    }
}
