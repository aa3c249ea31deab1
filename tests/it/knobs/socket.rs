//! `[socket]`: options that only the server's own end of a connection shows.

use std::fs;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use socket2::{Domain, Socket, Type};

use super::with;
use crate::harness::{Endpoint, PATIENCE, Server, Site, say_skipped};

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
                say_skipped("descriptors of other processes cannot be looked at here");
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
