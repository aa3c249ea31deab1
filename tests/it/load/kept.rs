//! Connections that the server ends between two requests. It may (RFC 9112 section 9.5), and no request is lost by it.

use quintain::record::{Endings, Run};

use super::{Load, WAYS};
use crate::harness::{Answer, Ledger, TruthServer, Turn};

/// Runs 40 requests over 4 kept connections, all of which must end well.
#[track_caller]
fn forty(threads: &str, reply: impl Fn(&Turn<'_>) -> Answer + Send + Sync + 'static) -> (Run, Ledger) {
    let server = TruthServer::answering(reply);
    let run = Load::of(server.url("/")).with("-n 40 -c 4 --threads").word(threads).measure();
    assert_eq!(run.endings, Endings { ok: 40, ..Endings::default() }, "{threads} threads");
    (run, server.wait_for("all answers", |ledger| ledger.answered >= 40))
}

/// ab makes 239 failures of this, wrk 2,600 read errors.
#[test]
fn an_unannounced_close_is_no_failure() {
    for threads in ["1", "2"] {
        // Closes after every fifth answer, without a word.
        let (run, ledger) = forty(threads, |turn| {
            let answer = Answer::ok("0123456789");
            if turn.on_connection == 4 { answer.then_close() } else { answer }
        });
        // The server may have read none of the requests that had to go again.
        assert_eq!((ledger.requests, ledger.answered), (40, 40));
        assert!(run.connections.opened >= 8, "{:?}", run.connections);
        assert_eq!(run.connections.opened, ledger.accepted);
    }
}

#[test]
fn an_unannounced_reset_is_no_failure() {
    for threads in ["1", "2"] {
        let (run, ledger) = forty(threads, |turn| {
            let answer = Answer::ok("0123456789");
            if turn.on_connection == 4 { answer.then_reset() } else { answer }
        });
        assert_eq!(ledger.requests, 40);
        assert!(run.connections.opened >= 8, "{:?}", run.connections);
    }
}

/// The close comes when the next request is already there, so that only its going again can save it.
#[test]
fn a_request_on_a_stale_connection_goes_again() {
    for way in ["close", "reset"] {
        for threads in ["1", "2"] {
            let (run, ledger) = forty(threads, move |turn| match (turn.on_connection, way) {
                (4, "close") => Answer::close(),
                (4, _) => Answer::reset(),
                _ => Answer::ok("0123456789"),
            });
            let stale = run.connections.stale_keep_alive;
            // Of 40 answers, a connection gives four; each that is asked for a fifth was stale.
            assert!((6..=10).contains(&stale), "{stale} stale connections, {way}, {threads} threads");
            assert_eq!(ledger.requests, 40 + stale, "{way}, {threads} threads");
            assert_eq!(ledger.answered, 40);
            assert_eq!(run.transfer.sent_bytes, ledger.received_bytes, "what was sent in vain counts as sent");
        }
    }
}

/// A connection on which something of the answer came was not stale: the request may have had its effect.
#[test]
fn an_answer_that_had_begun_is_not_asked_for_again() {
    for threads in ["1", "2"] {
        let server = TruthServer::answering(|turn| {
            let answer = Answer::ok("0123456789");
            if turn.on_connection == 1 { answer.cut(5) } else { answer }
        });
        let run = Load::of(server.url("/")).with("-n 40 -c 4 --threads").word(threads).measure();
        assert_eq!(server.ledger().requests, 40);
        let Endings { ok, closed_early, .. } = run.endings;
        assert_eq!(ok + closed_early, 40, "{:?}", run.endings);
        // In turn on each connection, but for those that the end of the run found between the two.
        assert!((closed_early..=closed_early + 4).contains(&ok), "{:?}", run.endings);
        assert_eq!(run.connections.stale_keep_alive, 0);
    }
}

/// The server never answers more than one request on a connection, and does not say so.
#[test]
fn every_connection_may_be_stale() {
    for threads in ["1", "2"] {
        let (run, ledger) =
            forty(threads, |turn| if turn.on_connection == 0 { Answer::ok("0123456789") } else { Answer::close() });
        assert_eq!(ledger.answered, 40);
        assert_eq!(ledger.accepted, 40);
        assert_eq!(run.connections.opened, 40);
    }
}

#[test]
fn an_announced_close_costs_nothing() {
    for way in WAYS {
        let server = TruthServer::answering(|_| {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n";
            Answer::head_and_body(head, "ok").then_close()
        });
        let run = Load::of(server.url("/")).with("-n 21 -c 3").with(way).measure();
        let ledger = server.ledger();
        assert_eq!(run.endings, Endings { ok: 21, ..Endings::default() }, "{way}");
        assert_eq!((ledger.requests, ledger.accepted, run.connections.opened), (21, 21, 21), "{way}");
        assert_eq!((run.connections.stale_keep_alive, run.connections.kept_alive), (0, 0), "{way}");
    }
}
