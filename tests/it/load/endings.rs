//! Every request has exactly one ending, and the right one, whatever the server does.

use quintain::record::Endings;

use super::{Load, N, all_ok, every_way};
use crate::harness::{Answer, TruthServer, Turn, Welcome};

const NONE: Endings = Endings {
    ok: 0,
    connect_failed: 0,
    connect_timed_out: 0,
    sent_nothing: 0,
    reset: 0,
    closed_early: 0,
    malformed: 0,
    length_differs: 0,
    content_differs: 0,
    timed_out: 0,
    status_refused: 0,
    aborted: 0,
};

/// Length of the head of [`Answer::ok`] with ten bytes.
const HEAD: usize = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n".len();

fn ten() -> Answer {
    Answer::ok("0123456789")
}

#[test]
fn whole_answers_are_ok() {
    every_way(|_| ten(), "", all_ok());
    every_way(|_| ten().in_pieces(1), "", all_ok());
    every_way(|_| ten().in_pieces(7), "", all_ok());
}

/// hey presents a body cut short as 200.
#[test]
fn a_body_cut_short_is_closed_early() {
    for kept in [HEAD, HEAD + 1, HEAD + 9] {
        every_way(move |_| ten().cut(kept), "", Endings { closed_early: N, ..NONE });
    }
}

#[test]
fn a_head_cut_short_is_closed_early() {
    for kept in [1, 20, HEAD - 1] {
        every_way(move |_| ten().cut(kept), "", Endings { closed_early: N, ..NONE });
    }
}

#[test]
fn a_close_without_a_byte_has_sent_nothing() {
    every_way(|_| Answer::close(), "", Endings { sent_nothing: N, ..NONE });
}

/// ab ends at the first reset, and with -r it counts each of them three times.
#[test]
fn a_reset_before_within_and_behind_the_head_is_a_reset() {
    for sent in [0, 10, HEAD, HEAD + 4] {
        every_way(move |_| ten().reset_after(sent), "", Endings { reset: N, ..NONE });
    }
}

/// h2load and oha hang here; wrk reports no error.
#[test]
fn a_silent_server_times_out() {
    every_way(|_| Answer::silence(), "--timeout 300ms", Endings { timed_out: N, ..NONE });
}

#[test]
fn an_answer_that_stops_times_out() {
    let stops = |_: &Turn<'_>| Answer::head_and_body("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", "0123456789");
    every_way(stops, "--timeout 300ms", Endings { timed_out: N, ..NONE });
}

#[test]
fn a_server_that_does_not_read_times_out() {
    for way in ["--threads 1", "--threads 2"] {
        let server = TruthServer::greeting(|_| Welcome::Ignore, |_| ten());
        let body = tempfile::NamedTempFile::new().expect("a temporary file");
        // More than the buffers of both ends hold.
        body.as_file().set_len(32 << 20).expect("a sparse file");
        let load = Load::of(server.url("/")).with("-n 6 -c 2 --timeout 300ms -m POST --body").word(name(&body));
        assert_eq!(load.with(way).endings(), Endings { timed_out: 6, ..NONE });
        assert_eq!(server.ledger().received_bytes, 0);
    }
}

fn name(file: &tempfile::NamedTempFile) -> &str {
    file.path().to_str().expect("a UTF-8 path")
}

#[test]
fn a_late_answer_is_no_answer() {
    let late = |_: &Turn<'_>| ten().after(std::time::Duration::from_millis(1500));
    every_way(late, "--timeout 200ms", Endings { timed_out: N, ..NONE });
}

#[test]
fn garbage_is_malformed() {
    for garbage in ["garbage\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "\0\0\0\0"] {
        every_way(move |_| Answer::bytes(garbage).then_close(), "", Endings { malformed: N, ..NONE });
    }
}

#[test]
fn statuses_are_expected_or_refused() {
    let rows = [
        ("404 Not Found", "", false),
        ("500 Internal Server Error", "", false),
        ("302 Found", "", true),
        ("404 Not Found", "--expect-status 200,404", true),
        ("502 Bad Gateway", "--expect-status 500-503", true),
        ("200 OK", "--expect-status 404", false),
    ];
    for (status, more, fits) in rows {
        let expected = if fits { all_ok() } else { Endings { status_refused: N, ..NONE } };
        every_way(move |_| Answer::status(status, "0123456789"), more, expected);
    }
}

/// Each of several things happens to every so many requests: none is lost, none counts twice.
#[test]
fn a_mixture_is_counted_apart() {
    for threads in ["1", "2"] {
        let server = TruthServer::answering(|turn| match turn.request % 5 {
            0 => ten(),
            1 => Answer::status("404 Not Found", "not found."),
            2 => ten().cut(HEAD + 5),
            3 => Answer::bytes("nonsense\r\n\r\n").then_close(),
            _ => ten().reset_after(HEAD),
        });
        let load = Load::of(server.url("/")).with("-n 50 -c 3 --threads").word(threads);
        let run = load.measure();
        let expected = Endings { ok: 10, status_refused: 10, closed_early: 10, malformed: 10, reset: 10, ..NONE };
        assert_eq!(run.endings, expected, "{threads} threads");
        assert_eq!(server.ledger().requests, 50);
        assert_eq!(run.statuses.into_iter().collect::<Vec<_>>(), [(200, 10), (404, 10)]);
    }
}

#[test]
fn failures_are_measured_and_no_reason_to_fail() {
    let server = TruthServer::answering(|_| Answer::status("503 Service Unavailable", ""));
    let ran = Load::of(server.url("/")).with("-n 10 -c 2").run();
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(ran.single().endings.failed(), 10);
}
