//! Many tests at once: Holm's step-down correction.

use std::collections::BTreeMap;

/// These p values, each raised so that below 0.05 there will be a false one in at most one of twenty families, whatever the
/// tests have to do with one another. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal
/// of Statistics 6 (1979); as adjusted values after Wright, Biometrics 48 (1992): the smallest times their number, the next
/// times one less, and so on, never below the one before and never above 1.
fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut floor = 0.0_f64;
    for (before, at) in order.into_iter().enumerate() {
        let times = (p_values.len() - before) as f64;
        floor = floor.max((times * p_values[at]).min(1.0));
        adjusted[at] = floor;
    }
    adjusted
}

/// The same where tests fall into families that matter on their own, such as the verdicts of a report and the details below
/// them: each family that has any has an equal share of the level (Bonferroni), and is corrected within itself (Holm). So
/// however many details there are, a verdict does not become harder to reach, and still at most one of twenty reports has a
/// false one anywhere. `families` has the name of each test's family.
#[must_use]
pub fn holm_in_families<F: Ord + Copy>(p_values: &[f64], families: &[F]) -> Vec<f64> {
    let mut members: BTreeMap<F, Vec<usize>> = BTreeMap::new();
    for (at, family) in families.iter().enumerate().take(p_values.len()) {
        members.entry(*family).or_default().push(at);
    }
    let shares = members.len() as f64;
    let mut adjusted = vec![1.0; p_values.len()];
    for places in members.values() {
        let own: Vec<f64> = places.iter().map(|at| p_values[*at]).collect();
        for (at, p) in places.iter().zip(holm(&own)) {
            adjusted[*at] = (p * shares).min(1.0);
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn assert_holm(p_values: &[f64], expected: &[f64]) {
        let adjusted = holm(p_values);
        let near = adjusted.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12);
        assert!(near && adjusted.len() == expected.len(), "{adjusted:?}");
    }

    /// Wikipedia, "Holm-Bonferroni method", section "Example": H4 and H1 are rejected at 5 %, H2 and H3 are not.
    #[test]
    fn the_encyclopedias_example() {
        assert_holm(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
    }

    #[test]
    fn a_family_is_corrected_by_itself() {
        let adjusted = holm_in_families(&[0.01, 0.04, 0.03, 0.001, 0.6], &['a', 'a', 'b', 'b', 'b']);
        let expected = [0.04, 0.08, 0.12, 0.006, 1.0];
        assert!(adjusted.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12), "{adjusted:?}");
        assert_eq!(holm_in_families(&[0.01, 0.04], &[0, 0]), holm(&[0.01, 0.04]), "one family has the whole level");
    }

    #[test]
    fn none_one_and_more_than_certain() {
        assert_holm(&[], &[]);
        assert_holm(&[0.04], &[0.04]);
        assert_holm(&[0.7, 0.6, 0.0], &[1.0, 1.0, 0.0]);
    }

    proptest! {
        #[test]
        fn never_below_what_it_was_nor_above_bonferroni(p_values in prop::collection::vec(0.0..=1.0_f64, 1..40)) {
            let count = p_values.len() as f64;
            for (before, after) in p_values.iter().zip(holm(&p_values)) {
                prop_assert!(*before <= after && after <= (before * count).min(1.0));
            }
        }

        #[test]
        fn the_order_stays(p_values in prop::collection::vec(0.0..=1.0_f64, 2..40)) {
            let adjusted = holm(&p_values);
            for one in 0..p_values.len() {
                for other in 0..p_values.len() {
                    prop_assert!(p_values[one] > p_values[other] || adjusted[one] <= adjusted[other]);
                }
            }
        }
    }
}
