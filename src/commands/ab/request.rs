//! From ab's options to the bytes of its request: the same lines in the same order.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::cli::ab::{AbArgs, Credentials};
use crate::load::request::Request;
use crate::load::url::{Url, UrlError};

/// ab asks in HTTP/1.0, without a choice.
const HTTP: &str = "1.0";

/// Why a URL cannot be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrongUrl {
    /// Not a host with a path.
    Invalid,
    /// Begins with `https://`.
    Tls(UrlError),
}

/// Takes ab's URL apart: the scheme may be left out, the slash after the host may not, and whatever follows the host goes into
/// the request as it was typed, a fragment too.
pub fn url(text: &str) -> Result<Url, WrongUrl> {
    let without_scheme = match text.split_once("://") {
        Some(("http", rest)) => rest,
        Some(("https", _)) => return Err(WrongUrl::Tls(Url::parse(text).expect_err("a scheme that is refused"))),
        _ => text,
    };
    let (authority, path) =
        without_scheme.find('/').map(|slash| without_scheme.split_at(slash)).ok_or(WrongUrl::Invalid)?;
    let host = Url::parse(&format!("http://{authority}/")).map_err(|_| WrongUrl::Invalid)?;
    if host.credentials.is_some() {
        return Err(WrongUrl::Invalid);
    }
    Ok(Url { text: text.to_owned(), path: path.to_owned(), ..host })
}

/// The request. Through a proxy it names the whole URL.
pub fn request(args: &AbArgs, url: &Url, body: &[u8]) -> Request {
    let target = if args.proxy.is_some() { &url.text } else { &url.path };
    let mut head = format!("{} {target} HTTP/{HTTP}\r\n", args.method);
    for line in lines(args, url, body) {
        head.push_str(&line);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    Request {
        url: url.text.clone(),
        method: args.method.clone(),
        path: url.path.clone(),
        http: HTTP,
        bytes: [head.as_bytes(), body].concat().into(),
        body_bytes: body.len(),
    }
}

/// The lines of the head. Those of `-H` stand as they were typed, and take the place of the three at the end.
fn lines(args: &AbArgs, url: &Url, body: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    if args.keep_alive {
        lines.push("Connection: Keep-Alive".to_owned());
    }
    lines.extend(args.cookie.iter().map(|cookie| format!("Cookie: {cookie}")));
    lines.extend(args.credentials.iter().map(|credentials| match credentials {
        Credentials::Server(pair) => format!("Authorization: Basic {}", STANDARD.encode(pair)),
        Credentials::Proxy(pair) => format!("Proxy-Authorization: Basic {}", STANDARD.encode(pair)),
    }));
    if args.body.is_some() {
        lines.push(format!("Content-length: {}", body.len()));
        lines.push(format!("Content-type: {}", args.content_type));
    }
    lines.extend(args.lines.iter().cloned());
    let usual =
        [("Host:", url.authority()), ("User-Agent:", "ApacheBench/2.3".to_owned()), ("Accept:", "*/*".to_owned())];
    let typed = |name: &str| args.lines.iter().any(|line| has_name(line, name));
    lines.extend(usual.into_iter().filter(|(name, _)| !typed(name)).map(|(name, value)| format!("{name} {value}")));
    lines
}

fn has_name(line: &str, name: &str) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli::ab::{AbCall, parse};

    /// What the real ab 2.4 sends, caught by a listener: the words, the body of `-p` or `-u`, and the bytes with `\n` for CR LF.
    #[rustfmt::skip]
    const SENT: &[(&[&str], &str, &str)] = &[
        (&["http://127.0.0.1:1/a?b=1"], "",
         "GET /a?b=1 HTTP/1.0\nHost: 127.0.0.1:1\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["127.0.0.1:1/a"], "",
         "GET /a HTTP/1.0\nHost: 127.0.0.1:1\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-k", "http://h/"], "",
         "GET / HTTP/1.0\nConnection: Keep-Alive\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-C", "a=b", "-C", "c=d", "http://h/"], "",
         "GET / HTTP/1.0\nCookie: c=d\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-A", "u:p", "-P", "x:y", "http://h/"], "",
         "GET / HTTP/1.0\nAuthorization: Basic dTpw\nProxy-Authorization: Basic eDp5\nHost: h\n\
          User-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-A", " u:p", "-A", "v:q", "http://h/"], "",
         "GET / HTTP/1.0\nAuthorization: Basic dTpw\nAuthorization: Basic djpx\nHost: h\n\
          User-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-H", "X: 1", "-H", "Y: 2", "http://h/"], "",
         "GET / HTTP/1.0\nX: 1\nY: 2\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-H", "Host: h", "http://127.0.0.1:1/"], "",
         "GET / HTTP/1.0\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-H", "host:h", "-H", "ACCEPT: text/html", "-H", "user-agent: me", "http://127.0.0.1:1/"], "",
         "GET / HTTP/1.0\nhost:h\nACCEPT: text/html\nuser-agent: me\n\n"),
        (&["-H", "Connection: close", "-k", "http://h/"], "",
         "GET / HTTP/1.0\nConnection: Keep-Alive\nConnection: close\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-p", "f", "http://h/"], "k=v",
         "POST / HTTP/1.0\nContent-length: 3\nContent-type: text/plain\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\nk=v"),
        (&["-p", "f", "-T", "a/b", "http://h/"], "k=v",
         "POST / HTTP/1.0\nContent-length: 3\nContent-type: a/b\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\nk=v"),
        (&["-u", "f", "-k", "-C", "a=b", "-A", "u:p", "-H", "X: 1", "http://h/"], "k=v",
         "PUT / HTTP/1.0\nConnection: Keep-Alive\nCookie: a=b\nAuthorization: Basic dTpw\nContent-length: 3\n\
          Content-type: text/plain\nX: 1\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\nk=v"),
        (&["-p", "f", "-m", "PATCH", "http://h/"], "k=v",
         "PATCH / HTTP/1.0\nContent-length: 3\nContent-type: text/plain\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\nk=v"),
        (&["-m", "PATCH", "http://h/"], "",
         "PATCH / HTTP/1.0\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-i", "http://h/"], "",
         "HEAD / HTTP/1.0\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-T", "a/b", "http://h/"], "",
         "GET / HTTP/1.0\nHost: h\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-X", "127.0.0.1:1", "http://h.example:81/p?q"], "",
         "GET http://h.example:81/p?q HTTP/1.0\nHost: h.example:81\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["-X", "127.0.0.1:1", "h.example/p"], "",
         "GET h.example/p HTTP/1.0\nHost: h.example\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["http://127.0.0.1:1/a#frag"], "",
         "GET /a#frag HTTP/1.0\nHost: 127.0.0.1:1\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
        (&["http://127.0.0.1:1/a b"], "",
         "GET /a b HTTP/1.0\nHost: 127.0.0.1:1\nUser-Agent: ApacheBench/2.3\nAccept: */*\n\n"),
    ];

    #[test]
    fn the_bytes_are_those_of_the_real_ab() {
        for (words, body, sent) in SENT {
            let Ok(AbCall::Run(args)) = parse(words.iter().map(OsString::from)) else { panic!("{words:?}") };
            let request = request(&args, &url(&args.url).unwrap(), body.as_bytes());
            let bytes = String::from_utf8(request.bytes.to_vec()).unwrap();
            assert_eq!(bytes.replace("\r\n", "\n"), *sent, "{words:?}");
            assert_eq!((request.body_bytes, request.http), (body.len(), "1.0"));
        }
    }

    #[test]
    fn what_is_a_url() {
        for (text, host, port, path) in [
            ("h/", "h", 80, "/"),
            ("http://h:81/a//b?http://c/", "h", 81, "/a//b?http://c/"),
            ("h/?to=http://c/", "h", 80, "/?to=http://c/"),
            ("[::1]:81/", "::1", 81, "/"),
        ] {
            let url = url(text).unwrap();
            assert_eq!((url.host.as_str(), url.port, url.path.as_str()), (host, port, path), "{text}");
        }
        for text in ["", "h", "http://h", "http:///x", "/x", "h:70000/", "h:0/", "h:1x/", "u:p@h/", "ftp://h/"] {
            assert_eq!(url(text), Err(WrongUrl::Invalid), "{text}");
        }
        assert!(matches!(url("https://h/"), Err(WrongUrl::Tls(_))));
    }
}
