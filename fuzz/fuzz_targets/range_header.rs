//! Whatever stands in a Range line: what is selected lies in the document, in order and apart.
//!
//! An input is the value of the line; it is tried on documents of several lengths.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::site::ranges::{MAX_RANGES, Selection, select};

const LENGTHS: [u64; 7] = [0, 1, 10, 1000, u32::MAX as u64 + 2, i64::MAX as u64, u64::MAX];

fuzz_target!(|header: &[u8]| {
    for length in LENGTHS {
        let ranges = match select(header, length) {
            Selection::Whole | Selection::Unsatisfiable => continue,
            Selection::Part(range) => vec![range],
            Selection::Parts(ranges) => {
                assert!(ranges.len() > 1, "one range is no multipart");
                ranges
            }
        };
        assert!(ranges.len() <= MAX_RANGES, "{} ranges", ranges.len());
        assert!(ranges.iter().all(|range| range.start < range.end && range.end <= length), "{ranges:?} of {length}");
        assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
    }
});
