//! Where one answer ends and the next begins (RFC 9112 section 6): bytes in, events out, no I/O.

/// What was found in the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The head of a final answer (1xx are passed over) is whole.
    Head(Head),
    /// A piece of the body, without chunk framing.
    Body(&'a [u8]),
    /// The answer is whole. Whatever follows belongs to the next one.
    End,
}

/// What matters of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// Whether the server will read another request on this connection (RFC 9112 section 9.3).
    pub keep_alive: bool,
    /// Whether `Keep-Alive` stands anywhere in the head, in any case: what ab counts.
    pub says_keep_alive: bool,
}

/// Why bytes are no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an HTTP/1 answer")]
pub struct Malformed;

/// What the end of the connection means for the answer that was being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eof {
    /// It ends the body: the answer is whole.
    Whole,
    /// Not one byte of the answer had come.
    Nothing,
    /// The answer was cut short.
    Early,
}
