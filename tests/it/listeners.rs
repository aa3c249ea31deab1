//! Where the server listens, and what it serves when nobody says what.

use std::fs;
use std::net::{Ipv6Addr, TcpListener};
use std::path::Path;

use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::harness::{Client, Endpoint, Launch, Site, TEN, say_skipped};

fn over(site: &Site) -> Launch {
    Launch::bare().flag("--root", site.root().to_str().expect("UTF-8"))
}

#[test]
fn two_addresses() {
    let site = Site::small();
    let server = over(&site).listen("127.0.0.1:0").listen("127.0.0.1:0").start();
    let [first, second] = server.endpoints() else { panic!("{:?}", server.endpoints()) };
    for endpoint in [first, second, first] {
        assert_eq!(Client::connect(endpoint).get("/ten.txt").body, TEN.as_bytes());
    }
}

#[test]
fn ipv6() {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        say_skipped("this machine has no IPv6");
        return;
    }
    let site = Site::small();
    let server = over(&site).listen("[::1]:0").listen("127.0.0.1:0").start();
    assert!(matches!(server.endpoint(), Endpoint::Tcp(address) if address.is_ipv6()));
    for endpoint in server.endpoints() {
        assert_eq!(Client::connect(endpoint).get("/ten.txt").body, TEN.as_bytes());
    }
}

#[test]
fn a_unix_socket() {
    let site = Site::full();
    let path = site.outer().join("quintain.sock");
    let server = over(&site).listen(&format!("unix:{}", path.display())).set("server.workers", "2").start();
    let Endpoint::Unix(announced) = server.endpoint() else { panic!("{:?}", server.endpoint()) };
    assert_eq!(*announced, path);
    let mut client = server.client();
    assert_eq!(client.get("/ten.txt").body, TEN.as_bytes());
    assert_eq!(client.get("/big.bin").body.len(), 300_000);
    assert_eq!(client.get("/missing").status, 404);
    drop(client);
    server.stop();
    assert!(!path.exists(), "the socket's name was left behind");
}

#[test]
fn a_unix_socket_beside_tcp() {
    let site = Site::small();
    let path = site.outer().join("quintain.sock");
    let server = over(&site).listen("127.0.0.1:0").listen(&format!("unix:{}", path.display())).start();
    assert_eq!(server.endpoints().len(), 2);
    for endpoint in server.endpoints() {
        assert_eq!(Client::connect(endpoint).get("/ten.txt").body, TEN.as_bytes());
    }
}

#[test]
fn a_dead_servers_unix_socket_is_taken_over_and_a_live_ones_is_not() {
    let site = Site::small();
    let path = site.outer().join("quintain.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
    let launch = over(&site).listen(&format!("unix:{}", path.display()));
    let server = launch.clone().start();
    let second = launch.expect_failure();
    assert_eq!(second.status.code(), Some(1), "{second:?}");
    assert_eq!(server.get("/ten.txt").body, TEN.as_bytes());
}

/// The start waited for room in the queue of whoever has the name, for ever.
#[test]
fn a_name_whose_owner_is_too_busy_to_answer_is_taken() {
    let site = Site::small();
    let path = site.outer().join("quintain.sock");
    let address = SocketAddrUnix::new(&path).expect("a short path");
    let socket = || net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None);
    let owner = socket().expect("a socket");
    net::bind(&owner, &address).expect("a free name");
    net::listen(&owner, 0).expect("a queue for one");
    let waiting: Vec<_> = (0..100).map(|_| socket().expect("a socket")).collect();
    let inside = waiting.iter().take_while(|client| net::connect(client, &address).is_ok()).count();
    assert!(inside < 100, "the queue has a bound");
    let name = format!("unix:{}", path.display());
    for launch in [over(&site).listen(&name), Launch::over(site.root()).set("admin.listen", &name)] {
        let ended = launch.expect_failure();
        assert_eq!(ended.status.code(), Some(1), "{ended:?}");
        assert!(ended.stderr.contains("another server answers there"), "{ended:?}");
    }
    assert!(path.exists());
}

#[test]
fn a_file_that_is_no_socket_is_not_taken_over() {
    let site = Site::small();
    let path = site.path("ten.txt");
    let ended = over(&site).listen(&format!("unix:{}", path.display())).expect_failure();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert_eq!(fs::read_to_string(path).expect("the file is still there"), TEN);
}

#[test]
fn several_workers_share_one_address() {
    let site = Site::small();
    let server = over(&site).listen("127.0.0.1:0").set("server.workers", "3").with_admin().start();
    let mut clients: Vec<_> = (0..60).map(|_| server.client()).collect();
    for client in &mut clients {
        assert_eq!(client.get("/ten.txt").body, TEN.as_bytes());
    }
    assert_eq!(server.metrics().sum("quintain_http_requests_total", &["2xx"]), 60.0);
}

/// Lengths of the bundled documents.
const BUNDLED: [(&str, usize); 6] = [
    ("1k.html", 1_024),
    ("10k.html", 10_240),
    ("30k.html", 30_877),
    ("100k.html", 102_400),
    ("300k.html", 307_200),
    ("7.5m.html", 7_693_835),
];

/// A bare binary in a container: no fixtures folder anywhere near.
#[test]
fn without_a_folder_the_bundled_documents_are_served_and_the_log_says_so() {
    let place = tempfile::tempdir().expect("a folder");
    let temporary = tempfile::tempdir().expect("a folder");
    let launch = Launch::bare().listen("127.0.0.1:0").in_directory(place.path());
    let server = launch.env("TMPDIR", temporary.path().to_str().expect("UTF-8")).start();
    server.wait_for_log("bundled documents");
    let mut client = server.client();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for (name, length) in BUNDLED {
        let answer = client.get(&format!("/{name}"));
        assert_eq!((answer.status, answer.body.len()), (200, length), "{name}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        let bytes = fs::read(kept.join(name)).expect("the document in fixtures");
        assert!(answer.body == bytes, "{name} is not the document of fixtures");
    }
    drop(client);
    server.stop();
    let left: Vec<_> = fs::read_dir(temporary.path()).expect("the folder").collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn a_folder_named_fixtures_is_served_before_the_bundled_documents() {
    let place = tempfile::tempdir().expect("a folder");
    fs::create_dir(place.path().join("fixtures")).expect("a folder");
    fs::write(place.path().join("fixtures/1k.html"), "my own").expect("a file");
    let server = Launch::bare().listen("127.0.0.1:0").in_directory(place.path()).start();
    assert_eq!(server.get("/1k.html").text(), "my own");
    assert!(!server.log().iter().any(|line| line.contains("bundled")), "{:?}", server.log());
}
