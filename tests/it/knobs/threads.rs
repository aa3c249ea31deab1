//! `[server]`, as far as it is about threads: how many there are, which do what, and where they run.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::with;
use crate::harness::{Launch, PATIENCE, Server, Site, TEN};

/// Name and `/proc` status of each thread.
fn threads(server: &Server) -> Vec<(String, String)> {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).expect("the server runs");
    let read = |task: fs::DirEntry| {
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        Some((name.trim().to_owned(), fs::read_to_string(task.path().join("status")).ok()?))
    };
    tasks.flatten().filter_map(read).collect()
}

/// Waits until as many threads have a name that begins so (a thread gives itself its name, some time after it has
/// started), and returns how many there are.
fn threads_named(server: &Server, start: &str, wanted: usize) -> usize {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let count = threads(server).iter().filter(|(name, _)| name.starts_with(start)).count();
        if count >= wanted || Instant::now() > deadline {
            return count;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn server_workers() {
    let site = Site::small();
    for count in [1, 3] {
        let server = with(&site, "server.workers", &count.to_string());
        assert_eq!(threads_named(&server, "worker-", count), count);
    }
}

#[test]
fn server_model() {
    let site = Site::small();
    for (model, own_thread) in [
        ("event-loop", "worker-0"),
        ("boss-worker", "boss"),
        ("work-stealing", "host"),
        ("thread-per-connection", "acceptor"),
    ] {
        let server = with(&site, "server.model", model);
        let mut clients: Vec<_> = (0..5).map(|_| server.client()).collect();
        for client in &mut clients {
            assert_eq!(client.get("/ten.txt").body, TEN.as_bytes());
        }
        assert_eq!(threads_named(&server, own_thread, 1), 1, "{model}: {:?}", threads(&server));
        let (wanted, each) = if model == "thread-per-connection" { (5, "connection-") } else { (0, "connection-") };
        assert_eq!(threads_named(&server, each, wanted), wanted, "{model}");
    }
}

#[test]
fn server_max_threads() {
    let site = Site::small();
    let launch = Launch::over(site.root()).set("server.model", "thread-per-connection").set("server.max_threads", "2");
    let server = launch.with_admin().start();
    let mut inside: Vec<_> = (0..2).map(|_| server.client()).collect();
    for client in &mut inside {
        client.get("/ten.txt");
    }
    let mut third = server.client();
    third.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    server.wait_for_metrics("one waiting", |m| m.sum("quintain_connections_waiting", &[]) == 1.0);
    assert!(third.is_quiet());
    inside.pop();
    assert_eq!(third.answer().expect("an answer").body, TEN.as_bytes());
    assert_eq!(threads_named(&server, "connection-", 2), 2);
}

/// Stacks are reserved as a whole, so the private writable memory of the process shows them.
#[test]
fn server_stack_size() {
    let site = Site::small();
    let reserved = |size: &str| {
        let server = with(&site, "server.stack_size", size);
        server.get("/ten.txt");
        let status = fs::read_to_string(format!("/proc/{}/status", server.id())).expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmData:")).expect("a size");
        line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).expect("a number of KiB")
    };
    let (small, large) = (reserved("256k"), reserved("64m"));
    assert!(large > small + 60 * 1024, "{small} KiB with small stacks, {large} KiB with large ones");
}

#[test]
fn server_affinity() {
    let site = Site::small();
    let allowed = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.expect("a list of CPUs").trim().to_owned()
    };
    let all = allowed(&fs::read_to_string("/proc/self/status").expect("Linux"));
    let first = all.split([',', '-']).next().expect("a CPU").to_owned();
    for (affinity, expected) in [("none", &all), (first.as_str(), &first)] {
        let server = with(&site, "server.affinity", affinity);
        server.get("/ten.txt");
        assert_eq!(threads_named(&server, "worker-", 1), 1);
        let worker = threads(&server).into_iter().find(|(name, _)| name == "worker-0").expect("a worker");
        assert_eq!(allowed(&worker.1), *expected, "affinity {affinity}");
    }
}
