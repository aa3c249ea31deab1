//! Where an answer ends (RFC 9112 section 6), told by whole runs: a wrong end shows in the next request's answer.

use quintain::record::{Endings, Run};

use super::{C, Load, N, WAYS, all_ok, every_way};
use crate::harness::{Answer, Ledger, TruthServer, Turn, chunked};

/// Runs `N` requests in every way, which must end well, and hands on each run with its truth.
#[track_caller]
fn each_run(
    reply: impl Fn(&Turn<'_>) -> Answer + Send + Sync + Clone + 'static,
    more: &str,
    look: impl Fn(&Run, &Ledger),
) {
    for way in WAYS {
        let server = TruthServer::answering(reply.clone());
        let run = Load::of(server.url("/")).with(&format!("-n {N} -c {C}")).with(way).with(more).measure();
        assert_eq!(run.endings, all_ok(), "{way} {more}");
        let ledger = server.wait_for("all answers", |ledger| ledger.answered >= N);
        assert_eq!(run.transfer.received_bytes, ledger.sent_bytes, "{way} {more}");
        assert_eq!(run.transfer.sent_bytes, ledger.received_bytes, "{way} {more}");
        assert_eq!((ledger.requests, ledger.answered), (N, N), "{way} {more}");
        look(&run, &ledger);
    }
}

fn bodies(length: u64) -> impl Fn(&Run, &Ledger) {
    move |run, _| assert_eq!(run.transfer.received_body_bytes, N * length)
}

const CHUNKS: &[(&str, &str)] = &[("abc", ""), ("0123456789", ";name=\"va;lue\""), ("x", " ; a = b")];

#[test]
fn chunked_bodies() {
    each_run(|_| chunked(CHUNKS, ""), "", bodies(14));
    each_run(|_| chunked(CHUNKS, "X-Sum: 1\r\nX-Other: 2\r\n"), "", bodies(14));
    each_run(|_| chunked(&[], ""), "", bodies(0));
}

#[test]
fn chunked_bodies_in_pieces() {
    for piece in [1, 2, 3, 5, 8] {
        each_run(move |_| chunked(CHUNKS, "X-Sum: 1\r\n").in_pieces(piece), "", bodies(14));
    }
}

/// So large that reads end within their data, which nobody looks at, and which must not take framing with it.
#[test]
fn chunked_bodies_that_take_many_reads() {
    let data = "x".repeat(20_000);
    each_run(move |_| chunked(&[(&data, ""), (&data[..9_000], ";a=b")], "").in_pieces(3_001), "", bodies(29_000));
}

#[test]
fn chunked_bodies_that_break_off_or_make_no_sense() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in ["", "a", "a\r\n01234", "a\r\n0123456789", "a\r\n0123456789\r\n", "0\r\n"] {
        let cut = move |_: &Turn<'_>| Answer::head_and_body(head, body).then_close();
        every_way(cut, "", Endings { closed_early: N, ..Endings::default() });
    }
    for body in ["z\r\n", "-1\r\n", "3\r\nabcd\r\n0\r\n\r\n", "ffffffffffffffffff\r\n"] {
        let wrong = move |_: &Turn<'_>| Answer::head_and_body(head, body);
        every_way(wrong, "", Endings { malformed: N, ..Endings::default() });
    }
}

/// wrk counts a 103 as an answer of its own.
#[test]
fn interim_answers_count_for_nothing() {
    let hints = "103 Early Hints\r\nLink: </style.css>; rel=preload";
    for interim in [vec![hints], vec!["100 Continue", hints, hints]] {
        let later = interim.clone();
        each_run(
            move |_| Answer::ok("0123456789").with_interim(&interim),
            "",
            |run, _| {
                assert_eq!(run.statuses.iter().collect::<Vec<_>>(), [(&200, &N)]);
            },
        );
        each_run(move |_| Answer::ok("0123456789").with_interim(&later).in_pieces(3), "", bodies(10));
    }
}

#[test]
fn answers_that_have_no_body_whatever_they_say() {
    for (status, more) in [("204 No Content", ""), ("304 Not Modified", ""), ("200 OK", "-m HEAD")] {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: 300000\r\n\r\n");
        each_run(move |_| Answer::head_and_body(&head, ""), more, bodies(0));
    }
}

#[test]
fn bodies_that_end_with_the_connection() {
    for head in ["HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"] {
        each_run(
            move |_| Answer::head_and_body(head, "0123456789").then_close(),
            "",
            |run, ledger| {
                assert_eq!(run.transfer.received_body_bytes, 10 * N);
                assert_eq!((run.connections.opened, ledger.accepted), (N, N));
                assert_eq!(run.connections.kept_alive, 0);
            },
        );
    }
    // A reset is no end of a body.
    let reset = |_: &Turn<'_>| Answer::head_and_body("HTTP/1.0 200 OK\r\n\r\n", "0123456789").reset_after(27);
    every_way(reset, "", Endings { reset: N, ..Endings::default() });
}

#[test]
fn http_1_0_closes_unless_it_says_otherwise() {
    let closes =
        |_: &Turn<'_>| Answer::head_and_body("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n", "ok").then_close();
    each_run(closes, "--http 1.0", |run, ledger| assert_eq!((run.connections.kept_alive, ledger.accepted), (0, N)));
    let keeps = |_: &Turn<'_>| {
        let head = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n";
        Answer::head_and_body(head, "ok")
    };
    let server = TruthServer::answering(keeps);
    let run = Load::of(server.url("/")).with("-n 22 -c 4 --threads 2 --http 1.0").measure();
    assert_eq!((run.endings, server.ledger().accepted), (all_ok(), 4));
    assert_eq!(run.connections.kept_alive, N);
    assert_eq!(run.connections.said_keep_alive, N);
}

#[test]
fn bytes_behind_an_answer_are_no_second_answer() {
    for surplus in ["x", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"] {
        for way in WAYS {
            let server = TruthServer::answering(move |_| Answer::ok("0123456789").with_surplus(surplus));
            let run = Load::of(server.url("/")).with(&format!("-n {N} -c {C}")).with(way).measure();
            let Endings { ok, malformed, .. } = run.endings;
            assert_eq!(ok + malformed, N, "{way}: {:?}", run.endings);
            // Were the surplus taken for an answer, some request would have been answered that was never read.
            let ledger = server.ledger();
            assert_eq!(ledger.requests, N, "{way}: {:?}", run.endings);
            assert_eq!(ledger.accepted, run.connections.opened, "{way}");
        }
    }
}

#[test]
fn lengths_that_contradict_themselves_are_malformed() {
    for lines in
        ["Content-Length: 1\r\nContent-Length: 2", "Content-Length: -1", "Content-Length: ten", "Content-Length: 1e1"]
    {
        let head = format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n");
        let wrong = move |_: &Turn<'_>| Answer::head_and_body(&head, "0123456789");
        every_way(wrong, "", Endings { malformed: N, ..Endings::default() });
    }
}
