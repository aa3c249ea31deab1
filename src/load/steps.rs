//! A ramp as steps of constant rate: a curve of which each point was measured, and no mean taken.

/// Steps of a ramp for which no number was given.
pub const DEFAULT: usize = 10;

/// Most steps of a ramp.
pub const MAX: usize = 1000;

/// Why there are no such steps.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum StepsError {
    /// Too few or too many.
    #[error("{0} steps do not make a ramp; --steps takes a number from 2 to {MAX}")]
    Count(usize),
    /// A rate that cannot be kept.
    #[error("{0} is no rate for a step; both ends of a ramp are more than 0 requests per second")]
    Rate(f64),
}

/// The rates of a ramp in `count` equal steps, both ends included. It may fall, and equal ends repeat one rate.
///
/// With `--steps`, `-t` and `-n` are of one step: what a step says of the tail depends on how long it was, and more points
/// must not make each of them worse. It is what k6 calls a stage, which has a duration of its own too; zrk's `-R A:B` has
/// none to keep, because it never holds a rate.
pub fn steps(first: f64, last: f64, count: usize) -> Result<Vec<f64>, StepsError> {
    if let Some(rate) = [first, last].into_iter().find(|rate| !rate.is_finite() || *rate <= 0.0) {
        return Err(StepsError::Rate(rate));
    }
    if !(2..=MAX).contains(&count) {
        return Err(StepsError::Count(count));
    }
    // Weighed, so that both ends are exactly what was asked for.
    let way = (0..count).map(|at| at as f64 / (count - 1) as f64);
    Ok(way.map(|way| first * (1.0 - way) + last * way).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rising_falling_and_level() {
        assert_eq!(steps(1000.0, 5000.0, 5), Ok(vec![1000.0, 2000.0, 3000.0, 4000.0, 5000.0]));
        assert_eq!(steps(30.0, 10.0, 3), Ok(vec![30.0, 20.0, 10.0]));
        assert_eq!(steps(0.5, 1.0, 2), Ok(vec![0.5, 1.0]));
        assert_eq!(steps(7.0, 7.0, 3), Ok(vec![7.0; 3]));
    }

    #[test]
    fn what_is_no_ramp() {
        for count in [0, 1, MAX + 1] {
            assert_eq!(steps(1.0, 2.0, count), Err(StepsError::Count(count)));
        }
        for wrong in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(steps(wrong, 2.0, 2), Err(StepsError::Rate(wrong)));
            assert_eq!(steps(2.0, wrong, 2), Err(StepsError::Rate(wrong)));
        }
        assert!(steps(f64::NAN, 1.0, 2).is_err());
        let error = steps(1.0, 2.0, 1).unwrap_err().to_string();
        assert_eq!(error, "1 steps do not make a ramp; --steps takes a number from 2 to 1000");
    }

    proptest! {
        #[test]
        fn ends_are_exact_and_gaps_equal(first in 1e-3..1e8_f64, last in 1e-3..1e8_f64, count in 2..=MAX) {
            let rates = steps(first, last, count).unwrap();
            prop_assert_eq!((rates.len(), rates[0], rates[count - 1]), (count, first, last));
            let gap = (last - first) / (count - 1) as f64;
            let largest = first.max(last);
            prop_assert!(rates.windows(2).all(|pair| (pair[1] - pair[0] - gap).abs() <= 1e-9 * largest));
        }
    }
}
