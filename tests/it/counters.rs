//! The admin listener: figures that agree with what was asked.

use serde_json::Value;

use crate::harness::{Client, Launch, Server, Site};

/// Asks for 3 documents, 1 redirect, 1 unchanged, 2 refusals; 7 requests on 2 connections.
fn ask(server: &Server) {
    let mut client = server.client();
    for target in ["/ten.txt", "/ten.txt", "/big.bin"] {
        assert_eq!(client.get(target).status, 200);
    }
    assert_eq!(client.get("/dir").status, 301);
    assert_eq!(client.get_with("/ten.txt", "If-None-Match: *\r\n").status, 304);
    assert_eq!(client.get("/missing").status, 404);
    let mut malformed = server.client();
    malformed.send("broken\r\n\r\n");
    assert_eq!(malformed.answer().expect("an answer").status, 400);
    malformed.expect_end();
}

#[test]
fn metrics_agree_with_the_requests() {
    let site = Site::full();
    for workers in ["1", "2"] {
        let server = Launch::over(site.root()).set("server.workers", workers).with_admin().start();
        ask(&server);
        let metrics = server.wait_for_metrics("an end", |m| m.sum("quintain_connections_open", &[]) == 0.0);
        for (class, count) in [("1xx", 0.0), ("2xx", 3.0), ("3xx", 2.0), ("4xx", 2.0), ("5xx", 0.0)] {
            assert_eq!(metrics.sum("quintain_http_requests_total", &[class]), count, "{class}: {metrics:#?}");
        }
        assert_eq!(metrics.sum("quintain_connections_accepted_total", &[]), 2.0);
        let sent = metrics.sum("quintain_sent_bytes_total", &[]);
        assert!((300_020.0..303_000.0).contains(&sent), "{sent} bytes for 300,020 and seven heads");
        assert_eq!(metrics.sum("quintain_accept_errors_total", &[]), 0.0);
        assert_eq!(metrics.sum("quintain_timeouts_total", &[]), 0.0);
    }
}

#[test]
fn the_cache_counts_its_hits() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("files.revalidate", "1h").with_admin().start();
    let mut client = server.client();
    for _ in 0..10 {
        client.get("/ten.txt");
    }
    let metrics = server.metrics();
    assert_eq!(metrics.sum("quintain_cache_misses_total", &[]), 1.0);
    assert_eq!(metrics.sum("quintain_cache_hits_total", &[]), 9.0);
}

#[test]
fn status_says_the_same_as_json() {
    let site = Site::full();
    let server = Launch::over(site.root()).set("server.workers", "2").with_admin().start();
    ask(&server);
    server.wait_for_metrics("an end", |m| m.sum("quintain_connections_open", &[]) == 0.0);
    let answer = Client::connect(server.admin()).get("/status");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let status: Value = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!(status["workers"], 2);
    assert_eq!(status["requests"]["2xx"], 3);
    assert_eq!(status["requests"]["4xx"], 2);
    assert_eq!(status["connections"]["accepted"], 2);
    assert_eq!(status["connections"]["open"], 0);
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    let listen = status["listen"].as_array().expect("a list");
    assert_eq!(listen.len(), 1);
    assert!(server.url("").starts_with(listen[0].as_str().expect("an address")), "{listen:?}");
}

#[test]
fn the_admin_listener_is_healthy_and_knows_nothing_else() {
    let site = Site::small();
    let server = Launch::over(site.root()).with_admin().start();
    let mut admin = Client::connect(server.admin());
    let health = admin.get("/healthz");
    assert_eq!((health.status, health.text().trim()), (200, "ok"));
    assert!(
        admin
            .get("/metrics")
            .header("content-type")
            .is_some_and(|value| value.starts_with("text/plain; version=0.0.4"))
    );
    // The site is not served there, and the figures are not served on the site.
    assert_eq!(admin.get("/ten.txt").status, 404);
    assert_eq!(server.get("/metrics").status, 404);
    admin.send("POST /metrics HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(admin.answer().expect("an answer").status, 405);
}

#[test]
fn asking_for_figures_is_not_counted() {
    let site = Site::small();
    let server = Launch::over(site.root()).with_admin().start();
    for _ in 0..5 {
        assert_eq!(server.metrics().sum("quintain_http_requests_total", &[]), 0.0);
    }
}
