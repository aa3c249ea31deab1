//! What is written about requests and about the server, end to end.

use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;
use serde_json::Value;

use crate::harness::{Launch, Server, Site};

/// Starts a server with an access log in a file.
fn logging(site: &Site, format: &str) -> (Server, PathBuf) {
    let path = site.outer().join("access.log");
    let launch = Launch::over(site.root()).set("log.access", path.to_str().expect("UTF-8"));
    (launch.set("log.access_format", format).start(), path)
}

/// Everything that the tests below ask for, in order, on connections that end.
fn ask(server: &Server) {
    let mut client = server.client();
    client.get_with("/ten.txt?q=1", "User-Agent: \"agent\" 1.0\r\nReferer: http://r.example/\r\n");
    client.get("/missing");
    client.get_with("/ten.txt", "If-None-Match: *\r\n");
    client.get_with("/ten.txt", "Range: bytes=0-2\r\n");
    client.send("HEAD /ten.txt HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    client.answer_to_head().expect("an answer");
    client.expect_end();
    let mut malformed = server.client();
    malformed.send("GET /ten.txt HTTP/1.1\r\nbroken\r\n\r\n");
    assert_eq!(malformed.answer().expect("an answer").status, 400);
    malformed.expect_end();
}

/// The lines of a log that is complete, because its server has ended in an orderly way.
fn lines(server: Server, path: &Path) -> Vec<String> {
    server.stop();
    fs::read_to_string(path).expect("an access log").lines().map(str::to_owned).collect()
}

#[test]
fn combined() {
    let site = Site::small();
    let (server, path) = logging(&site, "combined");
    ask(&server);
    let lines = lines(server, &path);
    let time = r"\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\]";
    let expected = [
        r#""GET /ten\.txt\?q=1 HTTP/1\.1" 200 10 "http://r\.example/" "\\x22agent\\x22 1\.0""#,
        r#""GET /missing HTTP/1\.1" 404 \d+ "-" "-""#,
        r#""GET /ten\.txt HTTP/1\.1" 304 0 "-" "-""#,
        r#""GET /ten\.txt HTTP/1\.1" 206 3 "-" "-""#,
        r#""HEAD /ten\.txt HTTP/1\.1" 200 0 "-" "-""#,
        r#"".*" 400 \d+ "-" "-""#,
    ];
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for (line, pattern) in lines.iter().zip(expected) {
        let pattern = format!("^127\\.0\\.0\\.1 - - {time} {pattern}$");
        assert!(Regex::new(&pattern).expect("a pattern").is_match(line), "{line}\nis not\n{pattern}");
    }
}

#[test]
fn json() {
    let site = Site::small();
    let (server, path) = logging(&site, "json");
    ask(&server);
    let lines = lines(server, &path);
    let entries: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let field = |name: &str| -> Vec<_> { entries.iter().map(|entry| entry[name].clone()).collect() };
    assert_eq!(field("status"), [200, 404, 304, 206, 200, 400]);
    assert_eq!(field("target")[..2], ["/ten.txt?q=1", "/missing"]);
    assert_eq!(field("method")[..5], ["GET", "GET", "GET", "GET", "HEAD"]);
    assert_eq!(entries[0]["bytes"], 10);
    assert_eq!(entries[2]["bytes"], 0);
    assert_eq!(entries[3]["bytes"], 3);
    assert_eq!(entries[4]["bytes"], 0);
    assert_eq!(entries[0]["user_agent"], "\"agent\" 1.0");
    assert!(entries.iter().all(|entry| entry["remote"] == "127.0.0.1"), "{entries:#?}");
    assert!(entries.iter().all(|entry| entry["duration_us"].is_u64()), "{entries:#?}");
}

/// A line is one request, whatever the client writes into it.
#[test]
fn a_client_cannot_write_lines_of_its_own() {
    let site = Site::small();
    let (server, path) = logging(&site, "combined");
    let mut client = server.client();
    client.send(b"GET /a%0A%22b\x22 HTTP/1.1\r\nHost: t\r\nUser-Agent: \x1b[31m\xff\r\nConnection: close\r\n\r\n");
    let _ = client.answer();
    drop(client);
    let lines = lines(server, &path);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].is_ascii() && !lines[0].contains('\u{1b}'), "{:?}", lines[0]);
}

#[test]
fn an_answer_that_breaks_off_is_logged_with_what_was_sent() {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; 32 << 20]);
    let (server, path) = logging(&site, "json");
    let mut client = server.client();
    client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    client.head().expect("a head");
    client.reset();
    // Both have ended when the server has.
    server.get("/ten.txt");
    let lines = lines(server, &path);
    let entries: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let large = entries.iter().find(|entry| entry["target"] == "/large.bin").expect("an entry");
    let bytes = large["bytes"].as_u64().expect("a count");
    assert!(0 < bytes && bytes < 32 << 20, "{large}");
}

#[test]
fn many_requests_make_as_many_lines() {
    let site = Site::small();
    let (server, path) = logging(&site, "combined");
    let mut client = server.client();
    for _ in 0..1000 {
        client.get("/ten.txt");
    }
    drop(client);
    assert_eq!(lines(server, &path).len(), 1000);
}

#[test]
fn an_access_log_on_stdout() {
    let site = Site::small();
    let server = Launch::over(site.root()).flag("--access-log", "stdout").start();
    server.get("/ten.txt");
    server.terminate();
    let (ended, stdout) = server.wait_with_stdout();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    assert!(stdout.contains("\"GET /ten.txt HTTP/1.1\" 200 10"), "{stdout}");
}

#[test]
fn without_an_access_log_nothing_is_written_about_requests() {
    let site = Site::small();
    let server = Launch::over(site.root()).start();
    server.get("/ten.txt");
    server.get("/missing");
    server.terminate();
    let (ended, stdout) = server.wait_with_stdout();
    assert_eq!(stdout, "");
    assert!(!ended.stderr.contains("ten.txt"), "{}", ended.stderr);
}

#[test]
fn the_servers_own_log_as_json() {
    let site = Site::small();
    let ended = Launch::over(site.root()).set("log.format", "json").start().stop();
    assert!(!ended.stderr.is_empty());
    for line in ended.stderr.lines() {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(entry["level"].is_string() && entry["timestamp"].is_string(), "{line}");
    }
}

#[test]
fn the_servers_own_log_as_text_has_no_colours_where_nobody_sees_them() {
    let site = Site::small();
    let ended = Launch::over(site.root()).start().stop();
    assert!(!ended.stderr.contains('\u{1b}'), "{:?}", ended.stderr);
}
