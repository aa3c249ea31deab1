//! Who is let in, how many, and what they cost while they wait.

use std::fs;
use std::io::{self, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use super::in_model;
use crate::harness::{Broken, Client, Endpoint, Launch, PATIENCE, Server, Site, TEN};

const GET: &str = "GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n";

/// Each desk has half of the limit. The boss had chosen the desk of the next connection before it waited for room, and
/// then waited for that very desk, although a place at the other one was free.
#[test]
fn a_place_at_either_desk_lets_the_next_connection_in() {
    let site = Site::small();
    for leaves in [0, 1] {
        let launch = in_model(&site, "boss-worker").set("server.workers", "2").set("server.max_connections", "2");
        let server = launch.start();
        let mut inside = vec![server.client(), server.client()];
        for client in &mut inside {
            client.get("/ten.txt");
        }
        let mut next = server.client();
        next.send(GET);
        server.wait_for_metrics("one waiting", |m| m.sum("quintain_connections_waiting", &[]) == 1.0);
        assert!(next.is_quiet(), "a connection over the limit was answered or dropped");
        drop(inside.remove(leaves));
        let answer = next.answer().unwrap_or_else(|end| panic!("after connection {leaves} left: {end}"));
        assert_eq!(answer.body, TEN.as_bytes());
        assert_eq!(inside[0].get("/ten.txt").body, TEN.as_bytes());
    }
}

/// Threads that serve a connection, by their names.
fn connection_threads(server: &Server) -> usize {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).expect("the server runs");
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.flatten().map(name).filter(|name| name.starts_with("connection")).count()
}

/// `max_threads` is the limit of this model, but only `max_connections` was asked: a hundred clients had a hundred
/// connections and as many threads as well.
#[test]
fn no_more_connections_than_threads() {
    const THREADS: usize = 4;
    let site = Site::small();
    let launch = in_model(&site, "thread-per-connection").set("server.max_threads", "4");
    let server = launch.set("server.max_connections", "200").start();
    let mut crowd: Vec<_> = (0..20).map(|_| server.client()).collect();
    for client in &mut crowd {
        client.send(GET);
    }
    let expect_limit = || {
        let open = server.metrics().sum("quintain_connections_open", &[]);
        assert!(open <= THREADS as f64, "{open} connections are open");
        let threads = connection_threads(&server);
        assert!(threads <= THREADS, "{threads} threads serve connections");
    };
    // Each that leaves makes room for another, until all were served. The order is the server's.
    let mut looks = 0;
    while !crowd.is_empty() {
        expect_limit();
        match crowd.iter_mut().position(|client| !client.is_quiet()) {
            Some(at) => assert_eq!(crowd.swap_remove(at).answer().expect("an answer").body, TEN.as_bytes()),
            None => thread::sleep(Duration::from_millis(5)),
        }
        looks += 1;
        assert!(looks < 2000, "{} connections were never served", crowd.len());
    }
}

/// With the defaults the model wants 200 threads; a shell's usual 1,024 descriptors, or the 256 of others, were found
/// too few for them and the server did not start.
#[test]
fn a_thread_for_each_connection_starts_under_a_low_descriptor_limit() {
    let site = Site::small();
    let launch = Launch::over(site.root()).set("server.model", "thread-per-connection").descriptors(256);
    assert_eq!(launch.start().get("/ten.txt").body, TEN.as_bytes());
}

/// A client that asks for more than it ever reads: as much as the server and the kernel take.
fn greedy(admin: &Endpoint) -> TcpStream {
    let Endpoint::Tcp(address) = admin else { panic!("no TCP: {admin:?}") };
    let socket = Socket::new(Domain::for_address(*address), Type::STREAM, None).expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    socket.connect(&(*address).into()).expect("the backlog has room");
    socket.set_nonblocking(true).expect("non-blocking");
    let mut stream = TcpStream::from(socket);
    let many = "GET /metrics HTTP/1.1\r\nHost: t\r\n\r\n".repeat(2000);
    for _ in 0..20 {
        match stream.write(many.as_bytes()) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => panic!("cannot send: {error}"),
        }
    }
    stream
}

fn ask_for_metrics(admin: &Endpoint) -> Result<u16, Broken> {
    let mut client = Client::try_connect(admin, None).map_err(Broken::Reset)?;
    client.try_send(b"GET /metrics HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n").map_err(Broken::Reset)?;
    client.answer().map(|answer| answer.status)
}

/// The admin listener has few places and a limit in time for each request, but an answer that nobody reads was under no
/// limit. A few dozen such clients, and whoever measures was shut out until they left.
#[test]
fn clients_that_never_read_do_not_shut_the_admin_listener() {
    let site = Site::small();
    let server = Launch::over(site.root()).with_admin().start();
    let _greedy: Vec<_> = (0..40).map(|_| greedy(server.admin())).collect();
    let deadline = Instant::now() + PATIENCE;
    // One that is turned away may come again; one that waits is answered when the others' time is over.
    let mut last = ask_for_metrics(server.admin());
    while last.is_err() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(100));
        last = ask_for_metrics(server.admin());
    }
    assert_eq!(last.unwrap_or_else(|end| panic!("/metrics stayed shut: {end}")), 200);
    assert_eq!(server.get("/ten.txt").status, 200);
}

/// Parking was measured with ten thousand connections. Two hundred never slept, or woke and slept in turns.
#[test]
fn two_hundred_idle_connections_sleep_and_stay_asleep() {
    const IDLE: f64 = 200.0;
    let site = Site::small();
    let server = Launch::over(site.root()).with_admin().start();
    let mut clients: Vec<_> = (0..200).map(|_| server.client()).collect();
    for client in &mut clients {
        client.get("/ten.txt");
    }
    let asleep = server.wait_for_metrics("all parked", |m| m.sum("quintain_connections_parked", &[]) == IDLE);
    let parked = asleep.sum("quintain_parked_total", &[]);
    // Longer than it takes to be parked: one that wakes for nothing is parked again by then.
    thread::sleep(Duration::from_secs(4));
    let later = server.metrics();
    assert_eq!(later.sum("quintain_connections_parked", &[]), IDLE);
    assert_eq!(later.sum("quintain_parked_total", &[]), parked, "connections that nobody used were parked again");
    for client in &mut clients {
        assert_eq!(client.get("/ten.txt").body, TEN.as_bytes());
    }
}

/// Whether an entry can be listed is asked of the disk for each, and those that cannot were not counted: a folder of
/// dangling links cost as many questions as it has links, whatever the longest page is.
#[test]
fn a_folder_of_dangling_links_is_listed_and_says_what_it_left_out() {
    let site = Site::small();
    site.write("links/there.txt", TEN);
    for number in 0..30_000 {
        symlink("nowhere", site.path(&format!("links/{number}"))).expect("a symbolic link");
    }
    let server = Launch::over(site.root()).set("site.listing", "true").set("files.mode", "per-request").start();
    let mut listing = server.client();
    listing.send("GET /links/ HTTP/1.1\r\nHost: t\r\n\r\n");
    for _ in 0..10 {
        assert_eq!(server.get("/ten.txt").body, TEN.as_bytes());
    }
    let page = listing.answer().expect("a page");
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.text().contains("the folder holds more"), "30,000 entries were looked at: {}", page.text());
}
