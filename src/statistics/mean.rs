//! Means with their error: Student's t for pairs, Welch's for two independent samples.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean, or a difference of two, and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean, or the difference of the means.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the t distribution that `(value - truth) / error` follows.
    pub freedom: f64,
}

impl Mean {
    /// Of the differences of pairs; `None` of fewer than two. Student, "The Probable Error of a Mean", Biometrika 6 (1908),
    /// as it is written since Fisher: mean over `s / sqrt(n)`, with n - 1 degrees of freedom.
    #[must_use]
    pub fn of_pairs(differences: &[f64]) -> Option<Self> {
        let (value, variance) = moments(differences)?;
        let n = differences.len() as f64;
        Some(Self { value, error: (variance / n).sqrt(), freedom: n - 1.0 })
    }

    /// Of `one` less that of `other`, which are independent and may vary by different amounts; `None` where either has fewer
    /// than two values. Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances Are
    /// Involved", Biometrika 34 (1947); degrees of freedom after Satterthwaite, Biometrics Bulletin 2 (1946).
    #[must_use]
    pub fn of_difference(one: &[f64], other: &[f64]) -> Option<Self> {
        let ((mean, variance), (mean_of_other, variance_of_other)) = (moments(one)?, moments(other)?);
        let (n, m) = (one.len() as f64, other.len() as f64);
        let (part, part_of_other) = (variance / n, variance_of_other / m);
        let squared_error = part + part_of_other;
        let freedom = squared_error.powi(2) / (part.powi(2) / (n - 1.0) + part_of_other.powi(2) / (m - 1.0));
        Some(Self {
            value: mean - mean_of_other,
            error: squared_error.sqrt(),
            // Without any variance there is no such quotient, and it does not matter.
            freedom: if freedom.is_finite() { freedom } else { n + m - 2.0 },
        })
    }

    /// The interval that holds the truth in this part of all experiments: 0.95.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let reach = quantile(0.5 + confidence / 2.0, self.freedom) * self.error;
        (self.value - reach, self.value + reach)
    }

    /// How surprising this mean is if the truth lies between `-margin` and `margin`.
    ///
    /// It is twice the one-sided p value at the edge that is nearer, so it is below 0.05 exactly where the 95 % interval lies
    /// beyond the margin; with a margin of 0 it is the usual two-sided one. The test of an interval instead of a point is
    /// Hodges and Lehmann's ("Testing the Approximate Validity of Statistical Hypotheses", JRSS B 16, 1954). Theirs is a
    /// little sharper and its p value no longer that of the interval which stands beside it.
    #[must_use]
    pub fn p_beyond(&self, margin: f64) -> f64 {
        let beyond = self.value.abs() - margin;
        if beyond <= 0.0 {
            return 1.0;
        }
        if self.error == 0.0 {
            return 0.0;
        }
        (2.0 * upper_tail(beyond / self.error, self.freedom)).min(1.0)
    }
}

/// Mean, and variance with n - 1; `None` of fewer than two.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, squares / (n - 1.0)))
}

/// Student's distribution. It exists for every freedom above 0, and there is none below: of each sample n is at least 2.
fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}

/// Below which this part of Student's distribution lies.
pub(super) fn quantile(part: f64, freedom: f64) -> f64 {
    student(freedom).map_or(f64::INFINITY, |student| student.inverse_cdf(part))
}

fn upper_tail(t: f64, freedom: f64) -> f64 {
    student(freedom).map_or(1.0, |student| student.sf(t))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hours of sleep that two drugs gave the same ten patients: Student 1908, table on page 20; R's data set `sleep`.
    const FIRST: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const SECOND: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    #[track_caller]
    fn assert_near(value: f64, expected: f64, within: f64) {
        assert!((value - expected).abs() <= within, "{value} is not {expected}");
    }

    /// R's manual page of `t.test`, whose results are reprinted in many books: t = -4.0621, df = 9, p = 0.002833, interval
    /// -2.4598858 to -0.7001142.
    #[test]
    fn paired_student_on_students_own_data() {
        let differences: Vec<f64> = FIRST.iter().zip(SECOND).map(|(first, second)| first - second).collect();
        let mean = Mean::of_pairs(&differences).unwrap();
        assert_near(mean.value, -1.58, 1e-12);
        assert_near(mean.value / mean.error, -4.0621, 5e-5);
        assert_eq!(mean.freedom, 9.0);
        assert_near(mean.p_beyond(0.0), 0.002833, 5e-7);
        let (low, high) = mean.interval(0.95);
        assert_near(low, -2.459_885_8, 5e-8);
        assert_near(high, -0.700_114_2, 5e-8);
    }

    /// The same page, with the two columns taken as independent: t = -1.8608, df = 17.776, p = 0.07939, interval -3.3654832
    /// to 0.2054832.
    #[test]
    fn welch_on_students_data() {
        let mean = Mean::of_difference(&FIRST, &SECOND).unwrap();
        assert_near(mean.value / mean.error, -1.8608, 5e-5);
        assert_near(mean.freedom, 17.776, 5e-4);
        assert_near(mean.p_beyond(0.0), 0.07939, 5e-6);
        let (low, high) = mean.interval(0.95);
        assert_near(low, -3.365_483_2, 5e-8);
        assert_near(high, 0.205_483_2, 5e-8);
    }

    /// Darwin's crossed and self-fertilised maize, in eighths of an inch, as Fisher takes it apart ("The Design of
    /// Experiments", 1935, section 16): mean 20.933, standard error 9.746, t = 2.148; just significant at 5 %.
    #[test]
    fn paired_student_on_darwins_maize() {
        let differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48].map(f64::from);
        let mean = Mean::of_pairs(&differences).unwrap();
        assert_near(mean.value, 20.933, 5e-4);
        assert_near(mean.error, 9.746, 5e-4);
        assert_near(mean.value / mean.error, 2.148, 5e-4);
        assert_near(mean.p_beyond(0.0), 0.0497, 5e-5);
    }

    /// The table that stands in every textbook: Fisher and Yates, "Statistical Tables", table III.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let rows =
            [(0.975, 1.0, 12.706), (0.975, 2.0, 4.303), (0.975, 4.0, 2.776), (0.995, 9.0, 3.250), (0.9, 19.0, 1.328)];
        for (part, freedom, expected) in rows {
            assert_near(quantile(part, freedom), expected, 5e-4);
        }
        // Far out, where Holm's correction looks: 0.9995 of 4 is the table's last column.
        assert_near(quantile(0.9995, 4.0), 8.610, 5e-4);
    }

    #[test]
    fn one_value_has_no_error_and_equal_ones_have_none_to_speak_of() {
        assert_eq!(Mean::of_pairs(&[1.0]), None);
        assert_eq!(Mean::of_difference(&[1.0, 2.0], &[1.0]), None);
        let equal = Mean::of_pairs(&[0.5; 3]).unwrap();
        assert_eq!((equal.interval(0.95), equal.p_beyond(0.4), equal.p_beyond(0.5)), ((0.5, 0.5), 0.0, 1.0));
        let equal = Mean::of_difference(&[3.0; 3], &[1.0; 4]).unwrap();
        assert_eq!((equal.value, equal.freedom, equal.interval(0.95)), (2.0, 5.0, (2.0, 2.0)));
    }

    /// One of twenty samples of nothing looks like something at 5 %: no more, no less.
    #[test]
    fn p_values_of_nothing_are_uniform() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut normal = || {
            let (one, other) = (random.f64().max(1e-300), random.f64());
            (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
        };
        let mut surprising = [0, 0];
        for _ in 0..4000 {
            let sample: Vec<f64> = (0..5).map(|_| normal()).collect();
            let other: Vec<f64> = (0..5).map(|_| 0.5 * normal()).collect();
            surprising[0] += usize::from(Mean::of_pairs(&sample).unwrap().p_beyond(0.0) < 0.05);
            surprising[1] += usize::from(Mean::of_difference(&sample, &other).unwrap().p_beyond(0.0) < 0.05);
        }
        // 200 are expected, with a deviation of 14.
        assert!(surprising.iter().all(|count| (150..=250).contains(count)), "{surprising:?}");
    }

    proptest! {
        #[test]
        fn p_is_below_the_level_exactly_where_the_interval_is_beyond_the_margin(
            values in prop::collection::vec(-1.0..1.5_f64, 2..12), margin in 0.0..0.5_f64,
        ) {
            let mean = Mean::of_pairs(&values).unwrap();
            let (low, high) = mean.interval(0.95);
            let clear = (low - margin).max(-margin - high);
            prop_assume!(clear.abs() > 1e-6);
            prop_assert_eq!(mean.p_beyond(margin) < 0.05, clear > 0.0);
        }

        #[test]
        fn a_wider_margin_is_harder_to_leave(
            values in prop::collection::vec(-1.0..1.0_f64, 2..12), margin in 0.0..0.5_f64, more in 0.0..0.5_f64,
        ) {
            let mean = Mean::of_pairs(&values).unwrap();
            prop_assert!(mean.p_beyond(margin) <= mean.p_beyond(margin + more));
        }

        #[test]
        fn which_one_stands_above_does_not_matter(
            one in prop::collection::vec(0.0..1.0_f64, 2..9), other in prop::collection::vec(0.0..1.0_f64, 2..9),
        ) {
            let (there, back) = (Mean::of_difference(&one, &other).unwrap(), Mean::of_difference(&other, &one).unwrap());
            prop_assert_eq!(there.value, -back.value);
            prop_assert!((there.p_beyond(0.01) - back.p_beyond(0.01)).abs() < 1e-12);
            let fewest = one.len().min(other.len()) as f64 - 1.0;
            let most = (one.len() + other.len()) as f64 - 2.0;
            prop_assert!(there.freedom >= fewest - 1e-9 && there.freedom <= most + 1e-9, "{}", there.freedom);
        }
    }
}
