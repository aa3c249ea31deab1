//! RFC 9110, section 14: what a Range line selects of a document.

use std::ops::Range;

/// More ranges than this in one request are an attack or a mistake: the whole document is cheaper than its crumbs
/// (RFC 9110, section 14.2, lets a server ignore such a line).
pub const MAX_RANGES: usize = 16;

/// What is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The line is to be ignored.
    Whole,
    /// One range.
    Part(Range<u64>),
    /// At least two ranges, ascending, with a gap between each two.
    Parts(Vec<Range<u64>>),
    /// The line is well-formed, and nothing that it asks for is there.
    Unsatisfiable,
}

/// Selects from a document of `length` bytes.
///
/// A line that is malformed, in another unit, with a number beyond 64 bits, with too many ranges, or with ranges that
/// sum up to more than the document is ignored. So is any range of an empty document: there is no range to name in a
/// 206, and a 416 would keep a client that always asks for `0-` from ever seeing that the file is empty.
pub fn select(header: &[u8], length: u64) -> Selection {
    if length == 0 {
        return Selection::Whole;
    }
    let Some(mut ranges) = satisfiable(header, length) else {
        return Selection::Whole;
    };
    let asked: u128 = ranges.iter().map(|range| u128::from(range.end - range.start)).sum();
    if asked > u128::from(length) {
        return Selection::Whole;
    }
    ranges.sort_unstable_by_key(|range| range.start);
    merge(&mut ranges);
    match ranges.len() {
        0 => Selection::Unsatisfiable,
        1 => Selection::Part(ranges.remove(0)),
        _ => Selection::Parts(ranges),
    }
}

/// The ranges that lie in the document, clamped to it, in the order of the line; `None` if the line is to be ignored.
fn satisfiable(header: &[u8], length: u64) -> Option<Vec<Range<u64>>> {
    let (unit, set) = header.split_at_checked(b"bytes=".len())?;
    if !unit.eq_ignore_ascii_case(b"bytes=") {
        return None;
    }
    let mut ranges = Vec::new();
    let mut asked = 0;
    for spec in set.split(|&byte| byte == b',').map(trim) {
        // RFC 9110, section 5.6.1.2: a recipient ignores empty list elements.
        if spec.is_empty() {
            continue;
        }
        asked += 1;
        if asked > MAX_RANGES {
            return None;
        }
        ranges.extend(parse(spec)?.within(length));
    }
    (asked > 0).then_some(ranges)
}

/// One element of the set, as it was asked for.
#[derive(Debug, Clone, Copy)]
enum Spec {
    /// `first-` or `first-last`, both inclusive.
    From { first: u64, last: u64 },
    /// `-length`
    Suffix(u64),
}

impl Spec {
    fn within(self, length: u64) -> Option<Range<u64>> {
        match self {
            Spec::From { first, last } if first < length => Some(first..last.min(length - 1) + 1),
            Spec::Suffix(count) if count > 0 => Some(length.saturating_sub(count)..length),
            Spec::From { .. } | Spec::Suffix(_) => None,
        }
    }
}

fn parse(spec: &[u8]) -> Option<Spec> {
    let dash = memchr::memchr(b'-', spec)?;
    match (&spec[..dash], &spec[dash + 1..]) {
        (b"", count) => Some(Spec::Suffix(number(count)?)),
        (first, b"") => Some(Spec::From { first: number(first)?, last: u64::MAX }),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(Spec::From { first, last })
        }
    }
}

/// Digits only: `u64::from_str` would also take a plus sign.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, &digit| match digit {
        b'0'..=b'9' => number.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

/// Joins sorted ranges that overlap or touch.
fn merge(ranges: &mut Vec<Range<u64>>) {
    ranges.dedup_by(|next, previous| {
        let joins = next.start <= previous.end;
        if joins {
            previous.end = previous.end.max(next.end);
        }
        joins
    });
}

/// Without the optional white space of RFC 9110, section 5.6.3.
fn trim(spec: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = spec.iter().position(|byte| !is_space(byte)).unwrap_or(spec.len());
    let end = spec.iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
    &spec[start..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(range: Range<u64>) -> Selection {
        Selection::Part(range)
    }

    fn parts(ranges: &[Range<u64>]) -> Selection {
        Selection::Parts(ranges.to_vec())
    }

    #[test]
    fn lines_select_from_ten_bytes() {
        let sixteen = format!("bytes={}", vec!["0-0"; 16].join(","));
        let seventeen = format!("bytes={}", vec!["99-"; 17].join(","));
        let table = [
            ("bytes=0-0", part(0..1)),
            ("bytes=0-9", part(0..10)),
            ("bytes=5-", part(5..10)),
            ("bytes=-5", part(5..10)),
            ("bytes=-99", part(0..10)),
            ("bytes=5-999", part(5..10)),
            ("bytes=9-", part(9..10)),
            ("BYTES=0-1", part(0..2)),
            ("bytes=00000000000000000000000000-1", part(0..2)),
            ("bytes=0-18446744073709551615", part(0..10)),
            ("bytes=-18446744073709551615", part(0..10)),
            // Several: sorted, merged where they overlap or touch.
            ("bytes=0-0,-1", parts(&[0..1, 9..10])),
            ("bytes=8-9,0-1", parts(&[0..2, 8..10])),
            ("bytes=0-1 ,\t4-5", parts(&[0..2, 4..6])),
            ("bytes=,0-1,,4-5,", parts(&[0..2, 4..6])),
            ("bytes=0-2,1-4", part(0..5)),
            ("bytes=0-4,5-9", part(0..10)),
            ("bytes=5-6,0-1,2-3", parts(&[0..4, 5..7])),
            ("bytes=0-5,2-3", part(0..6)),
            ("bytes=0-0,99-", part(0..1)),
            ("bytes=0-0,0-0", part(0..1)),
            // Too much for one request.
            ("bytes=0-,0-,0-", Selection::Whole),
            ("bytes=0-9,0-0", Selection::Whole),
            (&sixteen, Selection::Whole),
            (&seventeen, Selection::Whole),
            // Not there.
            ("bytes=10-", Selection::Unsatisfiable),
            ("bytes=10-20", Selection::Unsatisfiable),
            ("bytes=-0", Selection::Unsatisfiable),
            ("bytes=18446744073709551615-", Selection::Unsatisfiable),
            ("bytes=10-,-0", Selection::Unsatisfiable),
            // Malformed, or in another unit.
            ("bytes=5-2", Selection::Whole),
            ("bytes=0-0,5-2", Selection::Whole),
            ("bytes=abc", Selection::Whole),
            ("bytes=", Selection::Whole),
            ("bytes=,", Selection::Whole),
            ("bytes=-", Selection::Whole),
            ("bytes=--1", Selection::Whole),
            ("bytes=1", Selection::Whole),
            ("bytes=1-2-3", Selection::Whole),
            ("bytes=+1-2", Selection::Whole),
            ("bytes=1 - 2", Selection::Whole),
            ("bytes 0-1", Selection::Whole),
            ("bytes =0-1", Selection::Whole),
            ("lines=1-2", Selection::Whole),
            ("0-1", Selection::Whole),
            ("", Selection::Whole),
            // Beyond 64 bits: ignored, so that nothing can wrap.
            ("bytes=0-18446744073709551616", Selection::Whole),
            ("bytes=18446744073709551616-", Selection::Whole),
            ("bytes=-18446744073709551616", Selection::Whole),
            ("bytes=-9223372036854775000,-9223372036854775000", Selection::Whole),
        ];
        for (header, expected) in table {
            assert_eq!(select(header.as_bytes(), 10), expected, "{header}");
        }
    }

    #[test]
    fn an_empty_document_is_sent_whole() {
        for header in ["bytes=0-", "bytes=0-0", "bytes=-5", "bytes=-0", "bytes=5-"] {
            assert_eq!(select(header.as_bytes(), 0), Selection::Whole, "{header}");
        }
    }

    #[test]
    fn lengths_beyond_32_and_63_bits_are_exact() {
        let five_gib = 5 << 30;
        let table = [
            ("bytes=4294967296-4294967299", five_gib, part(4_294_967_296..4_294_967_300)),
            ("bytes=4294967295-4294967296", five_gib, part(4_294_967_295..4_294_967_297)),
            ("bytes=-1", five_gib, part(five_gib - 1..five_gib)),
            ("bytes=0-", u64::MAX, part(0..u64::MAX)),
            ("bytes=18446744073709551614-18446744073709551615", u64::MAX, part(u64::MAX - 1..u64::MAX)),
            ("bytes=0-,1-", u64::MAX, Selection::Whole),
        ];
        for (header, length, expected) in table {
            assert_eq!(select(header.as_bytes(), length), expected, "{header}");
        }
    }

    /// Sixteen is the last number of ranges that is still served one by one.
    #[test]
    fn sixteen_ranges_are_served() {
        let set: Vec<String> = (0..16).map(|place| format!("{0}-{0}", place * 2)).collect();
        let Selection::Parts(ranges) = select(format!("bytes={}", set.join(",")).as_bytes(), 100) else {
            panic!("not served in parts");
        };
        assert_eq!(ranges.len(), 16);
    }

    fn assert_sound(selection: &Selection, length: u64) {
        let ranges: &[Range<u64>] = match selection {
            Selection::Whole | Selection::Unsatisfiable => return,
            Selection::Part(range) => std::slice::from_ref(range),
            Selection::Parts(ranges) => ranges,
        };
        assert_ne!(matches!(selection, Selection::Part(_)), ranges.len() > 1);
        assert!(ranges.len() <= MAX_RANGES);
        assert!(ranges.iter().all(|range| range.start < range.end && range.end <= length), "{ranges:?} of {length}");
        assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
    }

    proptest! {
        #[test]
        fn what_is_selected_lies_in_the_document(
            header in "bytes=([0-9]{0,3}-[0-9]{0,3},? ?){0,18}",
            length in 0u64..1200,
        ) {
            assert_sound(&select(header.as_bytes(), length), length);
        }

        #[test]
        fn any_line_and_any_length_are_sound(header in "(bytes=)?[0-9 ,-]{0,80}", length in any::<u64>()) {
            assert_sound(&select(header.as_bytes(), length), length);
        }

        /// The bytes that are selected are the bytes that were asked for, no more and no fewer.
        #[test]
        fn every_byte_asked_for_is_selected(asked in proptest::collection::vec((0u64..60, 0u64..8), 1..6)) {
            let length = 64;
            let set: Vec<String> = asked.iter().map(|(first, more)| format!("{first}-{}", first + more)).collect();
            let is_asked = |byte: u64| asked.iter().any(|(first, more)| (*first..=first + more).contains(&byte));
            let selected = match select(format!("bytes={}", set.join(",")).as_bytes(), length) {
                Selection::Part(range) => vec![range],
                Selection::Parts(ranges) => ranges,
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            };
            for byte in 0..length {
                prop_assert_eq!(selected.iter().any(|range| range.contains(&byte)), is_asked(byte), "byte {}", byte);
            }
        }
    }
}
