//! Many connections, and many requests: what must not grow, and what must not fail.

use quintain::record::Endings;

use super::Load;
use crate::harness::{Launch, Metrics, Site, machine_to_myself, raise_descriptor_limit, say_skipped};

const CONNECTIONS: u64 = 10_000;

/// Descriptors beside the connections, of the client or the server.
const SPARE: u64 = 1_000;

#[test]
fn ten_thousand_connections_and_nothing_failed() {
    let _alone = machine_to_myself();
    let limit = raise_descriptor_limit();
    if limit < CONNECTIONS + SPARE {
        return say_skipped(&format!("{limit} descriptors are allowed, {} are needed", CONNECTIONS + SPARE));
    }
    let site = Site::small();
    let server = Launch::over(site.root()).with_admin().start();
    let n = 3 * CONNECTIONS;
    let run = Load::of(server.url("/ten.txt")).with(&format!("-n {n} -c {CONNECTIONS} --threads 2")).measure();
    assert_eq!(run.endings, Endings { ok: n, ..Endings::default() });
    assert_eq!((run.connections.opened, run.connections.open_max), (CONNECTIONS, CONNECTIONS));
    let all = |metrics: &Metrics| metrics.sum("quintain_http_requests_total", &["2xx"]);
    let metrics = server.wait_for_metrics("all requests", |metrics| all(metrics) >= n as f64);
    assert_eq!(all(&metrics), n as f64);
    assert_eq!(metrics.sum("quintain_connections_accepted_total", &[]), CONNECTIONS as f64);
}

/// What a run keeps is counts and histograms, whose size is that of their range. Ten times the requests must not show.
#[test]
fn memory_does_not_grow_with_the_requests() {
    /// Less than 12 bytes for each of the 90,000 requests that are more.
    const BOUND: u64 = 1 << 20;
    let _alone = machine_to_myself();
    let site = Site::small();
    let server = Launch::over(site.root()).start();
    let peak = |n: u64| {
        let ran = Load::of(server.url("/ten.txt")).with(&format!("-n {n} -c 10 --pipeline 10 --threads 2")).run();
        assert_eq!(ran.single().endings, Endings { ok: n, ..Endings::default() });
        assert!(ran.peak_resident > 0, "nothing was seen of its memory");
        ran.peak_resident
    };
    let (few, many) = (peak(10_000), peak(100_000));
    assert!(many <= few + BOUND, "{few} bytes at the peak for 10,000 requests, {many} for 100,000");
}
