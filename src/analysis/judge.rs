//! From log ratios to words.

use crate::statistics::{Mean, RankSum, SignedRank, holm_in_families, pairs_needed};

use super::{Estimate, Metric, Word};

/// How often a report may be wrong that says "better" or "worse": once in twenty.
pub const LEVEL: f64 = 0.05;
/// How often the number of repeats that is told would show a difference of the size that was seen.
const POWER: f64 = 0.8;

/// What logarithms are wrong by at most, and much less than anything that is measured: runs that are all at the very edge of the
/// band are not beyond it.
const ROUNDING: f64 = 1e-12;

/// The logarithms of the figures of one comparison, all of them finite.
pub(super) struct Sample {
    pub(super) metric: Metric,
    pub(super) scope: Scope,
    pub(super) values: Values,
}

/// What a comparison is for. Verdicts are few and points may be hundreds, so each kind has its own half of the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// It speaks for a target: a whole curve, or the only concurrency of a group.
    Verdict,
    /// One of the points of a curve.
    Point,
}

/// How the two sides of a comparison belong together.
pub(super) enum Values {
    /// The log ratios of blocks.
    Pairs(Vec<f64>),
    /// The logarithms of two results that were measured apart: the later one, and the earlier.
    Apart(Vec<f64>, Vec<f64>),
}

/// A comparison before the others are known.
struct Tested<'a> {
    sample: &'a Sample,
    mean: Mean,
    p_t: f64,
    p_ranks: f64,
}

/// The estimates of all comparisons of a report; `None` for one of which either side has less than two values.
///
/// "Better" and "worse" need that the t test, after Holm's correction (see [`Scope`]), excludes the band, and that
/// the test of the ranks does not contradict. What "contradict" can mean depends on the number of pairs, since the exact test of
/// n pairs has no p value below 2 / 2^n: 0.0625 of five. So it is asked without a correction, and of fewer than six pairs no
/// more than that all of them lie beyond the band on the same side. With less the word is "borderline": few runs, with a mean
/// that one of them made.
///
/// The other way round, ranks show a difference that the mean does not, because one wild run made its interval wide. That is a
/// claim of its own, so there the p values of the ranks have Holm's correction too, and it takes many repeats to be made.
pub(super) fn judge(all: &[Sample], band: f64) -> Vec<Option<Estimate>> {
    let margin = band.max(0.0).ln_1p() + ROUNDING;
    let tested: Vec<_> = all.iter().map(|sample| test(sample, margin)).collect();
    let made: Vec<&Tested<'_>> = tested.iter().flatten().collect();
    let scopes: Vec<Scope> = made.iter().map(|tested| tested.sample.scope).collect();
    let correct = |p: fn(&Tested<'_>) -> f64| {
        holm_in_families(&made.iter().map(|tested| p(tested)).collect::<Vec<_>>(), &scopes).into_iter()
    };
    let mut corrected = correct(|tested| tested.p_t).zip(correct(|tested| tested.p_ranks));
    let estimates = tested.iter().map(|tested| {
        let tested = tested.as_ref()?;
        let (p_t, p_ranks) = corrected.next()?;
        Some(tested.estimate(p_t, p_ranks, margin, hardest(tested.sample.scope, &scopes)))
    });
    estimates.collect()
}

/// The level of the first step of Holm's correction among those of a scope.
fn hardest(scope: Scope, all: &[Scope]) -> f64 {
    let of_it = all.iter().filter(|other| **other == scope).count();
    let shares = if of_it == all.len() { 1.0 } else { 2.0 };
    LEVEL / shares / of_it.max(1) as f64
}

fn test(sample: &Sample, margin: f64) -> Option<Tested<'_>> {
    let mean = sample.values.mean()?;
    let p_ranks = sample.values.ranks_beyond(mean.value.signum(), margin);
    Some(Tested { sample, mean, p_t: mean.p_beyond(margin), p_ranks })
}

impl Values {
    fn mean(&self) -> Option<Mean> {
        match self {
            Self::Pairs(ratios) => Mean::of_pairs(ratios),
            Self::Apart(later, earlier) => Mean::of_difference(later, earlier),
        }
    }

    /// The p value of the ranks, of the same question that the t test answers: twice that of a sum of ranks so far beyond the
    /// nearer edge of the band, on the side where the mean is.
    fn ranks_beyond(&self, side: f64, margin: f64) -> f64 {
        let from = |values: &[f64], edge: f64| -> Vec<f64> { values.iter().map(|value| value * side - edge).collect() };
        let p_above = match self {
            Self::Pairs(ratios) => SignedRank::of(&from(ratios, margin)).p_above,
            Self::Apart(later, earlier) => RankSum::of(&from(later, margin), &from(earlier, 0.0)).p_above,
        };
        (2.0 * p_above).min(1.0)
    }

    fn smallest_p(&self) -> f64 {
        match self {
            Self::Pairs(ratios) => SignedRank::smallest_p(ratios.len()),
            Self::Apart(later, earlier) => RankSum::smallest_p(later.len(), earlier.len()),
        }
    }

    /// How many repeats there are: of two sides that differ, the number that would be worth as much on both.
    fn repeats(&self) -> f64 {
        match self {
            Self::Pairs(ratios) => ratios.len() as f64,
            Self::Apart(later, earlier) => 2.0 / (1.0 / later.len() as f64 + 1.0 / earlier.len() as f64),
        }
    }
}

impl Tested<'_> {
    fn estimate(&self, p_holm: f64, p_ranks: f64, margin: f64, hardest: f64) -> Estimate {
        let (low, high) = self.mean.interval(1.0 - LEVEL);
        let word = self.word(p_holm, p_ranks);
        let more_repeats = if word == Word::NoDifferenceShown { self.more_repeats(margin, hardest) } else { None };
        Estimate {
            ratio: self.mean.value.exp(),
            low: low.exp(),
            high: high.exp(),
            p_t: self.p_t,
            p_wilcoxon: self.p_ranks,
            p_holm,
            word,
            more_repeats,
        }
    }

    fn word(&self, p_holm: f64, p_ranks: f64) -> Word {
        let ranks_agree = self.p_ranks <= LEVEL.max(self.sample.values.smallest_p());
        let is_higher = self.mean.value > 0.0;
        match (p_holm < LEVEL, ranks_agree, p_ranks < LEVEL) {
            (true, true, _) if is_higher == self.sample.metric.more_is_better() => Word::Better,
            (true, true, _) => Word::Worse,
            (true, false, _) | (false, _, true) => Word::Borderline,
            (false, _, false) => Word::NoDifferenceShown,
        }
    }

    /// By the level of Holm's hardest step, so that the number is enough whatever the other comparisons show.
    fn more_repeats(&self, margin: f64, hardest: f64) -> Option<u64> {
        let repeats = self.sample.values.repeats();
        let deviation = self.mean.error * repeats.sqrt();
        let needed = pairs_needed(self.mean.value.abs() - margin, deviation, hardest, POWER)?;
        Some(needed.saturating_sub(repeats as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(metric: Metric, values: &[f64]) -> Sample {
        Sample { metric, scope: Scope::Verdict, values: Values::Pairs(values.to_vec()) }
    }

    fn one(metric: Metric, values: &[f64]) -> Estimate {
        judge(&[pairs(metric, values)], 0.02).remove(0).unwrap()
    }

    fn word(values: &[f64]) -> Word {
        one(Metric::RequestsPerSecond, values).word
    }

    #[test]
    fn words_are_about_quality_and_not_about_numbers() {
        let (more, less) = ([0.30, 0.31, 0.29, 0.30, 0.32], [-0.30, -0.31, -0.29, -0.30, -0.32]);
        assert_eq!([word(&more), word(&less)], [Word::Better, Word::Worse]);
        assert_eq!(
            [one(Metric::ServerCpu, &more).word, one(Metric::ServerCpu, &less).word],
            [Word::Worse, Word::Better]
        );
        let estimate = one(Metric::RequestsPerSecond, &more);
        assert!((estimate.ratio - 0.304_f64.exp()).abs() < 1e-12);
        assert!(estimate.low < estimate.ratio && estimate.ratio < estimate.high && estimate.more_repeats.is_none());
    }

    #[test]
    fn what_is_within_the_band_is_no_difference_however_sure() {
        let estimate = one(Metric::RequestsPerSecond, &[0.0100, 0.0101, 0.0099, 0.0100, 0.0100, 0.0101, 0.0099]);
        assert_eq!((estimate.word, estimate.more_repeats), (Word::NoDifferenceShown, None));
        assert!(estimate.low > 1.0, "of 1 itself it differs");
        assert_eq!((estimate.p_t, estimate.p_wilcoxon), (1.0, 1.0));
    }

    #[test]
    fn the_edge_of_the_band_is_within_it() {
        for (above, below) in [(20_400.0, 20_000.0), (10.2, 10.0), (51.0, 50.0), (1.02e7, 1e7)] {
            let ratio: f64 = above / below;
            assert_eq!(word(&[ratio.ln(); 6]), Word::NoDifferenceShown, "{above} to {below}");
        }
        assert_eq!(word(&[0.02_f64.ln_1p() + 1e-15; 6]), Word::NoDifferenceShown);
        assert_eq!(word(&[1.0201_f64.ln(); 6]), Word::Better);
    }

    #[test]
    fn a_mean_that_not_all_runs_agree_to_is_borderline() {
        assert_eq!(word(&[0.5, 0.51, 0.49, 0.5, 0.0]), Word::Borderline);
        assert_eq!(word(&[0.5, 0.51, 0.49, 0.5, 0.4]), Word::Better);
        // Of six pairs one below the edge of the band leaves 4 of 64 throws; of seven, 4 of 128.
        assert_eq!(word(&[0.5, 0.51, 0.49, 0.5, 0.5, 0.0]), Word::Borderline);
        assert_eq!(word(&[0.5, 0.51, 0.49, 0.5, 0.5, 0.5, 0.0]), Word::Better);
    }

    #[test]
    fn one_wild_run_hides_a_difference_from_the_mean_but_not_from_ranks() {
        let mut values = vec![0.1; 11];
        values.push(4.0);
        assert_eq!(word(&values), Word::Borderline);
        assert_eq!(word(&values[7..]), Word::NoDifferenceShown, "five pairs are too few for ranks alone");
    }

    #[test]
    fn many_comparisons_need_more_each() {
        let clear = || pairs(Metric::RequestsPerSecond, &[0.10, 0.14, 0.06, 0.11]);
        let nothing = || pairs(Metric::RequestsPerSecond, &[0.01, -0.02, 0.01, -0.01]);
        let alone = judge(&[clear()], 0.02).remove(0).unwrap();
        assert_eq!(alone.word, Word::Better);
        let crowd: Vec<_> = std::iter::once(clear()).chain((0..20).map(|_| nothing())).collect();
        let among = judge(&crowd, 0.02).remove(0).unwrap();
        assert_eq!((among.word, among.p_t), (Word::NoDifferenceShown, alone.p_t));
        assert!((among.p_holm - 21.0 * among.p_t).abs() < 1e-12 && among.more_repeats.unwrap() > 1);
    }

    #[test]
    fn points_do_not_make_a_verdict_harder() {
        let clear = || pairs(Metric::RequestsPerSecond, &[0.10, 0.14, 0.06, 0.11]);
        let point = || Sample { scope: Scope::Point, ..pairs(Metric::RequestsPerSecond, &[0.01, -0.02, 0.01, -0.01]) };
        let p_of = |points: usize| {
            let all: Vec<_> = std::iter::once(clear()).chain((0..points).map(|_| point())).collect();
            judge(&all, 0.02).remove(0).unwrap().p_holm
        };
        assert!((p_of(1) - 2.0 * p_of(0)).abs() < 1e-12 && p_of(1) == p_of(500), "{} {}", p_of(1), p_of(500));
    }

    #[test]
    fn fewer_than_two_are_passed_over() {
        let of = |values: &[f64]| pairs(Metric::ServerCpu, values);
        let judged = judge(&[of(&[]), of(&[0.1, 0.1]), of(&[0.2])], 0.02);
        assert_eq!(judged.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(judged[1].as_ref().unwrap().p_holm, judged[1].as_ref().unwrap().p_t, "one comparison was made");
    }

    #[test]
    fn two_results_that_were_measured_apart() {
        let apart = |later: &[f64], earlier: &[f64]| {
            let values = Values::Apart(later.to_vec(), earlier.to_vec());
            judge(&[Sample { metric: Metric::RequestsPerSecond, scope: Scope::Verdict, values }], 0.02)
                .remove(0)
                .unwrap()
        };
        let earlier = [10.0, 10.01, 9.99, 10.02, 9.98];
        let estimate = apart(&[10.3, 10.31, 10.29, 10.32], &earlier);
        assert_eq!(estimate.word, Word::Better);
        assert!((estimate.ratio - 0.305_f64.exp()).abs() < 1e-9, "{estimate:?}");
        assert_eq!(apart(&[9.7, 9.71, 9.69, 9.72], &earlier).word, Word::Worse);
        let near = apart(&[10.03, 10.01, 10.04, 10.02], &earlier);
        assert_eq!(near.word, Word::NoDifferenceShown);
        assert!(near.more_repeats.is_some_and(|more| more > 1), "{near:?}");
        assert_eq!(apart(&[10.01, 10.0, 10.01, 10.0], &earlier).more_repeats, None, "within the band");
    }

    proptest! {
        #[test]
        fn turned_over_the_word_turns(values in prop::collection::vec(-0.3..0.6_f64, 2..9)) {
            let turned: Vec<f64> = values.iter().map(|value| -value).collect();
            let (there, back) = (one(Metric::RequestsPerSecond, &values), one(Metric::RequestsPerSecond, &turned));
            let expected = match there.word {
                Word::Better => Word::Worse,
                Word::Worse => Word::Better,
                same => same,
            };
            prop_assert_eq!(back.word, expected);
            prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-9 && (there.low * back.high - 1.0).abs() < 1e-9);
        }

        #[test]
        fn a_shown_difference_has_its_interval_outside_of_the_band(values in prop::collection::vec(-0.3..0.6_f64, 2..9)) {
            let estimate = one(Metric::RequestsPerSecond, &values);
            match estimate.word {
                Word::Better => prop_assert!(estimate.low > 1.02),
                Word::Worse => prop_assert!(estimate.high < 1.0 / 1.02),
                _ => {}
            }
        }
    }
}
