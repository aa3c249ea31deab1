//! Faults that an attacker found, each by a server or a call that nobody means well with.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use quintain::record::Endings;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

use super::Load;
use crate::harness::{Answer, TruthServer};

/// A server that treats each of the first `connections` in its own way. Its threads end when their peers do.
fn rogue(connections: usize, treat: impl Fn(TcpStream) + Send + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("its address"));
    thread::spawn(move || {
        for stream in listener.incoming().take(connections).flatten() {
            let treat = treat.clone();
            thread::spawn(move || treat(stream));
        }
    });
    url
}

/// Reads one head, or what a peer that has gone leaves of it.
fn read_head(stream: &mut TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
}

/// A body in chunks of one byte, without end, came faster than it was read: the socket was never empty, so reading it never
/// ended, and neither `--timeout` nor `-t` nor Ctrl-C was looked at any more.
#[test]
fn a_body_without_end_ends_with_the_run() {
    let url = rogue(16, |mut stream| {
        read_head(&mut stream);
        let chunks = b"1\r\nx\r\n".repeat(10_000);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while stream.write_all(&chunks).is_ok() {}
    });
    let run = Load::of(url).with("-c 4 --threads 1 --timeout 500ms -t 2s").measure();
    let Endings { timed_out, aborted, .. } = run.endings;
    assert!(timed_out > 0 && timed_out + aborted == run.endings.all(), "{:?}", run.endings);
}

/// What was due and never sent was counted one by one after the run, which took longer than the run.
#[test]
fn a_rate_that_nobody_can_send_ends_in_time() {
    let server = TruthServer::answering(|_| Answer::ok("0123456789"));
    for arrivals in ["uniform", "poisson"] {
        let load = Load::of(server.url("/")).with("--rate 1000000000 -t 1s -c 2 --threads 1 --arrivals").word(arrivals);
        let run = load.measure();
        let due = run.endings.all() + run.client.never_sent;
        // Exactly so many at equal times; the mean of that at random ones, within five deviations.
        let off = if arrivals == "uniform" { 0 } else { 160_000 };
        assert!(due.abs_diff(1_000_000_000) <= off, "{arrivals}: {due}");
    }
}

/// A full disk for a file beside the report cost the report as well.
#[test]
fn a_file_that_cannot_be_written_does_not_cost_the_report() {
    let server = TruthServer::answering(|_| Answer::ok("0123456789"));
    for flag in ["-e", "-g", "--hdr"] {
        let ran = Load::of(server.url("/")).with("-n 20 -c 2").with(flag).word("/dev/full").run();
        assert_eq!(ran.code, Some(1), "{flag}: {ran:#?}");
        assert!(ran.stderr.contains("/dev/full"), "{flag}: {ran:#?}");
        assert_eq!(ran.single().endings.ok, 20, "{flag}");
    }
}

/// With a full accept queue of a unix socket one request went from connection to connection, and the others had none.
#[test]
fn a_full_unix_socket_times_each_request_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("full");
    let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("a socket");
    bind(&listener, &SocketAddrUnix::new(&path).expect("a short path")).expect("a free path");
    listen(&listener, 0).expect("it listens");
    let load = Load::of("http://x/").with("-t 3s --timeout 500ms -c 20 --threads 1 --unix-socket");
    let run = load.word(path.to_str().expect("UTF-8")).run().single();
    let Endings { connect_timed_out, connect_failed, .. } = run.endings;
    assert!(connect_timed_out >= 19, "each connection but the one in the queue: {:?}", run.endings);
    assert_eq!(connect_failed, 0, "{:?}", run.endings);
}

/// A server that answers before it has read the request, and keeps the connection, was waited for until it would close.
#[test]
fn an_answer_before_the_request_is_sent_ends_the_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let body = folder.path().join("body");
    fs::write(&body, vec![b'x'; 16 << 20]).expect("a body");
    let url = rogue(16, |mut stream| {
        read_head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        // It reads nothing, and keeps the connection for as long as anybody might wait for it.
        thread::park_timeout(Duration::from_secs(20));
    });
    let load = Load::of(url).with("-n 6 -c 1 --threads 1 --body").word(body.to_str().expect("UTF-8"));
    let run = load.measure();
    assert_eq!((run.endings.ok, run.connections.opened, run.connections.stale_keep_alive), (6, 6, 0));
}
