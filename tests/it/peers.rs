//! Programs that others wrote: ApacheBench, wrk and curl as people run them, and HAProxy in front of the other peers.
//!
//! A program that is not installed is skipped with a word about it, unless `QUINTAIN_REQUIRE_PEERS=1` says that this
//! machine is meant to have them all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::harness::{Client, Launch, Peer, Server, Site, TEN, machine_to_myself, say_skipped};

/// The documents in `fixtures`, and how often each is asked for; the last is 7.5 MB long.
const DOCUMENTS: [(&str, u32); 6] = [
    ("1k.html", 1000),
    ("10k.html", 1000),
    ("30k.html", 1000),
    ("100k.html", 1000),
    ("300k.html", 1000),
    ("7.5m.html", 100),
];

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Runs a program to its end; `None` if it is not there and need not be.
#[track_caller]
pub fn run(program: &str, arguments: &[&str]) -> Option<Output> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            skip(&format!("{program} is not installed"));
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

/// Something that others wrote is missing: a word about it, or a failure where it must not be.
#[track_caller]
pub fn skip(what: &str) {
    let required = std::env::var("QUINTAIN_REQUIRE_PEERS").is_ok_and(|value| value == "1");
    assert!(!required, "{what}, and QUINTAIN_REQUIRE_PEERS wants it");
    say_skipped(what);
}

pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The figure behind a label of ApacheBench's report.
pub fn figure(report: &str, label: &str) -> Option<u64> {
    let line = report.lines().find_map(|line| line.strip_prefix(label))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A test that skips passes, and of tests that pass the test harness keeps to itself what they print.
#[test]
fn a_skip_is_said_although_the_test_passes() {
    let mut tests = Command::new(std::env::current_exe().expect("this program"));
    tests.args(["--exact", "peers::wrk"]).env("PATH", "/nonexistent").env_remove("QUINTAIN_REQUIRE_PEERS");
    let output = tests.output().expect("it runs");
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("skipped: wrk is not installed\n"), "{}", text(&output));
}

#[test]
fn ab_without_keep_alive() {
    ab(&[]);
}

/// The most repeated defect among servers that people benchmark: HTTP/1.0 keep-alive, which only this tool still uses.
#[test]
fn ab_with_keep_alive() {
    ab(&["-k"]);
}

fn ab(flags: &[&str]) {
    let _alone = machine_to_myself();
    let server = Launch::over(&fixtures()).start();
    for (name, count) in DOCUMENTS {
        let (url, number) = (server.url(&format!("/{name}")), count.to_string());
        let arguments = [flags, &["-q", "-n", &number, "-c", "10", &url]].concat();
        let Some(output) = run("ab", &arguments) else { return };
        let report = text(&output);
        assert!(output.status.success(), "{name}: {report}");
        assert_eq!(figure(&report, "Complete requests:"), Some(count.into()), "{name}: {report}");
        assert_eq!(figure(&report, "Failed requests:"), Some(0), "{name}: {report}");
        assert_eq!(figure(&report, "Non-2xx responses:"), None, "{name}: {report}");
        let length = fs::metadata(fixtures().join(name)).expect("the document").len();
        assert_eq!(figure(&report, "Document Length:"), Some(length), "{name}: {report}");
        let kept = flags.contains(&"-k").then_some(count.into());
        assert_eq!(figure(&report, "Keep-Alive requests:"), kept, "{name}: {report}");
    }
}

#[test]
fn wrk() {
    let _alone = machine_to_myself();
    let server = Launch::over(&fixtures()).start();
    for name in ["1k.html", "300k.html"] {
        let Some(output) = run("wrk", &["-d1s", "-c10", "-t1", &server.url(&format!("/{name}"))]) else { return };
        let report = text(&output);
        assert!(output.status.success(), "{report}");
        assert!(report.contains("requests in"), "{report}");
        assert!(!report.contains("Socket errors"), "{report}");
        assert!(!report.contains("Non-2xx"), "{report}");
    }
}

/// curl's standard output for a target; `None` if it is not installed.
#[track_caller]
fn curl(server: &Server, target: &str, arguments: &[&str]) -> Option<String> {
    let url = server.url(target);
    let output = run("curl", &[&["-sS", "--max-time", "20"], arguments, &[&url]].concat())?;
    assert!(output.status.success(), "curl {arguments:?} {target}: {}", text(&output));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn curl_gets_ranges() {
    let site = Site::full();
    let server = Server::over(&site);
    let Some(part) = curl(&server, "/ten.txt", &["-r", "2-4"]) else { return };
    assert_eq!(part, "234");
    assert_eq!(curl(&server, "/ten.txt", &["-r", "-3"]).as_deref(), Some("789"));
    let parts = curl(&server, "/ten.txt", &["-r", "0-0,9-9"]).expect("curl is there");
    assert!(parts.contains("bytes 0-0/10") && parts.contains("bytes 9-9/10"), "{parts}");
    // The second half of a download that was interrupted.
    let file = site.outer().join("half");
    fs::write(&file, &TEN[..4]).expect("a file");
    curl(&server, "/ten.txt", &["-C", "-", "-o", file.to_str().expect("UTF-8")]);
    assert_eq!(fs::read_to_string(file).expect("the download"), TEN);
}

#[test]
fn curl_gets_encodings_as_they_are_stored() {
    let site = Site::full();
    let server = Server::over(&site);
    let Some(raw) = curl(&server, "/page.html", &["-H", "Accept-Encoding: gzip"]) else { return };
    assert_eq!(raw, "gzip form of it");
    assert_eq!(curl(&server, "/page.html", &[]).as_deref(), Some("<p>the page as it is</p>\n"));
}

#[test]
fn curl_asks_for_heads_and_conditions() {
    let site = Site::full();
    let server = Server::over(&site);
    let Some(head) = curl(&server, "/ten.txt", &["-I"]) else { return };
    assert!(head.starts_with("HTTP/1.1 200") && head.to_ascii_lowercase().contains("content-length: 10"), "{head}");
    let file = site.outer().join("tag");
    let file = file.to_str().expect("UTF-8");
    let status = ["-o", "/dev/null", "-w", "%{http_code}"];
    let save = [&status[..], &["--etag-save", file]].concat();
    assert_eq!(curl(&server, "/ten.txt", &save).as_deref(), Some("200"));
    let compare = [&status[..], &["--etag-compare", file]].concat();
    assert_eq!(curl(&server, "/ten.txt", &compare).as_deref(), Some("304"));
    let since = [&status[..], &["-z", "Wed, 01 Jan 2020 00:00:00 GMT"]].concat();
    assert_eq!(curl(&server, "/ten.txt", &since).as_deref(), Some("304"));
}

#[test]
fn curl_reads_a_refusal_while_it_uploads() {
    let site = Site::small();
    let upload = site.outer().join("upload");
    fs::write(&upload, vec![b'x'; 1 << 20]).expect("a file");
    let data = format!("@{}", upload.display());
    let server = Server::over(&site);
    let status = ["-o", "/dev/null", "-w", "%{http_code}"];
    for more in [&["-H", "Expect:"][..], &[], &["-H", "Transfer-Encoding: chunked"]] {
        let arguments = [&status[..], &["--data-binary", &data], more].concat();
        let Some(code) = curl(&server, "/ten.txt", &arguments) else { return };
        assert_eq!(code, "405", "{more:?}");
    }
}

#[test]
fn curl_follows_redirects_and_keeps_its_connection() {
    let site = Site::full();
    let server = Server::over(&site);
    let Some(page) = curl(&server, "/dir", &["-L", "-w", "%{num_connects}"]) else { return };
    assert_eq!(page, "<p>index of dir</p>\n1", "one connection for both requests");
}

#[test]
fn curl_over_a_unix_socket() {
    let site = Site::small();
    let path = site.outer().join("s");
    let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8"));
    let _server = launch.listen(&format!("unix:{}", path.display())).start();
    let socket = path.to_str().expect("UTF-8");
    let Some(output) = run("curl", &["-sS", "--unix-socket", socket, "http://t/ten.txt"]) else { return };
    assert_eq!(text(&output), TEN);
}

// === HAProxy ===

#[test]
fn haproxy_in_front_of_nginx() {
    proxied("nginx", &[]);
}

#[test]
fn haproxy_in_front_of_nginx_both_as_shipped() {
    proxied("nginx", &["--stock"]);
}

#[test]
fn haproxy_in_front_of_tomcat() {
    proxied("tomcat", &[]);
}

#[test]
fn haproxy_in_front_of_jetty() {
    proxied("jetty", &[]);
}

#[test]
fn haproxy_in_front_of_netty() {
    proxied("netty", &[]);
}

fn haproxy(behind: &str, flags: &[&str]) -> Option<Peer> {
    let flags = [&["--behind", behind], flags].concat();
    match Peer::start_with("haproxy", &flags, &fixtures(), "/1k.html") {
        Ok(peer) => Some(peer),
        Err(missing) => {
            skip(&missing);
            None
        }
    }
}

/// Every document byte for byte, on one connection, and SIGTERM ends both servers.
fn proxied(behind: &str, flags: &[&str]) {
    let _alone = machine_to_myself();
    let Some(peer) = haproxy(behind, flags) else { return };
    let mut client = Client::connect(&peer.endpoint);
    for (name, _) in DOCUMENTS {
        let answer = client.get(&format!("/{name}"));
        let document = fs::read(fixtures().join(name)).expect("the document");
        assert_eq!(answer.status, 200, "{name}");
        assert!(answer.body == document, "{name}: {} bytes", answer.body.len());
    }
    drop(client);
    assert_eq!(peer.end_by(None), Some(143));
}

/// A sweep would else go on to measure how fast HAProxy says 503.
#[test]
fn haproxy_ends_with_the_server_behind_it() {
    let _alone = machine_to_myself();
    let Some(peer) = haproxy("nginx", &[]) else { return };
    let nginx = peer.descendants()[0];
    assert_eq!(peer.end_by(Some(nginx)), Some(1));
}

#[test]
fn a_start_script_says_how_it_is_called() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tomcat/start");
    let ran = Command::new(script).arg("--help").output().expect("it runs");
    assert!(ran.status.success() && ran.stdout.starts_with(b"usage: start --port N "), "{ran:?}");
}
