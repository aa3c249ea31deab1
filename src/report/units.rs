//! Figures as people read them: three digits and a unit.

/// A time in nanoseconds: `812 ns`, `41.2 us`, `1.91 ms`, `12.3 s`. `us` and not the Greek letter, so that columns align and
/// `grep` finds it.
pub(super) fn time(ns: f64) -> String {
    scaled(ns, 1000.0, &["ns", "us", "ms", "s"])
}

/// A time in seconds, as [`time`].
pub(super) fn seconds(seconds: f64) -> String {
    time(seconds * 1e9)
}

/// An amount of bytes: `812 B`, `1.00 KiB`, `54.8 MiB`.
pub(super) fn bytes(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// A rate without its unit; tenths and hundredths where they still say something.
pub(super) fn rate(per_s: f64) -> String {
    let decimals = if per_s >= 1000.0 { 0 } else { decimals(per_s) };
    format!("{per_s:.decimals$}")
}

/// A share as per cent. The smaller, the more exact: one of a million failed requests must not be shown as none.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p >= 1.0 || p == 0.0 => format!("{p:.1} %"),
        p if p >= 0.01 => format!("{p:.2} %"),
        p => format!("{p:.1e} %"),
    }
}

/// `1 request`, `2 requests`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut unit = 0;
    // What would be shown as 1000 is shown as 1.00 of the next unit.
    while value >= 999.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let decimals = if unit == 0 { 0 } else { decimals(value) };
    format!("{value:.decimals$} {}", units[unit])
}

/// Decimals that make three digits.
fn decimals(value: f64) -> usize {
    match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let rows = [
            (0.0, "0 ns"),
            (812.4, "812 ns"),
            (999.6, "1.00 us"),
            (41_234.0, "41.2 us"),
            (999_499.0, "999 us"),
            (999_500.0, "1.00 ms"),
            (9_996_000.0, "10.0 ms"),
            (1.5e9, "1.50 s"),
            (3.6e12, "3600 s"),
        ];
        for (ns, expected) in rows {
            assert_eq!(time(ns), expected, "{ns}");
        }
    }

    #[test]
    fn bytes_are_binary() {
        let rows =
            [(812.0, "812 B"), (1024.0, "1.00 KiB"), (1_073_741_824.0, "1.00 GiB"), (2_000_000_000_000.0, "1.82 TiB")];
        for (amount, expected) in rows {
            assert_eq!(bytes(amount), expected);
        }
    }

    #[test]
    fn rates_and_shares() {
        assert_eq!([rate(52_341.4), rate(999.0), rate(55.24), rate(0.5)], ["52341", "999", "55.2", "0.50"]);
        let shares = [0.995, 0.0, 0.0006, 0.000_001].map(percent);
        assert_eq!(shares, ["99.5 %", "0.0 %", "0.06 %", "1.0e-4 %"]);
        assert_eq!([counted(1, "request"), counted(0, "request")], ["1 request", "0 requests"]);
    }
}
