//! How runs end, and what keeps them from beginning.

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use quintain::record::Endings;
use rustix::process::Signal;
use socket2::{Domain, Socket, Type};

use super::{Load, Ran, WAYS};
use crate::harness::{Answer, TruthServer};

/// A server whose answers take so long that no run of these tests gets through its requests by itself.
fn slow() -> TruthServer {
    TruthServer::answering(|_| Answer::ok("0123456789").after(Duration::from_millis(20)))
}

#[test]
fn a_duration_ends_the_run() {
    for way in WAYS {
        let server = slow();
        let run = Load::of(server.url("/")).with("-t 300ms -c 3").with(way).measure();
        assert!(run.elapsed_s >= 0.29, "{way}: {} s", run.elapsed_s);
        assert!(!run.interrupted && !run.aborted);
        let Endings { ok, aborted, .. } = run.endings;
        assert!(ok > 0, "{way}");
        assert_eq!(run.endings.all(), ok + aborted, "{way}: what the end cut off is no failure");
        // Each connection had at most one request on its way.
        assert!(aborted <= 3, "{way}: {:?}", run.endings);
        let requests = server.ledger().requests;
        assert!((ok..=ok + aborted).contains(&requests), "{way}: {requests} at the server, {:?}", run.endings);
    }
}

/// A request that the end cut off had its connection busy, although it has no latency.
#[test]
fn what_the_end_cuts_off_was_on_its_way() {
    for way in WAYS {
        let server = TruthServer::answering(|_| Answer::ok("0123456789").after(Duration::from_secs(60)));
        let run = Load::of(server.url("/")).with("-t 500ms -c 4").with(way).measure();
        assert_eq!(run.endings, Endings { aborted: 4, ..Endings::default() }, "{way}");
        // 4, but for the time in which the connections were opened.
        let busy = run.client.achieved_concurrency;
        assert!(busy > 1.0 && busy <= 4.01, "{way}: {busy}");
    }
}

/// The queue of a server that accepts nobody is full, and the kernel drops what comes: those clients are on no connection.
#[test]
fn who_is_not_let_in_has_no_request_on_its_way() {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a port");
    socket.listen(1).expect("a queue of one");
    let address = socket.local_addr().expect("an address").as_socket().expect("of IPv4");
    let run = Load::of(format!("http://{address}/")).with("-t 500ms -c 40 --threads 1").measure();
    assert_eq!(run.endings.ok, 0);
    let busy = run.client.achieved_concurrency;
    assert!(busy > 0.0 && busy < 10.0, "{busy} of 40");
}

#[test]
fn whichever_end_comes_first() {
    let server = slow();
    let run = Load::of(server.url("/")).with("-n 5 -t 100s -c 2").measure();
    assert_eq!(run.endings, Endings { ok: 5, ..Endings::default() });
    let run = Load::of(server.url("/")).with("-n 1000000 -t 200ms -c 2").measure();
    assert!(run.endings.ok > 0 && run.endings.all() < 1_000_000, "{:?}", run.endings);
    assert_eq!((run.settings.requests, run.settings.duration_s), (Some(1_000_000), Some(0.2)));
}

#[test]
fn a_warm_up_is_load_without_figures() {
    let server = slow();
    let run = Load::of(server.url("/")).with("-n 20 -c 2 --threads 1 --warm-up 1s").measure();
    assert_eq!(run.endings, Endings { ok: 20, ..Endings::default() });
    assert_eq!((run.latency.service.count, run.settings.warm_up_s), (20, 1.0));
    let requests = server.ledger().requests;
    assert!(requests > 20, "{requests} at the server");
    // A rate of 20 ms an answer over two connections bounds what the warm-up can have been.
    assert!(requests <= 20 + 2 * 51, "{requests} at the server");
}

/// Starts a run that would take an hour and waits until the server has seen some of it.
fn endless(server: &TruthServer, words: &str) -> super::run::Running {
    let running = Load::of(server.url("/")).with("-t 1h -c 3").with(words).start();
    server.wait_for("requests", |ledger| ledger.requests >= 10);
    running
}

#[test]
fn an_interrupt_ends_the_run_with_its_report() {
    for words in ["--threads 1", "--threads 2", "--connections short", "--rate 50"] {
        let server = slow();
        let running = endless(&server, words);
        running.signal(Signal::INT);
        let ran = running.finish();
        assert_eq!(ran.code, Some(130), "{ran:#?}");
        let run = ran.single();
        assert!(run.interrupted && run.endings.ok > 0, "{words}: {ran:#?}");
        assert_eq!(run.endings.failed(), 0, "{words}: {:?}", run.endings);
        let requests = server.ledger().requests;
        assert!(run.endings.ok <= requests && requests <= run.endings.all(), "{words}: {requests} at the server");
    }
}

/// The first interrupt asks for the report. The second one does not wait for it.
#[test]
fn two_interrupts_end_the_process() {
    let server = slow();
    let running = endless(&server, "--threads 2");
    running.signal(Signal::INT);
    running.signal(Signal::INT);
    let ran = running.finish();
    assert_eq!(ran.code, Some(130), "{ran:#?}");
}

#[test]
fn gates_that_break_are_exit_code_3_and_come_after_the_report() {
    let server = TruthServer::answering(|turn| match turn.target() {
        "/broken" => Answer::status("500 Oops", "0123456789"),
        _ => Answer::ok("0123456789").after(Duration::from_millis(20)),
    });
    let rows = [
        ("/", "failed>0", 0),
        ("/broken", "failed>0", 3),
        ("/", "p50>10ms", 3),
        ("/", "p50>100s", 0),
        ("/", "mean>1ms", 3),
    ];
    for (target, gate, code) in rows {
        let ran = Load::of(server.url(target)).with("-n 6 -c 2 --fail-if").word(gate).run();
        assert_eq!(ran.code, Some(code), "{target} {gate}: {ran:#?}");
        assert_eq!(ran.single().endings.all(), 6);
        assert_eq!(ran.stderr.contains(gate), code == 3, "a broken gate is named: {ran:#?}");
    }
    // One of several is enough.
    let load = Load::of(server.url("/")).with("-n 6 -c 2 --fail-if failed>0 --fail-if p50>10ms");
    assert_eq!(load.run().code, Some(3));
}

/// Requires one sentence that names `what`, that exit code, and that the server was left alone.
#[track_caller]
fn refuses(server: &TruthServer, ran: &Ran, code: i32, what: &str) {
    assert_eq!(ran.code, Some(code), "{ran:#?}");
    assert!(ran.stderr.contains(what), "{what} is not named: {ran:#?}");
    assert_eq!(ran.stdout, "", "{ran:#?}");
    assert_eq!(server.ledger().accepted, 0, "it began although it could not end well: {ran:#?}");
}

#[test]
fn files_that_cannot_be_written_stop_it_before_any_request() {
    let server = slow();
    for flag in ["-o", "--hdr", "-e"] {
        let ran = Load::of(server.url("/")).with("-n 5 -c 1").word(flag).word("/nonexistent/folder/file").run();
        refuses(&server, &ran, 1, "/nonexistent/folder/file");
    }
}

#[test]
fn too_few_descriptors_stop_it_before_any_request() {
    let server = slow();
    let ran = Load::of(server.url("/")).with("-n 500 -c 200").with_descriptors(64).run();
    refuses(&server, &ran, 1, "descriptors");
    assert_eq!(ran.stderr.trim().lines().count(), 1, "one sentence: {ran:#?}");
    // What fits, runs.
    let load = Load::of(server.url("/")).with("-n 20 -c 10 --threads 1").with_descriptors(64);
    assert_eq!(load.endings(), Endings { ok: 20, ..Endings::default() });
}

#[test]
fn command_lines_that_make_no_sense_are_exit_code_2() {
    let server = slow();
    let rows = [
        ("-c 2 --threads 3 -n 10", "threads"),
        ("-n 0", "--requests"),
        ("--expect-status ok", "--expect-status"),
        ("--fail-if p99", "--fail-if"),
        ("--find-max -n 10", "--find-max"),
        ("--body /nonexistent/body", "/nonexistent/body"),
    ];
    for (words, what) in rows {
        let ran = Load::of(server.url("/")).with(words).run();
        let code = ran.code.unwrap_or(-1);
        assert!(matches!(code, 1 | 2), "{words}: {ran:#?}");
        refuses(&server, &ran, code, what);
    }
}

/// The report goes to the file that was named, and stdout stays empty.
#[test]
fn reports_go_where_they_are_told() {
    let server = TruthServer::answering(|_| Answer::ok("0123456789"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a UTF-8 path").to_owned();
    let load = Load::of(server.url("/")).with("-n 50 -c 2 -o").word(path("record"));
    let ran = load.with("--hdr").word(path("hdr")).with("-e").word(path("csv")).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:#?}");
    let read = |name: &str| fs::read_to_string(path(name)).expect("it was written");
    let record: quintain::record::Record = serde_json::from_str(&read("record")).expect("a record");
    assert_eq!(record.runs[0].endings.ok, 50);
    assert_eq!(read("csv").lines().count(), 102, "a line for each percentage from 0 to 100, and a header");
    assert!(read("hdr").contains("TotalCount"), "{}", read("hdr"));
}

/// A run whose server never answers still ends in time.
#[test]
fn a_silent_server_does_not_hold_up_the_end() {
    let server = TruthServer::answering(|_| Answer::silence());
    let began = Instant::now();
    let run = Load::of(server.url("/")).with("-t 300ms -c 3 --timeout 10m").measure();
    assert_eq!(run.endings, Endings { aborted: 3, ..Endings::default() });
    assert!(began.elapsed() < Duration::from_secs(60), "it waited for the timeout");
}
