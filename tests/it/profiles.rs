//! Each profile beside the server that it stands in for: the real one, as it is shipped, over the same documents.
//!
//! What is compared is what a benchmark's client sees: heads to the byte, when connections end, and ApacheBench's totals.
//! Aside are the Date, the status line's version for clients of HTTP/1.0, and the capitals of ETag, where hyper decides.

use crate::harness::{Client, Endpoint, Launch, Peer, Server, Site, machine_to_myself};
use crate::peers::{figure, fixtures, run, skip, text};

const DOCUMENTS: [&str; 4] = ["/1k.html", "/30k.html", "/7.5m.html", "/"];

/// Method, version and Connection line of a request.
const REQUESTS: [(&str, &str, &str); 8] = [
    ("GET", "1.1", ""),
    ("GET", "1.1", "Connection: keep-alive\r\n"),
    ("GET", "1.1", "Connection: close\r\n"),
    // ab
    ("GET", "1.0", ""),
    // ab -k
    ("GET", "1.0", "Connection: Keep-Alive\r\n"),
    ("HEAD", "1.1", ""),
    ("HEAD", "1.0", ""),
    ("HEAD", "1.0", "Connection: Keep-Alive\r\n"),
];

#[test]
fn nginx() {
    stands_in(&["nginx"], "nginx", Some(1000));
}

/// There is no Tomcat with the blocking connector to compare with; its profile has the heads and limits of this one.
#[test]
fn tomcat() {
    stands_in(&["tomcat", "tomcat-bio"], "tomcat", Some(100));
}

#[test]
fn jetty() {
    stands_in(&["jetty"], "jetty", None);
}

#[test]
fn netty() {
    stands_in(&["netty"], "netty", None);
}

fn stands_in(profiles: &[&str], name: &str, quota: Option<usize>) {
    let _alone = machine_to_myself();
    let root = fixtures();
    let peer = match Peer::start(name, &root, "/1k.html") {
        Ok(peer) => peer,
        Err(missing) => return skip(&missing),
    };
    for profile in profiles {
        let ours = Launch::over(&root).flag("--profile", profile).set("server.workers", "2").start();
        compare_heads(&peer, &ours);
        compare_limits(&peer, &ours);
        compare_quota(&peer, &ours, quota);
        compare_totals(&peer, &ours);
    }
}

// === Heads ===

fn compare_heads(peer: &Peer, ours: &Server) {
    for document in DOCUMENTS {
        for (method, version, line) in REQUESTS {
            compare(peer, ours, &format!("{method} {document} HTTP/{version}\r\nHost: t\r\n{line}\r\n"));
        }
    }
    let date = ours.get("/1k.html").header("last-modified").expect("a date").to_owned();
    let with = |line: &str| format!("GET /1k.html HTTP/1.1\r\nHost: t\r\n{line}\r\n\r\n");
    compare(peer, ours, &with(&format!("If-Modified-Since: {date}")));
    // The program on Netty knows neither ranges nor entity tags, and Jetty as shipped has no tags.
    if ours.get("/1k.html").header("accept-ranges").is_some() {
        compare(peer, ours, &with("Range: bytes=0-9"));
    }
    if let Some(etag) = ours.get("/1k.html").header("etag") {
        compare(peer, ours, &with(&format!("If-None-Match: {etag}")));
    }
    let missing = "GET /missing.html HTTP/1.1\r\nHost: t\r\n\r\n";
    let (theirs, ours) = (exchange(&peer.endpoint, missing), exchange(ours.endpoint(), missing));
    assert_eq!((theirs.status(), theirs.stays), ("404", true));
    assert_eq!((ours.status(), ours.stays), ("404", true), "error pages are our own, and the connection goes on");
}

#[track_caller]
fn compare(peer: &Peer, ours: &Server, request: &str) {
    let (theirs, ours) = (exchange(&peer.endpoint, request), exchange(ours.endpoint(), request));
    assert_eq!(ours.lines(), theirs.lines(), "{request}");
    assert_eq!(ours.head.len(), theirs.head.len(), "{request}");
    assert_eq!(ours.body_bytes, theirs.body_bytes, "{request}");
    assert_eq!(ours.stays, theirs.stays, "whether the connection goes on after {request}");
}

/// What came back for one request.
struct Exchange {
    head: String,
    body_bytes: usize,
    stays: bool,
}

impl Exchange {
    fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The head's lines, without what cannot be the same.
    fn lines(&self) -> Vec<String> {
        let same = |line: &str| match line.split_once(": ") {
            Some((name, _)) if name.eq_ignore_ascii_case("date") => format!("{name}: now"),
            Some((name, value)) if name.eq_ignore_ascii_case("etag") => format!("ETag: {value}"),
            _ => line.replacen("HTTP/1.0 ", "HTTP/1.1 ", 1),
        };
        self.head.split("\r\n").map(same).collect()
    }
}

/// Sends one request on a connection of its own, and once more to see whether it goes on.
#[track_caller]
fn exchange(endpoint: &Endpoint, request: &str) -> Exchange {
    let mut client = Client::connect(endpoint);
    let (head, body_bytes) = ask(&mut client, request);
    // To a closed connection this may fail, or the end comes instead of an answer.
    let stays = client.try_send(request.as_bytes()).is_ok() && client.raw_head().is_ok();
    Exchange { head, body_bytes, stays }
}

#[track_caller]
fn ask(client: &mut Client, request: &str) -> (String, usize) {
    client.send(request);
    let head = client.raw_head().unwrap_or_else(|broken| panic!("{request}: {broken}"));
    let head = String::from_utf8(head).expect("UTF-8");
    let announced =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let length = announced.filter(|_| !request.starts_with("HEAD")).unwrap_or(0);
    let body_bytes = client.take(length).unwrap_or_else(|broken| panic!("{request}: {broken}")).len();
    (head, body_bytes)
}

// === Limits ===

/// Around the longest targets: one that still fits, and one byte more, of each server.
fn compare_limits(peer: &Peer, ours: &Server) {
    for length in [4000, 4082, 4083, 8000, 8177, 8178, 9000] {
        let target = format!("/1k.html?{}", "a".repeat(length - "/1k.html?".len()));
        let request = format!("GET {target} HTTP/1.1\r\nHost: t\r\n\r\n");
        let (theirs, ours) = (exchange(&peer.endpoint, &request), exchange(ours.endpoint(), &request));
        assert_eq!((ours.status(), ours.stays), (theirs.status(), theirs.stays), "a target of {length} bytes");
    }
}

/// All four close without an answer where this server says 408. Theirs takes 20 seconds and more to see.
#[test]
fn a_late_head_is_closed_without_a_word() {
    let site = Site::small();
    for profile in ["nginx", "netty", "tomcat", "tomcat-bio", "jetty"] {
        let launch = Launch::over(site.root()).flag("--profile", profile);
        let server = launch.set("timeouts.header", "200ms").start();
        let mut client = server.client();
        client.send("GET ");
        client.expect_end();
    }
}

// === Keep-alive quota ===

fn compare_quota(peer: &Peer, ours: &Server, quota: Option<usize>) {
    for version in ["1.1", "1.0"] {
        let request = format!("GET /1k.html HTTP/{version}\r\nHost: t\r\nConnection: Keep-Alive\r\n\r\n");
        let (theirs, theirs_last) = until_close(&peer.endpoint, &request);
        let (ours, ours_last) = until_close(ours.endpoint(), &request);
        assert_eq!((theirs, ours), (quota, quota), "HTTP/{version}");
        assert_eq!(ours_last.lines(), theirs_last.lines(), "the last answer of HTTP/{version}");
        assert_eq!(ours_last.head.len(), theirs_last.head.len(), "the last answer of HTTP/{version}");
    }
}

/// Which answer says that it is the last, of more than any of these servers allows, and that answer.
fn until_close(endpoint: &Endpoint, request: &str) -> (Option<usize>, Exchange) {
    const MORE_THAN_ANY: usize = 1100;
    let mut client = Client::connect(endpoint);
    let mut head = String::new();
    for number in 1..=MORE_THAN_ANY {
        head = ask(&mut client, request).0;
        if head.to_ascii_lowercase().contains("\r\nconnection: close\r\n") {
            client.expect_end();
            return (Some(number), Exchange { head, body_bytes: 0, stays: false });
        }
    }
    (None, Exchange { head, body_bytes: 0, stays: true })
}

// === ApacheBench ===

fn compare_totals(peer: &Peer, ours: &Server) {
    for document in &DOCUMENTS[..3] {
        for arguments in [&["-n", "100"][..], &["-k", "-n", "250"]] {
            let (Some(theirs), Some(ours)) =
                (totals(&peer.url(document), arguments), totals(&ours.url(document), arguments))
            else {
                return;
            };
            assert_eq!(ours, theirs, "ab {arguments:?} {document}");
        }
    }
}

/// What ApacheBench counts: failed requests, bytes in all, bytes of bodies, and kept connections.
fn totals(url: &str, arguments: &[&str]) -> Option<[Option<u64>; 4]> {
    let output = run("ab", &[arguments, &["-q", "-c", "1", url]].concat())?;
    let report = text(&output);
    assert!(output.status.success(), "{report}");
    let labels = ["Failed requests:", "Total transferred:", "HTML transferred:", "Keep-Alive requests:"];
    assert!(figure(&report, labels[1]).is_some_and(|bytes| bytes > 0), "{report}");
    Some(labels.map(|label| figure(&report, label)))
}
