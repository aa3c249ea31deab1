//! From WebBench's options to the bytes of its request.

use crate::cli::webbench::{HttpVersion, WebbenchArgs};
use crate::load::request::Request;
use crate::load::target::HostPort;
use crate::load::url::Url;

/// What is asked, and of whom.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The request.
    pub request: Request,
    /// Host and port of the URL.
    pub host: HostPort,
    /// The version of the request, which the method may have raised.
    pub http: HttpVersion,
}

/// Takes the URL apart and makes the request. An error is WebBench's sentence.
pub fn asked(args: &WebbenchArgs) -> Result<Asked, String> {
    let url = url(&args.url, args.proxy.is_some())?;
    let http = version(args);
    let target = if args.proxy.is_some() { &url.text } else { &url.path };
    let request = Request {
        url: url.text.clone(),
        method: args.method.to_owned(),
        path: url.path.clone(),
        http: if http == HttpVersion::V11 { "1.1" } else { "1.0" },
        bytes: bytes(args, http, target, &url.host).into_bytes().into(),
        body_bytes: 0,
    };
    Ok(Asked { request, host: HostPort { host: url.host, port: url.port }, http })
}

/// Unlike a browser's, the URL must have a slash behind the host.
fn url(text: &str, by_proxy: bool) -> Result<Url, String> {
    let Some((scheme, rest)) = text.split_once("://") else { return Err(format!("{text}: is not a valid URL.")) };
    if !scheme.eq_ignore_ascii_case("http") && !by_proxy {
        return Err("Only HTTP protocol is directly supported, set --proxy for others.".to_owned());
    }
    let Some(slash) = rest.find('/') else {
        return Err("Invalid URL syntax - hostname don't ends with '/'.".to_owned());
    };
    let (authority, path) = rest.split_at(slash);
    let host = Url::parse(&format!("http://{authority}/")).map_err(|_| format!("{text}: is not a valid URL."))?;
    Ok(Url { text: text.to_owned(), path: path.to_owned(), ..host })
}

/// The version that was asked for, or the lowest that has the method or the line.
fn version(args: &WebbenchArgs) -> HttpVersion {
    let least = match args.method {
        "OPTIONS" | "TRACE" => HttpVersion::V11,
        "HEAD" => HttpVersion::V10,
        _ if args.reload && args.proxy.is_some() => HttpVersion::V10,
        _ => HttpVersion::V09,
    };
    args.http.max(least)
}

fn bytes(args: &WebbenchArgs, http: HttpVersion, target: &str, host: &str) -> String {
    let mut lines = match http {
        HttpVersion::V09 => return format!("{} {target}\r\n", args.method),
        HttpVersion::V10 => vec![format!("{} {target} HTTP/1.0", args.method)],
        HttpVersion::V11 => vec![format!("{} {target} HTTP/1.1", args.method)],
    };
    lines.push("User-Agent: WebBench 1.5".to_owned());
    if args.proxy.is_none() {
        // Without the port, as WebBench has it.
        lines.push(if host.contains(':') { format!("Host: [{host}]") } else { format!("Host: {host}") });
    } else if args.reload {
        lines.push("Pragma: no-cache".to_owned());
    }
    if http == HttpVersion::V11 {
        lines.push("Connection: close".to_owned());
    }
    lines.iter().map(|line| format!("{line}\r\n")).collect::<String>() + "\r\n"
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli::webbench::{WebbenchCall, parse};

    fn args(line: &str) -> WebbenchArgs {
        let Ok(WebbenchCall::Run(args)) = parse(line.split_whitespace().map(OsString::from)) else { panic!("{line}") };
        args
    }

    #[test]
    fn the_bytes() {
        let rows = [
            ("http://h:81/a?b", "GET /a?b HTTP/1.0\nUser-Agent: WebBench 1.5\nHost: h\n\n"),
            ("-9 http://h/a", "GET /a\n"),
            ("-2 http://h/a", "GET /a HTTP/1.1\nUser-Agent: WebBench 1.5\nHost: h\nConnection: close\n\n"),
            ("-9 --head http://h/", "HEAD / HTTP/1.0\nUser-Agent: WebBench 1.5\nHost: h\n\n"),
            ("--trace http://h/", "TRACE / HTTP/1.1\nUser-Agent: WebBench 1.5\nHost: h\nConnection: close\n\n"),
            ("--options http://h/", "OPTIONS / HTTP/1.1\nUser-Agent: WebBench 1.5\nHost: h\nConnection: close\n\n"),
            ("-p p:82 http://h:81/a", "GET http://h:81/a HTTP/1.0\nUser-Agent: WebBench 1.5\n\n"),
            ("-9rp p:82 http://h/", "GET http://h/ HTTP/1.0\nUser-Agent: WebBench 1.5\nPragma: no-cache\n\n"),
            ("-r http://h/", "GET / HTTP/1.0\nUser-Agent: WebBench 1.5\nHost: h\n\n"),
            ("-p p:82 ftp://h/a", "GET ftp://h/a HTTP/1.0\nUser-Agent: WebBench 1.5\n\n"),
        ];
        for (line, bytes) in rows {
            let asked = asked(&args(line)).unwrap();
            let sent = String::from_utf8(asked.request.bytes.to_vec()).unwrap();
            assert_eq!(sent.replace("\r\n", "\n"), bytes, "{line}");
        }
        let asked = asked(&args("http://h:81/")).unwrap();
        assert_eq!((asked.host.host.as_str(), asked.host.port), ("h", 81));
    }

    #[test]
    fn what_is_no_url() {
        for (url, sentence) in [
            ("h/", "h/: is not a valid URL."),
            ("https://h/", "Only HTTP protocol is directly supported, set --proxy for others."),
            ("http://h", "Invalid URL syntax - hostname don't ends with '/'."),
            ("http:///", "http:///: is not a valid URL."),
            ("http://h:x/", "http://h:x/: is not a valid URL."),
        ] {
            assert_eq!(asked(&args(url)).unwrap_err(), sentence);
        }
    }
}
