//! How a value on the load tool's command line is written: counts, durations, rates, words.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;

/// Longest duration that can be asked for: 30 days.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);
/// Highest rate, per second: one every nanosecond, which is the unit of the clock.
const HIGHEST_RATE: f64 = 1e9;

/// A number from 1 on, such as `5000`, `100k` (100,000) or `2m` (2,000,000).
pub fn count(text: &str) -> Result<NonZeroU64, String> {
    let wrong = || "write a number from 1 on; k is a thousand and m a million, as in 100k".to_owned();
    let (digits, unit) = split_unit(text);
    let number = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()));
    number.and_then(|number| number.checked_mul(unit)).and_then(NonZeroU64::new).ok_or_else(wrong)
}

/// Connections at once, as many as a server takes at the most: `50`, `10k`.
pub fn connections(text: &str) -> Result<u32, String> {
    const MOST: u32 = 1_000_000;
    let number = count(text).ok().and_then(|number| u32::try_from(number.get()).ok());
    number
        .filter(|number| *number <= MOST)
        .ok_or_else(|| format!("write a number from 1 to {MOST}; k is a thousand, as in 10k"))
}

fn split_unit(text: &str) -> (&str, u64) {
    match text.bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    }
}

/// A duration above zero: `500ms`, `10s`, `1.5m`, `1h`; a number alone is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a duration above zero and of at most 30 days, such as 500ms, 10s, 2m or 1h".to_owned();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let duration = decimal(number).and_then(|number| Duration::try_from_secs_f64(number * seconds).ok());
    duration.filter(|duration| !duration.is_zero() && *duration <= LONGEST).ok_or_else(wrong)
}

/// Digits with at most one point among them; `f64` alone would take `inf`, `1e9` and signs.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| plain)
}

/// Requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// The same all the time.
    Fixed(f64),
    /// In steps from one to the other, upwards or downwards.
    Ramp(f64, f64),
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rate = |text: &str| {
            let (number, unit) = split_unit(text);
            let rate = decimal(number).map(|number| number * unit as f64);
            let rate = rate.filter(|rate| *rate > 0.0 && *rate <= HIGHEST_RATE);
            rate.ok_or("write requests per second, such as 5000, 10k or 0.5, or FROM:TO for a ramp")
        };
        match text.split_once(':') {
            Some((from, to)) => Ok(Self::Ramp(rate(from)?, rate(to)?)),
            None => Ok(Self::Fixed(rate(text)?)),
        }
    }
}

/// A number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// As many as the CPUs that the server leaves.
    Auto,
    /// So many.
    Exactly(NonZeroUsize),
}

impl FromStr for Threads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        /// Far more than CPUs; a typing error should not start a million.
        const MOST: usize = 1024;
        let number = || text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MOST).map(Self::Exactly);
        let threads = if text == "auto" { Some(Self::Auto) } else { number() };
        threads.ok_or_else(|| format!("write auto or a number from 1 to {MOST}"))
    }
}

/// Numbers of CPUs: `0,2-3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus(pub Vec<usize>);

impl FromStr for Cpus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        /// What `sched_setaffinity(2)` takes without a larger set.
        const MOST: usize = 1024;
        let cpu = |text: &str| text.trim().parse().ok().filter(|cpu: &usize| *cpu < MOST);
        let range = |item: &str| {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            Some(cpu(first)?..=cpu(last)?).filter(|range| !range.is_empty())
        };
        let ranges = text.split(',').map(range).collect::<Option<Vec<_>>>();
        let mut cpus: Vec<_> =
            ranges.ok_or("write numbers of CPUs, such as 0,2 or 1-3")?.into_iter().flatten().collect();
        cpus.sort_unstable();
        cpus.dedup();
        Ok(Self(cpus))
    }
}

/// A line of a request's head. Whether it may stand there is decided elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The name.
    pub name: String,
    /// The value; empty takes a default line away.
    pub value: String,
}

impl FromStr for Header {
    type Err = String;

    /// RFC 9112 section 5: a name of token characters, directly before the colon; a value without line breaks.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').ok_or("there is no colon; write 'Name: value'")?;
        if !is_token(name) {
            return Err("what stands before the colon is no name of a header line; write 'Name: value'".to_owned());
        }
        if value.bytes().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err("a header line has no line break in it; repeat -H for a second line".to_owned());
        }
        Ok(Self { name: name.to_owned(), value: value.trim().to_owned() })
    }
}

/// A method. Case counts (RFC 9110 section 9.1).
pub fn method(text: &str) -> Result<String, String> {
    if text.eq_ignore_ascii_case("CONNECT") {
        return Err("CONNECT asks a proxy for a tunnel, after which there is no HTTP left to measure".to_owned());
    }
    if is_token(text) { Ok(text.to_owned()) } else { Err("write a method, such as GET, HEAD or POST".to_owned()) }
}

/// RFC 9110 section 5.6.2.
fn is_token(text: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// What answers are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// The content of this file.
    File(PathBuf),
    /// Content with this SHA-256.
    Sha256([u8; 32]),
}

impl FromStr for Expectation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(hex) = text.strip_prefix("sha256:") else { return Ok(Self::File(text.into())) };
        sha256(hex).map(Self::Sha256).ok_or_else(|| "a SHA-256 has 64 hexadecimal digits".to_owned())
    }
}

fn sha256(hex: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if hex.len() != 64 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

/// How a connection is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Connections {
    /// One request each; the server is asked to close.
    Short,
    /// For as many requests as the server answers on it.
    KeepAlive,
}

/// The version of HTTP that requests are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Http {
    /// HTTP/1.0.
    #[value(name = "1.0")]
    V10,
    /// HTTP/1.1.
    #[value(name = "1.1")]
    V11,
}

/// How the times of requests lie at a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// Equally far apart.
    Uniform,
    /// Independent of one another, as those of many people are.
    Poisson,
}

/// What the report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Text,
    /// The whole record, for programs.
    Json,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts() {
        let rows = [("1", 1), ("5000", 5000), ("100k", 100_000), ("100K", 100_000), ("2m", 2_000_000)];
        for (text, number) in rows {
            assert_eq!(count(text).map(NonZeroU64::get), Ok(number), "{text}");
        }
        for text in ["", "0", "k", "0k", "-1", "+1", "1.5k", "1g", "1 k", "18446744073709551615k", "é"] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations() {
        let rows = [("10", 10_000), ("10s", 10_000), ("0.5", 500), ("250ms", 250), ("1.5m", 90_000), ("1h", 3_600_000)];
        for (text, millis) in rows {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "0", "0s", "s", ".", "1..2", "-1", "1e3", "inf", "1d", "1 s", "1h30m", "721h", "0.0000000001s"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates() {
        let rows = [
            ("5000", Rate::Fixed(5000.0)),
            ("0.5", Rate::Fixed(0.5)),
            ("10k", Rate::Fixed(10_000.0)),
            ("1000:20k", Rate::Ramp(1000.0, 20_000.0)),
            ("20:10", Rate::Ramp(20.0, 10.0)),
        ];
        for (text, rate) in rows {
            assert_eq!(text.parse(), Ok(rate), "{text}");
        }
        for text in ["", "0", "-1", "nan", "inf", "1:", ":1", "1:2:3", "1e9", "1001m", "1/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn threads_and_cpus() {
        assert_eq!("auto".parse(), Ok(Threads::Auto));
        assert_eq!("2".parse(), Ok(Threads::Exactly(NonZeroUsize::new(2).unwrap())));
        for text in ["", "0", "-1", "1025", "all"] {
            assert!(text.parse::<Threads>().is_err(), "{text}");
        }
        let rows: &[(&str, &[usize])] = &[("0", &[0]), ("3,1", &[1, 3]), ("0,2-4,3", &[0, 2, 3, 4])];
        for (text, cpus) in rows {
            assert_eq!(text.parse(), Ok(Cpus(cpus.to_vec())), "{text}");
        }
        for text in ["", "1,", "2-1", "-1", "1024", "a", "0-99999999999"] {
            assert!(text.parse::<Cpus>().is_err(), "{text}");
        }
    }

    #[test]
    fn header_lines() {
        let rows =
            [("A: b", "A", "b"), ("a-b:c:d", "a-b", "c:d"), ("Accept:", "Accept", ""), ("X:  y z \t", "X", "y z")];
        for (text, name, value) in rows {
            assert_eq!(text.parse(), Ok(Header { name: name.to_owned(), value: value.to_owned() }), "{text}");
        }
        for text in ["", "A", ":b", "A b: c", "A : b", " A: b", "A: b\r\nC: d", "A: b\nc", "A\n: b", "A: \0", "ä: b"] {
            assert!(text.parse::<Header>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn methods() {
        for text in ["GET", "PROPFIND", "get", "M-SEARCH"] {
            assert_eq!(method(text), Ok(text.to_owned()));
        }
        for text in ["", "CONNECT", "connect", "GET /", "GET\r\n", "ä"] {
            assert!(method(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn expectations() {
        let hex = "00ff".repeat(16);
        let Ok(Expectation::Sha256(bytes)) = format!("sha256:{hex}").parse() else { panic!("not a digest") };
        assert_eq!((bytes[0], bytes[1], bytes[31]), (0, 255, 255));
        assert_eq!("docs/1k.html".parse(), Ok(Expectation::File("docs/1k.html".into())));
        let short = "0".repeat(63);
        for text in
            ["sha256:".to_owned(), format!("sha256:{short}"), format!("sha256:{short}g"), format!("sha256:{short}é")]
        {
            assert!(text.parse::<Expectation>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = (count(&text), duration(&text), text.parse::<Rate>().is_ok(), text.parse::<Cpus>().is_ok());
            let _ = (text.parse::<Header>().is_ok(), text.parse::<Expectation>().is_ok(), method(&text));
        }
    }
}
