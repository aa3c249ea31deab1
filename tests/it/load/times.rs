//! Times that a script has laid down. Nothing here depends on how fast the machine is: what a test requires is a lower bound
//! that the script itself gives, or the analytic value of a run that, by the server's own clock, went as analysed.

use std::time::{Duration, Instant};

use quintain::record::{Distribution, Doubt, Endings, Run};

use super::{Load, N, WAYS};
use crate::harness::{Answer, Asked, Ledger, TruthServer, machine_to_myself};

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("a short time")
}

/// How many of a distribution's times are that long or longer, to the three digits of a histogram: what is a thousandth
/// shorter lies in a bucket of its own, or counts too.
fn at_least(distribution: &Distribution, time: Duration) -> u64 {
    let histogram = distribution.histogram().expect("a histogram");
    histogram.len() - histogram.count_between(0, ns(time) * 998 / 1000)
}

#[test]
fn a_fixed_delay_is_in_every_time_but_the_connect() {
    let delay = Duration::from_millis(50);
    for way in WAYS {
        let server = TruthServer::answering(move |_| Answer::ok("0123456789").after(delay));
        let run = Load::of(server.url("/")).with(&format!("-n {N} -c 4")).with(way).measure();
        let latency = &run.latency;
        for times in [&latency.service, &latency.total, &latency.first_byte] {
            assert_eq!(times.count, N, "{way}");
            assert!(times.min_ns >= ns(delay), "{way}: {times:?}");
            assert!(times.mean_ns >= times.min_ns as f64 && times.mean_ns <= times.max_ns as f64, "{way}");
            assert!(times.percentile_ns(50.0) >= Some(ns(delay)), "{way}: {times:?}");
            assert_eq!(times.percentile_ns(100.0), Some(times.max_ns), "{way}");
        }
        assert!(latency.total.mean_ns >= latency.service.mean_ns, "{way}: a cycle contains its service time");
        assert!(latency.service.mean_ns >= latency.first_byte.mean_ns, "{way}");
        // What the server saw of it lies within what the client did.
        let ledger = server.wait_for("all answers", |ledger| ledger.answered == N);
        let seen: Duration = ledger.asked.iter().filter_map(|asked| Some(asked.answered_at? - asked.read_at)).sum();
        assert!(seen.as_nanos() >= u128::from(N) * u128::from(ns(delay)));
        // 22 requests over four connections take six turns.
        assert!(run.elapsed_s >= 6.0 * delay.as_secs_f64(), "{way}: {}", run.elapsed_s);
        assert_eq!((latency.response.as_ref(), latency.timer_error.as_ref()), (None, None), "the loop is closed");
    }
}

/// The time of a connect is the connection's, the time to the first byte the answer's head, and the rest its body.
#[test]
fn the_first_byte_is_not_the_last() {
    let server = TruthServer::answering(|_| {
        // 57 bytes in pieces, each of which waits before the next one.
        Answer::ok("0123456789012345678").in_pieces(1)
    });
    let run = Load::of(server.url("/")).with("-n 5 -c 1").measure();
    assert!(run.latency.service.mean_ns > run.latency.first_byte.mean_ns + 57.0 * 100_000.0, "{:?}", run.latency);
}

/// Else the tail would be cut off: wrk drops what exceeds its timeout.
#[test]
fn what_timed_out_is_in_the_tail() {
    let timeout = Duration::from_millis(300);
    let server = TruthServer::answering(|turn| if turn.request % 5 == 4 { Answer::silence() } else { Answer::ok("") });
    let run = Load::of(server.url("/")).with("-n 20 -c 2 --timeout 300ms").measure();
    assert_eq!(run.endings, Endings { ok: 16, timed_out: 4, ..Endings::default() });
    assert_eq!(run.latency.service.count, 20);
    assert!(at_least(&run.latency.service, timeout) >= 4, "{:?}", run.latency.service);
}

/// With every 20th answer slow, wrk's mean is 132 % too high.
#[test]
fn slow_answers_count_as_often_as_they_come() {
    let slow = Duration::from_millis(200);
    let server =
        TruthServer::answering(
            move |turn| {
                if turn.request % 20 == 19 { Answer::ok("").after(slow) } else { Answer::ok("") }
            },
        );
    let run = Load::of(server.url("/")).with("-n 200 -c 4 --threads 2").measure();
    let ledger = server.wait_for("all answers", |ledger| ledger.answered == 200);
    let took = |asked: &Asked| asked.answered_at.map_or(Duration::ZERO, |at| at - asked.read_at);
    let truth = ledger.asked.iter().filter(|asked| took(asked) >= slow).count() as u64;
    assert!(truth >= 10);
    assert!(at_least(&run.latency.service, slow) >= truth, "{:?}", run.latency.service);
    let sum = ledger.asked.iter().map(took).sum::<Duration>();
    assert!(run.latency.service.mean_ns * 200.0 >= sum.as_nanos() as f64, "a mean below what the server itself took");
}

#[test]
fn requests_of_an_open_loop_are_not_early() {
    for arrivals in ["uniform", "poisson"] {
        for threads in ["1", "2"] {
            let server = TruthServer::answering(|_| Answer::ok(""));
            let load = Load::of(server.url("/")).with("-n 100 -c 8 --rate 200 --arrivals").word(arrivals);
            let run = load.with("--threads").word(threads).measure();
            assert_eq!(run.endings, Endings { ok: 100, ..Endings::default() }, "{arrivals} {threads}");
            assert_eq!(server.ledger().requests, 100);
            let response = run.latency.response.as_ref().expect("an open loop has response times");
            assert_eq!((response.count, run.latency.service.count), (100, 100));
            assert!(response.mean_ns >= run.latency.service.mean_ns, "waiting is part of the response");
            assert_eq!(run.settings.arrivals.as_deref(), Some(arrivals));
            if arrivals == "uniform" {
                assert!(run.elapsed_s >= 99.0 / 200.0, "{} s for 100 requests at 200 a second", run.elapsed_s);
            }
        }
    }
}

/// Requests that were due and found no connection before the end are not forgotten.
#[test]
fn what_was_due_and_never_sent_is_counted() {
    for threads in [1, 2] {
        let server = TruthServer::answering(|_| Answer::silence());
        let load = Load::of(server.url("/")).with("-t 500ms --rate 100 -c 2");
        let run = load.with(&format!("--threads {threads}")).measure();
        assert_eq!(run.endings, Endings { aborted: 2, ..Endings::default() });
        assert_eq!(run.client.never_sent, 48, "of 50 that were due, two were on their way");
        assert!(run.client.achieved_rate.is_some_and(|rate| rate < 0.1), "{:?}", run.client);
        assert!(run.verdict.doubts.contains(&Doubt::RateNotAchieved), "{:?}", run.verdict);
    }
}

/// What a server that stands still does to an open loop, in figures (Gil Tene's test).
mod stall {
    use super::*;

    pub const RATE: f64 = 50.0;
    pub const REQUESTS: u64 = 200;
    pub const STALL: Duration = Duration::from_secs(3);
    pub const CONNECTIONS: u64 = 8;

    /// The request that the server stops at.
    const FIRST: u64 = 20;

    /// One run, and the truth.
    pub fn run(threads: &str) -> (Run, Ledger) {
        let server =
            TruthServer::answering(
                |turn| {
                    if turn.request == FIRST { Answer::ok("").stalling(STALL) } else { Answer::ok("") }
                },
            );
        let load = Load::of(server.url("/")).with(&format!("-n {REQUESTS} -c {CONNECTIONS} --rate {RATE}"));
        let run = load.with("--threads").word(threads).measure();
        let ledger = server.wait_for("all answers", |ledger| ledger.answered == REQUESTS);
        (run, ledger)
    }

    /// Mean response time of all requests in seconds. S x rate of them are due during the stall and wait for its end,
    /// which is S away for the first, and less by a gap for each one after it; the others do not wait.
    pub fn analytic_mean() -> f64 {
        let delayed = STALL.as_secs_f64() * RATE;
        delayed * (delayed + 1.0) / 2.0 / RATE / REQUESTS as f64
    }

    /// The same by the server's clock: from when each request was due to when it had its answer. Requests do not
    /// differ, so it is of no importance which answer belongs to which. Never more than the client can have seen.
    pub fn true_mean(ledger: &Ledger) -> f64 {
        let origin = ledger.asked[0].read_at;
        let since = |at: Instant| at.saturating_duration_since(origin).as_secs_f64();
        let due = |number: usize| number as f64 / RATE;
        // No request is read before it is due, so the schedule began at or before each of these.
        let began = ledger.asked.iter().enumerate().map(|(number, asked)| since(asked.read_at) - due(number));
        let began = began.fold(f64::INFINITY, f64::min);
        let waited = |(number, asked): (usize, &Asked)| {
            since(asked.answered_at.expect("all are answered")) - due(number) - began
        };
        ledger.asked.iter().enumerate().map(waited).sum::<f64>() / REQUESTS as f64
    }
}

/// h2load, hey and oha have a mean that is 90 % too low here. Whoever waits while the server stands still is part of the
/// response time, and not of the service time, which only those see whose request had been sent.
#[test]
fn a_stall_is_seen_by_all_whom_it_kept_waiting() {
    let _alone = machine_to_myself();
    for threads in ["1", "2"] {
        let mut means = Vec::new();
        // A busy machine makes the stall longer than asked for, and serves late what had to wait. It can only add.
        while !means.last().is_some_and(|mean| within(*mean, stall::analytic_mean(), 0.02)) {
            assert!(means.len() < 5, "{threads} threads: {means:?} s, analytic {} s", stall::analytic_mean());
            let (run, ledger) = stall::run(threads);
            assert_eq!(run.endings, Endings { ok: stall::REQUESTS, ..Endings::default() });
            let response = run.latency.response.as_ref().expect("an open loop has response times");
            assert_stall_is_in(response);
            assert_stall_is_not_in(&run.latency.service);
            let (mean, truth) = (response.mean_ns / 1e9, stall::true_mean(&ledger));
            assert!(mean >= truth * 0.999, "{threads} threads: {mean} s, by the server's clock {truth} s");
            means.push(mean);
        }
    }
}

fn within(value: f64, expected: f64, share: f64) -> bool {
    (value - expected).abs() <= expected * share
}

/// Whatever the machine does, those who were due in the stall waited at least for its end, from 0 to S, uniformly.
#[track_caller]
fn assert_stall_is_in(response: &Distribution) {
    for share in [0.25, 0.5, 0.75] {
        let longer = at_least(response, stall::STALL.mul_f64(share)) as f64;
        let expected = stall::RATE * stall::STALL.as_secs_f64() * (1.0 - share);
        // One more or less at the edge, and the histogram's three digits.
        assert!(longer >= expected * 0.99 - 1.0, "{longer} waited {share} of the stall, not {expected}");
    }
    assert!(response.max_ns >= ns(stall::STALL), "{response:?}");
}

#[track_caller]
fn assert_stall_is_not_in(service: &Distribution) {
    let slow = at_least(service, stall::STALL / 2);
    assert!((1..=stall::CONNECTIONS).contains(&slow), "{slow} requests were on their way in the stall");
}
