//! An entry whose answer is still being sent.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::{Instant, SystemTime};

use http::header::{REFERER, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Uri};

use super::{Entry, RequestLine};

/// Longest text of an entry; the rest is replaced by "...". It bounds the memory of a full queue, whose texts clients
/// choose: 8,192 entries with four texts each stay below 66 MiB.
const LONGEST_TEXT: usize = 2048;

/// What is known when an answer begins, and what has been sent of it so far.
#[derive(Debug)]
pub struct Pending {
    remote: Option<SocketAddr>,
    request: Option<RequestLine>,
    referer: Option<Box<[u8]>>,
    user_agent: Option<Box<[u8]>>,
    status: u16,
    body_bytes: u64,
    begun: Instant,
    /// Bytes of the answer that the kernel has taken, its head included.
    pub sent: u64,
}

impl Pending {
    /// Copies what the line needs out of a request. References into the head would keep hyper from using its read
    /// buffer again.
    ///
    /// `body_bytes` is the length of the body that is going to be sent: zero for HEAD and 304.
    pub fn new(socket: impl AsFd, parts: &Parts, status: u16, body_bytes: u64) -> Self {
        Self {
            remote: client(socket),
            request: Some(RequestLine {
                method: method(&parts.method),
                target: target(&parts.uri),
                version: parts.version,
            }),
            referer: text(&parts.headers, REFERER),
            user_agent: text(&parts.headers, USER_AGENT),
            status,
            body_bytes,
            begun: Instant::now(),
            sent: 0,
        }
    }

    /// The answer to a head that never became a request.
    pub fn refused(socket: impl AsFd, status: u16, body_bytes: u64) -> Self {
        Self {
            remote: client(socket),
            request: None,
            referer: None,
            user_agent: None,
            status,
            body_bytes,
            begun: Instant::now(),
            sent: 0,
        }
    }

    /// The answer has ended, well or badly.
    ///
    /// The bytes of the body are exact for an answer that was sent as a whole. For one that was cut off they can be
    /// too many by its head, whose length hyper does not tell.
    pub fn finish(self) -> Entry {
        let Self { remote, request, referer, user_agent, status, body_bytes, begun, sent } = self;
        Entry {
            time: SystemTime::now(),
            remote,
            request,
            status,
            bytes: sent.min(body_bytes),
            referer,
            user_agent,
            duration: begun.elapsed(),
        }
    }
}

/// A client that has gone, or that came through a unix socket, has no address.
fn client(socket: impl AsFd) -> Option<SocketAddr> {
    let peer = rustix::net::getpeername(socket).ok().flatten()?;
    SocketAddr::try_from(peer).ok()
}

/// The target in the form in which it came; hyper keeps no other record of it than the parsed one.
fn target(uri: &Uri) -> Box<[u8]> {
    match uri.path_and_query() {
        Some(path) if uri.scheme().is_none() => shortened(path.as_str().as_bytes()),
        _ => shortened(uri.to_string().as_bytes()),
    }
}

/// Methods of the client's own invention can be as long as a head. A token with dots at its end is still a token.
fn method(method: &Method) -> Method {
    let text = shortened(method.as_str().as_bytes());
    Method::from_bytes(&text).unwrap_or_else(|_| method.clone())
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<Box<[u8]>> {
    headers.get(name).map(|value| shortened(value.as_bytes()))
}

fn shortened(text: &[u8]) -> Box<[u8]> {
    match text.split_at_checked(LONGEST_TEXT) {
        Some((start, rest)) if !rest.is_empty() => [start, b"..."].concat().into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use http::{Request, Version};

    use super::*;

    fn parts(target: &str) -> Parts {
        let request = Request::get(target).header(REFERER, "http://r/").header(USER_AGENT, &b"agent \xff"[..]);
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn an_entry_says_who_asked_for_what() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().unwrap();

        let entry = Pending::new(&socket, &parts("/a?b=c"), 206, 10).finish();

        assert_eq!(entry.remote, Some(client.local_addr().unwrap()));
        let request = RequestLine { method: Method::GET, target: b"/a?b=c"[..].into(), version: Version::HTTP_11 };
        assert_eq!(entry.request, Some(request));
        assert_eq!(entry.status, 206);
        assert_eq!(entry.referer.as_deref(), Some(&b"http://r/"[..]));
        assert_eq!(entry.user_agent.as_deref(), Some(&b"agent \xff"[..]));
    }

    #[test]
    fn targets_are_written_as_they_came() {
        let (socket, _other) = UnixStream::pair().unwrap();
        for target in ["/", "/?q", "http://host:80/a?b", "*"] {
            let entry = Pending::new(&socket, &parts(target), 200, 0).finish();
            assert_eq!(entry.remote, None);
            assert_eq!(&*entry.request.unwrap().target, target.as_bytes());
        }
    }

    #[test]
    fn bytes_are_those_of_the_body() {
        let (socket, _other) = UnixStream::pair().unwrap();
        for (body, sent, expected) in [(1000, 1250, 1000), (0, 250, 0), (1000, 0, 0), (1000, 900, 900)] {
            let mut pending = Pending::new(&socket, &parts("/"), 200, body);
            pending.sent += sent;
            assert_eq!(pending.finish().bytes, expected, "{body} {sent}");
        }
    }

    #[test]
    fn long_texts_are_shortened() {
        let whole = vec![b'a'; LONGEST_TEXT];
        assert_eq!(*shortened(&whole), *whole);
        let longer = [&whole[..], b"b"].concat();
        assert_eq!(*shortened(&longer), *[&whole[..], b"..."].concat());
        let shorter = method(&Method::from_bytes(&longer).unwrap());
        assert_eq!(shorter.as_str().as_bytes(), [&whole[..], b"..."].concat());
    }
}
