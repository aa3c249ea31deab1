//! Sockets that the server is started with, with the test in the place of systemd.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Output, Stdio};

use super::stderr;
use crate::harness::{Client, Endpoint, Launch, Site, TEN};

/// A server that was started with sockets. Dropping it ends it.
pub struct Activated(Option<Child>);

impl Activated {
    /// Starts it with up to two sockets, as descriptors from 3 on. By way of a shell, whose id stays the server's.
    pub fn start(launch: &Launch, sockets: Vec<OwnedFd>, names: &str) -> Self {
        let count = sockets.len().to_string();
        let script = "exec 3<&0 4<&1 0</dev/null 1>/dev/null; export LISTEN_PID=$$; exec \"$0\" \"$@\"";
        let inner = launch.command();
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(inner.get_program()).args(inner.get_args());
        command.env("LISTEN_FDS", count).env("LISTEN_FDNAMES", names);
        let mut streams = sockets.into_iter().map(Stdio::from);
        command.stdin(streams.next().unwrap_or_else(Stdio::null));
        command.stdout(streams.next().unwrap_or_else(Stdio::null)).stderr(Stdio::piped());
        Self(Some(command.spawn().expect("a shell")))
    }

    pub fn id(&self) -> u32 {
        self.0.as_ref().expect("it was started").id()
    }

    /// Its end, which it comes to by itself.
    pub fn finish(mut self) -> Output {
        self.0.take().expect("it was started").wait_with_output().expect("it ends")
    }

    #[track_caller]
    pub fn stop(self) -> String {
        super::signal(self.id(), rustix::process::Signal::TERM);
        let output = self.finish();
        assert!(output.status.success(), "{output:?}");
        stderr(&output)
    }
}

impl Drop for Activated {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Without an address of its own: the one of config.toml would be a port that may be taken.
pub fn launch(site: &Site) -> Launch {
    Launch::bare().flag("--root", site.root().to_str().expect("UTF-8")).set("server.workers", "2")
}

pub fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

pub fn copy(listener: &TcpListener) -> OwnedFd {
    listener.try_clone().expect("a descriptor").into()
}

#[test]
fn an_inherited_socket_takes_the_place_of_the_address() {
    let site = Site::small();
    let (listener, address) = listener();
    let server = Activated::start(&launch(&site), vec![copy(&listener)], "web");
    let mut client = Client::connect(&Endpoint::Tcp(address));
    assert_eq!(client.get("/ten.txt").body, TEN.as_bytes());
    // Not passed on to whatever the server starts: FD_CLOEXEC is 02000000 among the flags.
    let info = std::fs::read_to_string(format!("/proc/{}/fdinfo/3", server.id())).expect("it runs");
    assert!(info.lines().any(|line| line.starts_with("flags:") && line.contains("02")), "{info}");
    drop(client);
    let log = server.stop();
    assert!(log.contains(&format!("listening on http://{address}")), "{log}");
}

/// In the background all descriptors are closed that are not announced.
#[test]
fn an_inherited_socket_goes_along_into_the_background() {
    let site = Site::small();
    let (listener, address) = listener();
    let daemon = super::Daemon::launch(&site);
    let started = Activated::start(&daemon, vec![copy(&listener)], "web").finish();
    assert!(started.status.success(), "{started:?}");
    let _ends = super::Daemon { pid_file: site.outer().join("pid"), log: site.outer().join("log") };
    assert_eq!(Client::connect(&Endpoint::Tcp(address)).get("/ten.txt").body, TEN.as_bytes());
}

#[test]
fn a_socket_named_admin_is_the_admin_listener() {
    let site = Site::small();
    let ((web, address), (admin, admin_address)) = (listener(), listener());
    let _server = Activated::start(&launch(&site), vec![copy(&web), copy(&admin)], "web:admin");
    assert_eq!(Client::connect(&Endpoint::Tcp(address)).get("/ten.txt").status, 200);
    assert_eq!(Client::connect(&Endpoint::Tcp(admin_address)).get("/healthz").text(), "ok\n");
}

/// The second one was closed without a word: with the socket unit in between, its clients waited for ever.
#[test]
fn two_sockets_named_admin_are_one_too_many() {
    let site = Site::small();
    let sockets = vec![copy(&listener().0), copy(&listener().0)];
    let output = Activated::start(&launch(&site).listen("127.0.0.1:0"), sockets, "admin:admin").finish();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("calls 2 sockets \"admin\""), "{output:?}");
}

#[test]
fn a_unix_socket_can_be_inherited_and_keeps_its_name() {
    let site = Site::small();
    let path = site.outer().join("s");
    let listener = UnixListener::bind(&path).expect("a socket");
    let server = Activated::start(&launch(&site), vec![listener.try_clone().expect("a descriptor").into()], "");
    assert_eq!(Client::connect(&Endpoint::Unix(path.clone())).get("/ten.txt").body, TEN.as_bytes());
    server.stop();
    assert!(path.exists(), "the name is its maker's");
}

#[test]
fn what_does_not_listen_is_refused() {
    let site = Site::small();
    let (listener, address) = listener();
    let connected = std::net::TcpStream::connect(address).expect("a connection");
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    for socket in [OwnedFd::from(connected), OwnedFd::from(datagrams)] {
        let output = Activated::start(&launch(&site), vec![socket], "").finish();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains("descriptor 3") && stderr(&output).contains("Accept=no"), "{output:?}");
    }
    drop(listener);
}

/// LISTEN_FDS in the environment of a program that somebody else was meant to be.
#[test]
fn sockets_for_another_process_are_left_alone() {
    let site = Site::small();
    let server = Launch::over(site.root()).env("LISTEN_PID", "1").env("LISTEN_FDS", "1").start();
    assert_eq!(server.get("/ten.txt").status, 200);
}

#[test]
fn a_count_that_is_none_is_refused() {
    let site = Site::small();
    let inner = launch(&site).command();
    let script = "export LISTEN_PID=$$ LISTEN_FDS=many; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    let output = command.arg("-c").arg(script).arg(inner.get_program()).args(inner.get_args()).output().expect("sh");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("LISTEN_FDS is \"many\""), "{output:?}");
}

/// Whoever comes while nobody serves waits in the queue, which is not the server's.
#[test]
fn who_comes_between_two_servers_waits() {
    let site = Site::small();
    let (listener, address) = listener();
    let first = Activated::start(&launch(&site), vec![copy(&listener)], "");
    assert_eq!(Client::connect(&Endpoint::Tcp(address)).get("/ten.txt").status, 200);
    first.stop();
    let mut waiting = Client::connect(&Endpoint::Tcp(address));
    waiting.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    let second = Activated::start(&launch(&site), vec![copy(&listener)], "");
    assert_eq!(waiting.answer().expect("an answer").body, TEN.as_bytes());
    drop(waiting);
    second.stop();
}
