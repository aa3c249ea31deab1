//! Wilcoxon's signed-rank test, exact.

use statrs::distribution::{ContinuousCDF, Normal};

use super::ranks;

/// From this many differences that are not zero, a normal distribution instead of counting: they differ by less than the
/// last digit that anybody prints, and counting would take the cube of the number.
const COUNTED: usize = 100;

/// What the ranks of differences say about their centre being zero, without assuming a shape beyond symmetry. Wilcoxon,
/// "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945).
///
/// - *Ties* share the mean of their ranks, and the distribution is counted over these shared ranks, so it is exact.
/// - *Zeros* are ranked with the others and then take no side (Pratt, "Remarks on Zeros and Ties in the Wilcoxon Signed Rank
///   Procedures", JASA 54, 1959). To drop them before ranking, as Wilcoxon did, may make a result more significant by adding
///   an observation that speaks against it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Differences that are not zero.
    pub count: usize,
    /// Sum of the ranks of those above zero: Wilcoxon's W+, R's V.
    pub above: f64,
    /// Probability of such a sum or a higher one if signs were tossed.
    pub p_above: f64,
    /// Of such a sum or a lower one.
    pub p_below: f64,
}

impl SignedRank {
    /// Of these differences, which must be finite.
    #[must_use]
    pub fn of(differences: &[f64]) -> Self {
        let ranked = doubled_ranks(differences);
        let above: usize = ranked.iter().filter(|(difference, _)| *difference > 0.0).map(|(_, rank)| rank).sum();
        let ranks: Vec<usize> =
            ranked.iter().filter(|(difference, _)| *difference != 0.0).map(|(_, rank)| *rank).collect();
        let (p_above, p_below) = if ranks.len() <= COUNTED { counted(&ranks, above) } else { normal(&ranks, above) };
        Self { count: ranks.len(), above: above as f64 / 2.0, p_above, p_below }
    }

    /// Probability of what is at least as far from the middle, on whichever side.
    #[must_use]
    pub fn p_two_sided(&self) -> f64 {
        (2.0 * self.p_above.min(self.p_below)).min(1.0)
    }

    /// The smallest two-sided p value that so many differences can have: all on one side. Of five it is 0.0625.
    #[must_use]
    pub fn smallest_p(count: usize) -> f64 {
        (2.0 * 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX))).min(1.0)
    }
}

/// Each difference with twice the rank of its size.
fn doubled_ranks(differences: &[f64]) -> Vec<(f64, usize)> {
    let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    differences.iter().copied().zip(ranks::doubled(&sizes)).collect()
}

/// Tails of the sum of those ranks whose coin shows heads, by counting all throws: probabilities of the sums over the first
/// coins, one more coin at a time. Exact in floating point up to some fifty coins, whose weights are all powers of a half.
fn counted(ranks: &[usize], sum: usize) -> (f64, f64) {
    let mut chances = vec![0.0; ranks.iter().sum::<usize>() + 1];
    chances[0] = 1.0;
    for rank in ranks {
        for at in (0..chances.len()).rev() {
            let with = if at >= *rank { chances[at - rank] } else { 0.0 };
            chances[at] = (chances[at] + with) / 2.0;
        }
    }
    let tail = |chances: &[f64]| chances.iter().sum::<f64>().min(1.0);
    (tail(&chances[sum..]), tail(&chances[..=sum]))
}

/// The same from the normal distribution, with the continuity correction: half of a rank. Ranks here are doubled.
fn normal(ranks: &[usize], sum: usize) -> (f64, f64) {
    let mean = ranks.iter().sum::<usize>() as f64 / 2.0;
    let deviation = (ranks.iter().map(|rank| (*rank as f64).powi(2)).sum::<f64>() / 4.0).sqrt();
    let standard = Normal::standard();
    let above = standard.sf((sum as f64 - 1.0 - mean) / deviation);
    let below = standard.cdf((sum as f64 + 1.0 - mean) / deviation);
    (above, below)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hollander and Wolfe, "Nonparametric Statistical Methods" (1973), pages 29 to 31: nine patients before and after a
    /// tranquilizer; R's manual page of `wilcox.test` gives V = 40 and a one-sided p of 0.01953.
    #[test]
    #[expect(clippy::approx_constant, reason = "a patient of theirs is near to it")]
    fn hollander_and_wolfes_patients() {
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = before.iter().zip(after).map(|(before, after)| before - after).collect();
        let test = SignedRank::of(&differences);
        assert_eq!((test.count, test.above), (9, 40.0));
        assert!((test.p_above - 0.01953).abs() < 5e-6, "{test:?}");
        assert_eq!(test.p_two_sided(), 20.0 / 512.0);
    }

    /// Darwin's maize (Fisher 1935), the example of SciPy's manual page of `wilcoxon`: the smaller sum is 24, and the exact
    /// two-sided p 0.041259765625.
    #[test]
    fn darwins_maize() {
        let test = SignedRank::of(&[49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48].map(f64::from));
        assert_eq!((120.0 - test.above, test.p_two_sided()), (24.0, 0.041259765625));
    }

    /// A table that stands in every textbook (Hollander and Wolfe, table A.4): of 10 pairs a sum of 8 or less has 0.0244,
    /// of 12 one of 14 or less 0.0261, on one side.
    #[test]
    fn critical_values_are_those_of_the_tables() {
        for (pairs, sum, expected) in [(10, 8, 0.0244), (12, 14, 0.0261), (5, 0, 0.0312), (8, 4, 0.0273)] {
            let ranks: Vec<usize> = (1..=pairs).map(|rank| 2 * rank).collect();
            let (_, below) = counted(&ranks, 2 * sum);
            assert!((below - expected).abs() <= 5.1e-5, "{pairs} {sum}: {below}");
        }
    }

    #[test]
    fn the_smallest_p_is_that_of_all_on_one_side() {
        for count in 1..8 {
            let all: Vec<f64> = (1..=count).map(|at| at as f64).collect();
            assert_eq!(SignedRank::of(&all).p_two_sided(), SignedRank::smallest_p(count), "{count}");
        }
        assert_eq!(SignedRank::smallest_p(5), 0.0625);
        assert_eq!(SignedRank::smallest_p(0), 1.0);
    }

    #[test]
    fn ties_share_ranks_and_zeros_take_no_side() {
        // Ranks 1 (the zero), 2.5, 2.5, 4: above is 2.5 + 4 = 6.5 of 9. Sums as high: 6.5 twice (either of the two tied
        // ones), and 9: three of the eight throws.
        let test = SignedRank::of(&[0.0, 1.0, -1.0, 2.0]);
        assert_eq!((test.count, test.above, test.p_above), (3, 6.5, 3.0 / 8.0));
        assert_eq!(SignedRank::of(&[0.0, 0.0]).p_two_sided(), 1.0);
        assert_eq!(SignedRank::of(&[]).p_two_sided(), 1.0);
    }

    #[test]
    fn counting_and_the_normal_distribution_meet() {
        let ranks: Vec<usize> = (1..=COUNTED).map(|rank| 2 * rank).collect();
        for sum in [3300, 4000, 5050, 6100, 6800] {
            let (exact, close) = (counted(&ranks, sum), normal(&ranks, sum));
            assert!((exact.0 - close.0).abs() < 2e-4 && (exact.1 - close.1).abs() < 2e-4, "{sum}: {exact:?} {close:?}");
        }
        let many: Vec<f64> = (0..300).map(|at| f64::from(at % 7) - 2.0).collect();
        assert!(SignedRank::of(&many).p_two_sided() < 1e-6);
    }

    /// All throws of all coins, one by one.
    fn tossed(differences: &[f64]) -> (f64, f64) {
        let ranked = doubled_ranks(differences);
        let seen: usize = ranked.iter().filter(|(difference, _)| *difference > 0.0).map(|(_, rank)| rank).sum();
        let ranks: Vec<_> = ranked.iter().filter(|(difference, _)| *difference != 0.0).map(|(_, rank)| rank).collect();
        let throws = 1_usize << ranks.len();
        let sums = (0..throws).map(|throw| -> usize {
            ranks.iter().enumerate().filter(|(at, _)| throw >> at & 1 == 1).map(|(_, rank)| **rank).sum()
        });
        let (above, below) = sums
            .fold((0, 0), |(above, below), sum| (above + usize::from(sum >= seen), below + usize::from(sum <= seen)));
        (above as f64 / throws as f64, below as f64 / throws as f64)
    }

    proptest! {
        #[test]
        fn counting_is_tossing(differences in prop::collection::vec(-4_i32..=4, 0..12)) {
            let differences: Vec<f64> = differences.into_iter().map(f64::from).collect();
            let test = SignedRank::of(&differences);
            prop_assert_eq!((test.p_above, test.p_below), tossed(&differences));
        }

        #[test]
        fn turned_over_it_says_the_opposite(differences in prop::collection::vec(-1.0..1.0_f64, 0..30)) {
            let turned: Vec<f64> = differences.iter().map(|difference| -difference).collect();
            let (one, other) = (SignedRank::of(&differences), SignedRank::of(&turned));
            prop_assert!((one.p_above - other.p_below).abs() < 1e-12 && (one.p_below - other.p_above).abs() < 1e-12);
        }
    }
}
