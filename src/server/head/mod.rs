//! The head of an answer: which lines it has, and in which order.
//!
//! The server's own order is written straight down. The heads of other servers are data: a style is lists of lines and a
//! few facts, and one function writes them all. What they look like was recorded from the real servers, with which
//! tests/it/profiles.rs compares them.
//!
//! Two things stay hyper's: a client of HTTP/1.0 is answered with `HTTP/1.0`, where all four say `HTTP/1.1`, as long; and
//! capitals are at the beginning of each word, so that it is `Etag`.

mod kind;
mod style;

use std::cell::RefCell;
use std::time::SystemTime;

use http::StatusCode;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;

use self::style::{Line, Style};
use super::refusal::Refusal;
use crate::config::plan::HeadPlan;

pub use self::kind::Kind;
pub use self::style::Says;

/// Writes the heads of a server.
#[derive(Debug)]
pub struct Heads {
    /// `None` is the server's own.
    style: Option<&'static Style>,
    server: Option<HeaderValue>,
    cache_control: Option<HeaderValue>,
    extra: Vec<(HeaderName, HeaderValue)>,
    /// The value of a `Keep-Alive` line; `None`: no connection is kept.
    keep_alive: Option<HeaderValue>,
}

/// What a head depends on.
pub struct Facts<'a> {
    /// The status that the head belongs to: a style's lines depend on it.
    pub status: StatusCode,
    /// The lines of the answer's own.
    pub kind: &'a Kind,
    /// Of the body that a GET would get; `None` where there is no Content-Length (RFC 9110 section 8.6).
    pub length: Option<u64>,
    /// hyper writes the length of a body that it is given; in a HEAD answer it must stand explicitly.
    pub is_head: bool,
    /// What is said about the connection.
    pub says: Says,
    /// The worker's clock.
    pub tick: u32,
}

impl Heads {
    /// The heads of this plan.
    pub fn new(plan: HeadPlan) -> Self {
        let HeadPlan { style, keep_alive, server, cache_control, extra } = plan;
        let keep_alive = keep_alive.map(|idle| {
            let value = HeaderValue::try_from(format!("timeout={}", idle.as_secs()));
            value.unwrap_or(HeaderValue::from_static("timeout=0"))
        });
        Self { style: Style::of(style), server, cache_control, extra, keep_alive }
    }

    /// Whether hyper adds the Date line; a style has it where its list says.
    pub fn leave_date_to_hyper(&self) -> bool {
        self.style.is_none()
    }

    /// Whether names begin with capitals. That takes hyper's slow path, and field names are case-insensitive: only for
    /// those whose look it is.
    pub fn have_title_case(&self) -> bool {
        self.style.is_some_and(|style| style.title_case)
    }

    /// Whether the status line ends after the code's space.
    pub fn have_empty_reason(&self) -> bool {
        self.style.is_some_and(|style| style.empty_reason)
    }

    /// How a head that never became a request is refused; `None` closes the connection without a word.
    pub fn refuse(&self, refusal: Refusal) -> Option<Refusal> {
        match (self.style, refusal) {
            (None, refusal) => Some(refusal),
            (Some(_), Refusal::Timeout) => None,
            (Some(style), Refusal::UriTooLong) => Some(style.uri_too_long),
            (Some(style), Refusal::HeadTooLarge) => Some(style.head_too_large),
            (Some(_), refusal) => Some(refusal),
        }
    }

    /// What the answer to this request says about the connection.
    pub fn says(&self, request: &Parts, is_last: bool) -> Says {
        match self.style {
            None if is_last => Says::Close,
            None => Says::Nothing,
            Some(style) => style.says(request, is_last || self.keep_alive.is_none()),
        }
    }

    /// Writes the lines into an empty map.
    pub fn write(&self, facts: &Facts<'_>, headers: &mut HeaderMap) {
        match self.style {
            None => self.write_own(facts, headers),
            Some(style) => self.write_style(style, facts, headers),
        }
    }

    /// This server's own head: no list and no look-up, because this is the hot path.
    fn write_own(&self, facts: &Facts<'_>, headers: &mut HeaderMap) {
        if let Some(server) = &self.server {
            headers.insert(header::SERVER, server.clone());
        }
        facts.kind.write(headers, self.cache_control.as_ref());
        for (name, value) in &self.extra {
            headers.append(name, value.clone());
        }
        if facts.says == Says::Close {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if facts.is_head
            && let Some(length) = facts.length
        {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
    }

    /// The lines of a style in their order, then those that it knows nothing of.
    fn write_style(&self, style: &Style, facts: &Facts<'_>, headers: &mut HeaderMap) {
        for line in style.lines(facts.status) {
            if let Some((name, value)) = self.line(*line, facts) {
                headers.insert(name, value);
            }
        }
        facts.kind.write_rest(headers, self.cache_control.as_ref());
        for (name, value) in &self.extra {
            headers.append(name, value.clone());
        }
    }

    fn line(&self, line: Line, facts: &Facts<'_>) -> Option<(HeaderName, HeaderValue)> {
        let (name, value) = match line {
            Line::AcceptRanges => {
                (header::ACCEPT_RANGES, facts.kind.document().map(|_| HeaderValue::from_static("bytes")))
            }
            Line::Connection => (header::CONNECTION, facts.says.value()),
            Line::ContentLength => (header::CONTENT_LENGTH, facts.length.map(HeaderValue::from)),
            Line::ContentType => (header::CONTENT_TYPE, facts.kind.content_type()),
            Line::Date => (header::DATE, Some(date(facts.tick))),
            Line::Etag => (header::ETAG, facts.kind.document().and_then(|document| document.etag.clone())),
            Line::KeepAlive(version) if facts.says == Says::KeepAlive(version) => (KEEP_ALIVE, self.keep_alive.clone()),
            Line::KeepAlive(_) => return None,
            Line::LastModified => {
                (header::LAST_MODIFIED, facts.kind.document().and_then(|document| document.last_modified.clone()))
            }
            Line::Own => return facts.kind.own_line(),
            Line::Server => (header::SERVER, self.server.clone()),
        };
        value.map(|value| (name, value))
    }
}

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// The present as a Date line. It is looked at once in a tick on each thread, and not shared between threads, because
/// that would take a lock for each answer.
fn date(tick: u32) -> HeaderValue {
    thread_local! {
        static LAST: RefCell<Option<(u32, HeaderValue)>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| match last {
        Some((at, date)) if *at == tick => date.clone(),
        _ => {
            #[expect(clippy::disallowed_methods, reason = "the present lies within its range")]
            let date = httpdate::fmt_http_date(SystemTime::now());
            let date = HeaderValue::try_from(date).unwrap_or(HeaderValue::from_static(""));
            last.insert((tick, date)).1.clone()
        }
    })
}
