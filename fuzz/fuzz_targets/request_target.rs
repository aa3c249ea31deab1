//! Whatever stands in a request line: a target is refused, or it names something below the root.
//!
//! An input is a target as it is sent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::site::target::{Target, escape};

fuzz_target!(|sent: &str| {
    let Ok(target) = Target::parse(sent) else { return };
    assert_normal(target.path());

    let again = format!("/{}", escape(target.path()));
    let again = Target::parse(&again).expect("what was escaped can be parsed");
    assert_eq!(again, target, "escaping and parsing again is the same target");

    let reference = target.folder_reference(Some("a=b"));
    assert!(reference.starts_with('/') && !reference[1..].starts_with(['/', '\\']), "{reference}");
    assert!(reference.bytes().all(|byte| byte.is_ascii_graphic()), "{reference}");
});

fn assert_normal(path: &[u8]) {
    assert!(!path.contains(&0), "a NUL in {path:?}");
    if path.is_empty() {
        return;
    }
    let segments = path.strip_suffix(b"/").unwrap_or(path);
    for segment in segments.split(|&byte| byte == b'/') {
        assert!(!matches!(segment, b"" | b"." | b".."), "the segment {segment:?} in {path:?}");
    }
}
