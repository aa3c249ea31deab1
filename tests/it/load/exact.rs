//! As many requests, and as many connections at once, as were asked for: not one more, not one less. (Of 7 connections wrk
//! opens 6; of 1,000 requests hey sends 994.)

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quintain::record::Endings;

use super::Load;
use crate::harness::{Answer, Launch, Site, TruthServer};

/// Requests, connections, threads: nothing divides anything.
const SIZES: [(u64, u64, u64); 9] =
    [(1, 1, 1), (100, 7, 1), (100, 7, 2), (100, 7, 3), (101, 3, 2), (1000, 13, 3), (5, 5, 2), (7, 4, 3), (64, 64, 3)];

fn sized(server: &TruthServer, (n, c, threads): (u64, u64, u64)) -> Load {
    Load::of(server.url("/")).with(&format!("-n {n} -c {c} --threads {threads}"))
}

/// Holds answers back until as many requests are waiting as there should be connections.
struct Gate {
    wanted: u64,
    waiting: AtomicU64,
}

impl Gate {
    fn of(wanted: u64) -> Self {
        Self { wanted, waiting: AtomicU64::new(0) }
    }

    fn hold(&self, answer: Answer) -> Answer {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let deadline = Instant::now() + Duration::from_secs(5);
        // After that the ledger shows what is wrong.
        while self.waiting.load(Ordering::Relaxed) < self.wanted && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        answer
    }
}

#[test]
fn requests_and_connections_are_exact() {
    for size @ (n, c, threads) in SIZES {
        let gate = Gate::of(c);
        let server = TruthServer::answering(move |_| gate.hold(Answer::ok("0123456789")));
        let run = sized(&server, size).measure();
        let ledger = server.ledger();
        assert_eq!(run.endings, Endings { ok: n, ..Endings::default() }, "{size:?}");
        assert_eq!(ledger.requests, n, "{size:?}");
        assert_eq!((ledger.accepted, ledger.open_max), (c, c), "{size:?}");
        assert_eq!((run.connections.opened, run.connections.open_max), (c, c), "{size:?}");
        assert_eq!((run.settings.connections, run.settings.threads), (c, threads), "{size:?}");
        assert_eq!(run.client.threads.len() as u64, threads, "{size:?}");
        assert_eq!(run.latency.service.count, n, "{size:?}");
    }
}

#[test]
fn short_connections_are_exact() {
    for size @ (n, c, _) in SIZES {
        let gate = Gate::of(c);
        let server = TruthServer::answering(move |_| {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n";
            gate.hold(Answer::head_and_body(head, "ok").then_close())
        });
        let run = sized(&server, size).with("--connections short").measure();
        let ledger = server.ledger();
        assert_eq!(run.endings, Endings { ok: n, ..Endings::default() }, "{size:?}");
        assert_eq!((ledger.requests, ledger.accepted, run.connections.opened), (n, n, n), "{size:?}");
        assert_eq!((ledger.open_max, run.connections.open_max), (c, c), "{size:?}");
        // Each request needed a connect.
        assert_eq!(run.latency.connect.count, n, "{size:?}");
    }
}

/// While 512 connections were without an answer, which short ones always are, one was added in a turn where a burst was
/// meant: of 2,000 connections 650 were ever open, and a quick server was asked by fewer than the report said.
#[test]
fn many_short_connections_are_open_at_once() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("server.backlog", "4096").start();
    let run = Load::of(server.url("/ten.txt")).with("-n 20000 -c 1500 --connections short").measure();
    assert_eq!(run.endings, Endings { ok: 20_000, ..Endings::default() });
    assert!(run.connections.open_max > 1_200, "{:?}", run.connections);
}

#[test]
fn pipelined_requests_are_exact() {
    for size @ (n, c, _) in SIZES {
        let server = TruthServer::answering(|turn| Answer::ok(format!("{:010}", turn.request)));
        let run = sized(&server, size).with("--pipeline 4").measure();
        let ledger = server.wait_for("all answers", |ledger| ledger.answered >= n);
        assert_eq!(run.endings, Endings { ok: n, ..Endings::default() }, "{size:?}");
        assert_eq!((ledger.requests, ledger.answered), (n, n), "{size:?}");
        assert!(ledger.accepted <= c, "{size:?}: {} connections", ledger.accepted);
        assert_eq!(run.transfer.received_bytes, ledger.sent_bytes, "{size:?}");
    }
}

/// The answers to several requests in one segment, and in pieces that end anywhere.
#[test]
fn pipelined_answers_may_be_split_anywhere() {
    for piece in [1, 7, 1000] {
        let server = TruthServer::answering(move |_| Answer::ok("0123456789").in_pieces(piece));
        let run = Load::of(server.url("/")).with("-n 50 -c 2 --threads 2 --pipeline 5").measure();
        assert_eq!(run.endings, Endings { ok: 50, ..Endings::default() }, "pieces of {piece}");
        assert_eq!(run.transfer.received_body_bytes, 500);
    }
    // Reads end within bodies, behind which the next answer is.
    let server = TruthServer::answering(|_| Answer::ok("x".repeat(10_000)).in_pieces(7_001));
    let run = Load::of(server.url("/")).with("-n 50 -c 2 --threads 2 --pipeline 5").measure();
    assert_eq!(run.endings, Endings { ok: 50, ..Endings::default() });
    let ledger = server.wait_for("all answers", |ledger| ledger.answered >= 50);
    assert_eq!(run.transfer.received_bytes, ledger.sent_bytes);
}

/// What had been sent behind an answer that ends its connection was not answered, and goes again.
#[test]
fn pipelined_requests_survive_a_close() {
    for threads in ["1", "2"] {
        let server = TruthServer::answering(|turn| {
            if turn.on_connection == 2 {
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n";
                return Answer::head_and_body(head, "0123456789").then_linger();
            }
            Answer::ok("0123456789")
        });
        let run = Load::of(server.url("/")).with("-n 60 -c 2 --pipeline 4 --threads").word(threads).measure();
        let ledger = server.wait_for("all answers", |ledger| ledger.answered >= 60);
        assert_eq!(run.endings, Endings { ok: 60, ..Endings::default() }, "{threads} threads");
        assert_eq!(ledger.answered, 60, "{threads} threads");
    }
}

/// A connection for which there is no request is not opened, and the report does not claim it.
#[test]
fn fewer_requests_than_connections() {
    let server = TruthServer::answering(|_| Answer::ok(""));
    let run = Load::of(server.url("/")).with("-n 3 -c 8 --threads 2").measure();
    assert_eq!((run.endings.ok, run.settings.connections), (3, 3));
    assert!(server.ledger().accepted <= 3, "{} connections", server.ledger().accepted);
}

#[test]
fn urls_take_turns() {
    for (n, threads) in [(30, 1), (31, 1), (30, 3), (100, 2)] {
        let server = TruthServer::answering(|turn| Answer::ok(turn.target()));
        let urls = ["/a", "/b?x=1", "/long/c"].map(|target| server.url(target));
        let load = Load::of(&urls[0]).word(&urls[1]).word(&urls[2]);
        let run = load.with(&format!("-n {n} -c 4 --threads {threads}")).measure();
        assert_eq!(run.endings.ok, n);
        assert_eq!(run.target.urls, urls);
        let ledger = server.ledger();
        for target in ["/a", "/b?x=1", "/long/c"] {
            let line = format!("GET {target} HTTP/1.1\r\n");
            let count = ledger.asked.iter().filter(|asked| asked.text().starts_with(&line)).count() as u64;
            // Each thread takes turns by itself.
            assert!(count.abs_diff(n / 3) <= threads, "{target}: {count} of {n}, {threads} threads");
        }
    }
}
