use super::*;
use crate::record::{Doubt, Endings, Finding, FirstFailure, Limit, Outcome, sample};

fn single(run: Run) -> String {
    render(&Record { runs: vec![run], ..sample::record() })
}

/// The line of a label, without the label and with what was wrapped below it.
fn line(text: &str, label: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("{label:<INDENT$}")));
    let first = lines.next()?[INDENT..].to_owned();
    let more = lines.take_while(|line| line.starts_with(&" ".repeat(INDENT)));
    Some(more.fold(first, |all, line| format!("{all} {}", line.trim_start())))
}

#[track_caller]
fn assert_fits(text: &str) {
    assert!(text.lines().count() <= 35, "{} lines", text.lines().count());
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH && line.trim_end() == line), "{text}");
    assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
}

const CLOSED: &str = "\
GET http://127.0.0.1:8080/1k.html
100 connections, 2 threads, HTTP/1.1, keep-alive, for 10 s, after 2 s of warm-up

Verdict     The server's CPU: nginx used 1.98 of its 2 CPUs, while the client had 60 % to spare.
Warning     12 of 20000 requests failed.

Throughput  1998 requests/s answered (19983 in 10.0 s), 2.19 MiB/s received
Latency          min     mean       sd      p50      p90      p99    p99.9   p99.99      max
  total      1.08 ms  13.3 ms  87.6 ms  11.0 ms  19.0 ms  20.8 ms   600 ms   5.00 s   5.00 s
  service    1.00 ms  13.3 ms  87.6 ms  11.0 ms  19.0 ms  20.8 ms   600 ms   5.00 s   5.00 s
  first byte  500 us  12.8 ms  87.6 ms  10.5 ms  18.5 ms  20.3 ms   600 ms   5.00 s   5.00 s
  connect    80.0 us   130 us  29.0 us   129 us   169 us   178 us        -        -   179 us
            -: fewer requests than this percentile needs

Endings     19980 of 20000 requests ok, 8 aborted by the end of the run
FAILED      12 (0.06 %): 4 reset, 5 timed out, 3 status refused
            the first: reset: Connection reset by peer (os error 104)
Keep-alive  2 connections closed by the server between two requests; no failures
Statuses    200: 19980, 404: 3
Answers     the first: 200 from tiny/1.0 (of the tests), 1024 bytes of body
Transfer    21.9 MiB received (19.5 MiB of bodies), 1.56 MiB sent, over 110 connections

Client      98.7 of 100 requests in flight, 40.0 us of CPU/request, loop lag p99 120 us, max 3.00 ms
            the busiest of 2 threads: on a CPU 39.0 %, waiting for one 9.0 % of the time
Network     cubic; on the whole machine 1 SYN retransmit, 0 listen overflows, 0 listen drops
Watched     nginx (4711): 1.98 of 2 CPUs, 990 us of CPU/request; busiest thread 99.0 % on a CPU,
            0.40 % waiting
            3 threads, 23.0 MiB resident, 112 descriptors, 1200 voluntary and 35 forced switches
";

#[test]
fn a_closed_loop() {
    let text = single(sample::run());
    assert_eq!(text, CLOSED);
    assert_fits(&text);
}

#[test]
fn an_open_loop_speaks_of_response_times_and_its_schedule() {
    let text = single(sample::open_run(2_000.0, 0.981));
    assert!(text.contains("2000 requests/s (poisson)"), "{text}");
    assert!(text.contains("\n  response   10.0 us   100 ms"), "{text}");
    assert!(text.contains("\n  service ") && !text.contains("\n  total "), "{text}");
    let schedule = "98.1 % of 2000 requests/s achieved; sent late (with a connection free) by p99 198 us, max 200 us; 7 due and never sent";
    assert_eq!(line(&text, "Schedule").as_deref(), Some(schedule));
    assert!(line(&text, "Client").unwrap().starts_with("98.7 requests in flight (at most 100), "));
    assert_fits(&text);
}

#[test]
fn what_did_not_happen_is_not_told() {
    let mut run = sample::run();
    run.endings = Endings { ok: 20_000, ..Endings::default() };
    run.statuses = [(200, 20_000)].into();
    run.connections.stale_keep_alive = 0;
    run.verdict.warnings.clear();
    run.watched.clear();
    let text = single(run);
    for label in ["Warning", "FAILED", "Keep-alive", "Statuses", "Schedule", "Watched"] {
        assert_eq!(line(&text, label), None, "{label}");
    }
    assert_eq!(line(&text, "Endings").as_deref(), Some("20000 of 20000 requests ok"));
}

#[test]
fn nothing_was_answered() {
    let mut run = sample::run();
    run.endings = Endings { connect_timed_out: 5, ..Endings::default() };
    run.statuses.clear();
    (run.first_answer, run.aborted, run.answered_per_s) = (None, true, 0.0);
    run.first_failure = Some(FirstFailure::new(Outcome::ConnectTimedOut, None));
    let nothing = sample::distribution([]);
    for times in
        [&mut run.latency.total, &mut run.latency.service, &mut run.latency.connect, &mut run.latency.first_byte]
    {
        *times = nothing.clone();
    }
    let text = single(run);
    assert_eq!(line(&text, "Latency").as_deref(), Some("none: no request was answered"));
    assert_eq!(line(&text, "FAILED").as_deref(), Some("5 (100.0 %): 5 connect timed out the first: connect timed out"));
    assert!(line(&text, "Warning").unwrap().contains("--abort-after"));
    assert_fits(&text);
}

#[test]
fn an_interrupted_run_says_so_before_any_figure() {
    let run = Run { interrupted: true, ..sample::run() };
    let text = single(run);
    assert!(text.find("interrupted").unwrap() < text.find("Throughput").unwrap());
}

#[test]
fn settings_that_are_not_as_everybody_would_guess() {
    let mut run = sample::run();
    run.target.urls.extend(["http://127.0.0.1:8080/b".to_owned(), "http://127.0.0.1:8080/c".to_owned()]);
    run.target.address = "unix:/run/x.sock".to_owned();
    run.settings = Settings {
        connections: 1,
        keep_alive: false,
        pipeline: 4,
        requests: Some(500),
        duration_s: None,
        warm_up_s: 0.0,
        sources: vec!["127.0.0.2".to_owned(), "127.0.0.3".to_owned()],
        body_check: "content 1 in 10".to_owned(),
        ..run.settings
    };
    let expected = "GET http://127.0.0.1:8080/1k.html and 2 more URLs in turn at unix:/run/x.sock
1 connection, 2 threads, HTTP/1.1, a connection for each request, 4 pipelined, 500 requests, from 2
addresses, bodies checked: content 1 in 10\n";
    let text = single(run);
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn the_address_is_told_where_the_url_does_not() {
    let first_line = |host: &str, address: &str| {
        let mut run = sample::run();
        (run.target.host, run.target.address) = (host.to_owned(), address.to_owned());
        single(run).lines().next().unwrap().to_owned()
    };
    assert!(first_line("::1", "[::1]:8080").ends_with("/1k.html"));
    assert!(first_line("localhost", "127.0.0.1:8080").ends_with("/1k.html at 127.0.0.1:8080"));
    assert!(first_line("127.0.0.1", "127.0.0.1:3128").ends_with("/1k.html at 127.0.0.1:3128"));
}

/// Rates and marks of three steps, whose runs are else the sample's.
fn steps() -> Vec<Run> {
    let mut held = sample::open_run(1_000.0, 1.0);
    held.endings = Endings { ok: 10_000, ..Endings::default() };
    held.verdict.limit = Limit::Rate;
    let mut broken = sample::open_run(4_000.0, 0.9);
    (broken.verdict.limit, broken.verdict.doubts) = (Limit::ClientCpu, vec![Doubt::ClientWasTheLimit]);
    let mut doubtful = sample::open_run(2_000.0, 0.999);
    doubtful.verdict.doubts = vec![Doubt::ClientMayBeTheLimit];
    vec![held, broken, doubtful]
}

const CURVE: &str = "\
Times are response times, from when a request was due to the last byte of its answer.

    asked/s answered/s        p50        p99      p99.9        max     failed  limited by
       1000       1000     100 ms     198 ms     200 ms     200 ms          0  asked rate
       4000       3600     100 ms     198 ms     200 ms     200 ms         12  client CPU **
       2000       1998     100 ms     198 ms     200 ms     200 ms         12  server CPU *

*  the client may have been the limit
** the client was the limit: the row is a lower bound of what the server can do
";

#[test]
fn steps_are_a_table_without_a_headline() {
    let text = render(&sample::curve(Kind::Steps, steps()));
    let heading = "GET http://127.0.0.1:8080/1k.html
100 connections, 2 threads, HTTP/1.1, keep-alive, for 10 s, after 2 s of warm-up\n\n";
    assert_eq!(text, format!("{heading}{CURVE}"));
    assert_fits(&text);
    let single_by_name = sample::curve(Kind::Single, steps());
    assert_eq!(render(&single_by_name), text, "several runs have no single figure, whatever they are called");
}

#[test]
fn a_search_says_what_it_found() {
    let words = "2000/s held for 15s; at 4000/s p99 was 7.31 ms (p99>5ms)".to_owned();
    let finding = Finding { lower_bound: false, words: words.clone(), stages: Vec::new() };
    let text = render(&Record { finding: Some(finding), ..sample::curve(Kind::FindMax, steps()) });
    assert_eq!(line(&text, "Search"), Some(words));
    assert!(line(&text, "Last run").unwrap().starts_with("The server's CPU"));
    assert!(text.ends_with(CURVE), "{text}");
}

#[test]
fn rows_that_were_cut_short_are_told() {
    let mut runs = steps();
    (runs[2].interrupted, runs[1].aborted) = (true, true);
    let text = render(&sample::curve(Kind::Steps, runs));
    assert!(text.contains("Interrupted: the last row") && text.contains("--abort-after"), "{text}");
}

#[test]
fn a_record_of_nothing() {
    assert_eq!(render(&sample::curve(Kind::Steps, Vec::new())), "Nothing was measured.\n");
}

#[test]
fn long_words_are_wrapped_but_no_figure_is_torn_from_its_unit() {
    let words = "x".repeat(82);
    let text = labelled("Label", &format!("{words} 123 ms, and more"));
    assert_eq!(text, format!("Label       {words}\n            123 ms, and more\n"));
}
