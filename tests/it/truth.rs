//! The scripted server of the harness, before anything else is believed because of it.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::harness::{
    Answer, Broken, Client, Endpoint, FullBacklog, PATIENCE, RefusedPort, TruthServer, Welcome, chunked, say_skipped,
};

const GET: &str = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";

fn client(server: &TruthServer) -> Client {
    Client::connect(&Endpoint::Tcp(server.address()))
}

/// Everything that the server writes on one connection, and how that ends.
fn whole_stream(server: &TruthServer, request: &str) -> (String, io::Result<()>) {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut bytes = Vec::new();
    let ended = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_end(&mut bytes).map(drop));
    (String::from_utf8(bytes).expect("UTF-8"), ended)
}

#[test]
fn requests_and_bytes_are_written_down() {
    let server = TruthServer::answering(|turn| Answer::ok(format!("{} {}", turn.connection, turn.on_connection)));
    let mut first = client(&server);
    let mut second = client(&server);
    assert_eq!(first.get("/a").text(), "0 0");
    assert_eq!(second.get("/b").text(), "1 0");
    // Two requests in one segment, one of them with a body.
    second.send("POST /c HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyzGET /d HTTP/1.1\r\n\r\n");
    assert_eq!(second.answer().expect("an answer").text(), "1 1");
    assert_eq!(second.answer().expect("an answer").text(), "1 2");
    let ledger = server.wait_for("four answers", |ledger| ledger.answered == 4);
    assert_eq!((ledger.accepted, ledger.open, ledger.open_max, ledger.requests), (2, 2, 2, 4));
    assert_eq!(ledger.sent_bytes, 4 * "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n0 0".len() as u64);
    assert_eq!(ledger.received_bytes, ledger.asked.iter().map(|asked| asked.bytes.len() as u64).sum::<u64>());
    assert_eq!(ledger.asked.iter().map(|asked| asked.connection).collect::<Vec<_>>(), [0, 1, 1, 1]);
    assert_eq!(ledger.asked[2].text(), "POST /c HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz");
    assert!(ledger.asked.iter().all(|asked| asked.answered_at.is_some_and(|at| at >= asked.read_at)));
    drop((first, second));
    server.wait_for("both closed", |ledger| ledger.open == 0);
}

#[test]
fn answers_are_cut_and_closed() {
    let server = TruthServer::answering(|turn| match turn.target() {
        "/cut" => Answer::ok("0123456789").cut(41),
        "/close" => Answer::close(),
        _ => Answer::ok("0123456789").then_close(),
    });
    let whole = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
    for (target, expected) in [("/cut", &whole[..41]), ("/close", ""), ("/", whole)] {
        let (bytes, ended) = whole_stream(&server, &GET.replacen('/', target, 1));
        assert!(ended.is_ok(), "{target}: {ended:?}");
        assert_eq!(bytes, expected, "{target}");
    }
    let ledger = server.ledger();
    assert_eq!((ledger.requests, ledger.answered, ledger.open), (3, 1, 0));
}

#[test]
fn resets_are_resets() {
    let server = TruthServer::greeting(
        |connection| if connection == 0 { Welcome::Reset } else { Welcome::Serve },
        |turn| match turn.target() {
            "/now" => Answer::reset(),
            "/within" => Answer::ok("0123456789").reset_after(20),
            _ => Answer::ok("0123456789").then_reset(),
        },
    );
    for target in ["/first", "/now", "/within", "/after"] {
        let (bytes, ended) = whole_stream(&server, &GET.replacen('/', target, 1));
        let kind = ended.expect_err("a reset").kind();
        // A write into a connection that is already reset may be what fails.
        assert!(matches!(kind, io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe), "{target}: {kind:?}");
        assert!(bytes.len() <= 50, "{target}: {bytes}");
    }
    assert_eq!(server.wait_for("all closed", |ledger| ledger.open == 0).requests, 3);
}

#[test]
fn a_stall_holds_everybody_up_and_a_delay_only_its_own() {
    let stall = Duration::from_millis(300);
    let server = TruthServer::answering(move |turn| match turn.target() {
        "/stall" => Answer::ok("").stalling(stall),
        "/late" => Answer::ok("").after(stall),
        _ => Answer::ok(""),
    });
    let (mut stalled, mut other) = (client(&server), client(&server));
    other.get("/");
    let asked = Instant::now();
    stalled.send(GET.replacen('/', "/stall", 1));
    server.wait_for("its begin", |ledger| !ledger.stalls.is_empty());
    other.get("/");
    assert!(asked.elapsed() >= stall, "answered in the middle of a stall");
    stalled.answer().expect("an answer");
    let stalls = server.ledger().stalls;
    assert!(stalls.len() == 1 && stalls[0].1 - stalls[0].0 >= stall, "{stalls:?}");
    let asked = Instant::now();
    stalled.get("/late");
    assert!(asked.elapsed() >= stall, "answered before the delay was over");
}

#[test]
fn answers_come_in_pieces_chunks_and_after_others() {
    let server = TruthServer::answering(|turn| match turn.target() {
        "/pieces" => Answer::ok("0123456789").in_pieces(1).then_close(),
        "/chunks" => chunked(&[("abc", ""), ("0123456789", ";x=\"y\"")], "X-Sum: 1\r\n").then_close(),
        _ => Answer::ok("a").with_interim(&["103 Early Hints\r\nLink: </x>"]).with_surplus("b").then_close(),
    });
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        3\r\nabc\r\na;x=\"y\"\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n";
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab";
    let plain = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
    for (target, expected) in [("/pieces", plain), ("/chunks", chunks), ("/", interim)] {
        assert_eq!(whole_stream(&server, &GET.replacen('/', target, 1)).0, expected, "{target}");
    }
}

#[test]
fn silence_lasts_until_the_end_of_the_test() {
    let server = TruthServer::greeting(
        |connection| if connection == 0 { Welcome::Ignore } else { Welcome::Serve },
        |_| Answer::silence(),
    );
    let (mut ignored, mut silent) = (client(&server), client(&server));
    ignored.send(GET);
    silent.send(GET);
    let ledger = server.wait_for("one request", |ledger| ledger.requests == 1);
    assert_eq!((ledger.accepted, ledger.answered, ledger.sent_bytes), (2, 0, 0));
    assert!(ignored.is_quiet() && silent.is_quiet());
    drop(server);
    assert!(matches!(silent.answer(), Err(Broken::Closed)));
}

#[test]
fn ports_that_refuse_and_ports_that_do_not_answer() {
    let refused = RefusedPort::new();
    let error = TcpStream::connect(refused.address()).expect_err("nobody listens");
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    let Some(full) = FullBacklog::new() else {
        return say_skipped("this kernel accepts connections beyond a listener's backlog");
    };
    let error = TcpStream::connect_timeout(&full.address(), Duration::from_millis(100)).expect_err("no room");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}
