//! The service manager's protocol, with the test in the place of systemd.

use std::fs;
use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rustix::process::Signal;

use super::signal;
use crate::harness::{Client, Launch, PATIENCE, Site};

/// Where the server's words arrive.
struct Manager(UnixDatagram);

impl Manager {
    fn over(socket: UnixDatagram) -> Self {
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Self(socket)
    }

    #[track_caller]
    fn next(&self) -> String {
        let mut buffer = [0; 2048];
        // A wait with a timeout is not taken up again after a signal to this process (signal(7)).
        let mut received = (0..100).map(|_| self.0.recv(&mut buffer));
        let received = received.find(|got| !matches!(got, Err(error) if error.kind() == ErrorKind::Interrupted));
        let count = received.expect("not only signals").expect("a word in time");
        String::from_utf8_lossy(&buffer[..count]).into_owned()
    }

    /// The next one that is no sign of life.
    #[track_caller]
    fn next_state(&self) -> String {
        (0..10_000).map(|_| self.next()).find(|word| word != "WATCHDOG=1").expect("a state")
    }
}

#[test]
fn it_is_told_of_each_state() {
    let site = Site::small();
    let path = site.outer().join("notify");
    let manager = Manager::over(UnixDatagram::bind(&path).expect("a socket"));
    let server = Launch::over(site.root()).env("NOTIFY_SOCKET", path.to_str().expect("UTF-8")).start();
    assert_eq!(manager.next(), "READY=1");
    signal(server.id(), Signal::HUP);
    let reloading = manager.next();
    let micros = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").expect(&reloading);
    assert!(micros.parse::<u64>().is_ok_and(|micros| micros > 0), "{reloading}");
    assert_eq!(manager.next(), "READY=1\nSTATUS=the last reload was applied");
    server.stop();
    assert_eq!(manager.next(), "STOPPING=1");
}

/// `systemctl reload` was a success whatever came of it, and nothing but the log said that the old configuration was in force.
#[test]
fn a_refused_reload_is_told() {
    let site = Site::small();
    let (path, file) = (site.outer().join("notify"), site.outer().join("bench.toml"));
    let manager = Manager::over(UnixDatagram::bind(&path).expect("a socket"));
    fs::write(&file, "").expect("a file");
    let launch = Launch::over(site.root()).flag("--config", file.to_str().expect("UTF-8")).with_admin();
    let server = launch.env("NOTIFY_SOCKET", path.to_str().expect("UTF-8")).start();
    let status = || {
        let answer = Client::connect(server.admin()).get("/status");
        serde_json::from_slice::<serde_json::Value>(&answer.body).expect("JSON")["reloads"].clone()
    };
    assert_eq!(manager.next(), "READY=1");
    assert_eq!(status(), serde_json::json!({"applied": 0, "refused": 0, "last": null}));

    fs::write(&file, "server.wokers = 1\nserver.backlg = 2").expect("a file");
    signal(server.id(), Signal::HUP);
    assert!(manager.next().starts_with("RELOADING=1"));
    let told = manager.next();
    let why = told.strip_prefix("READY=1\nSTATUS=the last reload was refused: ").expect(&told);
    assert!(why.contains("bench.toml:1: ") && why.contains("server.backlg") && !why.contains('\n'), "{why}");
    let last = status()["last"].clone();
    assert_eq!(last["result"], "refused");
    assert!(last["reason"].as_str().is_some_and(|why| why.contains("bench.toml:1: ")), "{last}");
    assert!(last["unix_seconds"].as_u64().is_some_and(|at| at > 1_700_000_000), "{last}");

    fs::write(&file, "").expect("a file");
    signal(server.id(), Signal::HUP);
    assert!(manager.next().starts_with("RELOADING=1"));
    assert_eq!(manager.next(), "READY=1\nSTATUS=the last reload was applied");
    assert_eq!(status()["last"]["result"], "applied");
    for result in ["applied", "refused"] {
        assert_eq!(server.metrics().sum("quintain_reloads_total", &[result]), 1.0, "{result}");
    }
}

/// A manager that has no room for a word has other services to start, and is not told twice: READY=1 was lost, and the server
/// was ended as one that never became ready.
#[test]
fn a_word_waits_for_room() {
    let site = Site::small();
    let path = site.outer().join("notify");
    let manager = Manager::over(UnixDatagram::bind(&path).expect("a socket"));
    let others = UnixDatagram::unbound().expect("a socket");
    others.set_nonblocking(true).expect("a socket");
    let fill = || (0..100_000).take_while(|_| others.send_to(b"X", &path).is_ok()).count();
    assert!(fill() < 100_000, "the queue has a bound");
    let server = Launch::over(site.root()).env("NOTIFY_SOCKET", path.to_str().expect("UTF-8")).start();
    assert_eq!(server.get("/ten.txt").status, 200);
    signal(server.id(), Signal::HUP);
    server.wait_for_log("in force");
    let mut heard = (0..100_000).map(|_| manager.next()).filter(|word| word != "X");
    assert_eq!(heard.next().as_deref(), Some("READY=1"));
    assert!(heard.next().is_some_and(|word| word.starts_with("RELOADING=1")));
    assert!(heard.next().is_some_and(|word| word.starts_with("READY=1\nSTATUS=")));
}

#[test]
fn it_may_have_an_abstract_address() {
    let site = Site::small();
    let name = format!("quintain-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let manager = Manager::over(UnixDatagram::bind_addr(&address).expect("a socket"));
    let _server = Launch::over(site.root()).env("NOTIFY_SOCKET", &format!("@{name}")).start();
    assert_eq!(manager.next(), "READY=1");
}

/// In each model, with nobody asking for anything: an idle server is no hanging one.
#[test]
fn an_idle_server_shows_that_it_lives() {
    let site = Site::small();
    for model in ["event-loop", "boss-worker", "work-stealing", "thread-per-connection"] {
        let path = site.outer().join(model);
        let manager = Manager::over(UnixDatagram::bind(&path).expect("a socket"));
        let launch = Launch::over(site.root()).set("server.model", model).set("server.workers", "2");
        let launch = launch.env("NOTIFY_SOCKET", path.to_str().expect("UTF-8")).env("WATCHDOG_USEC", "400000");
        let server = launch.start();
        assert_eq!(manager.next(), "READY=1");
        for _ in 0..3 {
            assert_eq!(manager.next(), "WATCHDOG=1", "{model}");
        }
        server.stop();
        assert_eq!(manager.next_state(), "STOPPING=1");
    }
}

#[test]
fn a_watchdog_of_another_process_is_none() {
    let site = Site::small();
    let path = site.outer().join("notify");
    let manager = Manager::over(UnixDatagram::bind(&path).expect("a socket"));
    let launch = Launch::over(site.root()).env("NOTIFY_SOCKET", path.to_str().expect("UTF-8"));
    let server = launch.env("WATCHDOG_USEC", "1000").env("WATCHDOG_PID", "1").start();
    assert_eq!(manager.next(), "READY=1");
    server.get("/ten.txt");
    server.stop();
    assert_eq!(manager.next(), "STOPPING=1", "and nothing before it");
}

#[test]
fn one_that_is_not_there_is_no_reason_not_to_serve() {
    let site = Site::small();
    let server = Launch::over(site.root()).env("NOTIFY_SOCKET", "/nonexistent/notify").start();
    assert_eq!(server.get("/ten.txt").status, 200);
    assert!(server.log().iter().any(|line| line.contains("NOTIFY_SOCKET")), "{:?}", server.log());
}
