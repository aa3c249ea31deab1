//! `2xx,404,500-504`: how a set of status codes is written.

use std::fmt;
use std::str::FromStr;

use super::plan::Statuses;

/// The lowest code (RFC 9110 section 15).
const LOWEST: u16 = 100;
/// The highest code that means anything.
const HIGHEST: u16 = 599;

/// Why a text names no status codes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' names no status codes; write 200, 2xx or 200-299, more of them with commas, from {LOWEST} to {HIGHEST}")]
pub struct StatusesError(String);

impl Default for Statuses {
    /// What a browser would not show as an error.
    fn default() -> Self {
        Self(vec![(200, 299), (300, 399)])
    }
}

impl FromStr for Statuses {
    type Err = StatusesError;

    fn from_str(text: &str) -> Result<Self, StatusesError> {
        let item = |item: &str| range(item.trim()).ok_or_else(|| StatusesError(item.to_owned()));
        text.split(',').map(item).collect::<Result<_, _>>().map(Self)
    }
}

fn range(item: &str) -> Option<(u16, u16)> {
    let code = |text: &str| text.parse().ok().filter(|code| (LOWEST..=HIGHEST).contains(code));
    let class = item.strip_suffix("xx").or_else(|| item.strip_suffix("XX"));
    let (first, last) = match (class, item.split_once('-')) {
        (Some(class), _) => {
            let first = code(&format!("{class}00"))?;
            (first, first + 99)
        }
        (None, Some((first, last))) => (code(first)?, code(last)?),
        (None, None) => (code(item)?, code(item)?),
    };
    (first <= last).then_some((first, last))
}

/// As it is read.
impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                99 if first % 100 == 0 => write!(f, "{comma}{}xx", first / 100)?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is typed, what it means, and how that is shown.
    type Row = (&'static str, &'static [(u16, u16)], &'static str);

    #[test]
    fn read_and_shown() {
        let rows: &[Row] = &[
            ("200", &[(200, 200)], "200"),
            ("2xx,3XX", &[(200, 299), (300, 399)], "2xx,3xx"),
            ("200-299, 404", &[(200, 299), (404, 404)], "2xx,404"),
            ("200-204", &[(200, 204)], "200-204"),
            ("599", &[(599, 599)], "599"),
        ];
        for (text, ranges, shown) in rows {
            let statuses: Statuses = text.parse().unwrap();
            assert_eq!((statuses.0.as_slice(), statuses.to_string().as_str()), (*ranges, *shown), "{text}");
        }
        let default = Statuses::default();
        assert_eq!(default.to_string(), "2xx,3xx");
        assert_eq!([199, 200, 399, 400].map(|code| default.holds(code)), [false, true, true, false]);
    }

    #[test]
    fn what_names_no_codes() {
        for text in ["", "x", "xx", "6xx", "0xx", "22xx", "99", "600", "299-200", "200-", "-200", "200,", "2x"] {
            let error = text.parse::<Statuses>().unwrap_err().to_string();
            assert!(error.contains("names no status codes; write 200, 2xx or 200-299"), "{text}: {error}");
        }
    }
}
