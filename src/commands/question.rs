//! One GET, and the status of its answer: whether somebody is there.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use socket2::SockRef;

use crate::load::url::Url;

/// Most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 8;

/// Longest head that is read.
const HEAD_MAX: usize = 64 << 10;

/// What is asked, and in whose name.
pub(super) struct Question<'a> {
    pub(super) path: &'a str,
    /// What stands in the `Host` line.
    pub(super) host: &'a str,
    /// What stands in the `User-Agent` line: a log should tell such requests from those that are measured.
    pub(super) agent: &'static str,
    /// How long connecting may take, and then how long the head of the answer.
    pub(super) patience: Duration,
}

/// A connection to the first address that takes one, and all that the name has. Of the patience each address gets an equal
/// part of what those before it have left.
pub(super) fn connect(url: &Url, patience: Duration) -> io::Result<(TcpStream, Vec<SocketAddr>)> {
    let mut addresses = url.resolve()?;
    addresses.truncate(ADDRESSES_MAX);
    let until = Instant::now() + patience;
    let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{} has no address", url.host));
    for (address, others) in addresses.iter().zip((1..=addresses.len() as u32).rev()) {
        // Zero is not allowed as a timeout.
        let part = (until.saturating_duration_since(Instant::now()) / others).max(Duration::from_millis(1));
        match TcpStream::connect_timeout(address, part) {
            Ok(stream) => return Ok((stream, addresses)),
            Err(error) => last = io::Error::new(error.kind(), format!("{address}: {error}")),
        }
    }
    Err(last)
}

/// The status of the final answer to a GET, over TCP or a Unix socket. Of the answer no more than its head is read.
pub(super) fn status(stream: &impl AsFd, Question { path, host, agent, patience }: &Question<'_>) -> io::Result<u16> {
    let socket = SockRef::from(stream);
    let (mut from, mut to) = (&*socket, &*socket);
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nUser-Agent: {agent}\r\n\r\n");
    to.write_all(request.as_bytes())?;
    let until = Instant::now() + *patience;
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while head.len() < HEAD_MAX {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no whole head within {patience:?}")));
        }
        socket.set_read_timeout(Some(left))?;
        let count = match from.read(&mut piece) {
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
