//! No dead knobs: for each setting of config.toml one small test that the server behaves differently with it. The
//! tests are named after the settings, and [`every_setting_has_a_test`] holds the two together.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use socket2::{Domain, Socket, Type};

use crate::harness::{Client, Endpoint, Launch, PATIENCE, Server, Site, TEN};

#[test]
fn every_setting_has_a_test() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config.toml");
    let config: toml::Table = fs::read_to_string(path).expect("config.toml").parse().expect("TOML");
    let settings: BTreeSet<_> = config
        .iter()
        .flat_map(|(section, keys)| {
            keys.as_table().expect("a section").keys().map(move |key| format!("{section}_{key}"))
        })
        .collect();
    assert!(settings.len() > 20, "{settings:?}");
    let source = include_str!("knobs.rs");
    let missing: Vec<_> = settings.iter().filter(|name| !source.contains(&format!("#[test]\nfn {name}()"))).collect();
    assert!(missing.is_empty(), "no test here for {missing:?}");
}

/// A server over `site` with one setting.
fn with(site: &Site, key: &str, value: &str) -> Server {
    Launch::over(site.root()).set(key, value).with_admin().start()
}

// === [server] ===

#[test]
fn server_listen() {
    let site = Site::small();
    let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8"));
    let server = launch.set("server.listen", "127.0.0.1:0,127.0.0.1:0").announcing(2).start();
    assert_eq!(server.endpoints().len(), 2);
}

#[test]
fn server_root() {
    let site = Site::small();
    let launch = Launch::bare().set("server.root", site.root().to_str().expect("UTF-8")).listen("127.0.0.1:0");
    assert_eq!(launch.start().get("/ten.txt").body, TEN.as_bytes());
}

#[test]
fn server_workers() {
    let site = Site::small();
    for count in [1, 3] {
        let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8")).listen("127.0.0.1:0");
        let server = launch.set("server.workers", &count.to_string()).start();
        assert_eq!(threads_named(&server, "worker-"), count);
    }
}

fn threads_named(server: &Server, start: &str) -> usize {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).expect("the server runs");
    let names = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with(start)).count()
}

/// While nobody is accepted, the kernel completes as many handshakes as the backlog has room for.
#[test]
fn server_backlog() {
    let site = Site::small();
    for (backlog, all) in [("1", false), ("100", true)] {
        let launch = Launch::over(site.root()).set("server.backlog", backlog).set("server.max_connections", "1");
        let server = launch.set("socket.defer_accept", "off").start();
        let mut inside = server.client();
        inside.get("/ten.txt");
        // A handshake that has no room is not refused, it just never ends: that is the only use of the short wait.
        let wait = if all { PATIENCE } else { Duration::from_millis(300) };
        let crowd: Vec<_> = (0..10).filter_map(|_| connect_within(server.endpoint(), wait)).collect();
        assert_eq!(crowd.len() == 10, all, "{} of 10 handshakes with a backlog of {backlog}", crowd.len());
    }
}

fn connect_within(endpoint: &Endpoint, wait: Duration) -> Option<Socket> {
    let Endpoint::Tcp(address) = endpoint else { panic!("no TCP at {endpoint:?}") };
    let socket = Socket::new(Domain::for_address(*address), Type::STREAM, None).expect("a socket");
    socket.connect_timeout(&(*address).into(), wait).ok().map(|()| socket)
}

#[test]
fn server_max_connections() {
    let site = Site::small();
    let server = with(&site, "server.max_connections", "1");
    let mut first = server.client();
    first.get("/ten.txt");
    let mut second = server.client();
    second.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    server.wait_for_metrics("one waiting", |m| m.sum("quintain_connections_waiting", &[]) == 1.0);
    assert!(second.is_quiet());
    drop(first);
    assert_eq!(second.answer().expect("an answer").body, TEN.as_bytes());
}

// === [keep_alive] ===

#[test]
fn keep_alive_enabled() {
    let site = Site::small();
    for (value, closes) in [("true", false), ("false", true)] {
        assert_eq!(with(&site, "keep_alive.enabled", value).client().get("/ten.txt").says_close(), closes);
    }
}

#[test]
fn keep_alive_timeout() {
    let site = Site::small();
    let mut client = with_client(&with(&site, "keep_alive.timeout", "200ms"));
    client.expect_end();
    let server = with(&site, "keep_alive.timeout", "1h");
    let mut client = with_client(&server);
    thread::sleep(Duration::from_millis(600));
    assert_eq!(client.get("/ten.txt").status, 200);
}

fn with_client(server: &Server) -> Client {
    let mut client = server.client();
    client.get("/ten.txt");
    client
}

#[test]
fn keep_alive_max_requests() {
    let site = Site::small();
    for (most, closing) in [("1", Some(0)), ("5", Some(4)), ("0", None)] {
        let server = with(&site, "keep_alive.max_requests", most);
        let mut client = server.client();
        let last = (0..20).find(|_| client.get("/ten.txt").says_close());
        assert_eq!(last, closing, "max_requests {most}");
    }
}

// === [timeouts] ===

#[test]
fn timeouts_header() {
    let site = Site::small();
    let server = with(&site, "timeouts.header", "200ms");
    let mut client = server.client();
    client.send("GET ");
    assert_eq!(client.answer().expect("an answer").status, 408);
}

#[test]
fn timeouts_write_stall() {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; 16 << 20]);
    let server = with(&site, "timeouts.write_stall", "200ms");
    let mut client = server.client();
    client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    server.wait_for_metrics("a stall", |m| m.sum("quintain_timeouts_total", &["write_stall"]) == 1.0);
}

#[test]
fn timeouts_shutdown() {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; 32 << 20]);
    let mut server = with(&site, "timeouts.shutdown", "0s");
    let mut client = server.client();
    client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    client.head().expect("a head");
    server.terminate();
    assert_eq!(server.wait().status.code(), Some(0));
    // With 10 minutes the same client gets everything: drain.rs.
    assert!(client.drain().0 < 32 << 20);
}

// === [limits] ===

#[test]
fn limits_head_bytes() {
    let site = Site::small();
    let line = format!("X-Filler: {}\r\n", "a".repeat(20_000));
    assert_eq!(with(&site, "limits.head_bytes", "16k").client().get_with("/ten.txt", &line).status, 431);
    assert_eq!(with(&site, "limits.head_bytes", "32k").client().get_with("/ten.txt", &line).status, 200);
}

#[test]
fn limits_target_bytes() {
    let site = Site::small();
    let target = format!("/ten.txt?{}", "a".repeat(100));
    assert_eq!(with(&site, "limits.target_bytes", "64").get(&target).status, 414);
    assert_eq!(with(&site, "limits.target_bytes", "128").get(&target).status, 200);
}

// === [files] ===

/// Twice through a hundred files: a cache with room for them all has them the second time.
#[test]
fn files_cache_bytes() {
    let site = Site::small();
    for number in 0..100 {
        site.write(&format!("{number}.txt"), vec![b'x'; 10_000]);
    }
    let hits = |bytes: &str| {
        let server = Launch::over(site.root()).set("files.cache_bytes", bytes).set("files.revalidate", "1h");
        let server = server.with_admin().start();
        let mut client = server.client();
        for number in (0..100).chain(0..100) {
            assert_eq!(client.get(&format!("/{number}.txt")).body.len(), 10_000);
        }
        server.metrics().sum("quintain_cache_hits_total", &[])
    };
    assert_eq!(hits("64m"), 100.0);
    assert!(hits("64k") < 50.0);
}

/// A file that is not kept in memory is kept open.
#[test]
fn files_cache_file_max() {
    let site = Site::small();
    for (most, open) in [("0", true), ("1m", false)] {
        let server = with(&site, "files.cache_file_max", most);
        assert_eq!(server.get("/ten.txt").body, TEN.as_bytes());
        assert_eq!(has_open(&server, &site.path("ten.txt")), open, "cache_file_max {most}");
    }
}

fn has_open(server: &Server, path: &Path) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", server.id())).expect("the server runs");
    descriptors.flatten().any(|descriptor| fs::read_link(descriptor.path()).is_ok_and(|target| target == path))
}

#[test]
fn files_revalidate() {
    for (age, text) in [("0s", "new"), ("1h", "old")] {
        let site = Site::small();
        site.write("page.txt", "old");
        let server = with(&site, "files.revalidate", age);
        assert_eq!(server.get("/page.txt").text(), "old");
        site.replace("page.txt", "new");
        assert_eq!(server.get("/page.txt").text(), text, "revalidate {age}");
    }
}

// === [socket] ===

/// The server's own end of a connection, borrowed from its process. `None`, with a word about it, if that is forbidden.
fn servers_end(server: &Server, client_port: u16) -> Option<Socket> {
    let pid = Pid::from_raw(server.id().cast_signed()).expect("a child's id");
    let process = pidfd_open(pid, PidfdFlags::empty()).expect("the server runs");
    let numbers = fs::read_dir(format!("/proc/{}/fd", server.id())).expect("the server runs");
    let numbers: Vec<i32> = numbers.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers {
        let descriptor: OwnedFd = match pidfd_getfd(&process, number, PidfdGetfdFlags::empty()) {
            Ok(descriptor) => descriptor,
            Err(rustix::io::Errno::PERM) => {
                eprintln!("skipped: descriptors of other processes cannot be looked at here");
                return None;
            }
            Err(_) => continue,
        };
        let socket = Socket::from(descriptor);
        let peer = socket.peer_addr().ok().and_then(|address| address.as_socket());
        if peer.is_some_and(|peer| peer.port() == client_port) {
            return Some(socket);
        }
    }
    panic!("the server has no connection to port {client_port}")
}

/// Connects, is answered, and looks at the server's end.
fn accepted(key: &str, value: &str) -> Option<Socket> {
    let site = Site::small();
    let server = with(&site, key, value);
    let Endpoint::Tcp(address) = server.endpoint() else { panic!("no TCP") };
    let client = Socket::new(Domain::for_address(*address), Type::STREAM, None).expect("a socket");
    client.connect(&(*address).into()).expect("a connection");
    client.send(b"GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n").expect("a request");
    client.set_read_timeout(Some(PATIENCE)).expect("a limit");
    client.recv(&mut [std::mem::MaybeUninit::uninit(); 1]).expect("an answer");
    let own: SocketAddr = client.local_addr().expect("an address").as_socket().expect("TCP");
    servers_end(&server, own.port())
}

#[test]
fn socket_nodelay() {
    for (value, expected) in [("true", true), ("false", false)] {
        let Some(socket) = accepted("socket.nodelay", value) else { return };
        assert_eq!(socket.tcp_nodelay().expect("the option"), expected);
    }
}

#[test]
fn socket_send_buffer() {
    let Some(socket) = accepted("socket.send_buffer", "16k") else { return };
    // Linux keeps twice the value, for its own bookkeeping (socket(7)).
    assert_eq!(socket.send_buffer_size().expect("the option"), 2 * 16 * 1024);
    let automatic = accepted("socket.send_buffer", "auto").expect("as before");
    assert_ne!(automatic.send_buffer_size().expect("the option"), 2 * 16 * 1024);
}

#[test]
fn socket_congestion() {
    let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("Linux");
    for name in available.split_whitespace() {
        let Some(socket) = accepted("socket.congestion", name) else { return };
        let found = socket.tcp_congestion().expect("the option");
        assert_eq!(String::from_utf8_lossy(&found).trim_end_matches('\0'), name);
    }
}

/// A client that says nothing is not worth a connection yet.
#[test]
fn socket_defer_accept() {
    let site = Site::small();
    for (value, accepted) in [("off", 2.0), ("60s", 1.0)] {
        let server = with(&site, "socket.defer_accept", value);
        let _silent = server.client();
        // The queue is in order, so whoever is accepted later than the silent one shows that it had its turn.
        server.get("/ten.txt");
        let metrics = server.metrics();
        assert_eq!(metrics.sum("quintain_connections_accepted_total", &[]), accepted, "defer_accept {value}");
    }
}

// === [site] ===

#[test]
fn site_index() {
    let site = Site::full();
    assert!(with(&site, "site.index", "home.html").get("/dir/").text().contains("home of dir"));
}

#[test]
fn site_hidden() {
    let site = Site::full();
    for (value, status) in [("false", 404), ("true", 200)] {
        assert_eq!(with(&site, "site.hidden", value).get("/.hidden").status, status);
    }
}

#[test]
fn site_listing() {
    let site = Site::full();
    for (value, status) in [("false", 404), ("true", 200)] {
        assert_eq!(with(&site, "site.listing", value).get("/bare/").status, status);
    }
}

#[test]
fn site_precompressed() {
    let site = Site::full();
    for (value, encoding) in [("false", None), ("true", Some("gzip"))] {
        let answer =
            with(&site, "site.precompressed", value).client().get_with("/page.html", "Accept-Encoding: gzip\r\n");
        assert_eq!(answer.header("content-encoding"), encoding);
    }
}

#[test]
fn site_cache_control() {
    let site = Site::small();
    for (value, line) in [("", None), ("no-store", Some("no-store"))] {
        assert_eq!(with(&site, "site.cache_control", value).get("/ten.txt").header("cache-control"), line);
    }
}

// === [headers] ===

#[test]
fn headers_server() {
    let site = Site::small();
    for (value, line) in [("", None), ("Apache-Coyote/1.1", Some("Apache-Coyote/1.1"))] {
        let server = with(&site, "headers.server", value);
        // The last is refused before it is a request, by other code.
        for request in
            ["GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n", "GET /missing HTTP/1.1\r\nHost: t\r\n\r\n", "x\r\n\r\n"]
        {
            let mut client = server.client();
            client.send(request);
            assert_eq!(client.answer().expect("an answer").header("server"), line, "{request}");
        }
    }
}

#[test]
fn headers_extra() {
    let site = Site::small();
    let server = with(&site, "headers.extra", "X-Run=7,X-Profile=tomcat");
    for (target, status) in [("/ten.txt", 200), ("/missing", 404)] {
        let answer = server.get(target);
        assert_eq!(answer.status, status);
        assert_eq!((answer.header("x-run"), answer.header("x-profile")), (Some("7"), Some("tomcat")));
    }
}

// === [log] ===

/// At `error` there is nothing to say about a start, so a unix socket's name has to show that the server is there.
#[test]
fn log_level() {
    for (level, silent) in [("error", true), ("info", false)] {
        let site = Site::small();
        let path = site.outer().join("s");
        let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8")).set("log.level", level);
        let child = launch.flag("--listen", &format!("unix:{}", path.display())).command().spawn().expect("it runs");
        let stderr = end_when_connected(child, &path);
        assert_eq!(stderr.is_empty(), silent, "log.level {level}: {stderr}");
    }
}

fn end_when_connected(mut child: Child, path: &Path) -> String {
    let deadline = Instant::now() + PATIENCE;
    while UnixStream::connect(path).is_err() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("the server runs");
    let output = child.wait_with_output().expect("it has ended");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn log_format() {
    let site = Site::small();
    for (format, json) in [("text", false), ("json", true)] {
        let server = with(&site, "log.format", format);
        assert_eq!(server.log().iter().all(|line| line.starts_with('{')), json, "{:?}", server.log());
    }
}

#[test]
fn log_access() {
    let site = Site::small();
    for (place, lines) in [("off", 0), ("stderr", 1)] {
        let server = with(&site, "log.access", place);
        server.get("/ten.txt");
        let ended = server.stop();
        assert_eq!(ended.stderr.lines().filter(|line| line.contains("/ten.txt")).count(), lines, "{ended:?}");
    }
}

#[test]
fn log_access_format() {
    let site = Site::small();
    for (format, part) in [("combined", "\"GET /ten.txt HTTP/1.1\" 200 10"), ("json", "\"target\":\"/ten.txt\"")] {
        let launch = Launch::over(site.root()).set("log.access", "stderr").set("log.access_format", format);
        let server = launch.start();
        server.get("/ten.txt");
        let ended = server.stop();
        assert!(ended.stderr.contains(part), "{ended:?}");
    }
}

// === [admin] ===

#[test]
fn admin_listen() {
    let site = Site::small();
    let without = Launch::over(site.root()).set("admin.listen", "off").start();
    assert!(!without.log().iter().any(|line| line.contains("admin on")), "{:?}", without.log());
    let server = Launch::over(site.root()).with_admin().start();
    assert_eq!(Client::connect(server.admin()).get("/healthz").status, 200);
}
