//! Answers to heads that never became a request: written by us, because hyper's own have no body, no `Server` line and
//! the wrong status for a long target or an unknown version.

use std::fmt::Write as _;
use std::time::SystemTime;

use crate::config::plan::HeadPlan;

/// Why a head was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// RFC 9112 section 3: not a request.
    BadRequest,
    /// RFC 9110 section 15.5.9: the head did not arrive in time.
    Timeout,
    /// RFC 9110 section 15.5.15.
    UriTooLong,
    /// RFC 6585 section 5.
    HeadTooLarge,
    /// RFC 9110 section 15.6.6.
    VersionNotSupported,
}

impl Refusal {
    /// Status code and reason phrase.
    pub fn status(self) -> (u16, &'static str) {
        match self {
            Self::BadRequest => (400, "Bad Request"),
            Self::Timeout => (408, "Request Timeout"),
            Self::UriTooLong => (414, "URI Too Long"),
            Self::HeadTooLarge => (431, "Request Header Fields Too Large"),
            Self::VersionNotSupported => (505, "HTTP Version Not Supported"),
        }
    }

    /// The answer's body: the status in words.
    pub fn body(self) -> String {
        let (status, reason) = self.status();
        format!("{status} {reason}\n")
    }

    /// Why hyper refused the head whose first bytes are in `head`.
    pub fn of(error: &hyper::Error, head: &[u8], target_bytes: usize) -> Self {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
        if has_unknown_version(line) {
            Self::VersionNotSupported
        } else if error.is_parse_too_large() {
            if line.len() > target_bytes { Self::UriTooLong } else { Self::HeadTooLarge }
        } else {
            Self::BadRequest
        }
    }
}

/// Whether a request line is well-formed but for a version that is not 1.0 or 1.1 (RFC 9112 section 2.3: one digit,
/// a dot, one digit).
fn has_unknown_version(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut words = line.split(|byte| *byte == b' ');
    let (Some(_method), Some(_target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    match version.strip_prefix(b"HTTP/") {
        Some([major, b'.', minor]) => {
            major.is_ascii_digit() && minor.is_ascii_digit() && !matches!((major, minor), (b'1', b'0' | b'1'))
        }
        _ => false,
    }
}

/// Writes refusals with the same `Server` line as every other answer.
#[derive(Debug)]
pub struct Refusals {
    server_line: String,
}

impl Refusals {
    /// Takes the lines that do not depend on the answer.
    pub fn new(head: &HeadPlan) -> Self {
        let server = head.server.as_ref().and_then(|value| value.to_str().ok());
        Self { server_line: server.map(|value| format!("server: {value}\r\n")).unwrap_or_default() }
    }

    /// The whole answer, without its body if only a head was asked for; it ends its connection.
    pub fn render(&self, refusal: Refusal, is_head_request: bool) -> Vec<u8> {
        let (status, reason) = refusal.status();
        let body = refusal.body();
        let mut answer = format!("HTTP/1.1 {status} {reason}\r\n{}", self.server_line);
        #[expect(clippy::disallowed_methods, reason = "the present lies within its range")]
        let date = httpdate::fmt_http_date(SystemTime::now());
        // Writing to a String cannot fail.
        let _ = write!(
            answer,
            "content-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\ndate: {date}\r\n\r\n",
            body.len()
        );
        if !is_head_request {
            answer.push_str(&body);
        }
        answer.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let table: [(&[u8], bool); 8] = [
            (b"GET / HTTP/1.1\r", false),
            (b"GET / HTTP/1.0", false),
            (b"GET / HTTP/2.0\r", true),
            (b"GET / HTTP/1.2\r", true),
            (b"GET /", false),
            (b"GET / HTTP/11.1", false),
            (b"GET / x HTTP/2.0", false),
            (b"PRI * HTTP/2.0\r", true),
        ];
        for (line, expected) in table {
            assert_eq!(has_unknown_version(line), expected, "{}", String::from_utf8_lossy(line));
        }
    }
}
