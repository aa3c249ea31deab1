//! The axis of concurrency.

use super::scale::{Dimension, Ticks, grouped};
use super::words::width;

/// Room between two labels.
const GAP: i32 = 14;

/// Where a concurrency is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Levels {
    logarithmic: bool,
    /// Where the axis begins.
    pub(super) from: f64,
    /// Where it ends.
    pub(super) to: f64,
}

impl Levels {
    /// Of two or more levels, rising. Logarithmic where that is nearer to equal steps: people choose levels so.
    pub(super) fn of(levels: &[u64]) -> Self {
        let logarithmic = levels.first() > Some(&0) && unevenness(levels, true) < unevenness(levels, false);
        let axis = Self { logarithmic, from: 0.0, to: 1.0 };
        let (first, last) = match levels {
            [first, .., last] => (axis.place(*first), axis.place(*last)),
            _ => return axis,
        };
        let margin = (last - first) * 0.03;
        // An axis that nearly begins at 0 begins there.
        let from = if !logarithmic && first < (last - first) / 3.0 { 0.0 } else { first - margin };
        Self { from, to: last + margin, ..axis }
    }

    /// The place of a concurrency between `from` and `to`.
    pub(super) fn place(self, concurrency: u64) -> f64 {
        if self.logarithmic { (concurrency as f64).ln() } else { concurrency as f64 }
    }

    /// What stands below the axis.
    pub(super) const fn caption(self) -> &'static str {
        if self.logarithmic { "connections at once, logarithmic" } else { "connections at once" }
    }

    /// Labels that have room in so many pixels: those of the levels, or else of round numbers.
    pub(super) fn ticks(self, levels: &[u64], pixels: i32) -> Vec<(f64, String)> {
        let all: Vec<_> = levels.iter().map(|level| (self.place(*level), grouped(*level as f64, 0))).collect();
        let roomy = self.with_room(&all, pixels);
        if self.logarithmic || roomy.len() == all.len() {
            return roomy;
        }
        let round = Ticks::up_to(self.to, 5, Dimension::Count).marks;
        round.into_iter().filter(|(at, _)| (self.from..=self.to).contains(at)).collect()
    }

    /// Without the labels that would touch their left neighbour. The last one always stays.
    fn with_room(self, all: &[(f64, String)], pixels: i32) -> Vec<(f64, String)> {
        let pixel = |at: f64| ((at - self.from) / (self.to - self.from) * f64::from(pixels)) as i32;
        let apart =
            |a: &(f64, String), b: &(f64, String)| pixel(b.0) - pixel(a.0) >= (width(&a.1) + width(&b.1)) / 2 + GAP;
        let Some((last, before)) = all.split_last() else { return Vec::new() };
        let mut kept: Vec<(f64, String)> = Vec::new();
        for tick in before {
            if apart(tick, last) && kept.last().is_none_or(|left| apart(left, tick)) {
                kept.push(tick.clone());
            }
        }
        kept.push(last.clone());
        kept
    }
}

/// How far the steps between levels are from being equal: their deviation over their mean.
fn unevenness(levels: &[u64], logarithmic: bool) -> f64 {
    let place = |level: &u64| if logarithmic { (*level as f64).ln() } else { *level as f64 };
    let steps: Vec<_> = levels.windows(2).map(|pair| place(&pair[1]) - place(&pair[0])).collect();
    let mean = steps.iter().sum::<f64>() / steps.len().max(1) as f64;
    let variance = steps.iter().map(|step| (step - mean).powi(2)).sum::<f64>() / steps.len().max(1) as f64;
    if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(levels: &[u64], pixels: i32) -> String {
        let ticks = Levels::of(levels).ticks(levels, pixels);
        ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn levels_are_spaced_as_they_were_chosen() {
        let steps: Vec<u64> = (1..=40).map(|n| n * 50).collect();
        let rows: [(&[u64], bool); 5] = [
            (&steps, false),
            (&[500, 1000, 2000, 3000, 10_000], true),
            (&[1, 10, 100, 1000], true),
            (&[100, 500, 1000], false),
            (&[50, 100, 200, 400, 800], true),
        ];
        for (levels, logarithmic) in rows {
            assert_eq!(Levels::of(levels).logarithmic, logarithmic, "{levels:?}");
        }
    }

    #[test]
    fn every_level_is_inside() {
        for levels in [&[50_u64, 100, 150][..], &[1000, 1100, 1200], &[1, 10, 100], &[0, 10, 100, 1000]] {
            let axis = Levels::of(levels);
            assert!(
                levels.iter().all(|level| (axis.from..=axis.to).contains(&axis.place(*level))),
                "{levels:?} {axis:?}"
            );
        }
    }

    #[test]
    fn labels_have_room() {
        let steps: Vec<u64> = (1..=40).map(|n| n * 50).collect();
        assert_eq!(labels(&steps, 600), "0 500 1,000 1,500 2,000");
        assert_eq!(labels(&[500, 1000, 2000, 3000, 10_000], 700), "500 1,000 2,000 3,000 10,000");
        assert_eq!(labels(&[500, 1000, 2000, 3000, 10_000], 250), "500 1,000 2,000 10,000");
        assert_eq!(labels(&[50, 100, 150], 300), "50 100 150");
    }
}
