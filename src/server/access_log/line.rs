//! From an entry to a line. A client decides about most of the text, so nothing of it is written as it came.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::io::Write;
use std::net::SocketAddr;

use http::Version;
use serde::Serialize;

use super::calendar::Utc;
use super::{Entry, RequestLine};

/// What stands for the client's address on a unix socket; nginx writes the same.
const UNIX: &str = "unix:";

/// Adds a line in the format that Apache and nginx call "combined".
///
/// `1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] "GET /a HTTP/1.1" 200 2326 "http://referer/" "agent"`
pub(super) fn combined(entry: &Entry, out: &mut Vec<u8>) {
    let Entry { time, remote, request, status, bytes, referer, user_agent, duration: _ } = entry;
    let (remote, time) = (client(*remote), Utc::from(*time));
    let (referer, agent) = (header(referer.as_deref()), header(user_agent.as_deref()));
    let request = fmt::from_fn(|f| request_line(request.as_ref(), f));
    // Writing into memory cannot fail.
    let _ = writeln!(out, "{remote} - - [{}] \"{request}\" {status} {bytes} \"{referer}\" \"{agent}\"", time.common());
}

fn client(remote: Option<SocketAddr>) -> impl Display {
    fmt::from_fn(move |f| match remote {
        // A client of IPv4 on a socket of both families is written as it would be on its own.
        Some(address) => address.ip().to_canonical().fmt(f),
        None => f.write_str(UNIX),
    })
}

fn request_line(request: Option<&RequestLine>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(RequestLine { method, target, version }) = request else {
        return f.write_str("-");
    };
    let method = escaped(method.as_str().as_bytes());
    write!(f, "{method} {} HTTP/{}", escaped(target), number(*version))
}

fn header(value: Option<&[u8]>) -> impl Display {
    fmt::from_fn(move |f| match value {
        Some(value) => escaped(value).fmt(f),
        None => f.write_str("-"),
    })
}

/// The server speaks no other versions; what claims to be one of them is refused before it has a request line.
fn number(version: Version) -> &'static str {
    if version == Version::HTTP_10 { "1.0" } else { "1.1" }
}

/// The text with `\xHH` for what could end a field or a line, or do something to a terminal: quotes, backslashes,
/// controls, and all that is not ASCII. nginx escapes exactly these.
fn escaped(text: &[u8]) -> impl Display {
    fmt::from_fn(move |f| {
        text.chunk_by(|a, b| is_plain(*a) && is_plain(*b)).try_for_each(|run| match str::from_utf8(run) {
            Ok(run) if is_plain(run.as_bytes()[0]) => f.write_str(run),
            _ => write!(f, "\\x{:02X}", run[0]),
        })
    })
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// Adds a line of JSON. Fields are never left out, renamed or reordered: programs read them.
pub(super) fn json(entry: &Entry, out: &mut Vec<u8>) {
    let Entry { time, remote, request, status, bytes, referer, user_agent, duration } = entry;
    let fields = Fields {
        time: Utc::from(*time).rfc3339().to_string(),
        remote: client(*remote).to_string(),
        remote_port: remote.map(|address| address.port()),
        method: request.as_ref().map(|request| request.method.as_str()),
        target: request.as_ref().map(|request| String::from_utf8_lossy(&request.target)),
        http_version: request.as_ref().map(|request| number(request.version)),
        status: *status,
        bytes: *bytes,
        referer: referer.as_deref().map(String::from_utf8_lossy),
        user_agent: user_agent.as_deref().map(String::from_utf8_lossy),
        duration_us: u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
    };
    serde_json::to_writer(&mut *out, &fields).expect("numbers and strings are always JSON, and memory takes them");
    out.push(b'\n');
}

/// One line of the JSON format. What is not there is null; what is not UTF-8 is written with U+FFFD in its place.
#[derive(Serialize)]
struct Fields<'a> {
    /// When the answer ended: RFC 3339, UTC, milliseconds.
    time: String,
    /// The client's IP address, or `unix:`.
    remote: String,
    remote_port: Option<u16>,
    method: Option<&'a str>,
    target: Option<Cow<'a, str>>,
    /// `1.0` or `1.1`.
    http_version: Option<&'static str>,
    status: u16,
    /// Bytes of the body that were sent.
    bytes: u64,
    referer: Option<Cow<'a, str>>,
    user_agent: Option<Cow<'a, str>>,
    /// From the request's head to the end of the answer.
    duration_us: u64,
}

#[cfg(test)]
mod tests {
    use http::Method;
    use proptest::prelude::*;

    use super::super::tests::entry;
    use super::*;

    fn line(render: fn(&Entry, &mut Vec<u8>), entry: &Entry) -> String {
        let mut out = Vec::new();
        render(entry, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn combined_with_everything() {
        assert_eq!(
            line(combined, &entry("/a%20b?q=1")),
            "1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] \"GET /a%20b?q=1 HTTP/1.1\" 200 2326 \
             \"http://referer.example/\" \"ab/2.3 (test)\"\n"
        );
    }

    #[test]
    fn combined_with_nothing() {
        let entry = Entry { remote: None, request: None, referer: None, user_agent: None, ..entry("/") };
        assert_eq!(line(combined, &entry), "unix: - - [10/Oct/2000:13:55:36 +0000] \"-\" 200 2326 \"-\" \"-\"\n");
    }

    #[test]
    fn addresses() {
        for (address, expected) in [
            ("[2001:db8::1]:80", "2001:db8::1 - - "),
            ("[::ffff:1.2.3.4]:80", "1.2.3.4 - - "),
            ("127.0.0.1:65535", "127.0.0.1 - - "),
        ] {
            let entry = Entry { remote: Some(address.parse().unwrap()), ..entry("/") };
            assert!(line(combined, &entry).starts_with(expected), "{address}");
        }
    }

    #[test]
    fn escapes_are_those_of_nginx() {
        for (text, expected) in [
            (&b"plain ~!#[]'"[..], "plain ~!#[]'"),
            (b"\"", "\\x22"),
            (b"\\", "\\x5C"),
            (b"\r\n\t\0", "\\x0D\\x0A\\x09\\x00"),
            (b"\x1b[31m", "\\x1B[31m"),
            (b"\x7f", "\\x7F"),
            (b"caf\xc3\xa9", "caf\\xC3\\xA9"),
            (b"\xff\"", "\\xFF\\x22"),
            (b"", ""),
        ] {
            assert_eq!(escaped(text).to_string(), expected, "{text:?}");
        }
    }

    #[test]
    fn json_with_everything() {
        assert_eq!(
            line(json, &entry("/a%20b?q=1")),
            "{\"time\":\"2000-10-10T13:55:36.120Z\",\"remote\":\"1.2.3.4\",\"remote_port\":5678,\"method\":\"GET\",\
             \"target\":\"/a%20b?q=1\",\"http_version\":\"1.1\",\"status\":200,\"bytes\":2326,\
             \"referer\":\"http://referer.example/\",\"user_agent\":\"ab/2.3 (test)\",\"duration_us\":1500}\n"
        );
    }

    #[test]
    fn json_with_nothing() {
        let entry = Entry { remote: None, request: None, referer: None, user_agent: None, ..entry("/") };
        assert_eq!(
            line(json, &entry),
            "{\"time\":\"2000-10-10T13:55:36.120Z\",\"remote\":\"unix:\",\"remote_port\":null,\"method\":null,\
             \"target\":null,\"http_version\":null,\"status\":200,\"bytes\":2326,\"referer\":null,\
             \"user_agent\":null,\"duration_us\":1500}\n"
        );
    }

    proptest! {
        /// Whatever a client sends, it is one line, and its fields begin and end where a reader looks for them.
        #[test]
        fn no_client_can_forge_a_line(target: Vec<u8>, agent: Vec<u8>, referer: Option<Vec<u8>>) {
            let request = RequestLine { method: Method::GET, target: target.clone().into(), version: Version::HTTP_10 };
            let entry = Entry {
                request: Some(request),
                user_agent: Some(agent.clone().into()),
                referer: referer.clone().map(Into::into),
                ..entry("/")
            };

            let text = line(combined, &entry);
            prop_assert!(text.bytes().all(|c| matches!(c, b' '..=b'~' | b'\n')));
            prop_assert_eq!(text.matches('\n').count(), 1);
            let quoted: Vec<&str> = text.split('"').collect();
            prop_assert_eq!(quoted.len(), 7);
            let raw = quoted[1].strip_prefix("GET ").and_then(|rest| rest.strip_suffix(" HTTP/1.0")).unwrap();
            prop_assert_eq!(unescape(raw), target.clone());
            prop_assert_eq!(unescape(quoted[3]), referer.unwrap_or_else(|| b"-".to_vec()));
            prop_assert_eq!(unescape(quoted[5]), agent);

            let text = line(json, &entry);
            prop_assert_eq!(text.matches('\n').count(), 1);
            let object: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(object["target"].as_str().unwrap(), String::from_utf8_lossy(&target));
        }
    }

    fn unescape(text: &str) -> Vec<u8> {
        let mut pieces = text.split("\\x");
        let mut bytes = pieces.next().unwrap().as_bytes().to_vec();
        for piece in pieces {
            bytes.push(u8::from_str_radix(&piece[..2], 16).unwrap());
            bytes.extend_from_slice(&piece.as_bytes()[2..]);
        }
        bytes
    }
}
