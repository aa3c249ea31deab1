//! `[server]`, `[keep_alive]`, `[timeouts]`, `[limits]`: who is let in, and how much of whose patience it takes.

use std::thread;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::with;
use crate::harness::{Client, Endpoint, Launch, PATIENCE, Server, Site, TEN};

// === [server] ===

#[test]
fn server_listen() {
    let site = Site::small();
    let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8"));
    let server = launch.set("server.listen", "127.0.0.1:0,127.0.0.1:0").announcing(2).start();
    assert_eq!(server.endpoints().len(), 2);
}

#[test]
fn server_root() {
    let site = Site::small();
    let launch = Launch::bare().set("server.root", site.root().to_str().expect("UTF-8")).listen("127.0.0.1:0");
    assert_eq!(launch.start().get("/ten.txt").body, TEN.as_bytes());
}

/// While nobody is accepted, the kernel completes as many handshakes as the backlog has room for.
#[test]
fn server_backlog() {
    let site = Site::small();
    for (backlog, all) in [("1", false), ("100", true)] {
        let launch = Launch::over(site.root()).set("server.backlog", backlog).set("server.max_connections", "1");
        let server = launch.set("socket.defer_accept", "off").start();
        let mut inside = server.client();
        inside.get("/ten.txt");
        // A handshake that has no room is not refused, it just never ends: that is the only use of the short wait.
        let wait = if all { PATIENCE } else { Duration::from_millis(300) };
        let crowd: Vec<_> = (0..10).filter_map(|_| connect_within(server.endpoint(), wait)).collect();
        assert_eq!(crowd.len() == 10, all, "{} of 10 handshakes with a backlog of {backlog}", crowd.len());
    }
}

fn connect_within(endpoint: &Endpoint, wait: Duration) -> Option<Socket> {
    let Endpoint::Tcp(address) = endpoint else { panic!("no TCP at {endpoint:?}") };
    let socket = Socket::new(Domain::for_address(*address), Type::STREAM, None).expect("a socket");
    socket.connect_timeout(&(*address).into(), wait).ok().map(|()| socket)
}

#[test]
fn server_max_connections() {
    let site = Site::small();
    let server = with(&site, "server.max_connections", "1");
    let mut first = server.client();
    first.get("/ten.txt");
    let mut second = server.client();
    second.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    server.wait_for_metrics("one waiting", |m| m.sum("quintain_connections_waiting", &[]) == 1.0);
    assert!(second.is_quiet());
    drop(first);
    assert_eq!(second.answer().expect("an answer").body, TEN.as_bytes());
}

#[test]
fn server_max_connections_of_each_worker() {
    let site = Site::small();
    let launch = Launch::over(site.root()).set("server.max_connections", "1/worker").with_admin();
    let server = launch.set("server.workers", "2").set("server.model", "work-stealing").start();
    let mut inside: Vec<_> = (0..2).map(|_| server.client()).collect();
    inside.iter_mut().for_each(|client| assert_eq!(client.get("/ten.txt").status, 200));
    let mut outside = server.client();
    outside.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    server.wait_for_metrics("one waiting", |m| m.sum("quintain_connections_waiting", &[]) == 1.0);
    assert!(outside.is_quiet());
}

/// What a profile sets is in force, and what is set beside it counts more.
#[test]
fn server_profile() {
    let site = Site::small();
    let last = |launch: Launch| {
        let server = launch.start();
        let mut client = server.client();
        (1..=200).find(|_| client.get("/ten.txt").says_close())
    };
    let tomcat = Launch::over(site.root()).set("server.profile", "tomcat");
    assert_eq!(last(Launch::over(site.root())), None);
    assert_eq!(last(tomcat.clone()), Some(100));
    assert_eq!(last(tomcat.set("keep_alive.max_requests", "7")), Some(7));
}

// === [keep_alive] ===

#[test]
fn keep_alive_enabled() {
    let site = Site::small();
    for (value, closes) in [("true", false), ("false", true)] {
        assert_eq!(with(&site, "keep_alive.enabled", value).client().get("/ten.txt").says_close(), closes);
    }
}

#[test]
fn keep_alive_timeout() {
    let site = Site::small();
    let mut client = with_client(&with(&site, "keep_alive.timeout", "200ms"));
    client.expect_end();
    let server = with(&site, "keep_alive.timeout", "1h");
    let mut client = with_client(&server);
    thread::sleep(Duration::from_millis(600));
    assert_eq!(client.get("/ten.txt").status, 200);
}

fn with_client(server: &Server) -> Client {
    let mut client = server.client();
    client.get("/ten.txt");
    client
}

#[test]
fn keep_alive_max_requests() {
    let site = Site::small();
    for (most, closing) in [("1", Some(0)), ("5", Some(4)), ("0", None)] {
        let server = with(&site, "keep_alive.max_requests", most);
        let mut client = server.client();
        let last = (0..20).find(|_| client.get("/ten.txt").says_close());
        assert_eq!(last, closing, "max_requests {most}");
    }
}

// === [timeouts] ===

#[test]
fn timeouts_header() {
    let site = Site::small();
    let server = with(&site, "timeouts.header", "200ms");
    let mut client = server.client();
    client.send("GET ");
    assert_eq!(client.answer().expect("an answer").status, 408);
}

#[test]
fn timeouts_write_stall() {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; 16 << 20]);
    let server = with(&site, "timeouts.write_stall", "200ms");
    let mut client = server.client();
    client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    server.wait_for_metrics("a stall", |m| m.sum("quintain_timeouts_total", &["write_stall"]) == 1.0);
}

#[test]
fn timeouts_shutdown() {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; 32 << 20]);
    let mut server = with(&site, "timeouts.shutdown", "0s");
    let mut client = server.client();
    client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    client.head().expect("a head");
    server.terminate();
    assert_eq!(server.wait().status.code(), Some(0));
    // With 10 minutes the same client gets everything: drain.rs.
    assert!(client.drain().0 < 32 << 20);
}

// === [limits] ===

#[test]
fn limits_head_bytes() {
    let site = Site::small();
    let line = format!("X-Filler: {}\r\n", "a".repeat(20_000));
    assert_eq!(with(&site, "limits.head_bytes", "16k").client().get_with("/ten.txt", &line).status, 431);
    assert_eq!(with(&site, "limits.head_bytes", "32k").client().get_with("/ten.txt", &line).status, 200);
}

#[test]
fn limits_target_bytes() {
    let site = Site::small();
    let target = format!("/ten.txt?{}", "a".repeat(100));
    assert_eq!(with(&site, "limits.target_bytes", "64").get(&target).status, 414);
    assert_eq!(with(&site, "limits.target_bytes", "128").get(&target).status, 200);
}
