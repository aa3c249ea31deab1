//! Where one answer ends and the next begins (RFC 9112 section 6): bytes in, events out, no I/O.

mod chunks;
mod head;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::mem;

use self::chunks::{Chunks, Step};
pub use self::head::LastHead;
use self::head::{BodyLength, Facts};

/// What was found in the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The head of a final answer (1xx are passed over) is whole.
    Head(Head),
    /// A piece of the body, without chunk framing. It is never empty.
    Body(&'a [u8]),
    /// The answer is whole. Whatever follows belongs to the next one.
    End,
}

/// What matters of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The status code: any three digits, but for 1xx.
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

/// Longest head, in bytes.
const MOST_HEAD_BYTES: usize = 64 << 10;

/// Most 1xx heads before a final one.
const MOST_INTERIM: u8 = 16;

/// Most bytes of line ends before a status line. RFC 9112 section 2.2 has them before requests; servers that send one
/// after a body are old, and no reason to stop.
const MOST_BLANK: u8 = 4;

/// What every head begins with.
const PROTOCOL: &[u8] = b"HTTP/1.";

/// The answers of one connection, one after the other, in pieces of any length.
///
/// How the bytes are cut makes no difference to what is found. Where a head lies in one piece nothing is copied.
#[derive(Debug)]
pub struct Framer {
    state: State,
    to_head: bool,
    has_begun: bool,
    blank: u8,
    interim: u8,
    /// The beginning of a head that a read has cut; empty, and without memory, at any other time.
    cut: Vec<u8>,
}

/// What comes next.
#[derive(Debug)]
enum State {
    /// No answer is awaited.
    Idle,
    /// A head.
    Head,
    /// So many bytes of a body; at least one.
    Length(u64),
    /// Chunks.
    Chunks(Chunks),
    /// A body up to the end of the connection.
    UntilClose,
    /// Nothing: the answer is whole, and this was not said yet.
    Whole,
}

/// A head, 1xx or final: its bytes, and what was read out of them.
type AnyHead<'a> = (Cow<'a, [u8]>, Facts);

impl Default for Framer {
    fn default() -> Self {
        Self::new()
    }
}

impl Framer {
    /// A framer for a new connection. It awaits nothing before [`begin`](Self::begin).
    pub const fn new() -> Self {
        Self { state: State::Idle, to_head: false, has_begun: false, blank: 0, interim: 0, cut: Vec::new() }
    }

    /// Begins a new answer. `to_head`: the request was HEAD, so no body follows whatever the head says.
    #[inline]
    pub fn begin(&mut self, to_head: bool) {
        *self = Self { to_head, state: State::Head, ..Self::new() };
    }

    /// Takes bytes from the front of `input` and says what was found. `None`: more bytes are needed, and `input` is empty;
    /// or the answer has ended, and `input` is as it was.
    ///
    /// `last` is the head before, of any connection: it saves work and changes nothing that is found.
    /// `on_head` sees the bytes of a final head, from its status line to the empty line, before [`Event::Head`] is given.
    ///
    /// # Errors
    ///
    /// The bytes are no HTTP/1 answer. Nothing can be found on this connection any more.
    #[inline]
    pub fn next<'a>(
        &mut self,
        input: &mut &'a [u8],
        last: &mut LastHead,
        on_head: impl FnOnce(&[u8]),
    ) -> Result<Option<Event<'a>>, Malformed> {
        match &mut self.state {
            State::Idle => Ok(None),
            State::Head => Ok(self.final_head(input, last, on_head)?.map(Event::Head)),
            State::Length(left) => {
                let piece = take(input, *left);
                self.discarded(piece.len() as u64);
                Ok(body(piece))
            }
            State::Chunks(chunks) => match chunks.next(input)? {
                Step::More => Ok(None),
                Step::Data(piece) => Ok(body(piece)),
                Step::End => Ok(self.end()),
            },
            State::UntilClose => Ok(body(take(input, u64::MAX))),
            State::Whole => Ok(self.end()),
        }
    }

    fn end(&mut self) -> Option<Event<'static>> {
        self.state = State::Idle;
        Some(Event::End)
    }

    /// Body bytes that must come before anything else is to be looked at: so many may be discarded unread. 0 if unknown.
    #[inline]
    pub fn discardable(&self) -> u64 {
        match &self.state {
            State::Length(left) => *left,
            State::Chunks(chunks) => chunks.data_left(),
            _ => 0,
        }
    }

    /// Whether the answer ends with what is [`discardable`](Self::discardable): no chunk framing follows it.
    #[inline]
    pub fn ends_with_discardable(&self) -> bool {
        matches!(self.state, State::Length(_))
    }

    /// So many bytes of [`discardable`](Self::discardable) ones were discarded; never more. Where that was the last of
    /// the body, [`next`](Self::next) gives [`Event::End`] also for empty input.
    #[inline]
    pub fn discarded(&mut self, bytes: u64) {
        debug_assert!(bytes <= self.discardable(), "{bytes} of {}", self.discardable());
        match &mut self.state {
            State::Length(left) => {
                *left = left.saturating_sub(bytes);
                if *left == 0 {
                    self.state = State::Whole;
                }
            }
            State::Chunks(chunks) => chunks.discarded(bytes),
            _ => {}
        }
    }

    /// What the end of the connection means now. It is also the end of the answer.
    pub fn eof(&mut self) -> Eof {
        match mem::replace(&mut self.state, State::Idle) {
            State::Idle => Eof::Nothing,
            State::Head if !self.has_begun => Eof::Nothing,
            State::Head | State::Length(_) | State::Chunks(_) => Eof::Early,
            State::UntilClose | State::Whole => Eof::Whole,
        }
    }

    /// The next head that is not a 1xx one.
    #[inline]
    fn final_head(
        &mut self,
        input: &mut &[u8],
        last: &mut LastHead,
        on_head: impl FnOnce(&[u8]),
    ) -> Result<Option<Head>, Malformed> {
        while let Some((bytes, facts)) = self.any_head(input, last)? {
            if let Some(head) = self.accept(&facts)? {
                on_head(&bytes);
                return Ok(Some(head));
            }
        }
        Ok(None)
    }

    #[inline]
    fn any_head<'a>(&mut self, input: &mut &'a [u8], last: &mut LastHead) -> Result<Option<AnyHead<'a>>, Malformed> {
        if self.cut.is_empty() {
            if !self.skip_blank(input)? {
                return Ok(None);
            }
            self.has_begun = true;
            if let Some((length, facts)) = last.read(input)
                && length <= MOST_HEAD_BYTES
            {
                return Ok(Some((Cow::Borrowed(take(input, length as u64)), facts)));
            }
        }
        self.cut_head(input, last)
    }

    /// A head that is not whole or not well-formed. Which of the two is only judged when its end has come, so that it does
    /// not depend on how the bytes were cut; bytes that begin otherwise than any head are refused at once.
    #[cold]
    fn cut_head<'a>(&mut self, input: &mut &[u8], last: &mut LastHead) -> Result<Option<AnyHead<'a>>, Malformed> {
        if !self.collect(input)? {
            return Ok(None);
        }
        let bytes = mem::take(&mut self.cut);
        let (length, facts) = last.read(&bytes).ok_or(Malformed)?;
        debug_assert_eq!(length, bytes.len(), "a head ends with its first empty line");
        Ok(Some((Cow::Owned(bytes), facts)))
    }

    /// Whether there is more than line ends.
    #[inline]
    fn skip_blank(&mut self, input: &mut &[u8]) -> Result<bool, Malformed> {
        while let [b'\r' | b'\n', rest @ ..] = *input {
            if self.blank == MOST_BLANK {
                return Err(Malformed);
            }
            self.blank += 1;
            *input = rest;
        }
        Ok(!input.is_empty())
    }

    /// Copies up to the empty line that ends a head, and says whether it has come. Each byte is looked at once.
    fn collect(&mut self, input: &mut &[u8]) -> Result<bool, Malformed> {
        while !input.is_empty() {
            let line_end = memchr::memchr(b'\n', input);
            let line = take(input, line_end.map_or(u64::MAX, |at| at as u64 + 1));
            if self.cut.len() + line.len() > MOST_HEAD_BYTES {
                return Err(Malformed);
            }
            self.cut.extend_from_slice(line);
            if !self.cut.iter().zip(PROTOCOL).all(|(came, expected)| came == expected) {
                return Err(Malformed);
            }
            if self.cut.ends_with(b"\n\n") || self.cut.ends_with(b"\n\r\n") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes on to what follows a head; `None` after a 1xx one.
    #[inline]
    fn accept(&mut self, facts: &Facts) -> Result<Option<Head>, Malformed> {
        if (100..200).contains(&facts.status) {
            // 101 would end HTTP on this connection, and nobody asked for that (RFC 9110 section 15.2.2).
            if facts.status == 101 || self.interim == MOST_INTERIM {
                return Err(Malformed);
            }
            self.interim += 1;
            return Ok(None);
        }
        let length = facts.body_length(self.to_head)?;
        self.state = match length {
            BodyLength::Bytes(0) => State::Whole,
            BodyLength::Bytes(bytes) => State::Length(bytes),
            BodyLength::Chunked => State::Chunks(Chunks::new()),
            BodyLength::UntilClose => State::UntilClose,
        };
        let keep_alive = facts.keeps_alive() && length != BodyLength::UntilClose;
        Ok(Some(Head { status: facts.status, keep_alive, says_keep_alive: facts.says_keep_alive }))
    }
}

/// Up to so many bytes from the front.
#[inline]
fn take<'a>(input: &mut &'a [u8], most: u64) -> &'a [u8] {
    let length = usize::try_from(most).unwrap_or(usize::MAX).min(input.len());
    let (front, rest) = input.split_at(length);
    *input = rest;
    front
}

fn body(piece: &[u8]) -> Option<Event<'_>> {
    (!piece.is_empty()).then_some(Event::Body(piece))
}
