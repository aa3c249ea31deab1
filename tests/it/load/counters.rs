//! The client's figures beside the target's own: request for request, byte for byte.

use quintain::record::{Endings, Run};

use super::{Load, WAYS};
use crate::harness::{Launch, Metrics, Server, Site};

/// Requests of a run, over connections that do not divide it.
const N: u64 = 150;
const C: u64 = 7;

fn server(site: &Site, workers: &str) -> Server {
    Launch::over(site.root()).set("server.workers", workers).with_admin().start()
}

/// Requires that the server, over its whole life, counted what this run did.
#[track_caller]
fn agree(server: &Server, run: &Run, what: &str) {
    let requests = run.endings.all() as f64;
    // A worker publishes its counters some time after an answer.
    let all = |family: &str, metrics: &Metrics| metrics.sum(family, &[]);
    let metrics = server.wait_for_metrics("all requests and no connection", |metrics| {
        all("quintain_http_requests_total", metrics) >= requests && all("quintain_connections_open", metrics) == 0.0
    });
    assert_eq!(all("quintain_http_requests_total", &metrics), requests, "requests, {what}");
    for (status, count) in &run.statuses {
        let class = format!("class=\"{}xx\"", status / 100);
        assert_eq!(metrics.sum("quintain_http_requests_total", &[&class]), *count as f64, "{status}, {what}");
    }
    assert_eq!(all("quintain_sent_bytes_total", &metrics), run.transfer.received_bytes as f64, "bytes, {what}");
    let opened = run.connections.opened as f64;
    assert_eq!(all("quintain_connections_accepted_total", &metrics), opened, "connections, {what}");
}

#[test]
fn documents_of_every_size() {
    let site = Site::full();
    site.write("empty.bin", "");
    site.write_sparse("3m.bin", 3 << 20);
    let documents =
        [("/empty.bin", 0), ("/ten.txt", 10), ("/thousand.txt", 1000), ("/big.bin", 300_000), ("/3m.bin", 3 << 20)];
    for (document, length) in documents {
        for way in WAYS {
            let server = server(&site, "2");
            let run = Load::of(server.url(document)).with(&format!("-n {N} -c {C}")).with(way).measure();
            assert_eq!(run.endings, Endings { ok: N, ..Endings::default() }, "{document} {way}");
            assert_eq!(run.transfer.received_body_bytes, N * length, "{document} {way}");
            let opened = if way.contains("short") { N } else { C };
            assert_eq!(run.connections.opened, opened, "{document} {way}");
            agree(&server, &run, &format!("{document} {way}"));
        }
    }
}

#[test]
fn answers_without_bodies_and_refusals() {
    let site = Site::full();
    let rows = [
        ("/ten.txt", "-m HEAD", 200),
        ("/missing", "--expect-status 404", 404),
        ("/dir", "--expect-status 301", 301),
        ("/ten.txt", "-m DELETE --expect-status 405", 405),
    ];
    for (target, words, status) in rows {
        for way in WAYS {
            let server = server(&site, "1");
            let run = Load::of(server.url(target)).with(&format!("-n {N} -c {C}")).with(way).with(words).measure();
            assert_eq!(run.statuses.iter().collect::<Vec<_>>(), [(&status, &N)], "{target} {words} {way}");
            agree(&server, &run, &format!("{target} {words} {way}"));
        }
    }
}

/// Several documents in turn, HTTP/1.0 and pipelining.
#[test]
fn mixtures() {
    let site = Site::full();
    for words in ["", "--http 1.0", "--http 1.0 --connections short", "--pipeline 3", "--pipeline 8 --threads 2"] {
        let server = server(&site, "1");
        let load = ["/big.bin", "/index.html"]
            .into_iter()
            .fold(Load::of(server.url("/ten.txt")), |load, target| load.word(server.url(target)));
        let run = load.with(&format!("-n {N} -c {C}")).with(words).measure();
        assert_eq!(run.endings, Endings { ok: N, ..Endings::default() }, "{words}");
        agree(&server, &run, words);
    }
}

/// The server closes connections after some requests, as all servers do, and says so.
#[test]
fn a_limit_of_requests_per_connection() {
    let site = Site::small();
    for words in ["--threads 1", "--threads 2", "--http 1.0", "--pipeline 4"] {
        let server = Launch::over(site.root()).set("keep_alive.max_requests", "10").with_admin().start();
        let run = Load::of(server.url("/ten.txt")).with(&format!("-n {N} -c {C}")).with(words).measure();
        assert_eq!(run.endings, Endings { ok: N, ..Endings::default() }, "{words}");
        assert!(run.connections.opened >= N / 10, "{words}: {:?}", run.connections);
        agree(&server, &run, words);
    }
}
