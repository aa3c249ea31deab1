//! `[transfer]`: which way content goes to the socket. The bytes are the same, so what tells the ways apart is what
//! the kernel has counted for the process (proc(5), `/proc/PID/io`).

use std::fs;

use crate::harness::{Client, Launch, Server, Site};

/// Long enough that heads and other traffic do not matter beside it.
const LENGTH: u64 = 8 << 20;

/// What one answer has cost.
#[derive(Debug)]
struct Cost {
    /// Calls that read: `read`, `pread`, `sendfile`, but not `recv`.
    reads: u64,
    /// Bytes given to `write`, `writev` and `sendfile`, but not to `send`.
    written: u64,
}

/// Serves a file that is kept open under these settings, and counts for the second answer.
fn cost(settings: &[(&str, &str)]) -> Cost {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; LENGTH as usize]);
    let launch = Launch::over(site.root()).set("files.revalidate", "1h");
    let server = settings.iter().fold(launch, |launch, (key, value)| launch.set(key, value)).start();
    let mut client = server.client();
    get(&mut client);
    let before = counted(&server);
    get(&mut client);
    let after = counted(&server);
    Cost { reads: after.reads - before.reads, written: after.written - before.written }
}

fn get(client: &mut Client) {
    assert_eq!(client.get("/large.bin").body.len() as u64, LENGTH);
}

fn counted(server: &Server) -> Cost {
    let text = fs::read_to_string(format!("/proc/{}/io", server.id())).expect("the kernel counts");
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    Cost { reads: figure("syscr:"), written: figure("wchar:") }
}

#[test]
fn transfer_path() {
    let memory = cost(&[("transfer.path", "memory")]);
    assert!(memory.written < LENGTH / 2, "sendfile was used: {memory:?}");
    let sendfile = cost(&[("transfer.path", "sendfile")]);
    assert!(sendfile.written >= LENGTH, "sendfile was not used: {sendfile:?}");
    let stream = cost(&[("transfer.path", "stream"), ("transfer.chunk", "1k")]);
    assert!(stream.reads >= LENGTH / 1024, "it was not read in chunks: {stream:?}");
}

#[test]
fn transfer_sendfile_min() {
    let above = cost(&[("transfer.sendfile_min", "1m")]);
    assert!(above.written >= LENGTH, "sendfile was not used: {above:?}");
    let below = cost(&[("transfer.sendfile_min", "9m")]);
    assert!(below.written < LENGTH / 2, "sendfile was used: {below:?}");
}

#[test]
fn transfer_chunk() {
    for (chunk, bytes) in [("1k", 1 << 10), ("64k", 64 << 10)] {
        let cost = cost(&[("transfer.path", "stream"), ("transfer.chunk", chunk)]);
        let chunks = LENGTH / bytes;
        assert!((chunks..chunks + chunks / 2 + 20).contains(&cost.reads), "chunks of {chunk}: {cost:?}");
    }
}
