//! Rows of "Connections" that need time or many connections: deadlines, slow clients, clients that go away.

use std::thread;
use std::time::Duration;

use crate::harness::{Broken, Launch, PATIENCE, Server, Site, TEN};

/// Most of a document that is larger than all socket buffers between the two sides.
const LARGE: usize = 32 << 20;

fn large_site() -> Site {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; LARGE]);
    site
}

#[test]
fn an_idle_connection_is_closed_without_an_answer() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("keep_alive.timeout", "500ms").with_admin().start();
    let mut client = server.client();
    client.get("/ten.txt");
    client.expect_end();
    let metrics = server.metrics();
    assert_eq!(metrics.sum("quintain_timeouts_total", &["idle"]), 1.0);
    assert_eq!(metrics.sum("quintain_timeouts_total", &["header"]), 0.0);
}

#[test]
fn an_unfinished_head_is_answered_with_408() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("timeouts.header", "500ms").with_admin().start();
    let mut client = server.client();
    client.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n");
    let answer = client.answer().expect("an answer to an unfinished head");
    assert_eq!((answer.status, answer.says_close()), (408, true), "{answer:?}");
    client.expect_end();
    assert_eq!(server.metrics().sum("quintain_timeouts_total", &["header"]), 1.0);
}

#[test]
fn an_unfinished_second_head_is_answered_with_408() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("timeouts.header", "500ms").start();
    let mut client = server.client();
    assert_eq!(client.get("/ten.txt").status, 200);
    client.send("GET /ten");
    assert_eq!(client.answer().expect("an answer to an unfinished head").status, 408);
    client.expect_end();
}

/// The limit is on the whole head: a byte now and then must not buy more time.
#[test]
fn a_dribbling_head_is_cut_off() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("timeouts.header", "500ms").start();
    let mut client = server.client();
    client.send("GET /ten.txt HTTP/1.1\r\nX-Dribble: ");
    let steps = PATIENCE.as_millis() / 50;
    let cut = (0..steps).any(|_| {
        thread::sleep(Duration::from_millis(50));
        client.try_send(b"x").is_err() || !client.is_quiet()
    });
    assert!(cut, "the head was still waited for after {PATIENCE:?}");
    assert_eq!(client.answer().expect("an answer before the end").status, 408);
}

#[test]
fn a_connection_that_never_says_anything_is_closed_without_an_answer() {
    let site = Site::small();
    for defer in ["off", "1s"] {
        let launch = Launch::over(site.root()).set("timeouts.header", "500ms").set("socket.defer_accept", defer);
        launch.start().client().expect_end();
    }
}

/// Which of two connections ends first tells the limits apart, without a clock.
#[test]
fn the_idle_limit_and_the_header_limit_are_different_limits() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("timeouts.header", "500ms").set("keep_alive.timeout", "1h").start();
    let mut idle = server.client();
    idle.get("/ten.txt");
    let mut unfinished = server.client();
    unfinished.send("GET /");
    assert_eq!(unfinished.answer().expect("an answer").status, 408);
    assert!(idle.is_quiet(), "an idle connection was closed by the header limit");
    assert_eq!(idle.get("/ten.txt").status, 200);

    let server = Launch::over(site.root()).set("timeouts.header", "1h").set("keep_alive.timeout", "500ms").start();
    let mut unfinished = server.client();
    unfinished.send("GET /ten.txt HTTP/1.1\r\n");
    let mut idle = server.client();
    idle.get("/ten.txt");
    idle.expect_end();
    assert!(unfinished.is_quiet(), "an unfinished head was cut by the idle limit");
    unfinished.send("Host: t\r\n\r\n");
    assert_eq!(unfinished.answer().expect("an answer").status, 200);
}

#[test]
fn a_client_that_never_reads_is_let_go() {
    let site = large_site();
    let server = Launch::over(site.root()).set("timeouts.write_stall", "1s").with_admin().start();
    let mut client = server.client();
    client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    server.wait_for_metrics("a write stall", |m| m.sum("quintain_timeouts_total", &["write_stall"]) == 1.0);
    server.wait_for_metrics("no open connection", |m| m.sum("quintain_connections_open", &[]) == 0.0);
    let (count, _) = client.drain();
    assert!(count < LARGE as u64, "the whole answer came although nobody read it");
    assert_eq!(server.get("/ten.txt").status, 200);
}

/// The stall limit is on silence, not on the whole answer: this one takes several limits to read.
#[test]
fn a_client_that_reads_slowly_is_not_let_go() {
    let site = large_site();
    let server = Launch::over(site.root()).set("timeouts.write_stall", "500ms").start();
    let mut client = server.client();
    client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(client.head().expect("a head").status, 200);
    for _ in 0..16 {
        thread::sleep(Duration::from_millis(100));
        client.take(LARGE / 16).expect("a part of the body");
    }
    assert_eq!(client.get("/ten.txt").status, 200);
}

/// hyper would buffer answer after answer for a client that sends requests and reads nothing, if it were let.
#[test]
fn memory_is_bounded_whatever_is_pipelined() {
    let site = large_site();
    site.write("medium.bin", vec![b'y'; 300_000]);
    let server = Server::over(&site);
    server.get("/medium.bin");
    let before = resident_bytes(&server);
    let mut clients: Vec<_> = (0..4).map(|_| server.client()).collect();
    for client in &mut clients {
        client.send("GET /medium.bin HTTP/1.1\r\nHost: t\r\n\r\n".repeat(1000));
    }
    assert_eq!(server.get("/ten.txt").status, 200);
    let grown = resident_bytes(&server).saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes more for 1.2 GB that nobody reads");
    // And it was not forgotten.
    for client in &mut clients {
        for _ in 0..100 {
            assert_eq!(client.answer().expect("a pipelined answer").body.len(), 300_000);
        }
    }
}

fn resident_bytes(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("the server runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a resident size");
    let kilobytes: u64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number");
    kilobytes * 1024
}

#[test]
fn a_client_that_goes_away_in_the_middle_of_an_answer_leaves_nothing_behind() {
    let site = large_site();
    let server = Launch::over(site.root()).with_admin().start();
    let mut warm_up = server.client();
    warm_up.send("GET /large.bin HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    warm_up.drain();
    for reset in [false, true] {
        let mut client = server.client();
        client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
        client.head().expect("a head");
        if reset {
            client.reset();
        }
    }
    server.wait_for_metrics("both connections ended", |m| m.sum("quintain_connections_open", &[]) == 0.0);
    assert_eq!(server.get("/ten.txt").status, 200);
}

#[test]
fn slow_heads_on_200_connections_do_not_keep_others_from_being_served() {
    let site = Site::small();
    let server = Server::over(&site);
    let head = b"GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n";
    let mut slow: Vec<_> = (0..200).map(|_| server.client()).collect();
    for byte in head {
        for client in &mut slow {
            client.send([*byte]);
        }
        assert_eq!(server.get("/ten.txt").body, TEN.as_bytes());
    }
    for client in &mut slow {
        assert_eq!(client.answer().expect("an answer to a slow head").body, TEN.as_bytes());
    }
}

/// Idle connections give their buffers to others after a second ("parking"); what comes then must not be lost.
#[test]
fn a_parked_connection_answers_a_pipeline_in_order() {
    let site = Site::full();
    let server = Launch::over(site.root()).with_admin().start();
    let mut client = server.client();
    for round in 0..2 {
        assert_eq!(client.get("/ten.txt").status, 200);
        server.wait_for_metrics("a parked connection", |m| m.sum("quintain_connections_parked", &[]) == 1.0);
        let request = |target| format!("GET {target} HTTP/1.1\r\nHost: t\r\n\r\n");
        client.send([request("/ten.txt"), request("/dir/inner.txt"), request("/missing")].concat());
        let answers: Vec<_> = (0..3).map(|_| client.answer().expect("a pipelined answer")).collect();
        assert_eq!(answers[0].body, TEN.as_bytes(), "round {round}");
        assert_eq!(answers[1].text(), "inner");
        assert_eq!(answers[2].status, 404);
    }
}

#[test]
fn a_parked_connection_takes_a_head_in_pieces() {
    let site = Site::small();
    let server = Launch::over(site.root()).with_admin().start();
    let mut client = server.client();
    assert_eq!(client.get("/ten.txt").status, 200);
    server.wait_for_metrics("a parked connection", |m| m.sum("quintain_connections_parked", &[]) == 1.0);
    client.send("G");
    server.wait_for_metrics("a woken connection", |m| m.sum("quintain_connections_parked", &[]) == 0.0);
    client.send("ET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(client.answer().expect("an answer").body, TEN.as_bytes());
}

/// The quota counts the requests of a connection, also over a pause in which its state was given up.
#[test]
fn the_quota_survives_parking() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("keep_alive.max_requests", "2").with_admin().start();
    let mut client = server.client();
    assert!(!client.get("/ten.txt").says_close());
    server.wait_for_metrics("a parked connection", |m| m.sum("quintain_connections_parked", &[]) == 1.0);
    assert!(client.get("/ten.txt").says_close());
    client.expect_end();
}

/// A reader that assumes a head in one piece, or one head in a piece, fails at some of these.
#[test]
fn two_requests_split_at_every_byte() {
    let site = Site::full();
    let server = Server::over(&site);
    let bytes = b"GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\nHEAD /dir/ HTTP/1.1\r\nHost: t\r\n\r\n";
    let mut client = server.client();
    for at in 1..bytes.len() {
        client.send(&bytes[..at]);
        client.send(&bytes[at..]);
        let first = client.answer().unwrap_or_else(|broken| panic!("split at {at}: {broken}"));
        assert_eq!(first.body, TEN.as_bytes(), "split at {at}");
        let second = client.answer_to_head().unwrap_or_else(|broken| panic!("split at {at}: {broken}"));
        assert_eq!(second.status, 200, "split at {at}");
    }
}

/// hyper closes with the request's content unread; the reset that follows would take the answer with it.
#[test]
fn a_refusal_can_be_read_while_the_client_is_still_sending() {
    let site = Site::small();
    let server = Server::over(&site);
    let mut client = server.client();
    client.send("POST /ten.txt HTTP/1.1\r\nHost: t\r\nContent-Length: 8000000\r\n\r\n");
    assert_eq!(client.head().expect("an answer before the content").status, 405);
    for _ in 0..8 {
        client.send([b'x'; 1_000_000]);
    }
    let (_, end) = client.drain();
    assert!(matches!(end, Broken::Closed), "the end was {end}");
}
