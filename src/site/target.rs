//! Request target to path below the root: decoding, dot segments, refusals.
//!
//! The result is a key as well as a path: two targets that name the same thing have the same bytes. It is decoded once,
//! holds no empty, `.` or `..` segment and no NUL, and does not begin with a slash. It ends with a slash, or is empty,
//! when it names a folder. That no path leaves the root is still not left to this file: symbolic links could do it,
//! so `root` has the kernel refuse it.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};

/// A request target's path, decoded and normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<'a> {
    path: Cow<'a, [u8]>,
    hidden: bool,
}

/// Why a target names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is no path: 400, with the reason.
    Malformed(&'static str),
    /// Its `..` segments climb above the root: 404.
    AboveRoot,
}

impl<'a> Target<'a> {
    /// Reads the path of a request target as it was sent, without its query.
    pub fn parse(sent: &'a str) -> Result<Self, Refusal> {
        match plain(sent.as_bytes()) {
            Some(path) => Ok(Target { path: Cow::Borrowed(path), hidden: false }),
            None => normalise(&decode(sent.as_bytes())?),
        }
    }

    /// The path below the root.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Whether a segment begins with a dot. A leading `.well-known` does not count: RFC 8615 puts it there to be
    /// served.
    pub fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// The reference to the folder of this name, for a redirect.
    ///
    /// It is built from the normalised path, never from what was sent: `//evil.com` normalises to `/evil.com`, and
    /// sent back as it came it would lead to another host. A backslash is escaped for the same reason: browsers read
    /// it as a slash.
    pub fn folder_reference(&self, query: Option<&str>) -> String {
        let mut reference = format!("/{}", escape(&self.path));
        if !names_folder(&self.path) {
            reference.push('/');
        }
        if let Some(query) = query {
            reference.push('?');
            reference.extend(percent_encode(query.as_bytes(), UNFIT_FOR_QUERY));
        }
        reference
    }
}

/// Whether a normalised path names a folder: it ends with a slash, or is the root itself.
pub(super) fn names_folder(path: &[u8]) -> bool {
    matches!(path.last(), None | Some(b'/'))
}

/// Escapes a path for a URI, leaving its slashes: the inverse of what [`Target::parse`] decodes.
pub fn escape(path: &[u8]) -> String {
    percent_encode(path, UNFIT_FOR_PATH).to_string()
}

/// Everything that RFC 3986 does not allow in a path (`pchar` and `/`).
const UNFIT_FOR_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// What must not stand in a header line or end the reference. The query is otherwise kept as it came, escapes too.
const UNFIT_FOR_QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');

/// What a byte of a path can mean, as bits.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            // From 0x80 on bytes stand for themselves: names are bytes, and a client that does not escape its UTF-8
            // means that file.
            0..=b' ' | b'%' | b'?' | b'#' | 0x7f => NOT_PLAIN,
            b'.' => ODD_AFTER_SLASH,
            b'/' => ODD_AFTER_SLASH | SLASH,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// It does not stand for itself: an escape, or what must not be in a path.
const NOT_PLAIN: u8 = 1;
/// After a slash it makes an empty, dot or hidden segment.
const ODD_AFTER_SLASH: u8 = 2;
const SLASH: u8 = ODD_AFTER_SLASH << 1;

/// The path, if it is already what decoding and normalising would make of it. This is the way of nearly every
/// request, so it is one pass that copies nothing. It has no branch for a byte to mispredict, which makes it twice as
/// fast as one that returns early.
fn plain(sent: &[u8]) -> Option<&[u8]> {
    let path = sent.strip_prefix(b"/")?;
    let mut previous = SLASH;
    let mut odd = 0;
    for &byte in path {
        let class = CLASSES[usize::from(byte)];
        // Shifted, the bit of a slash asks for that of a byte which must not follow one.
        odd |= class & (NOT_PLAIN | (previous >> 1 & ODD_AFTER_SLASH));
        previous = class;
    }
    (odd == 0).then_some(path)
}

/// Undoes percent-encoding, once: `%2562` is a file whose name holds `%62`. `+` is a plus sign in a path.
fn decode(sent: &[u8]) -> Result<Vec<u8>, Refusal> {
    if !sent.starts_with(b"/") {
        return Err(Refusal::Malformed("the target's path does not begin with a slash"));
    }
    let mut decoded = Vec::with_capacity(sent.len());
    let mut rest = sent;
    while let Some((&byte, tail)) = rest.split_first() {
        if byte == b'%' {
            decoded.push(unescape(tail)?);
            rest = &tail[2..];
        } else if CLASSES[usize::from(byte)] & NOT_PLAIN == 0 {
            decoded.push(byte);
            rest = tail;
        } else {
            return Err(Refusal::Malformed("the target holds a byte that must be escaped"));
        }
    }
    Ok(decoded)
}

/// The byte that two hexadecimal digits after a `%` stand for. NUL is refused: no file name holds one, and what comes
/// after it would be lost on the way to the kernel.
fn unescape(after_percent: &[u8]) -> Result<u8, Refusal> {
    let digit = |at: usize| after_percent.get(at).and_then(|&digit| char::from(digit).to_digit(16));
    let (Some(high), Some(low)) = (digit(0), digit(1)) else {
        return Err(Refusal::Malformed("a percent sign is not followed by two hexadecimal digits"));
    };
    match (high * 16 + low) as u8 {
        0 => Err(Refusal::Malformed("the target holds a NUL")),
        byte => Ok(byte),
    }
}

/// Removes empty and dot segments as RFC 3986, section 5.2.4, does, except that climbing above the root is refused
/// instead of ignored. It works on the decoded path, so `%2e%2e` and `%2F` are no way around it.
fn normalise(decoded: &[u8]) -> Result<Target<'static>, Refusal> {
    let mut path = Vec::with_capacity(decoded.len());
    let mut names_folder = true;
    for segment in decoded.split(|&byte| byte == b'/').skip(1) {
        names_folder = matches!(segment, b"" | b"." | b"..");
        match segment {
            b"" | b"." => {}
            b".." => remove_last_segment(&mut path)?,
            _ => {
                path.extend_from_slice(segment);
                path.push(b'/');
            }
        }
    }
    if !names_folder {
        path.pop();
    }
    let hidden = has_hidden_segment(&path);
    Ok(Target { path: Cow::Owned(path), hidden })
}

fn remove_last_segment(path: &mut Vec<u8>) -> Result<(), Refusal> {
    let Some((_slash, segments)) = path.split_last() else {
        return Err(Refusal::AboveRoot);
    };
    let kept = memchr::memrchr(b'/', segments).map_or(0, |slash| slash + 1);
    path.truncate(kept);
    Ok(())
}

fn has_hidden_segment(path: &[u8]) -> bool {
    let mut segments = path.split(|&byte| byte == b'/').enumerate();
    segments.any(|(place, segment)| segment.starts_with(b".") && !(place == 0 && segment == b".well-known"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn targets_are_decoded_once_and_normalised() {
        let table: &[(&str, &str)] = &[
            ("/", ""),
            ("/a", "a"),
            ("/a/", "a/"),
            ("/a/b.html", "a/b.html"),
            ("/%41", "A"),
            ("/%C3%A9", "é"),
            ("/é", "é"),
            ("/a+b", "a+b"),
            ("/a%20b", "a b"),
            ("/a%2562", "a%62"),
            ("/a%5cb", "a\\b"),
            ("/a%0Ab", "a\nb"),
            ("/a%3Fb%23c", "a?b#c"),
            ("//", ""),
            ("//b", "b"),
            ("/a//b", "a/b"),
            ("/a///", "a/"),
            ("/./b", "b"),
            ("/a/.", "a/"),
            ("/a/./", "a/"),
            ("/a/../b", "b"),
            ("/a/..", ""),
            ("/a/b/..", "a/"),
            ("/a/b/../..", ""),
            ("/a/b/../../c", "c"),
            ("/a//../b", "b"),
            ("/dir%2F..%2Ften.txt", "ten.txt"),
            ("/dir/%2e%2E/b", "b"),
            ("/a/.%2e/b", "b"),
            ("/a...", "a..."),
            ("/a/...", "a/..."),
            ("/a./b", "a./b"),
        ];
        for (sent, expected) in table {
            let target = Target::parse(sent).unwrap_or_else(|refusal| panic!("{sent}: {refusal:?}"));
            assert_eq!(target.path(), expected.as_bytes(), "{sent}");
        }
    }

    #[test]
    fn what_is_no_path_is_malformed() {
        for sent in [
            "",
            "a",
            "*",
            "a/b",
            "/%",
            "/%4",
            "/%zz",
            "/%4z",
            "/a%",
            "/%00",
            "/a%00b",
            "/%+1",
            "/a b",
            "/a\tb",
            "/a\x7f",
            "/a#b",
            "/a?b",
            "http://host/",
        ] {
            assert!(matches!(Target::parse(sent), Err(Refusal::Malformed(_))), "{sent:?}");
        }
    }

    #[test]
    fn nothing_climbs_above_the_root() {
        for sent in [
            "/..",
            "/../",
            "/../a",
            "/a/../..",
            "/a/../../b",
            "/%2e%2e/a",
            "/.%2e/a",
            "/%2e./a",
            "/%2f..%2fa",
            "/..%2fa-b/x",
            "//../a",
            "/./../a",
            "/../site/a",
        ] {
            assert_eq!(Target::parse(sent), Err(Refusal::AboveRoot), "{sent}");
        }
    }

    #[test]
    fn hidden_segments_are_seen_wherever_they_stand() {
        let table = [
            ("/.git/config", true),
            ("/a/.b/c", true),
            ("/%2egit", true),
            ("/...", true),
            ("/.well-known", false),
            ("/.well-known/security.txt", false),
            ("/.well-known/.secret", true),
            ("/a/.well-known/b", true),
            ("/.well-known-not", true),
            ("/.git/../a", false),
            ("/a.b", false),
            ("/a/./b", false),
        ];
        for (sent, expected) in table {
            assert_eq!(Target::parse(sent).unwrap().is_hidden(), expected, "{sent}");
        }
    }

    #[test]
    fn redirects_stay_on_this_host() {
        let table = [
            ("/dir", None, "/dir/"),
            ("/dir", Some("a=b&c=%20"), "/dir/?a=b&c=%20"),
            ("/dir", Some(""), "/dir/?"),
            ("/dir/", None, "/dir/"),
            ("//", None, "/"),
            ("//evil.com", None, "/evil.com/"),
            ("//evil.com/%2e%2e/evil.com", None, "/evil.com/"),
            ("/%5cevil.com", None, "/%5Cevil.com/"),
            ("/%2Fevil.com", None, "/evil.com/"),
            ("/a%0d%0aX:%20y", None, "/a%0D%0AX:%20y/"),
            ("/a%3Fb%25", None, "/a%3Fb%25/"),
            ("/é", Some("q=é\"<>"), "/%C3%A9/?q=%C3%A9%22%3C%3E"),
        ];
        for (sent, query, expected) in table {
            assert_eq!(Target::parse(sent).unwrap().folder_reference(query), expected, "{sent}");
        }
    }

    /// Whatever was sent, what comes out may be handed to the kernel.
    fn assert_normal(path: &[u8]) {
        assert!(!path.contains(&0), "{path:?}");
        let segments = path.strip_suffix(b"/").unwrap_or(path);
        if !path.is_empty() {
            for segment in segments.split(|&byte| byte == b'/') {
                assert!(!matches!(segment, b"" | b"." | b".."), "{path:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_normalised_target_has_only_real_segments(sent in "/([a-c%./]|%2[eEfF]|%00|\\.\\.|é){0,24}") {
            if let Ok(target) = Target::parse(&sent) {
                assert_normal(target.path());
            }
        }

        #[test]
        fn any_string_is_refused_or_normal(sent in "\\PC*") {
            if let Ok(target) = Target::parse(&sent) {
                assert_normal(target.path());
            }
        }

        #[test]
        fn decoding_undoes_escaping(name in proptest::collection::vec(1u8..=255, 0..64)) {
            let sent = format!("/{}", escape(&name));
            prop_assert_eq!(decode(sent.as_bytes()).unwrap(), [b"/", &name[..]].concat());
        }

        #[test]
        fn both_ways_of_parsing_agree(sent in "/[a-z./é-]{0,16}") {
            if let Some(path) = plain(sent.as_bytes()) {
                let slow = normalise(&decode(sent.as_bytes()).unwrap()).unwrap();
                prop_assert_eq!(slow.path(), path);
                prop_assert!(!slow.is_hidden());
            }
        }

        #[test]
        fn parsing_what_was_parsed_changes_nothing(sent in "/([a-c./]|%2[0eEfF]|é){0,24}") {
            if let Ok(target) = Target::parse(&sent) {
                let again = format!("/{}", escape(target.path()));
                let again = Target::parse(&again).unwrap();
                prop_assert_eq!(again.path(), target.path());
                prop_assert_eq!(again.is_hidden(), target.is_hidden());
            }
        }
    }
}
