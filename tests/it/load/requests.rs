//! What the server saw: request lines, head lines, bodies, and where they came from.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};

use quintain::record::Endings;
use tempfile::NamedTempFile;

use super::Load;
use crate::harness::{Answer, Endpoint, Launch, Ledger, Metrics, Site, TEN, TruthServer, Turn};

/// Requests of a run here.
const N: u64 = 12;

/// Sends `N` requests with these words, all of which must end well, and returns the ledger.
#[track_caller]
fn seen(words: &str) -> (Ledger, String) {
    seen_by(|_| Answer::ok("0123456789"), |load| load.with(words))
}

#[track_caller]
fn seen_by(
    reply: impl Fn(&Turn<'_>) -> Answer + Send + Sync + 'static,
    more: impl Fn(Load) -> Load,
) -> (Ledger, String) {
    let server = TruthServer::answering(reply);
    let run = more(Load::of(server.url("/path?query=1")).with(&format!("-n {N} -c 3 --threads 2"))).measure();
    assert_eq!(run.endings, Endings { ok: N, ..Endings::default() });
    let ledger = server.ledger();
    assert_eq!(ledger.requests, N);
    assert_eq!(run.transfer.sent_bytes, ledger.received_bytes);
    assert_eq!(run.target.request_bytes, ledger.asked[0].bytes.len() as u64);
    assert!(ledger.asked.iter().all(|asked| asked.bytes == ledger.asked[0].bytes), "requests to one URL differ");
    (ledger, server.address().to_string())
}

/// The request line, and the head lines by their names in lower case; no name may be there twice.
#[track_caller]
fn head(ledger: &Ledger) -> (String, BTreeMap<String, String>) {
    let text = ledger.asked[0].text();
    let (head, _) = text.split_once("\r\n\r\n").expect("a whole head");
    let mut lines = head.split("\r\n");
    let first = lines.next().expect("a request line").to_owned();
    let mut map = BTreeMap::new();
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("no head line: {line:?}"));
        assert!(map.insert(name.to_lowercase(), value.to_owned()).is_none(), "{name} is there twice: {head}");
    }
    (first, map)
}

#[test]
fn a_plain_request() {
    let (ledger, authority) = seen("");
    let (line, lines) = head(&ledger);
    assert_eq!(line, "GET /path?query=1 HTTP/1.1");
    assert_eq!(lines.get("host"), Some(&authority));
    assert!(!lines.contains_key("connection"), "HTTP/1.1 keeps connections without being asked: {lines:?}");
    assert!(!lines.contains_key("content-length"), "{lines:?}");
    assert_eq!(ledger.accepted, 3);
}

#[test]
fn connections_are_kept_or_not_in_both_versions() {
    // HTTP/1.1 keeps without a word, and HTTP/1.0 closes (RFC 9112 section 9.3); saying so does no harm.
    let rows = [
        ("--http 1.1 --connections short", "HTTP/1.1", Some("close")),
        ("--http 1.0 --connections keep-alive", "HTTP/1.0", Some("keep-alive")),
        ("--http 1.0 --connections short", "HTTP/1.0", Some("close")),
    ];
    for (words, version, connection) in rows {
        let kept = words.ends_with("keep-alive");
        let reply = move |_: &Turn<'_>| {
            let lines = if kept { "Connection: keep-alive\r\n" } else { "" };
            let answer = Answer::head_and_body(&format!("{version} 200 OK\r\n{lines}Content-Length: 0\r\n\r\n"), "");
            if kept { answer } else { answer.then_close() }
        };
        let (ledger, _) = seen_by(reply, |load| load.with(words));
        let (line, lines) = head(&ledger);
        assert_eq!(line, format!("GET /path?query=1 {version}"));
        assert_eq!(lines.get("connection").map(|value| value.to_lowercase()).as_deref(), connection, "{words}");
        assert_eq!(ledger.accepted, if kept { 3 } else { N }, "{words}");
    }
}

#[test]
fn methods() {
    for method in ["OPTIONS", "DELETE", "PATCH"] {
        assert_eq!(head(&seen(&format!("-m {method}")).0).0, format!("{method} /path?query=1 HTTP/1.1"));
    }
    let (ledger, _) = seen_by(
        |_| Answer::head_and_body("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", ""),
        |load| load.with("-m HEAD"),
    );
    assert_eq!(head(&ledger).0, "HEAD /path?query=1 HTTP/1.1");
    assert_eq!(ledger.accepted, 3);
}

#[test]
fn bodies_arrive_byte_for_byte() {
    let small: Vec<u8> = (0..=255).collect();
    // More than one write takes; the ledger keeps its begin.
    let large: Vec<u8> = (0..3_000_000u32).map(|at| (at % 253) as u8).collect();
    for body in [small, large, Vec::new()] {
        let mut file = NamedTempFile::new().expect("a temporary file");
        file.write_all(&body).expect("it is written");
        let path = file.path().to_str().expect("a UTF-8 path");
        for (method, words) in [("POST", ""), ("PUT", "-m PUT")] {
            let server = TruthServer::answering({
                let body = body.clone();
                move |turn| {
                    let arrived = turn.bytes.ends_with(&[b"\r\n\r\n", body.as_slice()].concat());
                    if arrived { Answer::ok("") } else { Answer::status("400 Bad Request", "") }
                }
            });
            let run = Load::of(server.url("/")).with("-n 12 -c 3 --threads 2 --body").word(path).with(words).measure();
            assert_eq!(run.endings, Endings { ok: 12, ..Endings::default() });
            let (line, lines) = head(&server.ledger());
            assert_eq!(line, format!("{method} / HTTP/1.1"));
            assert_eq!(lines.get("content-length"), Some(&body.len().to_string()));
            assert_eq!(run.transfer.sent_bytes, server.ledger().received_bytes);
            assert_eq!(run.target.request_body_bytes, body.len() as u64);
        }
    }
}

#[test]
fn head_lines_are_added_replaced_and_removed() {
    let more = |load: Load| {
        let lines = ["X-One: 1", "x-two:2", "Host: other.example", "User-Agent: me", "accept:"];
        lines.into_iter().fold(load, |load, line| load.word("-H").word(line))
    };
    let (_, lines) = head(&seen_by(|_| Answer::ok(""), more).0);
    for (name, value) in [("x-one", "1"), ("x-two", "2"), ("host", "other.example"), ("user-agent", "me")] {
        assert_eq!(lines.get(name).map(String::as_str), Some(value), "{lines:?}");
    }
    assert!(!lines.contains_key("accept"), "{lines:?}");
}

#[test]
fn credentials_and_cookies() {
    // RFC 7617 section 2 has this pair and its encoding.
    let (ledger, _) = seen_by(|_| Answer::ok(""), |load| load.with("--user").word("Aladdin:open sesame"));
    assert_eq!(head(&ledger).1["authorization"], "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    let server = TruthServer::answering(|_| Answer::ok(""));
    Load::of(format!("http://Aladdin:open@{}/", server.address())).with("-n 2 -c 1").endings();
    assert_eq!(head(&server.ledger()).1["authorization"], "Basic QWxhZGRpbjpvcGVu");
    let (ledger, _) = seen("--cookie a=1 --cookie b=2");
    assert_eq!(head(&ledger).1["cookie"], "a=1; b=2");
}

#[test]
fn connections_go_elsewhere_when_told() {
    let server = TruthServer::answering(|_| Answer::ok(""));
    let load = Load::of("http://name.invalid:81/x").with("-n 12 -c 3 --threads 2 --connect-to");
    let run = load.word(server.address().to_string()).measure();
    assert_eq!(run.endings, Endings { ok: 12, ..Endings::default() });
    assert_eq!(head(&server.ledger()).1["host"], "name.invalid:81");
    assert_eq!((run.target.host.as_str(), run.target.port), ("name.invalid", 81));
    assert_eq!(run.target.address, server.address().to_string());
}

#[test]
fn unix_sockets() {
    let site = Site::small();
    let path = site.outer().join("socket");
    let server = Launch::over(site.root()).listen(&format!("unix:{}", path.display())).with_admin().start();
    assert!(matches!(&server.endpoints()[1], Endpoint::Unix(found) if *found == path));
    let load = Load::of("http://localhost/ten.txt").with("-n 50 -c 3 --threads 2 --unix-socket");
    let run = load.word(path.to_str().expect("a UTF-8 path")).measure();
    assert_eq!(run.endings, Endings { ok: 50, ..Endings::default() });
    assert_eq!(run.transfer.received_body_bytes, 50 * TEN.len() as u64);
    assert_eq!((run.connections.opened, run.target.address), (3, format!("unix:{}", path.display())));
    let all = |metrics: &Metrics| metrics.sum("quintain_http_requests_total", &["2xx"]);
    server.wait_for_metrics("all requests", |metrics| all(metrics) == 50.0);
}

#[test]
fn source_addresses_take_turns() {
    for way in ["--connections keep-alive", "--connections short"] {
        let server = TruthServer::answering(|_| Answer::ok(""));
        let load = Load::of(server.url("/")).with("-n 40 -c 8 --threads 2 --source 127.0.0.2-127.0.0.5");
        let run = load.with(way).measure();
        assert_eq!(run.endings, Endings { ok: 40, ..Endings::default() });
        let peers: Vec<IpAddr> = server.ledger().peers.iter().map(|peer| peer.ip()).collect();
        let expected: BTreeSet<_> = (2..=5).map(|last| IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))).collect();
        assert_eq!(peers.iter().copied().collect::<BTreeSet<_>>(), expected, "{way}");
        for address in &expected {
            let count = peers.iter().filter(|peer| *peer == address).count();
            // Each thread takes turns by itself.
            assert!(count.abs_diff(peers.len() / 4) <= 2, "{way}: {count} of {} from {address}", peers.len());
        }
        assert_eq!(run.settings.sources.len(), 4);
    }
}
