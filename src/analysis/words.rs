//! Figures in sentences.

use super::{Estimate, Group};

/// A ratio, three decimals near 1 and else three digits.
pub(super) fn ratio(ratio: f64) -> String {
    format!("{ratio:.decimals$}", decimals = decimals_of_ratio(ratio))
}

impl Estimate {
    /// The ratio in words, three decimals near 1 and else three digits: `1.31`.
    #[must_use]
    pub fn shown_ratio(&self) -> String {
        ratio(self.ratio)
    }

    /// Its interval, as exact as the ratio: `1.27 to 1.36`.
    #[must_use]
    pub fn shown_interval(&self) -> String {
        let decimals = decimals_of_ratio(self.ratio);
        format!("{:.decimals$} to {:.decimals$}", self.low, self.high)
    }
}

fn decimals_of_ratio(ratio: f64) -> usize {
    if (ratio - 1.0).abs() < 0.0995 { 3 } else { decimals(ratio) }
}

/// A rate without its unit.
pub(super) fn rate(per_s: f64) -> String {
    if per_s >= 1000.0 { format!("{per_s:.0}") } else { digits(per_s) }
}

/// A time in microseconds, with three digits and its unit.
pub(super) fn time_us(us: f64) -> String {
    match us {
        us if us < 999.5 => format!("{} us", digits(us)),
        us if us < 999_500.0 => format!("{} ms", digits(us / 1e3)),
        us => format!("{} s", digits(us / 1e6)),
    }
}

/// The lowest and the highest of some figures: `1.10 to 1.62`, or one where they look alike.
pub(super) fn range(figures: &[f64], show: fn(f64) -> String) -> String {
    let low = show(figures.iter().copied().fold(f64::INFINITY, f64::min));
    let high = show(figures.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    if low == high { low } else { format!("{low} to {high}") }
}

/// `1 cell`, `2 cells`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [all @ .., last] => {
            let all: Vec<&str> = all.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", all.join(", "), last.as_ref())
        }
    }
}

/// A reason as a sentence of its own: it may come without its full stop.
pub(super) fn sentence(words: &str) -> String {
    let words = words.trim();
    if words.ends_with(['.', '!', '?']) { words.to_owned() } else { format!("{words}.") }
}

/// `1k.html with short connections`.
pub(super) fn case(group: &Group) -> String {
    format!("{} with {} connections", group.document.name, group.connections.name())
}

/// A figure above 0 with three digits.
fn digits(value: f64) -> String {
    format!("{value:.decimals$}", decimals = decimals(value))
}

/// Decimals that make three digits.
fn decimals(value: f64) -> usize {
    match value {
        v if v < 0.0995 => 4,
        v if v < 0.9995 => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_or_what_matters() {
        let ratios = [0.0123, 0.6, 0.9046, 0.998, 1.0, 1.0312, 1.1, 3.146, 25.04, 312.4].map(ratio);
        assert_eq!(ratios, ["0.0123", "0.600", "0.905", "0.998", "1.000", "1.031", "1.10", "3.15", "25.0", "312"]);
        assert_eq!([52341.4, 812.3, 9.5].map(rate), ["52341", "812", "9.50"]);
        assert_eq!([8.123, 999.9, 1.5e6].map(time_us), ["8.12 us", "1.00 ms", "1.50 s"]);
        assert_eq!(range(&[1.62, 1.1], ratio), "1.10 to 1.62");
        assert_eq!(range(&[1.101, 1.1], ratio), "1.10");
    }

    #[test]
    fn lists_and_sentences() {
        assert_eq!(
            ["", "a", "a and b", "a, b and c"],
            [0, 1, 2, 3].map(|n| list(&["a", "b", "c"][..n])).each_ref().map(String::as_str)
        );
        assert_eq!([counted(1, "cell"), counted(3, "cell")], ["1 cell", "3 cells"]);
        assert_eq!([sentence("it died "), sentence("It died.")], ["it died.", "It died."]);
    }
}
