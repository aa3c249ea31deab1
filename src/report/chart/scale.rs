//! Figures with their units, and the round numbers of axes.

use super::super::units;

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Dimension {
    /// Something per second.
    Rate,
    /// A time in nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Things.
    Count,
    /// Things for each of others: often below 1.
    Share,
}

impl Dimension {
    /// A figure as text.
    pub(in crate::report) fn words(self, figure: f64) -> String {
        match self {
            Self::Rate if figure >= 1000.0 => grouped(figure, 0),
            Self::Rate | Self::Share => units::rate(figure),
            Self::Time => greek(&units::time(figure)),
            Self::Bytes => units::bytes(figure),
            Self::Count => grouped(figure, usize::from(figure.fract() != 0.0)),
        }
    }

    /// The unit in which an axis up to a figure is labelled, and how much one of it is.
    fn unit(self, most: f64) -> (f64, &'static str) {
        let units: &[(f64, &str)] = match self {
            Self::Rate | Self::Count | Self::Share => &[(1.0, "")],
            Self::Time => &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")],
            Self::Bytes => &[(1.0, "B"), (1024.0, "KiB"), (1_048_576.0, "MiB"), (1_073_741_824.0, "GiB")],
        };
        units.iter().rev().find(|(one, _)| most >= *one).or(units.first()).copied().unwrap_or((1.0, ""))
    }
}

/// `us` is for terminals; here the letter is there.
fn greek(time: &str) -> String {
    time.strip_suffix("us").map_or_else(|| time.to_owned(), |figure| format!("{figure}µs"))
}

/// An axis from 0 on: where its ticks are, and what stands beside them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ticks {
    /// In their order, each with its label; the first one is 0.
    pub(super) marks: Vec<(f64, String)>,
    /// The unit of the labels; empty for none.
    pub(super) unit: &'static str,
    /// Where the axis ends: a little above the most, so that the highest point does not touch the edge.
    pub(super) end: f64,
}

impl Ticks {
    /// About so many round numbers up to `most`.
    pub(super) fn up_to(most: f64, wanted: u32, dimension: Dimension) -> Self {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let (one, unit) = dimension.unit(most);
        let step = round_step(most / one, wanted, dimension == Dimension::Count);
        let label = |n: u32| short(f64::from(n) * step, step);
        let end = most * 1.04;
        let marks = (0..=steps(most / one, step)).map(|n| (f64::from(n) * step * one, label(n)));
        Self { marks: marks.filter(|(at, _)| *at <= end).collect(), unit, end }
    }
}

/// 1, 2 or 5 times a power of ten, of which about as many as wanted make the most. Of two that are as good the smaller one,
/// which leaves less empty.
fn round_step(most: f64, wanted: u32, whole: bool) -> f64 {
    let power = 10_f64.powf((most / f64::from(wanted.max(1))).log10().floor());
    let candidates = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let best = candidates.into_iter().min_by_key(|step| steps(most, *step).abs_diff(wanted)).unwrap_or(power);
    if whole { best.max(1.0) } else { best }
}

/// How many steps reach the most.
fn steps(most: f64, step: f64) -> u32 {
    (most / step - 1e-9).ceil() as u32
}

/// A label of an axis: `20k` and not `20,000`, in all labels alike.
fn short(figure: f64, step: f64) -> String {
    if step >= 1000.0 && figure >= 1000.0 {
        return format!("{}k", grouped(figure / 1000.0, 0));
    }
    grouped(figure, decimals_of(step))
}

/// Decimals that a step needs: 0.05 needs two.
fn decimals_of(step: f64) -> usize {
    if step >= 1.0 { 0 } else { (-step.log10()).ceil().clamp(0.0, 9.0) as usize }
}

/// A figure with a comma between thousands.
pub(in crate::report) fn grouped(figure: f64, decimals: usize) -> String {
    let text = format!("{figure:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = sign.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(most: f64, wanted: u32, dimension: Dimension) -> (String, &'static str) {
        let ticks = Ticks::up_to(most, wanted, dimension);
        let labels: Vec<_> = ticks.marks.iter().map(|(_, label)| label.as_str()).collect();
        (labels.join(" "), ticks.unit)
    }

    #[test]
    fn axes_are_of_round_numbers() {
        let rows = [
            (52_341.0, Dimension::Rate, "0 20k 40k", ""),
            (4_321.0, Dimension::Rate, "0 1k 2k 3k 4k", ""),
            (900.0, Dimension::Rate, "0 200 400 600 800", ""),
            (40_000.0, Dimension::Rate, "0 10k 20k 30k 40k", ""),
            (0.7, Dimension::Rate, "0.0 0.2 0.4 0.6", ""),
            (3.0, Dimension::Count, "0 1 2 3", ""),
            (41_200.0, Dimension::Time, "0 10 20 30 40", "µs"),
            (1.2e6, Dimension::Time, "0.0 0.5 1.0", "ms"),
            (54.8 * 1_048_576.0, Dimension::Bytes, "0 20 40", "MiB"),
        ];
        for (most, dimension, expected, unit) in rows {
            assert_eq!(labels(most, 4, dimension), (expected.to_owned(), unit), "{most}");
        }
    }

    #[test]
    fn an_axis_of_nothing_is_one() {
        for most in [0.0, -3.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Ticks::up_to(most, 4, Dimension::Rate).end, 1.04, "{most}");
        }
    }

    #[test]
    fn figures_have_commas_and_units() {
        let rows = [
            (Dimension::Rate, 1_234_567.8, "1,234,568"),
            (Dimension::Rate, 55.24, "55.2"),
            (Dimension::Time, 41_234.0, "41.2 µs"),
            (Dimension::Time, 812.0, "812 ns"),
            (Dimension::Bytes, 2048.0, "2.00 KiB"),
            (Dimension::Count, 200.0, "200"),
            (Dimension::Count, 2.5, "2.5"),
        ];
        for (dimension, figure, expected) in rows {
            assert_eq!(dimension.words(figure), expected);
        }
        assert_eq!([grouped(-1234.5, 1), grouped(999.0, 0)], ["-1,234.5", "999"]);
    }
}
