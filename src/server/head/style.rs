//! The heads of other servers, as data.

use http::StatusCode;
use http::Version;
use http::header::{self, HeaderMap, HeaderValue};
use http::request::Parts;

use crate::config::plan::HeadStyle;
use crate::server::refusal::Refusal;

/// How another server writes its heads.
#[derive(Debug)]
pub struct Style {
    /// The lines of an answer with a whole body, whatever its status.
    whole: &'static [Line],
    /// Those of a 206.
    part: &'static [Line],
    /// Those of a 304.
    not_modified: &'static [Line],
    /// When an answer to HTTP/1.1 says that the connection is kept.
    keeps_aloud: Aloud,
    /// Whether an answer to HTTP/1.0 says that the connection ends.
    closes_aloud_in_1_0: bool,
    pub title_case: bool,
    pub empty_reason: bool,
    pub uri_too_long: Refusal,
    pub head_too_large: Refusal,
}

/// A line of a head; it is left out where its answer has no value for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    AcceptRanges,
    Connection,
    ContentLength,
    ContentType,
    Date,
    Etag,
    /// `Keep-Alive`, if the connection of a client of this version is said to be kept.
    KeepAlive(Version),
    LastModified,
    /// What only this kind of answer has: Content-Range, Allow, Location, Retry-After.
    Own,
    Server,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aloud {
    Never,
    /// If the client has asked for it, although it need not in 1.1.
    IfAsked,
    Always,
}

use Line::{AcceptRanges, Connection, ContentLength, ContentType, Date, Etag, KeepAlive, LastModified, Own, Server};

/// nginx 1.22.1.
const NGINX: Style = Style {
    whole: &[Server, Date, ContentType, ContentLength, Own, LastModified, Connection, Etag, AcceptRanges],
    part: &[Server, Date, ContentType, ContentLength, LastModified, Connection, Etag, Own],
    not_modified: &[Server, Date, LastModified, Connection, Etag],
    keeps_aloud: Aloud::Always,
    closes_aloud_in_1_0: true,
    title_case: true,
    empty_reason: false,
    uri_too_long: Refusal::UriTooLong,
    head_too_large: Refusal::BadRequest,
};

const TOMCAT_LINES: &[Line] = &[
    AcceptRanges,
    Etag,
    LastModified,
    Own,
    ContentType,
    ContentLength,
    Date,
    KeepAlive(Version::HTTP_11),
    Connection,
    KeepAlive(Version::HTTP_10),
];

/// Tomcat 10.1.60. Its Keep-Alive line comes before Connection for 1.1, behind it for 1.0.
const TOMCAT: Style = Style {
    whole: TOMCAT_LINES,
    part: TOMCAT_LINES,
    not_modified: &[Etag, Date, KeepAlive(Version::HTTP_11), Connection, KeepAlive(Version::HTTP_10)],
    keeps_aloud: Aloud::IfAsked,
    closes_aloud_in_1_0: true,
    title_case: true,
    empty_reason: true,
    uri_too_long: Refusal::BadRequest,
    head_too_large: Refusal::BadRequest,
};

/// Jetty 9.4.57. As shipped it sends no Date (`jetty.httpConfig.sendDateHeader=false`), but in a 206 it does.
const JETTY: Style = Style {
    whole: &[Connection, LastModified, ContentType, AcceptRanges, Own, ContentLength, Server],
    part: &[Connection, LastModified, ContentType, AcceptRanges, Date, Own, ContentLength, Server],
    not_modified: &[Connection, Server],
    keeps_aloud: Aloud::Never,
    closes_aloud_in_1_0: false,
    title_case: true,
    empty_reason: false,
    uri_too_long: Refusal::UriTooLong,
    head_too_large: Refusal::HeadTooLarge,
};

const NETTY_LINES: &[Line] = &[ContentType, ContentLength, Own, LastModified, Date, Connection];

/// The program of peers/netty on Netty 4.1.48, whose names are in lower case. It has no ranges; here a client that asks
/// for one gets it.
const NETTY: Style = Style {
    whole: NETTY_LINES,
    part: NETTY_LINES,
    not_modified: &[LastModified, Date, Connection],
    keeps_aloud: Aloud::Never,
    closes_aloud_in_1_0: true,
    title_case: false,
    empty_reason: false,
    uri_too_long: Refusal::BadRequest,
    head_too_large: Refusal::BadRequest,
};

/// What is said about the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// Nothing: it goes on, or hyper says what there is to say.
    Nothing,
    /// That it ends.
    Close,
    /// That it goes on, to a client of this version.
    KeepAlive(Version),
}

impl Says {
    /// The value of the Connection line.
    pub fn value(self) -> Option<HeaderValue> {
        match self {
            Self::Nothing => None,
            Self::Close => Some(HeaderValue::from_static("close")),
            Self::KeepAlive(_) => Some(HeaderValue::from_static("keep-alive")),
        }
    }
}

impl Style {
    /// The style of that name; `None` is the server's own, which is none.
    pub fn of(style: HeadStyle) -> Option<&'static Self> {
        match style {
            HeadStyle::Quintain => None,
            HeadStyle::Nginx => Some(&NGINX),
            HeadStyle::Tomcat => Some(&TOMCAT),
            HeadStyle::Jetty => Some(&JETTY),
            HeadStyle::Netty => Some(&NETTY),
        }
    }

    /// The lines of an answer with this status.
    pub fn lines(&self, status: StatusCode) -> &'static [Line] {
        match status {
            StatusCode::PARTIAL_CONTENT => self.part,
            StatusCode::NOT_MODIFIED => self.not_modified,
            _ => self.whole,
        }
    }

    /// Whether the connection goes on is for hyper to decide; this says the same, as the style says it.
    pub fn says(&self, request: &Parts, is_last: bool) -> Says {
        let asked = Asked::of(&request.headers);
        let is_1_0 = request.version == Version::HTTP_10;
        let closes = is_last || asked.close || (is_1_0 && !asked.keep_alive);
        match (closes, is_1_0) {
            (true, true) if !self.closes_aloud_in_1_0 => Says::Nothing,
            (true, _) => Says::Close,
            (false, true) => Says::KeepAlive(Version::HTTP_10),
            (false, false) => match self.keeps_aloud {
                Aloud::Always => Says::KeepAlive(Version::HTTP_11),
                Aloud::IfAsked if asked.keep_alive => Says::KeepAlive(Version::HTTP_11),
                Aloud::IfAsked | Aloud::Never => Says::Nothing,
            },
        }
    }
}

/// What a client says in its Connection lines.
#[derive(Debug, Default)]
struct Asked {
    close: bool,
    keep_alive: bool,
}

impl Asked {
    fn of(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
        lines.flat_map(|line| line.split(',')).map(str::trim).fold(Self::default(), |asked, token| Self {
            close: asked.close || token.eq_ignore_ascii_case("close"),
            keep_alive: asked.keep_alive || token.eq_ignore_ascii_case("keep-alive"),
        })
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    const STYLES: [(&str, &Style); 4] = [("nginx", &NGINX), ("tomcat", &TOMCAT), ("jetty", &JETTY), ("netty", &NETTY)];

    /// Each line once, or the second would move or replace the first; and none that a client needs is left out.
    #[test]
    fn lists_are_complete() {
        for (name, style) in STYLES {
            for list in [style.whole, style.part, style.not_modified] {
                for (place, line) in list.iter().enumerate() {
                    assert!(!list[..place].contains(line), "{line:?} twice in {name}");
                }
                assert!(list.contains(&Connection), "{name}");
            }
            for list in [style.whole, style.part] {
                assert!([ContentType, ContentLength, Own].iter().all(|line| list.contains(line)), "{name}");
            }
        }
    }

    #[test]
    fn what_is_said_about_the_connection() {
        use Says::{Close, Nothing};
        let (kept, kept_in_1_0) = (Says::KeepAlive(Version::HTTP_11), Says::KeepAlive(Version::HTTP_10));
        let (new, old) = (Version::HTTP_11, Version::HTTP_10);
        // nginx, Tomcat, Jetty, Netty
        let table = [
            (new, "", false, [kept, Nothing, Nothing, Nothing]),
            (new, "keep-alive", false, [kept, kept, Nothing, Nothing]),
            (new, "Close", false, [Close; 4]),
            (new, "keep-alive, close", false, [Close; 4]),
            (new, "", true, [Close; 4]),
            (new, "keep-alive", true, [Close; 4]),
            (old, "", false, [Close, Close, Nothing, Close]),
            (old, "x, Keep-Alive", false, [kept_in_1_0; 4]),
            (old, "Keep-Alive", true, [Close, Close, Nothing, Close]),
        ];
        for (version, connection, is_last, expected) in table {
            let request = Request::builder().version(version).header(header::CONNECTION, connection);
            let (parts, ()) = request.body(()).unwrap().into_parts();
            let said = STYLES.map(|(_, style)| style.says(&parts, is_last));
            assert_eq!(said, expected, "{version:?} {connection} {is_last}");
        }
    }
}
