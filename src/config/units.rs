//! Numbers with a range, sizes (`"64k"`) and durations (`"75s"`).

use std::borrow::Cow;
use std::time::Duration;

use toml::Value;

use super::written::{Written, digits, number, text};

/// Bytes in "1k": sizes count in powers of two, as nginx's do.
pub const K: u64 = 1 << 10;
/// Bytes in "1m".
pub const M: u64 = 1 << 20;
/// Bytes in "1g".
pub const G: u64 = 1 << 30;

/// Milliseconds in "1s".
pub const SECOND: u64 = 1000;
/// Milliseconds in "1h".
pub const HOUR: u64 = 3600 * SECOND;

/// A number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Count<const MIN: u32, const MAX: u32>(pub u32);

impl<const MIN: u32, const MAX: u32> Written for Count<MIN, MAX> {
    fn expected() -> String {
        format!("a number from {MIN} to {MAX}")
    }

    fn read(value: &Value) -> Option<Self> {
        let number = u32::try_from(number(value)?).ok()?;
        (MIN..=MAX).contains(&number).then_some(Count(number))
    }

    fn write(&self) -> Value {
        self.0.into()
    }

    fn meant(value: &Value) -> Option<Cow<'static, str>> {
        let number = u32::try_from(thousands(text(value)?)?).ok()?;
        (MIN..=MAX).contains(&number).then(|| number.to_string().into())
    }
}

/// A number of bytes from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size<const MIN: u64, const MAX: u64>(pub u64);

impl<const MIN: u64, const MAX: u64> Written for Size<MIN, MAX> {
    fn expected() -> String {
        format!("a size from {} to {}", show_size(MIN), show_size(MAX))
    }

    fn read(value: &Value) -> Option<Self> {
        let bytes = match value {
            Value::String(text) => parse_size(text)?,
            other => number(other)?,
        };
        (MIN..=MAX).contains(&bytes).then_some(Size(bytes))
    }

    fn write(&self) -> Value {
        show_size(self.0).into()
    }
}

/// A duration from `MIN` to `MAX` milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period<const MIN: u64, const MAX: u64>(pub Duration);

impl<const MIN: u64, const MAX: u64> Written for Period<MIN, MAX> {
    fn expected() -> String {
        format!("a duration from {} to {} with its unit (ms, s, m, h)", show_millis(MIN), show_millis(MAX))
    }

    fn read(value: &Value) -> Option<Self> {
        let millis = parse_millis(text(value)?)?;
        (MIN..=MAX).contains(&millis).then_some(Period(Duration::from_millis(millis)))
    }

    fn write(&self) -> Value {
        show_duration(self.0).into()
    }
}

/// A number as people write one: `50k`, `50,000`, `2m`. It is offered and not taken: in a size next to it `k` is 1024.
fn thousands(text: &str) -> Option<u64> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ',' | '_')).collect();
    let (count, unit) = match plain.strip_suffix(['k', 'K']) {
        Some(count) => (count, 1000),
        None => plain.strip_suffix(['m', 'M']).map_or((plain.as_str(), 1), |count| (count, 1_000_000)),
    };
    digits(count)?.checked_mul(unit)
}

/// Reads `"64k"`, `"1m"`, `"2g"` (either case) or plain bytes.
pub fn parse_size(text: &str) -> Option<u64> {
    let (count, unit) = match text.bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], K),
        b'm' | b'M' => (&text[..text.len() - 1], M),
        b'g' | b'G' => (&text[..text.len() - 1], G),
        _ => (text, 1),
    };
    digits(count)?.checked_mul(unit)
}

/// A size as config.toml writes it.
pub fn show_size(bytes: u64) -> String {
    let units = [(G, "g"), (M, "m"), (K, "k")];
    let exact = units.iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    exact.map_or(bytes.to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
}

/// Reads `"500ms"`, `"75s"`, `"2m"` or `"1h"` of a command line, up to a day.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    const DAY: u64 = 24 * HOUR;
    type UpToADay = Period<0, DAY>;
    UpToADay::read(&text.into()).map(|period| period.0).ok_or_else(|| format!("expected {}", UpToADay::expected()))
}

/// Reads `"500ms"`, `"75s"`, `"2m"` or `"1h"`, with a space between the two or without. A bare number is refused: to nginx it means seconds, to Tomcat milliseconds.
fn parse_millis(text: &str) -> Option<u64> {
    let (count, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let millis = match unit.trim_start_matches(' ') {
        "ms" => 1,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => HOUR,
        _ => return None,
    };
    digits(count)?.checked_mul(millis)
}

/// A duration as config.toml writes it.
pub fn show_duration(duration: Duration) -> String {
    show_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

fn show_millis(millis: u64) -> String {
    match millis {
        0 => "0s".into(),
        hours if hours.is_multiple_of(HOUR) => format!("{}h", hours / HOUR),
        seconds if seconds.is_multiple_of(SECOND) => format!("{}s", seconds / SECOND),
        millis => format!("{millis}ms"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes() {
        let rows = [
            ("0", Some(0)),
            ("1", Some(1)),
            ("64k", Some(65_536)),
            ("64K", Some(65_536)),
            ("1m", Some(1_048_576)),
            ("2G", Some(2_147_483_648)),
            ("7693835", Some(7_693_835)),
            ("17179869183g", Some(18_446_744_072_635_809_792)),
            ("17179869184g", None),
            ("", None),
            ("k", None),
            ("1kb", None),
            ("1 k", None),
            ("-1", None),
            ("1.5m", None),
            ("1é", None),
        ];
        for (text, bytes) in rows {
            assert_eq!(parse_size(text), bytes, "{text:?}");
        }
    }

    #[test]
    fn durations() {
        let rows = [
            ("0s", Some(0)),
            ("500ms", Some(500)),
            ("75s", Some(75_000)),
            ("2m", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("75", None),
            ("", None),
            ("s", None),
            ("1d", None),
            ("1.5s", None),
            ("-1s", None),
            ("1 s", Some(1000)),
            ("600 ms", Some(600)),
            ("1 000ms", None),
            (" 1s", None),
            ("10 seconds", None),
            ("1h30m", None),
            ("18446744073709551615h", None),
        ];
        for (text, millis) in rows {
            assert_eq!(parse_millis(text), millis, "{text:?}");
        }
    }

    #[test]
    fn the_range_belongs_to_the_type() {
        assert_eq!(Count::<1, 9>::read(&9.into()), Some(Count(9)));
        for wrong in [0, 10, -1, 1 << 40] {
            assert_eq!(Count::<1, 9>::read(&Value::Integer(wrong)), None, "{wrong}");
        }
        assert_eq!(Size::<K, M>::read(&1024.into()), Some(Size(K)));
        assert_eq!(Size::<K, M>::read(&"1m".into()), Some(Size(M)));
        assert_eq!(Size::<K, M>::read(&"1023".into()), None);
        assert_eq!(Size::<K, M>::expected(), "a size from 1k to 1m");
        assert_eq!(Period::<1, HOUR>::read(&"1h".into()), Some(Period(Duration::from_secs(3600))));
        assert_eq!(Period::<1, HOUR>::read(&"0s".into()), None);
        assert_eq!(Period::<1, HOUR>::read(&5.into()), None);
        assert_eq!(Period::<1, HOUR>::expected(), "a duration from 1ms to 1h with its unit (ms, s, m, h)");
    }

    /// `requests = "50k"` was refused without a word of what would do.
    #[test]
    fn a_number_that_was_meant() {
        type Requests = Count<1, 1_000_000>;
        for (text, meant) in [("50k", "50000"), ("50,000", "50000"), ("50_000", "50000"), ("1 M", "1000000")] {
            assert_eq!(Requests::read(&text.into()), None, "{text}");
            assert_eq!(Requests::meant(&text.into()).as_deref(), Some(meant), "{text}");
        }
        for text in ["2m", "k", "", "1.5k", "0k", "-1k"] {
            assert_eq!(Requests::meant(&text.into()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(number: u64) {
            prop_assert_eq!(parse_size(&show_size(number)), Some(number));
            prop_assert_eq!(parse_millis(&show_millis(number)), Some(number));
        }

        #[test]
        fn any_text_is_read_or_refused(text: String) {
            parse_size(&text);
            parse_millis(&text);
        }
    }
}
