//! Units of bounds: how they are read, and how what was measured is shown beside them.

/// The unit of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
    PerSecond,
    Percent,
    /// A share of 1.
    Fraction,
    /// A number of requests.
    Count,
}

/// Most decimals that are shown: nanoseconds in a second.
const DECIMALS_MAX: usize = 9;

impl Unit {
    /// Units of time. `s` stands last, because the others end in it.
    pub(super) const TIMES: &'static [Self] =
        &[Self::Nanoseconds, Self::Microseconds, Self::Milliseconds, Self::Seconds];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::PerSecond => "/s",
            Self::Percent => "%",
            Self::Fraction | Self::Count => "",
        }
    }

    /// Its nanoseconds, of a unit of time.
    const fn ns(self) -> Option<f64> {
        match self {
            Self::Nanoseconds => Some(1.0),
            Self::Microseconds => Some(1e3),
            Self::Milliseconds => Some(1e6),
            Self::Seconds => Some(1e9),
            _ => None,
        }
    }

    pub(super) fn of_time(self, ns: f64) -> Option<f64> {
        Some(ns / self.ns()?)
    }

    /// A count, or its share of all. There is no share of nothing.
    pub(super) fn of_count(self, count: u64, of: u64) -> Option<f64> {
        match self {
            Self::Percent => (of > 0).then(|| count as f64 * 100.0 / of as f64),
            _ => Some(count as f64),
        }
    }

    pub(super) fn of_share(self, share: f64) -> Option<f64> {
        Some(if self == Self::Percent { share * 100.0 } else { share })
    }

    /// A value for people: three digits that matter, or as many more as it takes for what is shown to break the gate as
    /// well ("p99 was 5.00 ms" does not explain why p99>5ms broke). Times are shown in the unit that fits them.
    pub(super) fn show(self, value: f64, breaks: impl Fn(f64) -> bool) -> String {
        let Some(own_ns) = self.ns() else {
            let space = if self == Self::Percent { " " } else { "" };
            return format!("{}{space}{}", digits(value, breaks), self.name());
        };
        let ns = value * own_ns;
        let fits = |unit: &&Self| unit.ns().is_some_and(|unit_ns| ns >= unit_ns);
        let unit = Self::TIMES.iter().rev().find(fits).copied().unwrap_or(Self::Nanoseconds);
        let unit_ns = unit.ns().unwrap_or(1.0);
        format!("{} {}", digits(ns / unit_ns, |shown| breaks(shown * unit_ns / own_ns)), unit.name())
    }
}

fn digits(value: f64, breaks: impl Fn(f64) -> bool) -> String {
    let first = if value.fract() == 0.0 { 0 } else { (2.0 - value.log10().floor()) as usize };
    let shown = (first..DECIMALS_MAX).map(|decimals| format!("{value:.decimals$}"));
    let mut honest = shown.filter(|shown| shown.parse().is_ok_and(&breaks));
    honest.next().unwrap_or_else(|| format!("{value:.DECIMALS_MAX$}"))
}

/// A number that is not negative, and its unit, which must be one of these.
pub(super) fn read(text: &str, units: &[Unit]) -> Option<(f64, Unit)> {
    let (number, unit) = units.iter().find_map(|unit| Some((text.strip_suffix(unit.name())?, *unit)))?;
    let number = number.trim_end();
    // `parse` alone would take "inf", "NaN", "+1" and "1e3" as well.
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Some((number.parse().ok().filter(|_| plain)?, unit))
}
