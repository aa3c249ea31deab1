//! A run with plain figures, for unit tests to change.

use hdrhistogram::Histogram;

use super::*;

/// 1,000 requests in one second over 10 connections, all answered with 200, with latencies of 1, 2, ... 1,000 us: half of
/// what one thread of the client could do.
pub(crate) fn run() -> Run {
    let latency = distribution((1..=1000).map(|us| us * 1000));
    Run {
        started_unix_s: 1.7e9,
        elapsed_s: 1.0,
        interrupted: false,
        aborted: false,
        settings: settings(),
        target: target(),
        endings: Endings { ok: 1000, ..Endings::default() },
        statuses: BTreeMap::from([(200, 1000)]),
        connections: Connections::default(),
        transfer: Transfer::default(),
        answered_per_s: 1000.0,
        latency: Latency {
            service: latency.clone(),
            total: latency.clone(),
            connect: distribution([]),
            first_byte: latency,
            response: None,
            timer_error: None,
        },
        intervals: Intervals::default(),
        first_answer: None,
        first_failure: None,
        client: Client {
            threads: vec![ClientThread { cpu_s: 0.4, run_delay_s: 0.1, wall_s: 1.0 }],
            cpu_per_request_us: 400.0,
            achieved_concurrency: 0.5,
            loop_lag_p99_ns: 10_000,
            loop_lag_max_ns: 20_000,
            achieved_rate: None,
            never_sent: 0,
        },
        network: Network::default(),
        watched: Vec::new(),
        verdict: Verdict { limit: Limit::Unknown, words: "a sample".into(), doubts: Vec::new(), warnings: Vec::new() },
    }
}

/// Of these nanoseconds.
pub(crate) fn distribution(times_ns: impl IntoIterator<Item = u64>) -> Distribution {
    let mut histogram = Histogram::new(3).expect("three digits");
    let mut moments = Moments::default();
    for ns in times_ns {
        histogram.record(ns).expect("it grows");
        moments.record(ns);
    }
    Distribution::new(&histogram, &moments)
}

fn settings() -> Settings {
    Settings {
        connections: 10,
        threads: 1,
        requests: Some(1000),
        duration_s: None,
        rate_per_s: None,
        arrivals: None,
        keep_alive: true,
        pipeline: 1,
        timeout_s: 10.0,
        warm_up_s: 0.0,
        sources: Vec::new(),
        body_check: "length".into(),
        expected_status: "200-399".into(),
    }
}

fn target() -> Target {
    Target {
        urls: vec!["http://127.0.0.1:8080/".into()],
        host: "127.0.0.1".into(),
        port: 8080,
        path: "/".into(),
        address: "127.0.0.1:8080".into(),
        method: "GET".into(),
        http: "1.1".into(),
        request_bytes: 60,
        request_body_bytes: 0,
    }
}
