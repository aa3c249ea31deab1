//! Connections and descriptors run out: who waits, who is told, and that it passes.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use crate::harness::{Client, Launch, Server, Site, TEN, machine_to_myself};

#[test]
fn connections_over_the_limit_wait_in_the_backlog() {
    let site = Site::small();
    let launch = Launch::over(site.root()).set("server.max_connections", "2").set("socket.defer_accept", "off");
    let server = launch.with_admin().start();
    let mut first = server.client();
    let mut second = server.client();
    first.get("/ten.txt");
    second.get("/ten.txt");

    let mut waiting: Vec<_> = (0..3).map(|_| server.client()).collect();
    for client in &mut waiting {
        client.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    }
    let metrics = server.wait_for_metrics("three waiting", |m| m.sum("quintain_connections_waiting", &[]) == 3.0);
    assert_eq!(metrics.sum("quintain_connections_open", &[]), 2.0);
    // Those inside are served as before.
    assert_eq!(first.get("/ten.txt").body, TEN.as_bytes());
    assert!(waiting.iter_mut().all(Client::is_quiet), "a connection over the limit was answered or dropped");

    drop(first);
    for mut client in waiting {
        assert_eq!(client.answer().expect("an answer after the wait").body, TEN.as_bytes());
        client.expect_end();
    }
    assert_eq!(second.get("/ten.txt").body, TEN.as_bytes());
    server.wait_for_metrics("nobody waiting", |m| m.sum("quintain_connections_waiting", &[]) == 0.0);
}

/// hyper #1358 and many others: an accept loop without descriptors spins at full CPU, or ends.
#[test]
fn two_hundred_connections_under_a_limit_of_64_descriptors() {
    let _alone = machine_to_myself();
    let site = Site::small();
    let launch = Launch::over(site.root()).set("server.max_connections", "1000");
    let server = launch.set("socket.defer_accept", "off").with_admin().start();
    let mut established = server.client();
    established.get("/ten.txt");
    // Kept open, because a new connection to the admin listener would need a descriptor as well.
    let mut admin = Client::connect(server.admin());
    admin.get("/metrics");
    // The server leaves connections in the backlog that it has no descriptors for. So the limit sinks under it.
    let limit = Rlimit { current: Some(64), maximum: Some(64) };
    prlimit(Pid::from_raw(server.id() as i32), Resource::Nofile, limit).expect("the limit of a child can be set");

    let mut crowd: Vec<_> = (0..200).map(|_| server.client()).collect();
    for client in &mut crowd {
        client.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    let exhausted = (0..500).any(|_| {
        thread::sleep(Duration::from_millis(20));
        admin.get("/metrics").text().lines().any(|line| {
            let count = line.strip_prefix("quintain_accept_errors_total{class=\"descriptors\"} ");
            count.is_some_and(|count| count != "0")
        })
    });
    assert!(exhausted, "no accept error was counted: {}", admin.get("/metrics").text());
    assert_eq!(established.get("/ten.txt").body, TEN.as_bytes());

    let before = cpu_ticks(&server);
    thread::sleep(Duration::from_secs(1));
    let used = cpu_ticks(&server) - before;
    // A hundred ticks are one second of one CPU. A loop that spins takes most of it, one that pauses next to nothing.
    assert!(used < 40, "{used} % of a CPU while nothing could be accepted");
    assert_eq!(established.get("/ten.txt").body, TEN.as_bytes());

    // Each that leaves makes room for another, until all were served. The order is the server's.
    let mut looks = 0;
    while !crowd.is_empty() {
        match crowd.iter_mut().position(|client| !client.is_quiet()) {
            Some(at) => assert_eq!(crowd.swap_remove(at).answer().expect("an answer").body, TEN.as_bytes()),
            None => thread::sleep(Duration::from_millis(5)),
        }
        looks += 1;
        assert!(looks < 5000, "{} connections were never served", crowd.len());
    }
    assert_eq!(server.get("/ten.txt").status, 200);
}

/// A listener was counted once and open twice. With few descriptors and many addresses `serve --daemon` came back with 0, and
/// the server died a moment later.
#[test]
fn what_is_said_to_be_enough_descriptors_is_enough() {
    for model in ["event-loop", "boss-worker", "work-stealing", "thread-per-connection"] {
        let site = Site::small();
        let file = site.outer().join("bench.toml");
        let write =
            |log: &str| fs::write(&file, format!("log.access = {:?}\n", site.outer().join(log))).expect("a file");
        write("one.log");
        let launch = Launch::over(site.root()).set("server.model", model).set("server.workers", "3");
        let launch = launch.flag("--config", file.to_str().expect("UTF-8"));
        let launch = (0..5).fold(launch, |launch, _| launch.listen("127.0.0.1:0")).with_admin();
        let refused = launch.clone().descriptors(20).expect_failure().stderr;
        let (_, enough) = refused.split_once("`ulimit -n ").expect(&refused);
        let enough = enough.split('`').next().and_then(|number| number.parse().ok()).expect(&refused);

        let server = launch.descriptors(enough).start();
        for endpoint in server.endpoints() {
            assert_eq!(Client::connect(endpoint).get_with("/ten.txt", "Connection: close\r\n").status, 200, "{model}");
        }
        let mut kept = server.client();
        assert_eq!(kept.get("/ten.txt").status, 200);
        write("two.log");
        kill_process(Pid::from_raw(server.id().cast_signed()).expect("an id"), Signal::HUP).expect("it runs");
        server.wait_for_log("SIGHUP");
        assert!(server.log().iter().any(|line| line.contains("in force")), "{model}: {:#?}", server.log());
        assert_eq!(kept.get("/ten.txt").status, 200, "{model}");
        server.metrics();
    }
}

/// User and system time of the process, in hundredths of a second (proc(5), fields 14 and 15).
fn cpu_ticks(server: &Server) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", server.id())).expect("the server runs");
    let (_, after_name) = stat.rsplit_once(')').expect("a name in brackets");
    let fields: Vec<_> = after_name.split_whitespace().collect();
    fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum()
}

#[test]
fn a_file_that_cannot_be_opened_for_want_of_descriptors_is_503_for_now() {
    let site = Site::full();
    let server = Server::over(&site);
    let mut client = server.client();
    client.get("/dir/inner.txt");

    let pid = Pid::from_raw(server.id().cast_signed());
    let limit = |soft| {
        let limit = Rlimit { current: Some(soft), maximum: Some(1024) };
        prlimit(pid, Resource::Nofile, limit).expect("a limit for one's own child")
    };
    // A new descriptor gets the lowest free number, so that is the limit under which there is none.
    let taken = |number: &u64| fs::symlink_metadata(format!("/proc/{}/fd/{number}", server.id())).is_ok();
    limit((0..1024).find(|number| !taken(number)).expect("a free number"));
    let refused = client.get("/ten.txt");
    limit(1024);

    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.header("retry-after").is_some_and(|value| value.parse::<u32>().is_ok()), "{refused:?}");
    // Not remembered: the file is there, only the descriptor was not.
    let now = client.get("/ten.txt");
    assert_eq!((now.status, now.body.as_slice()), (200, TEN.as_bytes()), "{now:?}");
}
