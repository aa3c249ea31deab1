//! How the server ends: what is running may finish, what is idle goes, and all of it is bounded.

use std::io;

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{Client, Launch, Server, Site, TEN};

/// More than the socket buffers hold, so that an answer is still running when the signal comes.
const LARGE: usize = 32 << 20;

fn large_site() -> Site {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; LARGE]);
    site
}

/// A client that has asked for the large file and read the head only.
fn half_served(server: &Server) -> Client {
    let mut client = Client::connect_with_fixed_buffer(server.endpoint());
    client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(client.head().expect("a head").status, 200);
    client
}

#[test]
fn idle_connections_close_at_once_and_running_answers_finish() {
    let site = large_site();
    // The drain may take long, so whatever ends early was ended by itself. A silent connection that the kernel still
    // keeps to itself (defer_accept) is not the server's to end, so here each is handed over at once.
    let launch = Launch::over(site.root()).set("timeouts.shutdown", "10m").set("socket.defer_accept", "off");
    let mut server = launch.start();
    let mut idle = server.client();
    idle.get("/ten.txt");
    let mut silent = server.client();
    let mut running = half_served(&server);

    server.terminate();
    idle.expect_end();
    silent.expect_end();
    let body = running.take(LARGE).expect("the whole answer");
    assert!(body.iter().all(|byte| *byte == b'x'));
    running.expect_end();
    let ended = server.wait();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

#[test]
fn nobody_new_is_let_in() {
    let site = large_site();
    let server = Launch::over(site.root()).set("timeouts.shutdown", "10m").start();
    let mut idle = server.client();
    idle.get("/ten.txt");
    let _running = half_served(&server);
    server.terminate();
    idle.expect_end();
    // The listener is closed before connections are; a new one finds nobody.
    let refused = Client::try_connect(server.endpoint(), None).err().map(|error| error.kind());
    assert_eq!(refused, Some(io::ErrorKind::ConnectionRefused));
}

/// nginx 1.21.6 corrected this: an answer during a drain that says keep-alive invites a request that nobody reads.
#[test]
fn an_answer_during_the_drain_says_close() {
    let site = large_site();
    let mut server = Launch::over(site.root()).set("timeouts.shutdown", "10m").start();
    let mut idle = server.client();
    idle.get("/ten.txt");
    let mut begun = server.client();
    begun.send("GET /ten.txt HTTP/1.1\r\n");
    // One that is served after the bytes above came in, so that they have been read when the signal comes.
    server.get("/ten.txt");
    server.terminate();
    idle.expect_end();
    begun.send("Host: t\r\n\r\n");
    let answer = begun.answer().expect("an answer to a head that had begun");
    assert_eq!(answer.body, TEN.as_bytes());
    assert!(answer.says_close(), "{answer:?}");
    begun.expect_end();
    assert_eq!(server.wait().status.code(), Some(0));
}

#[test]
fn the_drain_is_bounded() {
    let site = large_site();
    let mut server = Launch::over(site.root()).set("timeouts.shutdown", "500ms").start();
    let mut running = half_served(&server);
    server.terminate();
    // Nobody reads: without the bound this would wait for the client, or for the write-stall limit of a minute.
    let ended = server.wait();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let (count, _) = running.drain();
    assert!(count < LARGE as u64);
}

#[test]
fn a_second_signal_ends_at_once() {
    let site = large_site();
    let mut server = Launch::over(site.root()).set("timeouts.shutdown", "10m").start();
    let mut idle = server.client();
    idle.get("/ten.txt");
    let _running = half_served(&server);
    server.terminate();
    idle.expect_end();
    server.terminate();
    // A server that goes on waiting is killed by the harness, which is not an exit code.
    let ended = server.wait();
    assert!(ended.status.code().is_some(), "{ended:?}");
}

#[test]
fn sigint_drains_as_well() {
    let site = Site::small();
    let mut server = Launch::over(site.root()).set("timeouts.shutdown", "10m").start();
    let mut idle = server.client();
    idle.get("/ten.txt");
    let pid = Pid::from_raw(server.id().cast_signed()).expect("a child's id");
    kill_process(pid, Signal::INT).expect("the server runs");
    idle.expect_end();
    assert_eq!(server.wait().status.code(), Some(0));
}

/// hyper #2730: a graceful shutdown that waits for connections which never sent a byte waits for ever.
#[test]
fn connections_that_never_sent_a_byte_do_not_hold_up_the_end() {
    let site = Site::small();
    for defer in ["off", "1s"] {
        let launch = Launch::over(site.root()).set("timeouts.shutdown", "10m").set("socket.defer_accept", defer);
        let mut server = launch.start();
        let silent: Vec<_> = (0..20).map(|_| server.client()).collect();
        server.get("/ten.txt");
        server.terminate();
        let ended = server.wait();
        assert_eq!(ended.status.code(), Some(0), "defer_accept {defer}: {ended:?}");
        drop(silent);
    }
}

#[test]
fn a_server_without_connections_ends_at_once() {
    let site = Site::small();
    for workers in ["1", "3"] {
        let ended = Launch::over(site.root()).set("server.workers", workers).start().stop();
        assert!(!ended.stderr.contains("panicked"), "{ended:?}");
    }
}
