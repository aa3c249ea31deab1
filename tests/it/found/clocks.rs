//! Limits in time: who is slow but alive is served, who is silent is not.

use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{LARGE, in_every_model, in_model};
use crate::harness::{Client, Server, Site, TEN};

/// How a slow reader reads: half a megabyte a second, for four times the limit, and then the rest at once.
#[derive(Clone, Copy)]
struct Sips {
    bytes: usize,
    count: usize,
    pause: Duration,
}

const SMALL_SIPS: Sips = Sips { bytes: 64 << 10, count: 64, pause: Duration::from_millis(124) };

/// The client's window opens once in a pause, which is longer than the server takes between two looks.
const LARGE_SIPS: Sips = Sips { bytes: 512 << 10, count: 8, pause: Duration::from_millis(1_000) };

/// The kernel says that there is room again when a third of its send buffer is free. A client at half a megabyte a second
/// needs longer for that than a short `write_stall`, and was cut off although it had never stopped reading.
#[test]
fn a_slow_reader_that_never_stops_gets_it_all() {
    for_each_way_out(&["auto", "memory", "sendfile"], &["auto", "16k"], SMALL_SIPS);
}

/// At the end of the limit only the time since the look before counted, a quarter of the limit: whoever was between two
/// sips just then was cut off.
#[test]
fn a_reader_that_rests_for_half_the_limit_gets_it_all() {
    for_each_way_out(&["memory", "sendfile"], &["auto"], LARGE_SIPS);
}

fn for_each_way_out(paths: &[&str], send_buffers: &[&str], sips: Sips) {
    const LENGTH: usize = 16 << 20;
    let site = Site::empty();
    site.write("document.bin", vec![b'x'; LENGTH]);
    let read_slowly = |model: &str, path: &str, send_buffer: &str| {
        let launch = in_model(&site, model).set("transfer.path", path).set("socket.send_buffer", send_buffer);
        let launch = launch.set("timeouts.write_stall", "2s").set("files.cache_file_max", "32m");
        let server = launch.set("files.revalidate", "1h").start();
        let mut client = who_knows_the_document(&server);
        client.send("GET /document.bin HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
        client.head().expect("a head");
        for sip in 0..sips.count {
            let taken = client.take(sips.bytes);
            taken.unwrap_or_else(|end| panic!("{model}, {path}, {send_buffer}: after {sip} sips {end}"));
            thread::sleep(sips.pause);
        }
        let (rest, end) = client.drain();
        assert_eq!(rest as usize, LENGTH - sips.count * sips.bytes, "{model}, {path}, {send_buffer}: {end}");
    };
    thread::scope(|scope| {
        for model in ["event-loop", "thread-per-connection"] {
            for path in paths {
                for send_buffer in send_buffers {
                    let read_slowly = &read_slowly;
                    scope.spawn(move || read_slowly(model, path, send_buffer));
                }
            }
        }
    });
}

/// A connection whose server has the document at hand: to read it may take a busy machine as long as the limit is.
fn who_knows_the_document(server: &Server) -> Client {
    let client = (0..20).find_map(|_| {
        let mut client = Client::connect_with_fixed_buffer(server.endpoint());
        client.send("GET /document.bin HTTP/1.1\r\nHost: t\r\nRange: bytes=0-0\r\n\r\n");
        client.answer().is_ok_and(|answer| answer.status == 206).then_some(client)
    });
    client.expect("an answer of one byte")
}

/// A process that was stopped (a debugger, a frozen container, a laptop's lid) finds its deadlines passed when it goes
/// on. The time was the server's own, and the client, which had read all that there was, was cut off for it.
#[test]
fn time_in_which_the_server_was_stopped_is_not_held_against_the_client() {
    let site = Site::empty();
    site.write("large.bin", vec![b'x'; LARGE]);
    in_every_model(&site, |model, launch| {
        let server = launch.set("timeouts.write_stall", "1s").start();
        let mut client = Client::connect_with_fixed_buffer(server.endpoint());
        client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
        client.head().expect("a head");
        // By then the buffers are full and the server waits for the client.
        thread::sleep(Duration::from_millis(200));
        let pid = Pid::from_raw(server.id().cast_signed()).expect("a child's id");
        kill_process(pid, Signal::STOP).expect("the server runs");
        let (count, end) = thread::scope(|scope| {
            let reader = scope.spawn(|| client.drain());
            thread::sleep(Duration::from_secs(2));
            kill_process(pid, Signal::CONT).expect("the server is there");
            reader.join().expect("the reader does not panic")
        });
        assert_eq!(count as usize, LARGE, "{model}: {end}");
    });
}

/// The clock of a head starts with its first byte. Where that byte came along with the request before, a thread that
/// blocks in read(2) took the wait for the rest to be an idle one: half a head could stay for `keep_alive.timeout`.
#[test]
fn half_a_head_behind_a_whole_request_is_timed_as_a_head() {
    let site = Site::small();
    in_every_model(&site, |model, launch| {
        let server = launch.set("timeouts.header", "1s").set("keep_alive.timeout", "10m").start();
        let mut client = server.client();
        client.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\nGET /ten.txt HTTP/1.1\r\nHo");
        assert_eq!(client.answer().expect("an answer").body, TEN.as_bytes());
        let late = client.answer().unwrap_or_else(|end| panic!("{model}: no 408, but {end}"));
        assert_eq!(late.status, 408, "{model}: {late:?}");
        client.expect_end();
    });
}
