//! Requests that come in one piece although they are two: what is refused behind a good request is refused as well as
//! if it had come alone.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::in_every_model;
use crate::harness::{Client, Launch, Response, Site};

const GOOD: &str = "GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n";
const GOOD_HEAD: &str = "HEAD /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n";

/// The whole next answer, or a failure that shows all that came.
#[track_caller]
fn answer(client: &mut Client, what: &str) -> Response {
    client.answer().unwrap_or_else(|broken| panic!("{what}: {broken}; received:\n{}", client.received()))
}

/// A refusal of this server and not hyper's own, which has no `server:` line and no body.
#[track_caller]
fn expect_our_refusal(refused: &Response, status: u16, what: &str) {
    assert_eq!(refused.status, status, "{what}: {refused:?}");
    assert!(refused.header("server").is_some(), "{what}: the answer is not the server's own: {refused:?}");
    assert!(!refused.body.is_empty(), "{what}: no body: {refused:?}");
    assert!(refused.says_close(), "{what}: {refused:?}");
}

/// One good request, whose body is not in one piece, and a malformed one in the same segment.
fn expect_counted_refusal(site: &Site, model: &str, launch: Launch, good: &str, status: u16) {
    let log = site.outer().join(format!("{model}-{status}.log"));
    let launch = launch.set("log.access", log.to_str().expect("UTF-8")).set("log.access_format", "json");
    let server = launch.start();
    let mut client = server.client();
    client.send(format!("{good}G@T /\x01 HTTP/1.1\r\n\r\n"));
    assert_eq!(answer(&mut client, model).status, status);
    expect_our_refusal(&answer(&mut client, model), 400, model);
    client.expect_end();

    let metrics = server.wait_for_metrics("an end", |m| m.sum("quintain_connections_open", &[]) == 0.0);
    assert_eq!(metrics.sum("quintain_http_requests_total", &["4xx"]), 1.0, "{model}: the refusal was not counted");
    server.stop();
    let lines = fs::read_to_string(&log).expect("an access log");
    let entries = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let logged: Vec<_> = entries.map(|entry| entry["status"].clone()).collect();
    assert_eq!(logged, [status, 400], "{model}: {lines}");
}

/// The server looks for a bad head itself, before hyper does, but left off where the answer before it was one that
/// hyper asks for piece by piece. Its refusal was then hyper's: bare, not counted and not logged.
#[test]
fn a_bad_head_behind_several_ranges_is_refused_counted_and_logged() {
    let site = Site::full();
    in_every_model(&site, |model, launch| {
        let ranges = "GET /thousand.txt HTTP/1.1\r\nHost: t\r\nRange: bytes=0-1,5-6\r\n\r\n";
        expect_counted_refusal(&site, model, launch, ranges, 206);
    });
}

/// The same where the body is read from the file in chunks.
#[test]
fn a_bad_head_behind_a_streamed_body_is_refused_counted_and_logged() {
    let site = Site::full();
    in_every_model(&site, |model, launch| {
        let launch = launch.set("transfer.path", "stream").set("files.cache_file_max", "0");
        let large = "GET /big.bin HTTP/1.1\r\nHost: t\r\n\r\n";
        expect_counted_refusal(&site, model, launch, large, 200);
    });
}

/// RFC 9112 section 6.1 has both of Content-Length and Transfer-Encoding for an attempt at smuggling. Where the head
/// was cut anywhere behind a whole request, the check of the raw head never saw it and the answer was a plain 405.
#[test]
fn two_lengths_are_refused_wherever_the_segments_are_cut() {
    let site = Site::small();
    let lengths = "POST /ten.txt HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n";
    let both = format!("{GOOD}{lengths}0\r\n\r\n");
    in_every_model(&site, |model, launch| {
        let server = launch.start();
        for cut in (1..GOOD.len() + lengths.len()).step_by(7) {
            let what = format!("{model}, cut at {cut}");
            let mut client = server.client();
            client.send(&both[..cut]);
            // With the first answer there, what had come with its request has been read as well.
            let early = (cut >= GOOD.len()).then(|| answer(&mut client, &what));
            if early.is_none() {
                thread::sleep(Duration::from_millis(10));
            }
            client.send(&both[cut..]);
            let first = early.unwrap_or_else(|| answer(&mut client, &what));
            assert_eq!(first.status, 200, "{what}");
            expect_our_refusal(&answer(&mut client, &what), 400, &what);
        }
    });
}

/// Whether an answer has a body hangs on the method that it answers. A refusal took that of the request before: after
/// HEAD it announced a body that never came, and the client waited for it.
#[test]
fn a_refusal_behind_head_has_a_body() {
    let site = Site::small();
    in_every_model(&site, |model, launch| {
        let server = launch.start();
        let mut client = server.client();
        client.send(format!("{GOOD_HEAD}GET /ten.txt HTTP/1.1\r\nbroken\r\n\r\n"));
        assert_eq!(client.answer_to_head().expect("an answer to HEAD").status, 200);
        expect_our_refusal(&answer(&mut client, model), 400, model);
        client.expect_end();
    });
}

/// The other way round: a body behind the answer to HEAD would be taken for the start of the next answer.
#[test]
fn a_refused_head_behind_get_has_no_body() {
    let site = Site::small();
    in_every_model(&site, |model, launch| {
        let server = launch.start();
        let mut client = server.client();
        client.send(format!("{GOOD}HEAD /ten.txt HTTP/1.1\r\nbroken\r\n\r\n"));
        assert_eq!(answer(&mut client, model).status, 200);
        let refused = client.answer_to_head().expect("an answer to HEAD");
        assert_eq!(refused.status, 400, "{model}: {refused:?}");
        client.expect_end();
    });
}
