//! Connections that cannot be made, or end as soon as they are.

use quintain::record::Endings;

use super::{Load, N, WAYS};
use crate::harness::{Answer, FullBacklog, RefusedPort, TruthServer, Welcome, say_skipped};

#[test]
fn a_refused_port_fails_every_request_and_ends_the_run() {
    let port = RefusedPort::new();
    for way in WAYS {
        let ran = Load::of(port.url()).with(&format!("-n {N} -c 4")).with(way).run();
        assert_eq!(ran.code, Some(1), "without a connection nothing was measured: {ran:#?}");
        assert!(ran.stderr.contains("not one connection to "), "{ran:#?}");
        let run = ran.single();
        assert_eq!(run.endings, Endings { connect_failed: N, ..Endings::default() }, "{way}");
        assert_eq!((run.connections.opened, run.transfer.received_bytes), (0, 0));
        assert_eq!(run.answered_per_s, 0.0);
        let failure = run.first_failure.expect("there was one");
        assert_eq!(failure.outcome, "connect failed");
        assert!(failure.reason.contains("refused"), "{failure:?}");
    }
}

#[test]
fn a_run_of_nothing_but_failures_says_so_while_it_goes_on() {
    let port = RefusedPort::new();
    let ran = Load::aloud(port.url()).with("-t 2s -c 4").run();
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let sentences = ran.stderr.lines().filter(|line| line.contains("requests have failed")).count();
    assert_eq!(sentences, 1, "{ran:#?}");
    let quiet = Load::of(port.url()).with("-t 2s -c 4").run().stderr;
    assert!(!quiet.contains("requests have failed"), "{quiet}");
}

#[test]
fn a_full_backlog_times_out() {
    let Some(full) = FullBacklog::new() else {
        return say_skipped("this kernel accepts connections beyond a listener's backlog");
    };
    for threads in ["1", "2"] {
        let load = Load::of(full.url()).with("-n 6 -c 2 --timeout 300ms --threads").word(threads);
        assert_eq!(
            load.run().single().endings,
            Endings { connect_timed_out: 6, ..Endings::default() },
            "{threads} threads"
        );
    }
}

/// Every second connection is closed when it is accepted. Whether the request was already there then, and the close a
/// reset, is in nobody's hand; nor is whether a reset comes before the client knows of its connection.
#[test]
fn connections_closed_at_accept_fail_their_request_only() {
    for welcome in [Welcome::Close, Welcome::Reset] {
        for way in WAYS {
            let server = TruthServer::greeting(
                move |connection| if connection % 2 == 0 { welcome } else { Welcome::Serve },
                |_| Answer::ok("0123456789"),
            );
            let run = Load::of(server.url("/")).with(&format!("-n {N} -c 4")).with(way).measure();
            let Endings { ok, sent_nothing, reset, connect_failed, .. } = run.endings;
            let failed = sent_nothing + reset + connect_failed;
            assert_eq!(ok + failed, N, "{welcome:?} {way}: {:?}", run.endings);
            assert!(connect_failed == 0 || welcome == Welcome::Reset, "{way}: {:?}", run.endings);
            let ledger = server.wait_for("all answers", |ledger| ledger.answered >= ok);
            assert_eq!(ok, ledger.answered, "{welcome:?} {way}");
            assert_eq!(failed, ledger.accepted.div_ceil(2), "{welcome:?} {way}: {:?}", run.endings);
        }
    }
}

#[test]
fn nothing_but_failures_can_end_the_run() {
    let port = RefusedPort::new();
    for threads in ["1", "2"] {
        let load = Load::of(port.url()).with("-n 1000000 -c 4 --abort-after 20 --threads").word(threads);
        let ran = load.run();
        let run = ran.single();
        assert!(run.aborted && !run.interrupted, "{ran:#?}");
        assert!((20..1000).contains(&run.endings.connect_failed), "{:?}", run.endings);
        assert_eq!(ran.code, Some(1), "{ran:#?}");
    }
}

/// Failures that are not in a row do not.
#[test]
fn an_answer_between_failures_keeps_the_run_alive() {
    let server =
        TruthServer::answering(|turn| if turn.request % 4 == 3 { Answer::ok("") } else { Answer::ok("").cut(10) });
    let run = Load::of(server.url("/")).with("-n 80 -c 1 --threads 1 --abort-after 5").measure();
    assert_eq!((run.endings.all(), run.aborted), (80, false));
    assert_eq!(run.endings.ok, 20);
}
