//! Answers that are whole and wrong.

use std::io::Write;

use quintain::record::Endings;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::{Load, N, all_ok, every_way};
use crate::harness::{Answer, TruthServer, Turn, chunked};

const LENGTH: usize = 40_000;

fn content() -> Vec<u8> {
    (0..LENGTH).map(|at| (at % 251) as u8).collect()
}

/// The content with its last byte changed.
fn one_byte_wrong() -> Vec<u8> {
    let mut bytes = content();
    bytes[LENGTH - 1] ^= 1;
    bytes
}

/// In pieces, so that the client has it by several reads, none of which ends where a block of the digest does.
fn answer(body: &[u8]) -> Answer {
    Answer::ok(body).in_pieces(7_001)
}

fn file_of(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(content).expect("it is written");
    file
}

fn sha256_of(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

#[test]
fn bodies_are_compared_with_a_file_or_a_digest() {
    let file = file_of(&content());
    let expectations = [file.path().to_str().expect("a UTF-8 path").to_owned(), sha256_of(&content())];
    let longer = [content(), vec![0]].concat();
    for expectation in &expectations {
        let more = format!("--verify {expectation}");
        every_way(|_| answer(&content()), &more, all_ok());
        every_way(|_| answer(&one_byte_wrong()), &more, Endings { content_differs: N, ..Endings::default() });
    }
    // A digest alone says nothing of a length.
    let from_file = format!("--verify {}", expectations[0]);
    let by_length = Endings { length_differs: N, ..Endings::default() };
    let too_long = longer.clone();
    every_way(move |_| answer(&too_long), &from_file, by_length);
    every_way(|_| answer(&content()[1..]), &from_file, by_length);
    let by_content = Endings { content_differs: N, ..Endings::default() };
    every_way(move |_| answer(&longer), &format!("--verify {}", expectations[1]), by_content);
}

#[test]
fn chunk_framing_is_no_content() {
    let file = file_of(b"abc0123456789");
    let more = format!("--verify {}", file.path().display());
    every_way(|_| chunked(&[("abc", ";x"), ("0123456789", "")], "X: 1\r\n").in_pieces(2), &more, all_ok());
}

/// All answers are wrong, and those that are looked at fail: one in three of 30, on however many threads.
#[test]
fn one_in_n_is_looked_at() {
    let file = file_of(b"expected..");
    for threads in [1, 2] {
        let server = TruthServer::answering(|_| Answer::ok("0123456789"));
        let load =
            Load::of(server.url("/")).with(&format!("-n 60 -c 2 --threads {threads} --verify-one-in 3 --verify"));
        let run = load.word(file.path().to_str().expect("a UTF-8 path")).measure();
        let Endings { ok, content_differs, .. } = run.endings;
        assert_eq!(ok + content_differs, 60);
        // Each thread counts by itself, so up to one request of each is one more or less than a third.
        assert!(content_differs.abs_diff(20) <= threads, "{:?}", run.endings);
        assert_eq!(run.settings.body_check, "content 1 in 3");
    }
}

#[test]
fn lengths_of_a_url_are_equal_unless_they_may_differ() {
    // The first answer has ten bytes; each third one of those after it has eleven.
    let script = |turn: &Turn<'_>| Answer::ok(if turn.request % 3 == 2 { "0123456789x" } else { "0123456789" });
    // One connection, so that the server's first answer is the client's first.
    let load = |server: &TruthServer| Load::of(server.url("/")).with("-n 30 -c 1 --threads 1");
    let server = TruthServer::answering(script);
    let endings = load(&server).endings();
    assert_eq!(endings, Endings { ok: 20, length_differs: 10, ..Endings::default() });
    let server = TruthServer::answering(script);
    assert_eq!(load(&server).with("--any-length").endings(), Endings { ok: 30, ..Endings::default() });
}

/// Lengths are compared for each URL by itself.
#[test]
fn urls_have_lengths_of_their_own() {
    for threads in ["1", "2"] {
        let server = TruthServer::answering(|turn| Answer::ok(turn.target()));
        let load = Load::of(server.url("/a")).word(server.url("/abc")).word(server.url("/abcdef"));
        let endings = load.with("-n 31 -c 4 --threads").word(threads).endings();
        assert_eq!(endings, Endings { ok: 31, ..Endings::default() });
    }
}

#[test]
fn a_file_that_cannot_be_read_stops_it_before_any_request() {
    let server = TruthServer::answering(|_| Answer::ok(""));
    let ran = Load::of(server.url("/")).with("-n 5 -c 1 --verify /nonexistent/expected").run();
    assert!(matches!(ran.code, Some(1 | 2)), "{ran:#?}");
    assert!(ran.stderr.contains("/nonexistent/expected"), "{ran:#?}");
    assert_eq!(server.ledger().accepted, 0);
}
