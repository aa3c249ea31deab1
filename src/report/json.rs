//! The record as JSON, and back. `schema/load-record.json` describes it.

use serde::Deserialize;

use crate::record::{Record, VERSION};

/// A text that is no record of this version.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No JSON, or a field that is missing or has another type.
    #[error("this is not a record of the load tool: {0}")]
    NotARecord(#[from] serde_json::Error),
    /// A record of another time.
    #[error(
        "the record has version {version} and was written by {tool}; this program reads version {VERSION}: use the program \
         that wrote it, or measure again"
    )]
    Version {
        /// The record's version.
        version: u32,
        /// What wrote it.
        tool: String,
    },
}

/// The record as indented JSON, with a newline at its end.
///
/// # Errors
///
/// Fails for no record that measuring can make: its maps have numbers as keys, and no figure is infinite.
pub fn render(record: &Record) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(record)? + "\n")
}

/// Reads a record.
///
/// # Errors
///
/// [`ReadError::Version`] for a record of another version, whatever else it holds; [`ReadError::NotARecord`] for anything
/// else.
pub fn read(text: &str) -> Result<Record, ReadError> {
    // The version first: what a field of another version lacks would hide the reason.
    let Stamp { version, tool } = serde_json::from_str(text)?;
    if version != VERSION {
        return Err(ReadError::Version { version, tool });
    }
    Ok(serde_json::from_str(text)?)
}

/// What every version has.
#[derive(Deserialize)]
struct Stamp {
    version: u32,
    #[serde(default = "unnamed")]
    tool: String,
}

fn unnamed() -> String {
    "an unnamed program".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Kind, sample};

    #[test]
    fn a_record_comes_back() {
        let steps = sample::curve(Kind::Steps, vec![sample::run(), sample::open_run(2_000.0, 0.99)]);
        for record in [sample::record(), steps] {
            let text = render(&record).unwrap();
            assert!(text.ends_with("}\n") && text.lines().count() > 100, "pretty, and a newline");
            assert_eq!(read(&text).unwrap(), record);
        }
    }

    #[test]
    fn another_version_is_named() {
        let text = r#"{"version": 7, "tool": "quintain 9.9.9", "runs": "of another shape"}"#;
        let expected = "the record has version 7 and was written by quintain 9.9.9; this program reads version 1: use the \
                        program that wrote it, or measure again";
        assert_eq!(read(text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn what_is_no_record_says_where() {
        let beginning = "this is not a record of the load tool: ";
        let without_runs = r#"{"version": 1, "tool": "x"}"#;
        for (text, reason) in [("", "EOF"), ("[]", "invalid"), ("{}", "`version`"), (without_runs, "`command`")] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(beginning) && error.contains(reason), "{error}");
        }
    }
}
