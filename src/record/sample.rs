//! A record as a real run leaves it, for the unit tests of all who read records.

use hdrhistogram::Histogram;

use super::*;

/// The distribution of these times.
pub fn distribution(times_ns: impl IntoIterator<Item = u64>) -> Distribution {
    let mut histogram = Histogram::new(3).expect("three digits are a precision");
    let mut moments = Moments::default();
    for time in times_ns {
        histogram.record(time).expect("a histogram that grows takes every time");
        moments.record(time);
    }
    Distribution::new(&histogram, &moments)
}

/// Ten seconds of a keep-alive run over 100 connections: 20,000 requests, 12 of which failed.
pub fn run() -> Run {
    // Evenly from 1 ms to 21 ms, the tail of 20 requests up to 2 s, and 5 that were given up after 5 s.
    let body = (0..19_963).map(|n| 1_000_000 + n * 1_000);
    let tail = (1..=20).map(|n| n * 100_000_000);
    let service: Vec<u64> = body.chain(tail).chain([5_000_000_000; 5]).collect();
    let connects: Vec<u64> = (0..100).map(|n| 80_000 + n * 1_000).collect();
    let connect_of = |at: usize| connects.get(at).copied().unwrap_or(0);
    let total = distribution(service.iter().enumerate().map(|(at, time)| time + connect_of(at)));
    Run {
        started_unix_s: 1_796_105_905.25,
        elapsed_s: 10.0,
        interrupted: false,
        aborted: false,
        settings: settings(),
        target: target(),
        endings: Endings { ok: 19_980, status_refused: 3, reset: 4, timed_out: 5, aborted: 8, ..Endings::default() },
        statuses: BTreeMap::from([(200, 19_980), (404, 3)]),
        connections: Connections {
            opened: 110,
            open_max: 100,
            kept_alive: 19_880,
            said_keep_alive: 19_880,
            stale_keep_alive: 2,
            surplus: 0,
        },
        transfer: Transfer { received_bytes: 23_000_000, received_body_bytes: 20_460_000, sent_bytes: 1_640_000 },
        answered_per_s: 1_998.3,
        latency: Latency {
            first_byte: distribution(service.iter().map(|time| time - 500_000)),
            service: distribution(service),
            total,
            connect: distribution(connects),
            response: None,
            timer_error: None,
        },
        intervals: Intervals {
            width_s: 1.0,
            rows: vec![
                Interval {
                    ok: 1_998,
                    failed: 1,
                    received_bytes: 2_300_000,
                    latency_sum_ns: 22_000_000_000,
                    latency_max_ns: 5_000_000_000,
                };
                10
            ],
        },
        first_answer: Some(FirstAnswer {
            status: 200,
            server: "tiny/1.0 (of the tests)".to_owned(),
            body_bytes: 1_024,
            head: "HTTP/1.1 200 OK\r\nServer: tiny/1.0 (of the tests)\r\nContent-Length: 1024\r\n\r\n".to_owned(),
        }),
        // 104 is ECONNRESET.
        first_failure: Some(FirstFailure::new(Outcome::Reset, Some(104))),
        client: Client {
            threads: vec![
                ClientThread { cpu_s: 4.1, run_delay_s: 0.1, wall_s: 10.0 },
                ClientThread { cpu_s: 3.9, run_delay_s: 0.9, wall_s: 10.0 },
            ],
            cpu_per_request_us: 40.0,
            achieved_concurrency: 98.7,
            loop_lag_p99_ns: 120_000,
            loop_lag_max_ns: 3_000_000,
            achieved_rate: None,
            never_sent: 0,
        },
        network: Network {
            syn_retransmits: 1,
            listen_overflows: 0,
            listen_drops: 0,
            congestion_control: "cubic".to_owned(),
        },
        watched: vec![watched()],
        verdict: Verdict {
            limit: Limit::ServerCpu,
            words: "The server's CPU: nginx used 1.98 of its 2 CPUs, while the client had 60 % to spare.".to_owned(),
            doubts: vec![Doubt::Failures],
            warnings: vec!["12 of 20000 requests failed.".to_owned()],
        },
    }
}

/// An open loop: [`run`] at this asked rate, of which it achieved this part, with response time and timer error.
pub fn open_run(rate_per_s: f64, achieved: f64) -> Run {
    let mut run = run();
    run.settings.rate_per_s = Some(rate_per_s);
    run.settings.arrivals = Some("poisson".to_owned());
    run.answered_per_s = rate_per_s * achieved;
    run.client.achieved_rate = Some(achieved);
    run.client.never_sent = 7;
    run.latency.response = Some(distribution((1..=20_000).map(|n| n * 10_000)));
    run.latency.timer_error = Some(distribution((1..=20_000).map(|n| n * 10)));
    run
}

/// The record of one run.
pub fn record() -> Record {
    Record {
        version: VERSION,
        tool: "quintain 0.1.0".to_owned(),
        command: ["quintain", "load", "-c", "100", "http://127.0.0.1:8080/1k.html"].map(str::to_owned).to_vec(),
        kind: Kind::Single,
        runs: vec![run()],
        found_rate_per_s: None,
        finding: None,
    }
}

/// The record of several runs.
pub fn curve(kind: Kind, runs: Vec<Run>) -> Record {
    Record { kind, runs, ..record() }
}

fn settings() -> Settings {
    Settings {
        connections: 100,
        threads: 2,
        requests: None,
        duration_s: Some(10.0),
        rate_per_s: None,
        arrivals: None,
        keep_alive: true,
        pipeline: 1,
        timeout_s: 5.0,
        warm_up_s: 2.0,
        sources: Vec::new(),
        body_check: "length".to_owned(),
        expected_status: "200-399".to_owned(),
    }
}

fn target() -> Target {
    Target {
        urls: vec!["http://127.0.0.1:8080/1k.html".to_owned()],
        host: "127.0.0.1".to_owned(),
        port: 8080,
        path: "/1k.html".to_owned(),
        address: "127.0.0.1:8080".to_owned(),
        method: "GET".to_owned(),
        http: "1.1".to_owned(),
        request_bytes: 82,
        request_body_bytes: 0,
    }
}

fn watched() -> Watched {
    Watched {
        pid: 4711,
        name: "nginx".to_owned(),
        cpu_s: 19.8,
        cpu_per_request_us: 990.0,
        cpus_used: 1.98,
        cpus_allowed: 2,
        busiest_thread: 0.99,
        busiest_thread_delay: 0.004,
        threads_max: 3,
        resident_max_bytes: 24_117_248,
        descriptors_max: 112,
        voluntary_switches: 1_200,
        involuntary_switches: 35,
        gone: false,
    }
}
