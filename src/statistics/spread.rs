//! What can be said of any number of repeats without assuming anything.

/// A figure over the repeats of a cell. Never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// In the order of the repeats.
    pub values: Vec<f64>,
    /// The one in the middle, or the mean of the two.
    pub median: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
}

impl Spread {
    /// Of these values; `None` of none. All of them must be finite.
    #[must_use]
    pub fn of(values: Vec<f64>) -> Option<Self> {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        // Of an even number these are two, of an odd one the same twice.
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Some(Self { values, median: low + (high - low) / 2.0, min, max })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn odd_even_one_and_none() {
        let of = |values: &[f64]| Spread::of(values.to_vec()).map(|spread| (spread.min, spread.median, spread.max));
        assert_eq!(of(&[3.0, 1.0, 2.0]), Some((1.0, 2.0, 3.0)));
        assert_eq!(of(&[4.0, 1.0, 2.0, 10.0]), Some((1.0, 3.0, 10.0)));
        assert_eq!(of(&[7.0]), Some((7.0, 7.0, 7.0)));
        assert_eq!(of(&[]), None);
    }

    proptest! {
        #[test]
        fn half_lie_on_either_side(values in prop::collection::vec(-1e9..1e9_f64, 1..40)) {
            let spread = Spread::of(values.clone()).unwrap();
            let half = values.len().div_ceil(2);
            prop_assert!(values.iter().filter(|value| **value <= spread.median).count() >= half);
            prop_assert!(values.iter().filter(|value| **value >= spread.median).count() >= half);
            prop_assert!(values.iter().all(|value| (spread.min..=spread.max).contains(value)));
            prop_assert_eq!(spread.values, values, "the order of the repeats is kept");
        }
    }
}
