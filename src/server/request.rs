//! The facts of a request that decide its answer, read out of the head in one pass.

use std::borrow::Cow;

use http::request::Parts;
use http::{HeaderValue, Method as HttpMethod, Version, header};

use crate::site::{Method, Request};

/// Why a request that hyper accepts is still none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// RFC 9112 section 3.2: a 1.1 request without a Host line, or with two, or with one that is no host.
    Host,
    /// The target is longer than the limit.
    TargetTooLong,
    /// RFC 9112 section 6.3: Transfer-Encoding and Content-Length together.
    Length,
    /// A target that the method does not go with.
    Target,
}

/// Reads the facts. One pass over the lines instead of a hash look-up for each name: a benchmark's requests have
/// three lines, and none of them matters here.
pub fn facts(parts: &Parts, target_bytes: usize) -> Result<Request<'_>, Malformed> {
    let (path, query) = target(parts)?;
    if path.len() + query.map_or(0, |query| query.len() + 1) > target_bytes {
        return Err(Malformed::TargetTooLong);
    }
    let mut request = Request {
        method: method(&parts.method),
        path,
        query,
        if_match: None,
        if_none_match: None,
        if_modified_since: None,
        if_unmodified_since: None,
        if_range: None,
        range: None,
        accept_encoding: None,
    };
    let mut hosts = 0;
    for (name, value) in &parts.headers {
        if name == header::HOST {
            hosts += 1;
            if hosts > 1 || !is_host(value.as_bytes()) {
                return Err(Malformed::Host);
            }
        } else if name == header::ACCEPT_ENCODING {
            join(&mut request.accept_encoding, value);
        } else if name == header::IF_NONE_MATCH {
            join(&mut request.if_none_match, value);
        } else if name == header::IF_MATCH {
            join(&mut request.if_match, value);
        } else if name == header::RANGE {
            request.range = Some(value.as_bytes());
        } else if name == header::IF_RANGE {
            request.if_range = Some(value.as_bytes());
        } else if name == header::IF_MODIFIED_SINCE {
            request.if_modified_since = Some(value.as_bytes());
        } else if name == header::IF_UNMODIFIED_SINCE {
            request.if_unmodified_since = Some(value.as_bytes());
        }
    }
    if hosts == 0 && parts.version == Version::HTTP_11 {
        return Err(Malformed::Host);
    }
    Ok(request)
}

fn method(method: &HttpMethod) -> Method {
    match *method {
        HttpMethod::GET => Method::Get,
        HttpMethod::HEAD => Method::Head,
        HttpMethod::OPTIONS => Method::Options,
        _ => Method::Other,
    }
}

/// Path and query of an origin-form, absolute-form or asterisk-form target (RFC 9112 section 3.2). The authority of
/// an absolute form is not looked at: this server has one site.
fn target(parts: &Parts) -> Result<(&str, Option<&str>), Malformed> {
    match parts.uri.path() {
        "" if parts.uri.scheme().is_some() => Ok(("/", parts.uri.query())),
        // Only CONNECT has an authority for a target; it is refused for its method, not for its target.
        "" if parts.method == HttpMethod::CONNECT => Ok(("/", None)),
        "" => Err(Malformed::Target),
        path => Ok((path, parts.uri.query())),
    }
}

/// A list may stand in several lines, with the same meaning as one line with commas (RFC 9110 section 5.3).
fn join<'a>(list: &mut Option<Cow<'a, [u8]>>, value: &'a HeaderValue) {
    match list {
        None => *list = Some(Cow::Borrowed(value.as_bytes())),
        Some(so_far) => {
            let so_far = so_far.to_mut();
            so_far.extend_from_slice(b", ");
            so_far.extend_from_slice(value.as_bytes());
        }
    }
}

/// Whether a Host value is `uri-host [ ":" port ]` (RFC 9110 section 7.2, RFC 3986 section 3.2.2). Empty is allowed:
/// it says that the target has no authority.
pub fn is_host(value: &[u8]) -> bool {
    let (host, port) = match value {
        [b'[', rest @ ..] => match memchr::memchr(b']', rest) {
            Some(end) if end > 0 && rest[..end].iter().all(|byte| is_ip_literal(*byte)) => (&b""[..], &rest[end + 1..]),
            _ => return false,
        },
        _ => value.split_at(memchr::memchr(b':', value).unwrap_or(value.len())),
    };
    host.iter().all(|byte| is_reg_name(*byte)) && matches!(port, [] | [b':', ..]) && {
        port.iter().skip(1).all(u8::is_ascii_digit)
    }
}

fn is_ip_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'.' | b'-' | b'_' | b'~')
}

/// unreserved, percent or sub-delims; the two digits after a percent are letters or digits anyway.
fn is_reg_name(byte: u8) -> bool {
    const NAME: [bool; 256] = {
        let mut table = [false; 256];
        let allowed = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%!$&'()*+,;=";
        let mut index = 0;
        while index < allowed.len() {
            table[allowed[index] as usize] = true;
            index += 1;
        }
        table
    };
    NAME[byte as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let good = ["", "localhost", "127.0.0.1:8080", "[::1]", "[::1]:80", "a.b-c_d~e", "x:", "%41"];
        let bad = ["a b", "a/b", "a:b", "[::1", "[]", "[::1]x", "user@host", "a:1:2", "\u{e9}", "a?b", "a#b"];
        for host in good {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in bad {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }
}
