//! From URLs and header lines as typed to the bytes of requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

use super::refusal::{Refusal, content};
use crate::cli::LoadArgs;
use crate::cli::values::{Connections, Http};
use crate::load::request::Request;
use crate::load::target::HostPort;
use crate::load::url::Url;

/// Largest body. Each URL has its own copy in memory.
const BODY_MAX: u64 = 64 << 20;

/// What is asked, in turn, and of whom.
#[derive(Debug)]
pub struct Requests {
    /// Host and port of all URLs.
    pub host: HostPort,
    /// One for each URL.
    pub list: Vec<Request>,
}

/// Reads the URLs and makes their requests.
pub fn requests(args: &LoadArgs) -> Result<Requests, Refusal> {
    let urls = args.urls.iter().map(|url| Url::parse(url)).collect::<Result<Vec<_>, _>>().map_err(Refusal::usage)?;
    let host = common_host(&urls)?;
    let body = args.body.as_deref().map(|path| content("--body", path, BODY_MAX)).transpose()?;
    let method = method(args);
    let http = match args.http {
        Http::V10 => "1.0",
        Http::V11 => "1.1",
    };
    let request = |url: Url| {
        let lines = lines(args, &url, &method, body.as_ref().map(Vec::len))?;
        let url = without_credentials(url);
        Ok(Request::new(&url, &method, &url.path, http, &lines, body.as_deref().unwrap_or_default()))
    };
    Ok(Requests { host, list: urls.into_iter().map(request).collect::<Result<_, _>>()? })
}

/// The method that is meant.
pub fn method(args: &LoadArgs) -> String {
    let default = if args.body.is_some() { "POST" } else { "GET" };
    args.method.clone().unwrap_or_else(|| default.to_owned())
}

/// One run measures one server.
fn common_host(urls: &[Url]) -> Result<HostPort, Refusal> {
    let [first, others @ ..] = urls else { return Err(Refusal::usage("no URL was typed")) };
    let differs = |url: &&Url| url.port != first.port || !url.host.eq_ignore_ascii_case(&first.host);
    match others.iter().find(differs) {
        Some(other) => Err(Refusal::usage(format_args!(
            "all URLs must have the same host and port, but '{}' is of {} and '{}' is of {}",
            first.shown(),
            first.authority(),
            other.shown(),
            other.authority()
        ))),
        None => Ok(HostPort { host: first.host.clone(), port: first.port }),
    }
}

/// Records are kept and passed on.
fn without_credentials(url: Url) -> Url {
    Url { text: url.shown(), credentials: None, ..url }
}

/// The lines of the head: the default ones without those that `-H` names, then those of `-H` in their order.
fn lines(args: &LoadArgs, url: &Url, method: &str, body: Option<usize>) -> Result<Vec<(String, String)>, Refusal> {
    let mut lines = vec![
        ("Host", url.authority()),
        ("User-Agent", concat!("quintain/", env!("CARGO_PKG_VERSION")).to_owned()),
        ("Accept", "*/*".to_owned()),
    ];
    lines.extend(authorization(args, url)?.map(|value| ("Authorization", value)));
    lines.extend(cookies(args)?.map(|value| ("Cookie", value)));
    lines.extend(connection(args).map(|value| ("Connection", value.to_owned())));
    lines.extend(content_length(method, body).map(|value| ("Content-Length", value)));

    let is_typed = |name: &str| args.headers.iter().any(|header| header.name.eq_ignore_ascii_case(name));
    refuse_what_flags_write(args, &lines)?;
    let defaults = lines.into_iter().filter(|(name, _)| !is_typed(name));
    let typed = args.headers.iter().filter(|header| !header.value.is_empty());
    let typed = typed.map(|header| (header.name.clone(), header.value.clone()));
    Ok(defaults.map(|(name, value)| (name.to_owned(), value)).chain(typed).collect())
}

/// RFC 7617. In a URL what is no plain character is percent-encoded (RFC 3986 section 3.2.1).
fn authorization(args: &LoadArgs, url: &Url) -> Result<Option<String>, Refusal> {
    let pair = match (&args.user, &url.credentials) {
        (Some(_), Some(_)) => return Err(Refusal::usage("--user and the URL both name a user; leave one of them out")),
        (Some(user), None) => user.as_bytes().to_vec(),
        (None, Some(credentials)) => percent_decode_str(credentials).collect(),
        (None, None) => return Ok(None),
    };
    if !pair.contains(&b':') {
        return Err(Refusal::usage("there is no password; write --user USER:PASSWORD, or http://USER:PASSWORD@HOST/"));
    }
    Ok(Some(format!("Basic {}", STANDARD.encode(pair))))
}

/// RFC 6265 section 4.2.1: all cookies stand in one line.
fn cookies(args: &LoadArgs) -> Result<Option<String>, Refusal> {
    let is_cookie = |text: &&String| {
        let (name, value) = text.split_once('=').unwrap_or_default();
        !name.is_empty() && !value.contains(';') && text.bytes().all(|byte| byte >= b' ' && byte != 0x7f)
    };
    match args.cookie.iter().find(|cookie| !is_cookie(cookie)) {
        Some(wrong) => Err(Refusal::usage(format_args!(
            "--cookie {wrong:?} is no cookie; write NAME=VALUE without ';' and line breaks, and repeat it for more"
        ))),
        None => Ok((!args.cookie.is_empty()).then(|| args.cookie.join("; "))),
    }
}

/// HTTP/1.1 keeps a connection without a word, HTTP/1.0 closes it (RFC 9112 section 9.3).
fn connection(args: &LoadArgs) -> Option<&'static str> {
    match (args.reuse, args.http) {
        (Connections::Short, _) => Some("close"),
        (Connections::KeepAlive, Http::V10) => Some("keep-alive"),
        (Connections::KeepAlive, Http::V11) => None,
    }
}

/// A method whose content means something says that there is none (RFC 9110 section 8.6).
fn content_length(method: &str, body: Option<usize>) -> Option<String> {
    let expects_content = matches!(method, "POST" | "PUT" | "PATCH");
    body.or(expects_content.then_some(0)).map(|length| length.to_string())
}

/// Lines that decide where a message ends or what becomes of a connection are written by flags, which the engine obeys too; a
/// line of `-H` that says something else would make the tool wait for what never comes. Where a flag and `-H` give
/// the same line, nobody knows which one is meant.
fn refuse_what_flags_write(args: &LoadArgs, generated: &[(&str, String)]) -> Result<(), Refusal> {
    for header in &args.headers {
        let name = header.name.to_ascii_lowercase();
        let is_generated = generated.iter().any(|(generated, _)| generated.eq_ignore_ascii_case(&name));
        let way_out = match name.as_str() {
            "content-length" => "the length is that of --body",
            "transfer-encoding" => "the body is sent in one piece, with its length; see --body",
            "connection" if !says_the_same(args, &header.value) => "use --connections short or keep-alive",
            "cookie" if is_generated => "leave out that or --cookie",
            "authorization" if is_generated => "leave out that or the user and password",
            _ => continue,
        };
        return Err(Refusal::usage(format_args!("-H '{}: {}' is not possible: {way_out}", header.name, header.value)));
    }
    Ok(())
}

/// Whether a `Connection` line says what the flags say.
fn says_the_same(args: &LoadArgs, value: &str) -> bool {
    let meant = match args.reuse {
        Connections::Short => "close",
        Connections::KeepAlive => "keep-alive",
    };
    value.eq_ignore_ascii_case(meant)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::tests::args;
    use super::*;

    fn text(arguments: &[&str]) -> Result<String, Refusal> {
        let requests = requests(&args(arguments))?;
        Ok(String::from_utf8(requests.list[0].bytes.to_vec()).unwrap())
    }

    fn refused(arguments: &[&str]) -> String {
        match text(arguments) {
            Err(Refusal::Usage(sentence)) => sentence,
            other => panic!("{arguments:?}: {other:?}"),
        }
    }

    const AGENT: &str = concat!("User-Agent: quintain/", env!("CARGO_PKG_VERSION"), "\r\nAccept: */*\r\n");

    #[test]
    fn the_lines_of_a_head() {
        let default = format!("Host: h:81\r\n{AGENT}");
        let agent_only = format!("User-Agent: quintain/{}\r\n", env!("CARGO_PKG_VERSION"));
        let rows: &[(&[&str], &str, String)] = &[
            (&[], "GET / HTTP/1.1", default.clone()),
            (&["--http", "1.0"], "GET / HTTP/1.0", format!("{default}Connection: keep-alive\r\n")),
            (&["--connections", "short"], "GET / HTTP/1.1", format!("{default}Connection: close\r\n")),
            (&["-m", "PUT"], "PUT / HTTP/1.1", format!("{default}Content-Length: 0\r\n")),
            (&["-H", "host: x", "-H", "A: b"], "GET / HTTP/1.1", format!("{AGENT}host: x\r\nA: b\r\n")),
            (&["-H", "Accept:"], "GET / HTTP/1.1", format!("Host: h:81\r\n{agent_only}")),
            (&["-H", "A: 1", "-H", "A: 2"], "GET / HTTP/1.1", format!("{default}A: 1\r\nA: 2\r\n")),
            (&["--user", "a:b"], "GET / HTTP/1.1", format!("{default}Authorization: Basic YTpi\r\n")),
            (&["--cookie", "a=1", "--cookie", "b="], "GET / HTTP/1.1", format!("{default}Cookie: a=1; b=\r\n")),
            (&["-H", "Connection: Keep-Alive"], "GET / HTTP/1.1", format!("{default}Connection: Keep-Alive\r\n")),
        ];
        for (arguments, first, lines) in rows {
            let arguments = [arguments, &["http://h:81/"][..]].concat();
            assert_eq!(text(&arguments).unwrap(), format!("{first}\r\n{lines}\r\n"), "{arguments:?}");
        }
    }

    #[test]
    fn a_body_goes_with_its_length_and_any_method() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"a=b").unwrap();
        let path = file.path().to_str().unwrap();
        let sent = text(&["--body", path, "http://h/x"]).unwrap();
        assert!(sent.starts_with("POST /x HTTP/1.1\r\n") && sent.ends_with("Content-Length: 3\r\n\r\na=b"), "{sent}");
        let sent = text(&["-m", "GET", "--body", path, "http://h/x"]).unwrap();
        assert!(sent.starts_with("GET /x HTTP/1.1\r\n") && sent.ends_with("Content-Length: 3\r\n\r\na=b"), "{sent}");
        let missing = requests(&args(&["--body", "/nowhere/x", "http://h/"]));
        assert!(matches!(missing, Err(Refusal::Failed(_))), "{missing:?}");
    }

    #[test]
    fn a_password_is_sent_and_not_shown() {
        let requests = requests(&args(&["http://us%40er:p%3a@h/x"])).unwrap();
        let sent = String::from_utf8(requests.list[0].bytes.to_vec()).unwrap();
        assert!(sent.contains(&format!("Authorization: Basic {}\r\n", STANDARD.encode("us@er:p:"))), "{sent}");
        assert_eq!(requests.list[0].url, "http://h/x");
    }

    #[test]
    fn urls_of_one_host() {
        let asked = requests(&args(&["http://h/a", "http://H:80/b"])).unwrap();
        assert_eq!((asked.host, asked.list.len()), (HostPort { host: "h".to_owned(), port: 80 }, 2));
        let expected =
            "all URLs must have the same host and port, but 'http://h/a' is of h and 'http://h:81/b' is of h:81";
        assert_eq!(refused(&["http://h/a", "http://u:p@h:81/b"]), expected);
        assert!(refused(&["http://h/", "http://i/"]).starts_with("all URLs must have the same host"));
        assert!(refused(&["https://h/"]).contains("there is no TLS"));
    }

    #[test]
    fn lines_that_cannot_be_meant() {
        let rows: &[(&[&str], &str)] = &[
            (&["-H", "Content-Length: 3"], "-H 'Content-Length: 3' is not possible: the length is that of --body"),
            (&["-H", "transfer-encoding: chunked"], "the body is sent in one piece"),
            (&["-H", "Connection: close"], "use --connections short or keep-alive"),
            (&["-H", "Connection: Upgrade"], "use --connections short or keep-alive"),
            (&["-H", "Connection:", "--http", "1.0"], "use --connections short or keep-alive"),
            (&["-H", "Cookie: a=1", "--cookie", "b=2"], "leave out that or --cookie"),
            (&["-H", "Authorization: x", "--user", "a:b"], "leave out that or the user and password"),
            (&["--user", "a"], "there is no password"),
            (&["--cookie", "a"], "--cookie \"a\" is no cookie"),
            (&["--cookie", "a=1;b=2"], "is no cookie"),
            (&["--cookie", "a=1\r\nX: y"], "is no cookie"),
        ];
        for (arguments, sentence) in rows {
            let said = refused(&[arguments, &["http://h/"][..]].concat());
            assert!(said.contains(sentence), "{arguments:?}: {said}");
        }
        let said = refused(&["--user", "a:b", "http://c:d@h/"]);
        assert_eq!(said, "--user and the URL both name a user; leave one of them out");
    }
}
