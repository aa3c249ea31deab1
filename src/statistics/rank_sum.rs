//! The rank-sum test of two independent samples, exact.

use statrs::distribution::{ContinuousCDF, Normal};

use super::ranks;

/// Up to so many values in both samples together choices are counted; with more, a normal distribution is as good: it is off by
/// 0.0013 at most, and by less where p values are small.
const COUNTED: usize = 60;

/// What the ranks of two independent samples say about one being above the other. Wilcoxon (1945); Mann and Whitney, "On a
/// Test of Whether One of Two Random Variables Is Stochastically Larger than the Other", Annals of Mathematical Statistics 18
/// (1947). Ties share the mean of their ranks, and the distribution is counted over these, so it is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankSum {
    /// Pairs of one value from each sample in which that of the first is above; ties count half: Mann and Whitney's U, R's W.
    pub above: f64,
    /// Probability of such a sum or a higher one if the values had been dealt to the samples at random.
    pub p_above: f64,
    /// Of such a sum or a lower one.
    pub p_below: f64,
}

impl RankSum {
    /// Of these samples, whose values must be finite.
    #[must_use]
    pub fn of(one: &[f64], other: &[f64]) -> Self {
        let ranks = ranks::doubled(&[one, other].concat());
        let sum: usize = ranks[..one.len()].iter().sum();
        let (p_above, p_below) =
            if ranks.len() <= COUNTED { counted(&ranks, one.len(), sum) } else { normal(&ranks, one.len(), sum) };
        let least = one.len() * (one.len() + 1) / 2;
        Self { above: sum as f64 / 2.0 - least as f64, p_above, p_below }
    }

    /// The smallest two-sided p value of samples of these sizes: one of them wholly above the other. Of five and five it is
    /// 0.0079.
    #[must_use]
    pub fn smallest_p(one: usize, other: usize) -> f64 {
        // Of all choices of `one` from both; the product is that quotient, built up so that it stays small.
        let choices = (1..=one).fold(1.0, |choices, at| choices * (other + at) as f64 / at as f64);
        (2.0_f64 / choices).min(1.0)
    }
}

/// Tails of the sum of `chosen` ranks, by counting all choices: how many there are of each size and sum among the first ranks,
/// one more rank at a time.
fn counted(ranks: &[usize], chosen: usize, sum: usize) -> (f64, f64) {
    let sums = ranks.iter().sum::<usize>() + 1;
    let mut ways = vec![vec![0.0_f64; sums]; chosen + 1];
    ways[0][0] = 1.0;
    for rank in ranks {
        for size in (1..=chosen).rev() {
            let (fewer, these) = ways.split_at_mut(size);
            let from = &fewer[size - 1];
            for at in *rank..sums {
                these[0][at] += from[at - rank];
            }
        }
    }
    let of_size = &ways[chosen];
    let all: f64 = of_size.iter().sum();
    let tail = |ways: &[f64]| (ways.iter().sum::<f64>() / all).min(1.0);
    (tail(&of_size[sum..]), tail(&of_size[..=sum]))
}

/// The same from the normal distribution, with the continuity correction. The variance is that of a sum drawn without
/// replacement from these very ranks, so ties are in it.
fn normal(ranks: &[usize], chosen: usize, sum: usize) -> (f64, f64) {
    let (all, n) = (ranks.len() as f64, chosen as f64);
    let mean = ranks.iter().sum::<usize>() as f64 / all;
    let spread: f64 = ranks.iter().map(|rank| (*rank as f64 - mean).powi(2)).sum::<f64>() / all;
    let deviation = (n * (all - n) / (all - 1.0) * spread).sqrt();
    if deviation == 0.0 {
        return (1.0, 1.0);
    }
    let standard = Normal::standard();
    let above = standard.sf((sum as f64 - 1.0 - n * mean) / deviation);
    let below = standard.cdf((sum as f64 + 1.0 - n * mean) / deviation);
    (above, below)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hollander and Wolfe, "Nonparametric Statistical Methods" (1973), pages 69 to 71: permeability of the human
    /// chorioamnion at term and at 12 to 26 weeks; R's manual page of `wilcox.test` gives W = 35 and a one-sided p of 0.1272.
    #[test]
    fn hollander_and_wolfes_chorioamnion() {
        let at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let before = [1.15, 0.88, 0.90, 0.74, 1.21];
        let test = RankSum::of(&at_term, &before);
        assert_eq!(test.above, 35.0);
        assert!((test.p_above - 0.1272).abs() < 5e-5, "{test:?}");
    }

    #[test]
    fn the_smallest_p_is_that_of_samples_apart() {
        for (one, other) in [(1, 1), (2, 3), (5, 5), (6, 6)] {
            let low: Vec<f64> = (0..one).map(|at| at as f64).collect();
            let high: Vec<f64> = (0..other).map(|at| 100.0 + at as f64).collect();
            let p = (2.0 * RankSum::of(&low, &high).p_below).min(1.0);
            assert!((p - RankSum::smallest_p(one, other)).abs() < 1e-12, "{one} {other}");
        }
        assert!((RankSum::smallest_p(5, 5) - 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn counting_and_the_normal_distribution_meet() {
        let ranks: Vec<usize> = (1..=COUNTED).map(|rank| 2 * rank).collect();
        for sum in [1500, 1700, 1830, 1950, 2200] {
            let (exact, close) = (counted(&ranks, 30, sum), normal(&ranks, 30, sum));
            assert!((exact.0 - close.0).abs() < 2e-3 && (exact.1 - close.1).abs() < 2e-3, "{sum}: {exact:?} {close:?}");
        }
        let many = vec![1.0; 50];
        assert_eq!(RankSum::of(&many, &many).p_above, 1.0);
    }

    /// All ways to choose the first sample, one by one.
    fn dealt(one: &[f64], other: &[f64]) -> (f64, f64) {
        let ranks = ranks::doubled(&[one, other].concat());
        let seen: usize = ranks[..one.len()].iter().sum();
        let hands = (0_u32..1 << ranks.len()).filter(|hand| hand.count_ones() as usize == one.len());
        let sums = hands.map(|hand| -> usize {
            ranks.iter().enumerate().filter(|(at, _)| hand >> at & 1 == 1).map(|(_, rank)| rank).sum()
        });
        let (mut all, mut above, mut below) = (0, 0, 0);
        for sum in sums {
            (all, above, below) = (all + 1, above + usize::from(sum >= seen), below + usize::from(sum <= seen));
        }
        (f64::from(above as u32) / f64::from(all), f64::from(below as u32) / f64::from(all))
    }

    proptest! {
        #[test]
        fn counting_is_dealing(
            one in prop::collection::vec(0_i32..6, 1..6), other in prop::collection::vec(0_i32..6, 1..6),
        ) {
            let [one, other] = [one, other].map(|values| values.into_iter().map(f64::from).collect::<Vec<_>>());
            let (test, expected) = (RankSum::of(&one, &other), dealt(&one, &other));
            prop_assert!((test.p_above - expected.0).abs() < 1e-12 && (test.p_below - expected.1).abs() < 1e-12);
        }

        #[test]
        fn turned_over_it_says_the_opposite(
            one in prop::collection::vec(0.0..1.0_f64, 1..12), other in prop::collection::vec(0.0..1.0_f64, 1..12),
        ) {
            let (there, back) = (RankSum::of(&one, &other), RankSum::of(&other, &one));
            prop_assert!((there.p_above - back.p_below).abs() < 1e-12);
            prop_assert_eq!(there.above + back.above, (one.len() * other.len()) as f64);
        }
    }
}
