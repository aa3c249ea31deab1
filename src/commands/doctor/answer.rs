//! Whether a URL answers, and over which way.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::fact::{Fact, Mark};
use crate::load::url::Url;

/// Longest wait for a connect, and for the head of the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 8;

/// Longest head that is read.
const HEAD_MAX: usize = 64 << 10;

/// What a URL said.
pub(super) struct Answer {
    pub(super) facts: Vec<Fact>,
    /// It is on this machine, as far as can be told.
    pub(super) loopback: bool,
}

/// Sends one request.
pub(super) fn ask(url: &Url) -> Answer {
    const NAME: &str = "URL";
    let failed = |error: io::Error, loopback| {
        let means = format!("{} does not answer: {error}.", url.text);
        Answer { facts: vec![Fact::new(Mark::Problem, NAME, "no answer", means)], loopback }
    };
    let (mut stream, resolved) = match connect(url) {
        Ok(connected) => connected,
        Err(error) => return failed(error, true),
    };
    let ends = stream.local_addr().and_then(|local| Ok((local, stream.peer_addr()?)));
    let (local, peer) = match ends {
        Ok(ends) => ends,
        Err(error) => return failed(error, true),
    };
    let loopback = peer.ip().is_loopback();
    match status(&mut stream, url) {
        Ok(status) => {
            let facts = vec![answered(url, status, peer, &resolved), way(&stream, local, peer)];
            Answer { facts, loopback }
        }
        Err(error) => failed(error, loopback),
    }
}

fn connect(url: &Url) -> io::Result<(TcpStream, Vec<SocketAddr>)> {
    let mut addresses = url.resolve()?;
    addresses.truncate(ADDRESSES_MAX);
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{} has no address", url.host));
    for address in &addresses {
        match TcpStream::connect_timeout(address, PATIENCE) {
            Ok(stream) => return Ok((stream, addresses)),
            Err(error) => last = io::Error::new(error.kind(), format!("{address}: {error}")),
        }
    }
    Err(last)
}

/// The status of the final answer to a GET. Of the answer no more than its head is read.
fn status(stream: &mut TcpStream, url: &Url) -> io::Result<u16> {
    let (path, host) = (&url.path, url.authority());
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nUser-Agent: quintain-doctor\r\n\r\n")?;
    let until = Instant::now() + PATIENCE;
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while head.len() < HEAD_MAX {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no whole head within {PATIENCE:?}")));
        }
        stream.set_read_timeout(Some(left))?;
        let count = match stream.read(&mut piece) {
            // The read timeout's own words are "Resource temporarily unavailable".
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed before the head was whole"));
        }
        head.extend_from_slice(&piece[..count]);
        if let Some(status) = final_status(&head)? {
            return Ok(status);
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("its head is longer than {HEAD_MAX} bytes")))
}

/// The status, once the head of an answer that is not a 1xx is whole.
fn final_status(mut bytes: &[u8]) -> io::Result<Option<u16>> {
    const LINES_MAX: usize = 128;
    loop {
        let mut lines = [httparse::EMPTY_HEADER; LINES_MAX];
        let mut answer = httparse::Response::new(&mut lines);
        let parsed = answer.parse(bytes).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("what it sends is not HTTP/1: {error}"))
        })?;
        match (parsed, answer.code) {
            (httparse::Status::Complete(length), Some(100..=199)) => bytes = &bytes[length..],
            (httparse::Status::Complete(_), code) => return Ok(code),
            (httparse::Status::Partial, _) => return Ok(None),
        }
    }
}

fn answered(url: &Url, status: u16, peer: SocketAddr, resolved: &[SocketAddr]) -> Fact {
    let others: Vec<_> = resolved.iter().filter(|address| **address != peer).map(ToString::to_string).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(" The name has other addresses too ({}), which a load tool may take.", others.join(", ")),
    };
    let fine = (200..400).contains(&status);
    let means =
        if fine { "it answers" } else { "it answers, but with an error, and errors are what would be measured" };
    Fact::new(Mark::look_if(!fine), "URL", status, format!("{}: {means}.{others}", url.text))
}

fn way(stream: &TcpStream, local: SocketAddr, peer: SocketAddr) -> Fact {
    const NAME: &str = "way to it";
    let congestion = rustix::net::sockopt::tcp_congestion(stream).unwrap_or_else(|_| "unknown".to_owned());
    let which_way = if peer.ip().is_loopback() {
        "over loopback: no network is measured, and client and server share the CPUs"
    } else if peer.ip() == local.ip() {
        "through this machine's own address: no network is measured, but rules for loopback (tcp_tw_reuse=2) do not hold"
    } else {
        "over the network: its bandwidth and round trip are measured too, and the server's limits are not those shown here"
    };
    let means = format!(
        "{which_way}. What this side sends is controlled by {congestion}; the server chooses for what it sends."
    );
    Fact::new(Mark::Ok, NAME, format!("{local} to {peer}, {congestion}"), means)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_the_final_one() {
        let rows: [(&[u8], Option<u16>); 5] = [
            (b"", None),
            (b"HTTP/1.1 200 OK\r\nServer: x\r\n", None),
            (b"HTTP/1.1 404 Not Found\r\n\r\nbody", Some(404)),
            (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", Some(200)),
            (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 3", None),
        ];
        for (bytes, status) in rows {
            assert_eq!(final_status(bytes).unwrap(), status, "{}", String::from_utf8_lossy(bytes));
        }
        assert!(final_status(b"SSH-2.0-OpenSSH_9\r\n").is_err());
    }
}
