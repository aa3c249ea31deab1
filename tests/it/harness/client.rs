//! A client that knows no more HTTP than it takes to find the end of an answer, so that whatever else is wrong shows.

use std::io::{self, Read, Write};
use std::mem::{self, MaybeUninit};
use std::net::{Shutdown, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use super::response::{Response, printable};

/// Longest wait for anything. A safety net that turns a hang into a failure; no test measures with it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes kept for failure messages.
const TRANSCRIPT: usize = 16 * 1024;

/// An answer's head that is longer than this is a failure.
const HEAD_LIMIT: usize = 64 * 1024;

/// Where a server listens.
#[derive(Debug, Clone)]
pub enum Endpoint {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// Why there is no (further) answer.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("the connection was closed")]
    Closed,
    #[error("the connection was closed after {0} bytes of an unfinished answer")]
    Truncated(usize),
    #[error("the connection was reset: {0}")]
    Reset(io::Error),
    #[error("no byte came for {} seconds", PATIENCE.as_secs())]
    Silent,
    #[error("malformed answer: {0}")]
    Malformed(String),
}

/// One connection.
pub struct Client {
    socket: Socket,
    unread: Vec<u8>,
    transcript: Vec<u8>,
}

impl Client {
    #[track_caller]
    pub fn connect(endpoint: &Endpoint) -> Self {
        Self::try_connect(endpoint, None).unwrap_or_else(|error| panic!("cannot connect to {endpoint:?}: {error}"))
    }

    /// Connects with a receive buffer that does not grow, so that a server with much to say has to wait for this client
    /// whatever the machine's limits are.
    #[track_caller]
    pub fn connect_with_fixed_buffer(endpoint: &Endpoint) -> Self {
        Self::try_connect(endpoint, Some(256 * 1024))
            .unwrap_or_else(|error| panic!("cannot connect to {endpoint:?}: {error}"))
    }

    pub fn try_connect(endpoint: &Endpoint, receive_buffer: Option<usize>) -> io::Result<Self> {
        let (domain, address) = match endpoint {
            Endpoint::Tcp(address) => (Domain::for_address(*address), SockAddr::from(*address)),
            Endpoint::Unix(path) => (Domain::UNIX, SockAddr::unix(path)?),
        };
        let socket = Socket::new(domain, Type::STREAM, None)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        if let Some(bytes) = receive_buffer {
            // Before connect, because the window scale is settled in the handshake.
            socket.set_recv_buffer_size(bytes)?;
        }
        socket.connect(&address)?;
        if domain != Domain::UNIX {
            socket.set_tcp_nodelay(true)?;
        }
        Ok(Self { socket, unread: Vec::new(), transcript: Vec::new() })
    }

    #[track_caller]
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_send(bytes.as_ref()).unwrap_or_else(|error| panic!("cannot send: {error}"));
    }

    pub fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes)
    }

    /// Says that this side has no more to send, and goes on reading.
    #[track_caller]
    pub fn half_close(&mut self) {
        self.socket.shutdown(Shutdown::Write).expect("shutdown of the sending side");
    }

    /// Closes at once with a reset, as a process that is killed with unread input does.
    pub fn reset(self) {
        self.socket.set_linger(Some(Duration::ZERO)).expect("SO_LINGER");
    }

    /// Sends `GET target` and reads the answer.
    #[track_caller]
    pub fn get(&mut self, target: &str) -> Response {
        self.get_with(target, "")
    }

    /// The same with more header lines, each ended by CRLF.
    #[track_caller]
    pub fn get_with(&mut self, target: &str, lines: &str) -> Response {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: t\r\n{lines}\r\n"));
        self.answer().unwrap_or_else(|broken| panic!("GET {target}: {broken}; received:\n{}", self.received()))
    }

    /// Reads one answer to anything but HEAD.
    pub fn answer(&mut self) -> Result<Response, Broken> {
        let mut response = self.head()?;
        let bodiless = response.status == 204 || response.status == 304;
        if !bodiless {
            let length = response.content_length().ok_or_else(|| Broken::Malformed("no Content-Length".to_owned()))?;
            response.body = self.take(usize::try_from(length).expect("a body that fits into memory"))?;
        }
        Ok(response)
    }

    /// Reads one answer to HEAD: a head, whatever length it announces.
    pub fn answer_to_head(&mut self) -> Result<Response, Broken> {
        self.head()
    }

    /// Reads a head only and leaves its body for [`Client::take`] and [`Client::discard`]. Interim answers are
    /// skipped: RFC 9110 section 15.2 lets a server send them before any final one.
    pub fn head(&mut self) -> Result<Response, Broken> {
        loop {
            let head = self.raw_head()?;
            let response = Response::from_head(&head[..head.len() - 4]).map_err(Broken::Malformed)?;
            if response.status >= 200 {
                return Ok(response);
            }
        }
    }

    /// The bytes of the next head, with the empty line that ends it.
    pub fn raw_head(&mut self) -> Result<Vec<u8>, Broken> {
        loop {
            if let Some(end) = self.unread.windows(4).position(|window| window == b"\r\n\r\n") {
                let rest = self.unread.split_off(end + 4);
                return Ok(mem::replace(&mut self.unread, rest));
            }
            if self.unread.len() > HEAD_LIMIT {
                return Err(Broken::Malformed("the head does not end".to_owned()));
            }
            self.fill()?;
        }
    }

    /// Exactly the next `length` bytes.
    pub fn take(&mut self, length: usize) -> Result<Vec<u8>, Broken> {
        while self.unread.len() < length {
            self.fill()?;
        }
        let rest = self.unread.split_off(length);
        Ok(mem::replace(&mut self.unread, rest))
    }

    /// Reads on to the end of the connection, without keeping what comes: how many bytes, and how it ended.
    pub fn drain(&mut self) -> (u64, Broken) {
        let mut count = self.unread.len() as u64;
        self.unread.clear();
        let mut buffer = vec![0; 1 << 20];
        loop {
            match self.receive(&mut buffer) {
                Ok(more) => count += more as u64,
                Err(broken) => return (count, broken),
            }
        }
    }

    /// Waits for an orderly end without one further byte.
    #[track_caller]
    pub fn expect_end(&mut self) {
        match self.end() {
            Ok(()) => {}
            Err(why) => panic!("expected the end of the connection, but {why}"),
        }
    }

    /// As [`Client::expect_end`], as a value.
    pub fn end(&mut self) -> Result<(), String> {
        if self.unread.is_empty() {
            match self.fill() {
                Err(Broken::Closed) => return Ok(()),
                Err(broken) => return Err(broken.to_string()),
                Ok(()) => {}
            }
        }
        Err(format!("bytes came that nobody asked for:\n    {}", printable(&self.unread)))
    }

    /// Whether the server has already closed the connection or sent something; does not wait.
    pub fn is_quiet(&mut self) -> bool {
        self.socket.set_nonblocking(true).expect("non-blocking");
        let mut byte = [MaybeUninit::uninit()];
        let peeked = self.socket.peek(&mut byte);
        self.socket.set_nonblocking(false).expect("blocking");
        matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// The first bytes that came on this connection, for a failure message.
    pub fn received(&self) -> String {
        printable(&self.transcript)
    }

    /// Whether `needle` was among the bytes that are kept for failure messages.
    pub fn has_received(&self, needle: &[u8]) -> bool {
        self.transcript.windows(needle.len()).any(|window| window == needle)
    }

    /// Reads once and keeps what came.
    fn fill(&mut self) -> Result<(), Broken> {
        // On the stack, because ten thousand clients must not keep a buffer each.
        let mut buffer = [0; 16 * 1024];
        let count = self.receive(&mut buffer)?;
        self.unread.extend_from_slice(&buffer[..count]);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, Broken> {
        loop {
            match self.socket.read(buffer) {
                Ok(0) if self.unread.is_empty() => return Err(Broken::Closed),
                Ok(0) => return Err(Broken::Truncated(self.unread.len())),
                Ok(count) => {
                    let room = TRANSCRIPT.saturating_sub(self.transcript.len());
                    self.transcript.extend_from_slice(&buffer[..count.min(room)]);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(Broken::Silent),
                Err(error) => return Err(Broken::Reset(error)),
            }
        }
    }
}
