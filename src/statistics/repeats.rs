//! How many repeats a difference needs to be seen.

use super::mean::quantile;

/// More than so many are not counted: nobody makes them.
pub const MOST: u64 = 100_000;

/// The smallest number of pairs of which a paired t test at this two-sided `level` shows an `effect` with this `power`, where
/// differences vary by this standard `deviation`; `None` where it is above [`MOST`], or the effect is none.
///
/// Zar, "Biostatistical Analysis" (5th edition), section 7.7: `n = s² / effect² (t(level, two tails) + t(1 - power, one
/// tail))²`, in which both t have n - 1 degrees of freedom.
#[must_use]
pub fn pairs_needed(effect: f64, deviation: f64, level: f64, power: f64) -> Option<u64> {
    let enough = |pairs: u64| {
        let freedom = pairs as f64 - 1.0;
        let reach = quantile(1.0 - level / 2.0, freedom) + quantile(power, freedom);
        pairs as f64 * effect.powi(2) >= (reach * deviation).powi(2)
    };
    if effect <= 0.0 || !enough(MOST) {
        return None;
    }
    let (mut too_few, mut sufficient) = (1, MOST);
    while sufficient - too_few > 1 {
        let middle = too_few + (sufficient - too_few) / 2;
        *(if enough(middle) { &mut sufficient } else { &mut too_few }) = middle;
    }
    Some(sufficient)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Zar's example 7.7: to see a change of weight of 1.0 g with power 0.9 at 5 %, where s² = 1.5682 g²: 19 animals (18.5).
    #[test]
    fn zars_mice() {
        assert_eq!(pairs_needed(1.0, 1.5682_f64.sqrt(), 0.05, 0.9), Some(19));
    }

    /// R's `power.t.test(delta = 3, sd = 5, power = 0.8, type = "paired")`: n = 23.79.
    #[test]
    fn as_r_has_it() {
        assert_eq!(pairs_needed(3.0, 5.0, 0.05, 0.8), Some(24));
    }

    #[test]
    fn what_never_shows_needs_no_number() {
        assert_eq!(pairs_needed(0.0, 1.0, 0.05, 0.8), None);
        assert_eq!(pairs_needed(-1.0, 1.0, 0.05, 0.8), None);
        assert_eq!(pairs_needed(1e-6, 1.0, 0.05, 0.8), None, "more than anybody makes");
        assert_eq!(pairs_needed(1.0, 0.0, 0.05, 0.8), Some(2), "what does not vary needs only a pair of pairs");
    }

    proptest! {
        #[test]
        fn a_smaller_effect_and_a_stricter_level_need_more(effect in 0.02..1.0_f64, less in 0.1..1.0_f64) {
            // None is more than anybody makes.
            let needed = |effect, level| pairs_needed(effect, 0.3, level, 0.8).unwrap_or(u64::MAX);
            prop_assert!(needed(effect * less, 0.05) >= needed(effect, 0.05));
            prop_assert!(needed(effect, 0.05 * less) >= needed(effect, 0.05));
        }
    }
}
