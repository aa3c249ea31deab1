//! RFC 9110, section 13: preconditions, in the order of section 13.2.2.

use std::time::SystemTime;

use super::Request;

/// What a representation can be compared by.
#[derive(Debug, Clone, Copy, Default)]
pub struct Validators<'a> {
    /// As it is sent: strong or weak, with its quotes.
    pub etag: Option<&'a [u8]>,
    /// As it is sent. Dates are compared as they are on the wire, in whole seconds: a file's nanoseconds must not make
    /// the server's own Last-Modified look old when a client sends it back.
    pub last_modified: Option<&'a [u8]>,
}

/// What the preconditions of a GET or HEAD lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Answer as if there had been no condition.
    Proceed,
    /// 304
    NotModified,
    /// 412
    Failed,
}

/// Evaluates the four conditions that can end a request; `If-Range` is [`range_applies`].
pub fn evaluate(request: &Request<'_>, validators: Validators<'_>) -> Verdict {
    let passes = match (&request.if_match, request.if_unmodified_since) {
        (Some(list), _) => names(list, validators.etag, Comparison::Strong),
        (None, Some(date)) => modified_after(validators, date) != Some(true),
        (None, None) => true,
    };
    if !passes {
        return Verdict::Failed;
    }
    let is_current = match (&request.if_none_match, request.if_modified_since) {
        (Some(list), _) => names(list, validators.etag, Comparison::Weak),
        (None, Some(date)) => modified_after(validators, date) == Some(false),
        (None, None) => false,
    };
    if is_current { Verdict::NotModified } else { Verdict::Proceed }
}

/// Whether a Range line beside this If-Range line is to be honoured: RFC 9110, section 13.1.5, asks for the same strong
/// tag or for the very date, not for a later one.
pub fn range_applies(if_range: Option<&[u8]>, validators: Validators<'_>) -> bool {
    let Some(value) = if_range else { return true };
    if value.starts_with(b"W/") {
        return false;
    }
    if value.starts_with(b"\"") {
        return validators.etag == Some(value);
    }
    match (validators.last_modified.and_then(parse_date), parse_date(value)) {
        (Some(modified), Some(date)) => modified == date,
        _ => false,
    }
}

/// `None` if there is no date to compare, or the line holds none: it is then ignored.
fn modified_after(validators: Validators<'_>, date: &[u8]) -> Option<bool> {
    Some(parse_date(validators.last_modified?)? > parse_date(date)?)
}

fn parse_date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Strong,
    Weak,
}

/// Whether an `If-Match` or `If-None-Match` value names the representation: `*`, or a list with its tag in it.
/// A list counts up to its first syntax error.
fn names(list: &[u8], etag: Option<&[u8]>, comparison: Comparison) -> bool {
    list.trim_ascii() == b"*" || etag.map(Tag::of).is_some_and(|own| tags(list).any(|tag| own.equals(&tag, comparison)))
}

struct Tag<'a> {
    weak: bool,
    /// With its quotes.
    opaque: &'a [u8],
}

impl<'a> Tag<'a> {
    /// A whole tag.
    fn of(text: &'a [u8]) -> Self {
        match text.strip_prefix(b"W/") {
            Some(opaque) => Tag { weak: true, opaque },
            None => Tag { weak: false, opaque: text },
        }
    }

    /// RFC 9110, section 8.8.3.2: a strong comparison fails if either is weak.
    fn equals(&self, other: &Tag<'_>, comparison: Comparison) -> bool {
        self.opaque == other.opaque && (comparison == Comparison::Weak || !(self.weak || other.weak))
    }
}

fn tags(list: &[u8]) -> impl Iterator<Item = Tag<'_>> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let (tag, tail) = next_tag(rest)?;
        rest = tail;
        Some(tag)
    })
}

fn next_tag(list: &[u8]) -> Option<(Tag<'_>, &[u8])> {
    let start = list.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b','))?;
    let (weak, quoted) = match list[start..].strip_prefix(b"W/") {
        Some(quoted) => (true, quoted),
        None => (false, &list[start..]),
    };
    // A tag holds no quote and no escape (RFC 9110, section 8.8.3): the next quote ends it, and a comma may stand in
    // it.
    let end = 1 + memchr::memchr(b'"', quoted.strip_prefix(b"\"")?)?;
    let (opaque, tail) = quoted.split_at(end + 1);
    let is_legal = opaque[1..end].iter().all(|&byte| byte > b' ' && byte != 0x7f);
    let is_delimited = matches!(tail.trim_ascii_start().first(), None | Some(b','));
    (is_legal && is_delimited).then_some((Tag { weak, opaque }, tail))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;
    use crate::site::Method;

    const CURRENT: Validators<'static> =
        Validators { etag: Some(b"\"now\""), last_modified: Some(b"Wed, 01 Jan 2020 00:00:00 GMT") };

    const EARLIER: &str = "Tue, 31 Dec 2019 23:59:59 GMT";
    const EXACT: &str = "Wed, 01 Jan 2020 00:00:00 GMT";
    const LATER: &str = "Wed, 01 Jan 2020 00:00:01 GMT";

    /// The lines of a request, as `(name, value)`.
    fn verdict(lines: &[(&str, &str)], validators: Validators<'_>) -> Verdict {
        let mut request = Request::new(Method::Get, "/");
        for &(name, value) in lines {
            let value = value.as_bytes();
            match name {
                "If-Match" => request.if_match = Some(Cow::Borrowed(value)),
                "If-None-Match" => request.if_none_match = Some(Cow::Borrowed(value)),
                "If-Modified-Since" => request.if_modified_since = Some(value),
                "If-Unmodified-Since" => request.if_unmodified_since = Some(value),
                _ => panic!("no condition: {name}"),
            }
        }
        evaluate(&request, validators)
    }

    #[test]
    fn single_conditions() {
        use Verdict::{Failed, NotModified, Proceed};
        let table = [
            ("If-None-Match", "\"now\"", NotModified),
            ("If-None-Match", "W/\"now\"", NotModified),
            ("If-None-Match", "*", NotModified),
            ("If-None-Match", " * ", NotModified),
            ("If-None-Match", "\"old\", \"now\"", NotModified),
            ("If-None-Match", "\"old\",W/\"now\",\"x\"", NotModified),
            ("If-None-Match", ",, \"now\" ,", NotModified),
            ("If-None-Match", "\"a,b\", \"now\"", NotModified),
            ("If-None-Match", "\"old\"", Proceed),
            ("If-None-Match", "\"*\"", Proceed),
            ("If-None-Match", "now", Proceed),
            ("If-None-Match", "w/\"now\"", Proceed),
            ("If-None-Match", "\"now", Proceed),
            ("If-None-Match", "\"now\"x", Proceed),
            ("If-None-Match", "\"old\" \"now\"", Proceed),
            ("If-None-Match", "\"a b\", \"now\"", Proceed),
            ("If-None-Match", "", Proceed),
            ("If-Modified-Since", EXACT, NotModified),
            ("If-Modified-Since", LATER, NotModified),
            ("If-Modified-Since", "Wed Jan  1 00:00:00 2020", NotModified),
            ("If-Modified-Since", "Wednesday, 01-Jan-20 00:00:00 GMT", NotModified),
            ("If-Modified-Since", EARLIER, Proceed),
            ("If-Modified-Since", "yesterday", Proceed),
            ("If-Modified-Since", "", Proceed),
            ("If-Modified-Since", "2020-01-01T00:00:00Z", Proceed),
            ("If-Match", "\"now\"", Proceed),
            ("If-Match", "*", Proceed),
            ("If-Match", "\"old\", \"now\"", Proceed),
            ("If-Match", "W/\"now\"", Failed),
            ("If-Match", "\"old\"", Failed),
            ("If-Match", "now", Failed),
            ("If-Match", "", Failed),
            ("If-Unmodified-Since", EXACT, Proceed),
            ("If-Unmodified-Since", LATER, Proceed),
            ("If-Unmodified-Since", EARLIER, Failed),
            ("If-Unmodified-Since", "yesterday", Proceed),
        ];
        for (name, value, expected) in table {
            assert_eq!(verdict(&[(name, value)], CURRENT), expected, "{name}: {value}");
        }
    }

    #[test]
    fn conditions_together_follow_the_order_of_the_rfc() {
        use Verdict::{Failed, NotModified, Proceed};
        let table: &[(&[(&str, &str)], Verdict)] = &[
            (&[("If-None-Match", "\"old\""), ("If-Modified-Since", EXACT)], Proceed),
            (&[("If-None-Match", "*"), ("If-Modified-Since", EARLIER)], NotModified),
            (&[("If-None-Match", "garbage"), ("If-Modified-Since", EXACT)], Proceed),
            (&[("If-Match", "\"now\""), ("If-Unmodified-Since", EARLIER)], Proceed),
            (&[("If-Match", "\"old\""), ("If-Unmodified-Since", LATER)], Failed),
            (&[("If-Match", "\"now\""), ("If-None-Match", "\"now\"")], NotModified),
            (&[("If-Match", "\"old\""), ("If-None-Match", "\"now\"")], Failed),
            (&[("If-Unmodified-Since", EARLIER), ("If-None-Match", "\"now\"")], Failed),
            (&[("If-Unmodified-Since", EXACT), ("If-Modified-Since", EXACT)], NotModified),
        ];
        for (lines, expected) in table {
            assert_eq!(verdict(lines, CURRENT), *expected, "{lines:?}");
        }
    }

    /// A file from before 1970 has no Last-Modified; date conditions have nothing to compare and are ignored.
    #[test]
    fn without_a_date_only_tags_decide() {
        let undated = Validators { last_modified: None, ..CURRENT };
        assert_eq!(verdict(&[("If-Modified-Since", LATER)], undated), Verdict::Proceed);
        assert_eq!(verdict(&[("If-Unmodified-Since", EARLIER)], undated), Verdict::Proceed);
        assert_eq!(verdict(&[("If-None-Match", "\"now\"")], undated), Verdict::NotModified);
        assert!(!range_applies(Some(EXACT.as_bytes()), undated));
    }

    /// As Tomcat's: good for 304, for nothing that writes or pieces together.
    #[test]
    fn a_weak_tag_of_ones_own_is_compared_weakly_or_not_at_all() {
        let weak = Validators { etag: Some(b"W/\"now\""), ..CURRENT };
        let table = [
            ("If-None-Match", "W/\"now\"", Verdict::NotModified),
            ("If-None-Match", "\"now\"", Verdict::NotModified),
            ("If-None-Match", "W/\"old\"", Verdict::Proceed),
            ("If-Match", "W/\"now\"", Verdict::Failed),
            ("If-Match", "\"now\"", Verdict::Failed),
            ("If-Match", "*", Verdict::Proceed),
        ];
        for (name, value, expected) in table {
            assert_eq!(verdict(&[(name, value)], weak), expected, "{name}: {value}");
        }
        for value in ["W/\"now\"", "\"now\""] {
            assert!(!range_applies(Some(value.as_bytes()), weak), "{value}");
        }
        assert!(range_applies(Some(EXACT.as_bytes()), weak));
    }

    /// As with Jetty and Netty.
    #[test]
    fn without_a_tag_only_dates_decide() {
        let untagged = Validators { etag: None, ..CURRENT };
        assert_eq!(verdict(&[("If-None-Match", "\"now\"")], untagged), Verdict::Proceed);
        assert_eq!(verdict(&[("If-None-Match", "*")], untagged), Verdict::NotModified);
        assert_eq!(verdict(&[("If-Match", "\"now\"")], untagged), Verdict::Failed);
        assert_eq!(verdict(&[("If-Modified-Since", EXACT)], untagged), Verdict::NotModified);
        assert!(!range_applies(Some(b"\"now\""), untagged));
        assert!(range_applies(Some(EXACT.as_bytes()), untagged));
    }

    #[test]
    fn if_range_asks_for_the_very_same() {
        let table = [
            (None, true),
            (Some("\"now\""), true),
            (Some(EXACT), true),
            (Some("Wed Jan  1 00:00:00 2020"), true),
            (Some("W/\"now\""), false),
            (Some("\"old\""), false),
            (Some("\"now\", \"old\""), false),
            (Some("*"), false),
            (Some("now"), false),
            (Some(EARLIER), false),
            (Some(LATER), false),
            (Some(""), false),
        ];
        for (value, expected) in table {
            assert_eq!(range_applies(value.map(str::as_bytes), CURRENT), expected, "{value:?}");
        }
    }

    proptest! {
        /// A tag is found wherever it stands in a well-formed list, and only if it is there.
        #[test]
        fn lists_are_searched_to_their_end(
            tags in proptest::collection::vec("(W/)?\"[!#-~]{0,2}\"", 0..6),
            own in "\"[!#-~]{0,2}\"",
        ) {
            let list = tags.join(", ");
            let weakly = tags.iter().any(|tag| tag.trim_start_matches("W/") == own);
            let strongly = tags.contains(&own);
            prop_assert_eq!(names(list.as_bytes(), Some(own.as_bytes()), Comparison::Weak), weakly);
            prop_assert_eq!(names(list.as_bytes(), Some(own.as_bytes()), Comparison::Strong), strongly);
        }

        #[test]
        fn no_line_is_too_strange(value in proptest::collection::vec(any::<u8>(), 0..60)) {
            names(&value, CURRENT.etag, Comparison::Strong);
            range_applies(Some(&value), CURRENT);
            modified_after(CURRENT, &value);
        }
    }
}
