//! `[log]` and `[admin]`: what the server says of itself.

use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::with;
use crate::harness::{Client, Endpoint, Launch, PATIENCE, Site};

// === [log] ===

/// At `error` there is nothing to say about a start, so a unix socket's name has to show that the server is there.
#[test]
fn log_level() {
    for (level, silent) in [("error", true), ("info", false)] {
        let site = Site::small();
        let path = site.outer().join("s");
        let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8")).set("log.level", level);
        let child = launch.flag("--listen", &format!("unix:{}", path.display())).command().spawn().expect("it runs");
        let stderr = end_once_serving(child, &path);
        assert_eq!(stderr.is_empty(), silent, "log.level {level}: {stderr}");
    }
}

/// Waits until a request is answered, then ends the server in an orderly way and returns what it wrote.
fn end_once_serving(child: Child, path: &Path) -> String {
    let endpoint = Endpoint::Unix(path.to_owned());
    let deadline = Instant::now() + PATIENCE;
    let mut client = loop {
        match Client::try_connect(&endpoint, None) {
            Ok(client) => break client,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        thread::sleep(Duration::from_millis(5));
    };
    client.get("/ten.txt");
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a child's id");
    kill_process(pid, Signal::TERM).expect("the server runs");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn log_format() {
    let site = Site::small();
    for (format, json) in [("text", false), ("json", true)] {
        let server = with(&site, "log.format", format);
        assert_eq!(server.log().iter().all(|line| line.starts_with('{')), json, "{:?}", server.log());
    }
}

#[test]
fn log_file() {
    let site = Site::small();
    let (path, socket) = (site.outer().join("server.log"), site.outer().join("s"));
    let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8"));
    let launch = launch.set("log.file", path.to_str().expect("UTF-8"));
    let child = launch.flag("--listen", &format!("unix:{}", socket.display())).command().spawn().expect("it runs");
    assert_eq!(end_once_serving(child, &socket), "");
    let log = std::fs::read_to_string(&path).expect("a log");
    assert!(log.contains("listening on unix:") && log.contains("SIGTERM"), "{log}");
}

#[test]
fn log_access() {
    let site = Site::small();
    for (place, lines) in [("off", 0), ("stderr", 1)] {
        let server = with(&site, "log.access", place);
        server.get("/ten.txt");
        let ended = server.stop();
        assert_eq!(ended.stderr.lines().filter(|line| line.contains("/ten.txt")).count(), lines, "{ended:?}");
    }
}

#[test]
fn log_access_format() {
    let site = Site::small();
    for (format, part) in [("combined", "\"GET /ten.txt HTTP/1.1\" 200 10"), ("json", "\"target\":\"/ten.txt\"")] {
        let launch = Launch::over(site.root()).set("log.access", "stderr").set("log.access_format", format);
        let server = launch.start();
        server.get("/ten.txt");
        let ended = server.stop();
        assert!(ended.stderr.contains(part), "{ended:?}");
    }
}

// === [admin] ===

#[test]
fn admin_listen() {
    let site = Site::small();
    let without = Launch::over(site.root()).set("admin.listen", "off").start();
    assert!(!without.log().iter().any(|line| line.contains("admin on")), "{:?}", without.log());
    let server = Launch::over(site.root()).with_admin().start();
    assert_eq!(Client::connect(server.admin()).get("/healthz").status, 200);
}
