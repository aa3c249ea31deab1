//! Sentences and figures as a page shows them.

use jiff::Timestamp;
use maud::{Markup, html};

use super::chart::{Dimension, grouped, shown_sentence};
use crate::analysis::Spread;

/// A sentence that was made for terminals: here a microsecond has its letter, thousands have commas, and no figure is torn from
/// its unit.
pub(super) fn sentence(words: &str) -> String {
    let mut text = String::new();
    let mut before = "";
    for word in shown_sentence(words).split(' ') {
        match unit(word).filter(|_| before.ends_with(|last: char| last.is_ascii_digit())) {
            Some(unit) => text.extend(["\u{a0}", &unit]),
            None if text.is_empty() => text.push_str(&with_commas(word)),
            // A seed is a name, and no amount.
            None if before.trim_start_matches('(') == "seed" => text.extend([" ", word]),
            None => text.extend([" ", &with_commas(word)]),
        }
        before = word;
    }
    text
}

/// A unit with what follows it, as it is written here.
fn unit(word: &str) -> Option<String> {
    const UNITS: [&str; 8] = ["us", "ns", "ms", "s", "%", "B", "KiB", "MiB"];
    let bare = word.trim_end_matches(['.', ',', ';', ':', ')']);
    UNITS.contains(&bare).then(|| word.replacen("us", "µs", 1))
}

/// A whole number of five digits or more with commas; other words as they are.
fn with_commas(word: &str) -> String {
    let digits = word.trim_matches(['(', ')', '.', ',', ';', ':']);
    let is_number = digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<u64>() {
        Ok(number) if is_number => word.replacen(digits, &grouped(number as f64, 0), 1),
        _ => word.to_owned(),
    }
}

/// When something began, to the minute; empty for a time that is none.
pub(super) fn date(unix_s: f64) -> String {
    let time = Timestamp::from_second(unix_s as i64).ok();
    time.map(|time| time.strftime("%-d %B %Y, %H:%M UTC").to_string()).unwrap_or_default()
}

/// The same for programs.
pub(super) fn machine_date(unix_s: f64) -> String {
    Timestamp::from_second(unix_s as i64).map(|time| time.to_string()).unwrap_or_default()
}

/// A median, and below it the lowest and the highest where they differ.
pub(super) fn spread(spread: &Spread, one: f64, dimension: Dimension) -> Markup {
    let [low, median, high] = [spread.min, spread.median, spread.max].map(|figure| dimension.words(figure * one));
    html! {
        (median)
        @if low != high { small { (range(&low, &high)) } }
    }
}

/// Two figures, with their unit once where it is the same.
fn range(low: &str, high: &str) -> String {
    let low = match (low.split_once(' '), high.split_once(' ')) {
        (Some((figure, unit)), Some((_, other))) if unit == other => figure,
        _ => low,
    };
    format!("{low} – {high}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_their_letters_and_stay_with_their_figures() {
        let words = "It took 8.12 us, not 3 ms (2 %); tell us 5 times.";
        assert_eq!(sentence(words), "It took 8.12\u{a0}µs, not 3\u{a0}ms (2\u{a0}%); tell us 5 times.");
    }

    #[test]
    fn thousands_have_commas_and_names_have_none() {
        let words = "At best 56897 requests/s (51493 to 58543), port 8080 (seed 1796105905 of the order).";
        let expected = "At best 56,897 requests/s (51,493 to 58,543), port 8080 (seed 1796105905 of the order).";
        assert_eq!(sentence(words), expected);
    }

    #[test]
    fn ranges_name_a_unit_once() {
        let rows =
            [(("2.5 ms", "4.4 ms"), "2.5 – 4.4 ms"), (("812 µs", "1.2 ms"), "812 µs – 1.2 ms"), (("3", "4"), "3 – 4")];
        for ((low, high), expected) in rows {
            assert_eq!(range(low, high), expected);
        }
    }

    #[test]
    fn dates() {
        assert_eq!(date(1_796_105_905.25), "1 December 2026, 06:18 UTC");
        assert_eq!(machine_date(1_796_105_905.25), "2026-12-01T06:18:25Z");
        assert_eq!([date(f64::MAX), machine_date(f64::MIN)], ["", ""]);
    }
}
