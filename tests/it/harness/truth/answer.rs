//! What a script says to one request: which bytes, when, in which pieces, and what becomes of the connection.

use std::time::Duration;

/// How a connection goes on after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The next request is read.
    Next,
    /// Closed: with a FIN, or with a reset if there is unread input.
    Close,
    /// Closed with a reset (SO_LINGER 0).
    Reset,
    /// Nothing more is sent and everything is read: a close that loses no answer to a reset (RFC 9112 section 9.6).
    Linger,
    /// Kept open and read, and never written to again.
    Silence,
}

/// The answer to one request.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(super) bytes: Vec<u8>,
    pub(super) stall: Option<Duration>,
    pub(super) delay: Duration,
    pub(super) piece: usize,
    pub(super) pause: Duration,
    pub(super) then: Then,
    /// Whether these bytes are what the head promises, so that the answer counts as sent whole.
    pub(super) whole: bool,
}

impl Answer {
    /// 200 with that body.
    pub fn ok(body: impl AsRef<[u8]>) -> Self {
        Self::status("200 OK", body)
    }

    /// Another status with that body.
    pub fn status(status: &str, body: impl AsRef<[u8]>) -> Self {
        let length = body.as_ref().len();
        Self::head_and_body(&format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n"), body)
    }

    /// A head as it stands, with its empty line, and a body whose length may be any.
    pub fn head_and_body(head: &str, body: impl AsRef<[u8]>) -> Self {
        Self::bytes([head.as_bytes(), body.as_ref()].concat())
    }

    /// Any bytes.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            stall: None,
            delay: Duration::ZERO,
            piece: usize::MAX,
            pause: Duration::ZERO,
            then: Then::Next,
            whole: true,
        }
    }

    /// No answer, on a connection that stays open.
    pub fn silence() -> Self {
        Self { then: Then::Silence, whole: false, ..Self::bytes("") }
    }

    /// No answer, but the end of the connection.
    pub fn close() -> Self {
        Self::bytes("").cut(0)
    }

    /// No answer, but a reset.
    pub fn reset() -> Self {
        Self::bytes("").reset_after(0)
    }

    /// Sent so much later.
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Before it is sent the whole server freezes for that time: nothing is accepted, read or written.
    pub fn stalling(self, stall: Duration) -> Self {
        Self { stall: Some(stall), ..self }
    }

    /// Sent in pieces of so many bytes, with a pause after each so that a reader sees them one by one.
    pub fn in_pieces(self, piece: usize) -> Self {
        Self { piece, pause: Duration::from_micros(200), ..self }
    }

    /// Interim answers (1xx) before it.
    pub fn with_interim(self, heads: &[&str]) -> Self {
        let mut bytes: Vec<u8> =
            heads.iter().flat_map(|head| format!("HTTP/1.1 {head}\r\n\r\n").into_bytes()).collect();
        bytes.extend_from_slice(&self.bytes);
        Self { bytes, ..self }
    }

    /// Bytes after it that nobody asked for.
    pub fn with_surplus(mut self, surplus: impl AsRef<[u8]>) -> Self {
        self.bytes.extend_from_slice(surplus.as_ref());
        self
    }

    /// Only its first bytes, and then the end of the connection.
    pub fn cut(mut self, length: usize) -> Self {
        self.bytes.truncate(length);
        Self { then: Then::Close, whole: false, ..self }
    }

    /// Only its first bytes, and then a reset.
    pub fn reset_after(self, length: usize) -> Self {
        Self { then: Then::Reset, ..self.cut(length) }
    }

    /// Whole, and then a close that no header line has announced.
    pub fn then_close(self) -> Self {
        Self { then: Then::Close, ..self }
    }

    /// Whole, and then the end of what is sent, while what comes is read and thrown away.
    pub fn then_linger(self) -> Self {
        Self { then: Then::Linger, ..self }
    }

    /// Whole, and then a reset that nothing has announced.
    pub fn then_reset(self) -> Self {
        Self { then: Then::Reset, ..self }
    }
}

/// A chunked answer (RFC 9112 section 7.1): chunks, each with what stands behind its length (extensions), and trailers,
/// each ended by CRLF.
pub fn chunked(chunks: &[(&str, &str)], trailers: &str) -> Answer {
    let mut body = String::new();
    for (data, extension) in chunks {
        body.push_str(&format!("{:x}{extension}\r\n{data}\r\n", data.len()));
    }
    body.push_str(&format!("0\r\n{trailers}\r\n"));
    Answer::head_and_body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", body)
}
