//! What a head says about its connection and the body that follows (RFC 9112 sections 6 and 9.3).

use std::mem::MaybeUninit;

use httparse::{Error, Header, ParserConfig, Response, Status};

use super::Malformed;

/// What was read out of a head. Nothing is judged yet: a 304 may say any length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) status: u16,
    pub(super) says_keep_alive: bool,
    is_http_10: bool,
    connection: Connection,
    coding: Option<Coding>,
    content_length: Option<Result<u64, Malformed>>,
}

/// How long a body is (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyLength {
    Bytes(u64),
    Chunked,
    UntilClose,
}

/// Options of all `Connection` lines.
#[derive(Debug, Clone, Copy, Default)]
struct Connection {
    close: bool,
    keep_alive: bool,
}

/// The last coding of all `Transfer-Encoding` lines; those before it are the content's matter.
#[derive(Debug, Clone, Copy)]
enum Coding {
    Chunked,
    /// `chunked` has no parameters, and with some it is an error (RFC 9112 section 7.1).
    ChunkedWithParameters,
    Other,
}

/// Header lines for which there is room on the stack: 2 KiB of it, none of which is written but by lines that came.
const USUAL_LINES: usize = 64;

/// Most header lines of a head.
const MOST_LINES: usize = 256;

/// The head that was read last, on whatever connection. A server answers with the same bytes until its clock has ticked, and
/// the same bytes mean the same: to compare them costs a tenth of reading them.
#[derive(Debug, Clone, Default)]
pub struct LastHead {
    bytes: Vec<u8>,
    facts: Option<Facts>,
}

/// Longest head that is kept for comparison, in bytes: longer than any that has a Date and no cookies.
const MOST_KEPT_BYTES: usize = 2 << 10;

impl LastHead {
    /// Reads the head that `input` begins with; with its length. `None`: it is not whole, or not well-formed.
    #[inline]
    pub(super) fn read(&mut self, input: &[u8]) -> Option<(usize, Facts)> {
        match self.facts {
            Some(facts) if input.starts_with(&self.bytes) => Some((self.bytes.len(), facts)),
            _ => self.read_anew(input),
        }
    }

    fn read_anew(&mut self, input: &[u8]) -> Option<(usize, Facts)> {
        let (length, facts) = parse(input)?;
        if length <= MOST_KEPT_BYTES {
            self.bytes.clear();
            self.bytes.extend_from_slice(&input[..length]);
            self.facts = Some(facts);
        }
        Some((length, facts))
    }
}

fn parse(input: &[u8]) -> Option<(usize, Facts)> {
    match parse_lines::<USUAL_LINES>(input) {
        Ok(Status::Complete(found)) => Some(found),
        Err(Error::TooManyHeaders) => parse_many_lines(input),
        Ok(Status::Partial) | Err(_) => None,
    }
}

#[cold]
fn parse_many_lines(input: &[u8]) -> Option<(usize, Facts)> {
    match parse_lines::<MOST_LINES>(input) {
        Ok(Status::Complete(found)) => Some(found),
        Ok(Status::Partial) | Err(_) => None,
    }
}

#[inline]
fn parse_lines<const LINES: usize>(input: &[u8]) -> httparse::Result<(usize, Facts)> {
    let mut lines = [const { MaybeUninit::uninit() }; LINES];
    let mut response = Response::new(&mut []);
    let status = ParserConfig::default()
        // A user agent must read folded lines (RFC 9112 section 5.2).
        .allow_obsolete_multiline_headers_in_responses(true)
        .parse_response_with_uninit_headers(&mut response, input, &mut lines)?;
    Ok(match status {
        Status::Complete(length) => Status::Complete((length, Facts::of(&response, &input[..length]))),
        Status::Partial => Status::Partial,
    })
}

impl Facts {
    #[inline]
    fn of(response: &Response<'_, '_>, head: &[u8]) -> Self {
        let mut facts = Self {
            status: response.code.unwrap_or_default(),
            says_keep_alive: contains_keep_alive(head),
            is_http_10: response.version == Some(0),
            connection: Connection::default(),
            coding: None,
            content_length: None,
        };
        for line in &*response.headers {
            facts.note(line);
        }
        facts
    }

    /// Few lines have a name as long as one of these, so most are passed over without being read.
    #[inline]
    fn note(&mut self, line: &Header<'_>) {
        const CONNECTION: &str = "connection";
        const CONTENT_LENGTH: &str = "content-length";
        const TRANSFER_ENCODING: &str = "transfer-encoding";
        let is = |name: &str| line.name.eq_ignore_ascii_case(name);
        match line.name.len() {
            length if length == CONNECTION.len() && is(CONNECTION) => self.connection.note(line.value),
            length if length == CONTENT_LENGTH.len() && is(CONTENT_LENGTH) => self.note_length(line.value),
            length if length == TRANSFER_ENCODING.len() && is(TRANSFER_ENCODING) => self.note_codings(line.value),
            _ => {}
        }
    }

    /// Equal lengths are one, in one line or in several (RFC 9112 section 6.3).
    fn note_length(&mut self, value: &[u8]) {
        for element in elements(value) {
            let length = decimal(element);
            self.content_length = match self.content_length {
                Some(before) if before != length => Some(Err(Malformed)),
                _ => Some(length),
            };
        }
    }

    fn note_codings(&mut self, value: &[u8]) {
        let last = elements(value).filter(|coding| !coding.is_empty()).last();
        let Some(last) = last else {
            // No coding at all is none that says where the body ends.
            self.coding.get_or_insert(Coding::Other);
            return;
        };
        let parameters = memchr::memchr(b';', last);
        let name = last[..parameters.unwrap_or(last.len())].trim_ascii();
        self.coding = Some(match parameters {
            _ if !name.eq_ignore_ascii_case(b"chunked") => Coding::Other,
            Some(_) => Coding::ChunkedWithParameters,
            None => Coding::Chunked,
        });
    }

    /// RFC 9112 section 6.3, in its order: what a 204 says about lengths does not matter, nor what stands beside
    /// Transfer-Encoding.
    #[inline]
    pub(super) fn body_length(&self, to_head: bool) -> Result<BodyLength, Malformed> {
        if to_head || matches!(self.status, 204 | 304) {
            return Ok(BodyLength::Bytes(0));
        }
        match (self.coding, self.content_length) {
            (Some(Coding::Chunked), _) => Ok(BodyLength::Chunked),
            (Some(Coding::ChunkedWithParameters), _) => Err(Malformed),
            (Some(Coding::Other), _) => Ok(BodyLength::UntilClose),
            (None, Some(length)) => length.map(BodyLength::Bytes),
            (None, None) => Ok(BodyLength::UntilClose),
        }
    }

    /// RFC 9112 section 9.3, as far as it does not depend on the body.
    #[inline]
    pub(super) fn keeps_alive(&self) -> bool {
        if self.is_http_10 {
            // HTTP/1.0 knows no Transfer-Encoding: whoever sends it frames wrongly (RFC 9112 section 6.1).
            self.connection.keep_alive && !self.connection.close && self.coding.is_none()
        } else {
            !self.connection.close
        }
    }
}

impl Connection {
    fn note(&mut self, value: &[u8]) {
        for option in elements(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }
}

/// The elements of a list (RFC 9110 section 5.6.1), empty ones too. Folds are white space.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

fn decimal(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() {
        return Err(Malformed);
    }
    digits.iter().try_fold(0_u64, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0')).ok_or(Malformed)?;
        value.checked_mul(10).and_then(|value| value.checked_add(digit)).ok_or(Malformed)
    })
}

/// ab looks for it in the whole head. `v` is rarer than the other letters of it.
#[inline]
fn contains_keep_alive(head: &[u8]) -> bool {
    const WORDS: &[u8] = b"keep-alive";
    const V: usize = 8;
    memchr::memchr2_iter(b'v', b'V', head).any(|at| {
        let start = at.checked_sub(V);
        let found = start.and_then(|start| head.get(start..start + WORDS.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(WORDS))
    })
}
