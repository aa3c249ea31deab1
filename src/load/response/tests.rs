//! Each answer of the tables is read whole, cut at every place, byte by byte, and with its body discarded: the same is found.

use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// What was found in the bytes of one answer.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    head: Option<Head>,
    head_bytes: Vec<u8>,
    body: Vec<u8>,
    how: How,
    /// What belongs to the next answer.
    left: Vec<u8>,
}

/// How an answer ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum How {
    #[default]
    End,
    Malformed,
    Closed(Eof),
}

/// What is done with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Discard,
}

/// Gives a framer the pieces, one after the other, and then the end of the connection.
fn read(to_head: bool, pieces: &[&[u8]], using: Use) -> Found {
    let mut last = LastHead::default();
    let first = read_after(&mut last, to_head, pieces, using);
    assert_eq!(read_after(&mut last, to_head, pieces, using), first, "after the same head");
    first
}

fn read_after(last: &mut LastHead, to_head: bool, pieces: &[&[u8]], using: Use) -> Found {
    let mut framer = Framer::new();
    framer.begin(to_head);
    let mut found = Found::default();
    for (at, piece) in pieces.iter().enumerate() {
        let mut input = *piece;
        match read_piece(&mut framer, last, &mut input, using, &mut found) {
            Ok(false) => assert!(input.is_empty(), "more was asked for, and {} bytes are left", input.len()),
            Ok(true) => {
                found.left = [&[input], &pieces[at + 1..]].concat().concat();
                assert_eq!(framer.next(&mut input, last, |_| ()), Ok(None), "after the end");
                assert_eq!(framer.eof(), Eof::Nothing, "after the end");
                return found;
            }
            Err(Malformed) => {
                found.how = How::Malformed;
                return found;
            }
        }
        assert_eq!(framer.cut.capacity() > 0, !framer.cut.is_empty(), "memory is kept for a cut head alone");
    }
    found.how = How::Closed(framer.eof());
    found
}

/// Whether the answer has ended.
fn read_piece(
    framer: &mut Framer,
    last: &mut LastHead,
    input: &mut &[u8],
    using: Use,
    found: &mut Found,
) -> Result<bool, Malformed> {
    // An event takes a byte, except for the one or two ends.
    for _ in 0..input.len() + 3 {
        if using == Use::Discard {
            let discarded = take(input, framer.discardable());
            framer.discarded(discarded.len() as u64);
            found.body.extend_from_slice(discarded);
        }
        match framer.next(input, last, |head| found.head_bytes.extend_from_slice(head))? {
            Some(Event::Head(head)) => assert_eq!(found.head.replace(head), None, "a second head"),
            Some(Event::Body(piece)) => {
                assert!(!piece.is_empty() && found.head.is_some());
                found.body.extend_from_slice(piece);
            }
            Some(Event::End) => return Ok(true),
            None => return Ok(false),
        }
    }
    panic!("no progress in {input:?}: {framer:?}");
}

/// What is found however the bytes are cut.
#[track_caller]
fn read_every_way(to_head: bool, bytes: &[u8]) -> Found {
    let whole = read(to_head, &[bytes], Use::Read);
    let mut last = LastHead::default();
    let mut read = |to_head, pieces: &[&[u8]], using| read_after(&mut last, to_head, pieces, using);
    let single: Vec<_> = bytes.chunks(1).collect();
    for using in [Use::Read, Use::Discard] {
        assert_eq!(read(to_head, &[bytes], using), whole, "whole, {using:?}");
        assert_eq!(read(to_head, &single, using), whole, "byte by byte, {using:?}");
        for at in 0..bytes.len().min(600) {
            let (before, after) = bytes.split_at(at);
            assert_eq!(read(to_head, &[before, after], using), whole, "cut at {at}, {using:?}");
        }
    }
    whole
}

/// A line for a table: `200 keep says-keep-alive 'body' End left 'next'`.
fn line(found: &Found) -> String {
    let mut line = String::new();
    if let Some(head) = found.head {
        let keep = if head.keep_alive { "keep" } else { "close" };
        write!(line, "{} {keep} ", head.status).expect("to a string");
        line.push_str(if head.says_keep_alive { "says-keep-alive " } else { "" });
        write!(line, "'{}' ", found.body.escape_ascii()).expect("to a string");
    }
    match found.how {
        How::End => line.push_str("End"),
        How::Malformed => line.push_str("Malformed"),
        How::Closed(eof) => write!(line, "{eof:?}").expect("to a string"),
    }
    if !found.left.is_empty() {
        write!(line, " left '{}'", found.left.escape_ascii()).expect("to a string");
    }
    line
}

#[track_caller]
fn assert_rows(to_head: bool, rows: &[(&str, &str)]) {
    for (bytes, expected) in rows {
        assert_eq!(line(&read_every_way(to_head, bytes.as_bytes())), *expected, "{bytes:?}");
    }
}

#[test]
fn bodies_of_a_length() {
    assert_rows(
        false,
        &[
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 keep 'hello' End"),
            ("HTTP/1.1 200 OK\r\ncontent-LENGTH:5\r\n\r\nhelloHTTP/1.1 2", "200 keep 'hello' End left 'HTTP/1.1 2'"),
            ("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "200 keep 'hi' End"),
            ("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", "200 keep 'hi' End"),
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404 keep '' End"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nx", "200 keep '' End left 'x'"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 005\r\n\r\nhello", "200 keep 'hello' End"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "200 keep 'hi' End"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2, 02\r\n\r\nhi", "200 keep 'hi' End"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", "200 keep 'hi' Early"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nhi", "200 keep 'hi' Early"),
            ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length:\r\n 2\r\n\r\nhi", "200 keep 'hi' End"),
            ("\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 keep 'hi' End"),
        ],
    );
}

#[test]
fn bodies_up_to_the_end_of_the_connection() {
    assert_rows(
        false,
        &[
            ("HTTP/1.1 200 OK\r\n\r\n", "200 close '' Whole"),
            ("HTTP/1.1 200 OK\r\n\r\nhello", "200 close 'hello' Whole"),
            ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhi", "200 close says-keep-alive 'hi' Whole"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nhi", "200 close 'hi' Whole"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\nhi", "200 close 'hi' Whole"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 1\r\n\r\nhi", "200 close 'hi' Whole"),
        ],
    );
}

#[test]
fn answers_without_a_body() {
    assert_rows(
        false,
        &[
            ("HTTP/1.1 204 No Content\r\n\r\nHTTP", "204 keep '' End left 'HTTP'"),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "304 keep '' End"),
            ("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\nContent-Length: x\r\n\r\n", "304 keep '' End"),
            ("HTTP/1.0 204 No Content\r\n\r\n", "204 close '' End"),
        ],
    );
    assert_rows(
        true,
        &[
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP", "200 keep '' End left 'HTTP'"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200 keep '' End"),
            ("HTTP/1.1 200 OK\r\n\r\n", "200 keep '' End"),
        ],
    );
}

#[test]
fn chunked_bodies() {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let rows = [
        ("0\r\n\r\n", "200 keep '' End"),
        ("5\r\nhello\r\n0\r\n\r\n", "200 keep 'hello' End"),
        ("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\nHTTP", "200 keep 'hello' End left 'HTTP'"),
        ("00A\r\n0123456789\r\n000\r\n\r\n", "200 keep '0123456789' End"),
        ("a;name=value;quoted=\"; 5\"\r\n0123456789\r\n0;x\r\n\r\n", "200 keep '0123456789' End"),
        ("2 \t\r\nhi\r\n0 ; x\r\n\r\n", "200 keep 'hi' End"),
        ("2\nhi\n0\n\n", "200 keep 'hi' End"),
        ("2\r\nhi\r\n0\r\nA: b\r\nC: d\r\n\r\nx", "200 keep 'hi' End left 'x'"),
        ("2\r\n0\r\r\n0\r\n\r\n", "200 keep '0\\r' End"),
        ("2\r\nh", "200 keep 'h' Early"),
        ("2\r\nhi\r\n", "200 keep 'hi' Early"),
        ("2\r\nhi\r\n0\r\n", "200 keep 'hi' Early"),
        ("ffffffffffffffff\r\nh", "200 keep 'h' Early"),
        ("10000000000000000\r\n", "200 keep '' Malformed"),
        ("\r\nhi", "200 keep '' Malformed"),
        ("-1\r\n", "200 keep '' Malformed"),
        ("0x2\r\nhi", "200 keep '' Malformed"),
        ("2 2\r\nhi", "200 keep '' Malformed"),
        ("2\rhi", "200 keep '' Malformed"),
        (";x\r\n", "200 keep '' Malformed"),
        ("2\r\nhi0\r\n\r\n", "200 keep 'hi' Malformed"),
        ("2\r\nhi\rx", "200 keep 'hi' Malformed"),
        ("0\r\n\rx", "200 keep '' Malformed"),
    ];
    for (body, expected) in rows {
        assert_rows(false, &[(&format!("{CHUNKED}{body}"), expected)]);
    }
}

#[test]
fn who_says_chunked() {
    let rows = [
        ("HTTP/1.1", "Transfer-Encoding: Chunked", "200 keep 'hi' End"),
        ("HTTP/1.1", "Transfer-Encoding: gzip, chunked", "200 keep 'hi' End"),
        ("HTTP/1.1", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "200 keep 'hi' End"),
        ("HTTP/1.1", "Transfer-Encoding: chunked,\r\nTransfer-Encoding:", "200 keep 'hi' End"),
        ("HTTP/1.1", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\nContent-Length: x", "200 keep 'hi' End"),
        ("HTTP/1.1", "Transfer-Encoding: chunked;q=1", "Malformed"),
        ("HTTP/1.0", "Transfer-Encoding: chunked", "200 close 'hi' End"),
        ("HTTP/1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked", "200 close says-keep-alive 'hi' End"),
    ];
    for (version, lines, expected) in rows {
        let bytes = format!("{version} 200 OK\r\n{lines}\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
        assert_rows(false, &[(&bytes, expected)]);
    }
}

#[test]
fn who_keeps_the_connection() {
    let rows = [
        ("HTTP/1.1", "", "200 keep '' End"),
        ("HTTP/1.1", "Connection: close\r\n", "200 close '' End"),
        ("HTTP/1.1", "Connection: x, CLOSE\r\n", "200 close '' End"),
        ("HTTP/1.1", "Connection: keep-alive\r\nConnection: close\r\n", "200 close says-keep-alive '' End"),
        ("HTTP/1.1", "Connection: close-not\r\n", "200 keep '' End"),
        ("HTTP/1.0", "", "200 close '' End"),
        ("HTTP/1.0", "Connection: Keep-Alive\r\n", "200 keep says-keep-alive '' End"),
        ("HTTP/1.0", "Connection: close, keep-alive\r\n", "200 close says-keep-alive '' End"),
        ("HTTP/1.0", "Keep-Alive: timeout=5\r\n", "200 close says-keep-alive '' End"),
        ("HTTP/1.0", "X: not-KEEP-alive-at-all\r\n", "200 close says-keep-alive '' End"),
        ("HTTP/1.0", "V: keep-aliv, eep-alive, keep_alive\r\n", "200 close '' End"),
    ];
    for (version, lines, expected) in rows {
        assert_rows(false, &[(&format!("{version} 200 OK\r\n{lines}Content-Length: 0\r\n\r\n"), expected)]);
    }
}

#[test]
fn interim_answers_are_passed_over() {
    let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>; Keep-Alive\r\n\r\n";
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    assert_rows(
        false,
        &[
            (&format!("{early}{answer}"), "200 keep 'hi' End"),
            (&format!("HTTP/1.1 100 Continue\r\n\r\n{early}{answer}x"), "200 keep 'hi' End left 'x'"),
            (&format!("{}{answer}", early.repeat(MOST_INTERIM.into())), "200 keep 'hi' End"),
            (&format!("{}{answer}", early.repeat(usize::from(MOST_INTERIM) + 1)), "Malformed"),
            (early, "Early"),
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "Malformed"),
        ],
    );
}

#[test]
fn what_is_no_head() {
    assert_rows(
        false,
        &[
            ("", "Nothing"),
            ("\r\n\r\n", "Nothing"),
            ("\n\n\n\n\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nA: b", "Early"),
            ("HTTP/1.1 200 OK\r\nA\x01: b", "Early"),
            ("H", "Early"),
            ("SSH-2.0-OpenSSH_9.2\r\n", "Malformed"),
            ("\x15\x03\x01\0\x02\x02", "Malformed"),
            ("HTTP/2.0 200 OK\r\n\r\n", "Malformed"),
            ("HTTP/1.2 200 OK\r\n\r\n", "Malformed"),
            ("HTTP/1.1200 OK\r\n\r\n", "Malformed"),
            ("HTTP/1.1 20 OK\r\n\r\n", "Malformed"),
            ("HTTP/1.1 2000 OK\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nA\x01: b\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1 1\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1,\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: x\r\nContent-Length: 2\r\n\r\n", "Malformed"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n", "Malformed"),
        ],
    );
}

#[test]
fn statuses_that_nobody_knows_are_final() {
    assert_rows(
        false,
        &[
            ("HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n", "99 keep '' End"),
            ("HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", "999 keep '' End"),
        ],
    );
}

/// Whole and in two pieces, which is what a limit can differ by.
#[track_caller]
fn assert_how(bytes: &[u8], expected: How) {
    let (before, after) = bytes.split_at(bytes.len() / 2);
    assert_eq!(read(false, &[bytes], Use::Read).how, expected, "whole");
    assert_eq!(read(false, &[before, after], Use::Read).how, expected, "in two pieces");
    assert_eq!(read(false, &bytes.chunks(1).collect::<Vec<_>>(), Use::Read).how, expected, "byte by byte");
}

#[test]
fn heads_have_a_longest() {
    let head = |length: usize| {
        let around = "HTTP/1.1 204 X\r\nA: \r\n\r\n".len();
        format!("HTTP/1.1 204 X\r\nA: {}\r\n\r\n", "x".repeat(length - around)).into_bytes()
    };
    assert_how(&head(MOST_HEAD_BYTES), How::End);
    assert_how(&head(MOST_HEAD_BYTES + 1), How::Malformed);
    assert_how(&head(MOST_HEAD_BYTES + 1)[..MOST_HEAD_BYTES], How::Closed(Eof::Early));
    assert_how(&[PROTOCOL, &vec![b'x'; MOST_HEAD_BYTES]].concat(), How::Malformed);
}

#[test]
fn heads_have_a_most_of_lines() {
    let head = |lines: usize| format!("HTTP/1.1 204 X\r\n{}\r\n", "A: b\r\n".repeat(lines)).into_bytes();
    for (lines, expected) in [(64, How::End), (65, How::End), (256, How::End), (257, How::Malformed)] {
        assert_how(&head(lines), expected);
    }
}

#[test]
fn lines_of_chunks_and_trailers_have_a_longest() {
    let body = |text: &str| format!("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n{text}").into_bytes();
    for (more, expected) in [(0, How::End), (1, How::Malformed)] {
        let line = |length: usize, around: &str| "x".repeat(length + more - around.len());
        assert_how(&body(&format!("0;{}\r\n\r\n", line(8 << 10, "0;\r\n"))), expected);
        assert_how(&body(&format!("{}\r\n\r\n", line(8 << 10, "\r\n").replace('x', "0"))), expected);
        assert_how(&body(&format!("0\r\nA: {}\r\n\r\n", line(64 << 10, "A: \r\n\r\n"))), expected);
        assert_how(&body(&format!("0\r\n{}{}\r\n\r\n", "A: b\r\n".repeat(1000), line(59_536, "\r\n\r\n"))), expected);
    }
    // Each chunk has a line of its own.
    let chunk = format!("1;{}\r\nx\r\n", "x".repeat(8000));
    assert_how(&body(&format!("{}0\r\n\r\n", chunk.repeat(5))), How::End);
}

#[test]
fn the_bytes_of_a_final_head_are_shown() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    let found = read_every_way(false, format!("\r\nHTTP/1.1 100 Continue\r\n\r\n{head}hi").as_bytes());
    assert_eq!(found.head_bytes.escape_ascii().to_string(), head.as_bytes().escape_ascii().to_string());
}

#[test]
fn one_answer_after_the_other() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let bytes = answer.repeat(3);
    let (mut framer, mut input, mut answers) = (Framer::new(), &bytes[..], 0);
    let last = &mut LastHead::default();
    assert_eq!(framer.next(&mut input, last, |_| ()), Ok(None), "nothing is awaited");
    assert_eq!((framer.eof(), input.len()), (Eof::Nothing, bytes.len()));
    while !input.is_empty() {
        framer.begin(false);
        let mut found = Found::default();
        assert_eq!(read_piece(&mut framer, last, &mut input, Use::Read, &mut found), Ok(true));
        answers += 1;
        assert_eq!((&found.body[..], input.len()), (&b"hi"[..], bytes.len() - answers * answer.len()));
    }
    assert_eq!(answers, 3);
}

#[test]
fn what_may_be_discarded() {
    let (mut framer, last) = (Framer::new(), &mut LastHead::default());
    framer.begin(false);
    let mut input = &b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\nx"[..];
    assert_eq!(framer.discardable(), 0);
    assert!(matches!(framer.next(&mut input, last, |_| ()), Ok(Some(Event::Head(_)))));
    assert_eq!(framer.discardable(), 1_000_000_000_000);
    assert_eq!(framer.next(&mut input, last, |_| ()), Ok(Some(Event::Body(b"x"))));
    framer.discarded(999_999_999_998);
    assert_eq!((framer.discardable(), framer.next(&mut input, last, |_| ())), (1, Ok(None)));
    framer.discarded(1);
    assert_eq!((framer.discardable(), framer.next(&mut input, last, |_| ())), (0, Ok(Some(Event::End))));
}

/// What is read beyond what is thrown away is gone with it, so it must not be framing.
#[test]
fn what_may_follow_the_discardable() {
    for (lines, ends) in [("Content-Length: 9", true), ("Transfer-Encoding: chunked", false)] {
        let (mut framer, last) = (Framer::new(), &mut LastHead::default());
        framer.begin(false);
        let head = format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n");
        let (mut input, mut chunk) = (head.as_bytes(), if ends { &b"1"[..] } else { &b"9\r\n1"[..] });
        assert!(matches!(framer.next(&mut input, last, |_| ()), Ok(Some(Event::Head(_)))));
        assert_eq!(framer.next(&mut chunk, last, |_| ()), Ok(Some(Event::Body(b"1"))));
        assert_eq!((framer.discardable(), framer.ends_with_discardable()), (8, ends), "{lines}");
    }
}

/// An answer that is right, as bytes, with its status and its body.
fn right_answers() -> impl Strategy<Value = (Vec<u8>, u16, Vec<u8>)> {
    let lines = vec(("X-[a-z]{1,9}", "[ -~]{0,20}"), 0..5);
    let pieces = vec(vec(any::<u8>(), 1..50), 0..6);
    (200u16..600, lines, pieces, any::<bool>(), 0usize..3).prop_map(|(status, lines, pieces, chunked, interim)| {
        let mut bytes = b"HTTP/1.1 102 Processing\r\n\r\n".repeat(interim);
        bytes.extend(format!("HTTP/1.1 {status} Reason\r\n").into_bytes());
        bytes.extend(lines.iter().flat_map(|(name, value)| format!("{name}: {value}\r\n").into_bytes()));
        let body = if matches!(status, 204 | 304) { Vec::new() } else { pieces.concat() };
        if matches!(status, 204 | 304) {
            bytes.extend(b"\r\n");
        } else if chunked {
            bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
            for piece in &pieces {
                bytes.extend(format!("{:x}\r\n", piece.len()).into_bytes());
                bytes.extend(piece);
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\n\r\n");
        } else {
            bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
            bytes.extend(&body);
        }
        (bytes, status, body)
    })
}

/// Bytes that look like an answer now and then.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just(&b"HTTP/1.1 200 OK\r\n"[..]),
        Just(&b"HTTP/1.0 103\n"[..]),
        Just(&b"Content-Length: 3\r\n"[..]),
        Just(&b"Transfer-Encoding: chunked\r\n"[..]),
        Just(&b"A: b\r\n c\r\n"[..]),
        Just(&b"\r\n"[..]),
        Just(&b"\n"[..]),
        Just(&b"2\r\nhi\r\n"[..]),
        Just(&b"0\r\n\r\n"[..]),
    ];
    let part = prop_oneof![4 => word.prop_map(<[u8]>::to_vec), 1 => vec(any::<u8>(), 0..6)];
    vec(part, 0..12).prop_map(|parts| parts.concat())
}

/// Cuts bytes into pieces, of which some are empty.
fn cut<'a>(bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut pieces: Vec<_> = lengths.iter().map(|length| take(&mut rest, *length as u64)).collect();
    pieces.push(rest);
    pieces
}

proptest! {
    #[test]
    fn right_answers_come_through(
        (bytes, status, body) in right_answers(),
        next in vec(any::<u8>(), 0..20),
        lengths in vec(0usize..60, 0..20),
    ) {
        let bytes = [bytes, next.clone()].concat();
        for using in [Use::Read, Use::Discard] {
            let found = read(false, &cut(&bytes, &lengths), using);
            prop_assert_eq!(found.head.map(|head| head.status), Some(status));
            prop_assert_eq!((found.how, &found.body, &found.left), (How::End, &body, &next));
        }
    }

    /// [`read`] asserts that there is progress.
    #[test]
    fn cuts_make_no_difference_to_any_bytes(
        bytes in any_bytes(),
        to_head in any::<bool>(),
        lengths in vec(0usize..20, 0..20),
    ) {
        let whole = read(to_head, &[&bytes], Use::Read);
        for using in [Use::Read, Use::Discard] {
            prop_assert_eq!(&read(to_head, &cut(&bytes, &lengths), using), &whole);
        }
    }
}

/// A head that begins with the bytes of another one is another head, and a kept head is whole.
#[test]
fn what_came_before_makes_no_difference() {
    let heads = [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n",
        "HTTP/1.0 200 OK\n\nhi",
        "",
    ];
    for before in heads {
        for bytes in heads {
            let mut last = LastHead::default();
            read_after(&mut last, false, &[before.as_bytes()], Use::Read);
            let after = read_after(&mut last, false, &[bytes.as_bytes()], Use::Read);
            assert_eq!(after, read(false, &[bytes.as_bytes()], Use::Read), "{bytes:?} after {before:?}");
        }
    }
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(4 << 10));
    let mut last = LastHead::default();
    read_after(&mut last, false, &[long.as_bytes()], Use::Read);
    assert_eq!(format!("{last:?}"), format!("{:?}", LastHead::default()), "a long head is not kept");
}
