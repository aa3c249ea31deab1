//! From an answer to a hyper response: the only place that knows status codes.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;

use super::access_log::Pending;
use super::body::{Body, Piece};
use super::deadlines::Phase;
use super::head::{Facts, Heads, Kind, Says};
use super::refusal::Refusal;
use super::request::{self, Malformed};
use super::transfer::Way;
use super::wire::Wire;
use super::worker::Worker;
use crate::site::{Answer, Document};

/// Answers the requests of one connection.
#[derive(Debug)]
pub struct Service {
    worker: Arc<Worker>,
    wire: Arc<Wire>,
}

impl Service {
    /// The service of a new connection.
    pub fn new(worker: Arc<Worker>, wire: Arc<Wire>) -> Self {
        Self { worker, wire }
    }
}

impl hyper::service::Service<Request<Incoming>> for Service {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    /// Everything happens here and now, and the request is dropped before the answer goes out: hyper can then use its
    /// read buffer again, and the answer reuses the request's header map. A keep-alive GET allocates nothing.
    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let (parts, incoming) = request.into_parts();
        self.wire.pulse.enter(Phase::Decide, self.worker.tick());
        let has_body = !http_body::Body::is_end_stream(&incoming);
        let rendered = if has_body && self.is_ambiguous(&parts.headers) {
            Rendered::refusal(Malformed::Length, &self.worker.heads)
        } else {
            match request::facts(&parts, self.worker.limits.target_bytes) {
                Ok(facts) => Rendered::of(self.worker.site.decide(&facts, self.worker.now())),
                Err(malformed) => Rendered::refusal(malformed, &self.worker.heads),
            }
        };
        let is_last = has_body || rendered.ends_connection() || self.is_last_request();
        if has_body {
            self.wire.leave_body_unread();
        }
        self.wire.pulse.enter(Phase::Answer, self.worker.tick());
        let is_head = parts.method == Method::HEAD;
        let status = rendered.status.as_u16();
        if self.worker.log.is_some() {
            self.worker.finish_log(&self.wire);
            let body_bytes = if is_head { 0 } else { rendered.body.length() };
            *self.wire.log() = Some(Box::new(Pending::new(&self.wire.socket, &parts, status, body_bytes)));
        }
        self.worker.post.counters.request(status);
        let says = self.worker.heads.says(&parts, is_last);
        let ends_by_version = is_last && parts.version == Version::HTTP_10;
        let mut headers = parts.headers;
        headers.clear();
        let mut response = self.respond(rendered, headers, is_head, says);
        if ends_by_version {
            // hyper would add `keep-alive` to a 1.1 response for a 1.0 client that asked for it, beside our `close`.
            *response.version_mut() = Version::HTTP_10;
        }
        ready(Ok(response))
    }
}

impl Service {
    /// The connection's mark may stem from a pipelined request that comes later; this one is meant only if it has the
    /// line that hyper leaves standing.
    fn is_ambiguous(&self, headers: &HeaderMap) -> bool {
        self.wire.is_ambiguous() && headers.contains_key(header::TRANSFER_ENCODING)
    }

    fn is_last_request(&self) -> bool {
        let served = self.wire.count_request();
        self.worker.post.is_draining() || self.worker.limits.max_requests.is_some_and(|most| served >= most.get())
    }

    fn respond(&self, rendered: Rendered, mut headers: HeaderMap, is_head: bool, says: Says) -> Response<Body> {
        let Rendered { status, kind, body } = rendered;
        let length = may_have_length(status).then(|| body.length());
        let facts = Facts { status, kind: &kind, length, is_head, says, tick: self.worker.tick() };
        self.worker.heads.write(&facts, &mut headers);
        let mut body = self.route(if is_head { Body::Empty } else { body });
        body.announce(&self.wire);
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        if self.worker.heads.have_empty_reason() {
            response.extensions_mut().insert(ReasonPhrase::from_static(b""));
        }
        response
    }
}

impl Service {
    /// Sends a body on the way that its document goes.
    fn route(&self, body: Body) -> Body {
        let Some(document) = document_of(&body) else { return body };
        let way = self.worker.transfer.way(document);
        self.worker.post.counters.transferred(way);
        match way {
            Way::Memory => body,
            Way::Sendfile | Way::Copy => {
                self.wire.send_from(Arc::clone(document), way);
                body
            }
            Way::Stream => self.stream(body),
        }
    }

    /// The parts of a multipart answer are small, as a rule: they are copied and not streamed.
    fn stream(&self, body: Body) -> Body {
        match body {
            Body::One(Piece::Range(document, range)) => match self.worker.transfer.stream(&document, range.clone()) {
                Ok(chunks) => Body::stream(chunks, range.end - range.start),
                Err(error) => {
                    tracing::warn!("cannot open a document again to stream it: {error}; copying it");
                    self.wire.send_from(Arc::clone(&document), Way::Copy);
                    Body::range(document, range)
                }
            },
            other => {
                if let Some(document) = document_of(&other) {
                    self.wire.send_from(Arc::clone(document), Way::Copy);
                }
                other
            }
        }
    }
}

/// RFC 9110 section 8.6: no Content-Length in 204; in 304 it would have to be the length of the 200.
fn may_have_length(status: StatusCode) -> bool {
    status != StatusCode::NO_CONTENT && status != StatusCode::NOT_MODIFIED
}

/// The document that a body has bytes of.
fn document_of(body: &Body) -> Option<&Arc<Document>> {
    match body {
        Body::Empty | Body::Stream { .. } => None,
        Body::One(piece) => piece.document(),
        Body::Many { pieces, .. } => pieces.iter().find_map(Piece::document),
    }
}

// === Rendered ===

/// An answer with its status, its own header lines and its body.
struct Rendered {
    status: StatusCode,
    kind: Kind,
    body: Body,
}

impl Rendered {
    fn of(answer: Answer) -> Self {
        match answer {
            Answer::Whole(document) => {
                let body = Body::range(Arc::clone(&document), 0..document.length);
                Self { status: StatusCode::OK, kind: Kind::Document(document, None), body }
            }
            Answer::Part(document, range) => {
                let content_range = content_range(&range, document.length);
                let body = Body::range(Arc::clone(&document), range);
                Self { status: StatusCode::PARTIAL_CONTENT, kind: Kind::Document(document, Some(content_range)), body }
            }
            Answer::Parts(document, ranges) => multipart(document, ranges),
            Answer::NotModified(document) => {
                Self { status: StatusCode::NOT_MODIFIED, kind: Kind::NotModified(document), body: Body::Empty }
            }
            Answer::Listing(html) => Self { status: StatusCode::OK, kind: Kind::Html, body: Body::bytes(html) },
            Answer::Options => {
                Self { status: StatusCode::NO_CONTENT, kind: Kind::Allow { with_type: false }, body: Body::Empty }
            }
            Answer::Redirect(location) => Self::text(StatusCode::MOVED_PERMANENTLY, Kind::Moved(location)),
            Answer::MethodNotAllowed => Self::text(StatusCode::METHOD_NOT_ALLOWED, Kind::Allow { with_type: true }),
            Answer::RangeNotSatisfiable { length } => {
                let value = HeaderValue::try_from(format!("bytes */{length}"));
                let kind = value.map_or(Kind::Text, Kind::Unsatisfiable);
                Self::text(StatusCode::RANGE_NOT_SATISFIABLE, kind)
            }
            Answer::Unavailable => Self::text(StatusCode::SERVICE_UNAVAILABLE, Kind::RetryLater),
            Answer::PreconditionFailed => Self::text(StatusCode::PRECONDITION_FAILED, Kind::Text),
            Answer::BadRequest(why) => Self::bad_request(why),
            Answer::Forbidden => Self::text(StatusCode::FORBIDDEN, Kind::Text),
            Answer::NotFound => Self::text(StatusCode::NOT_FOUND, Kind::Text),
            Answer::Failed => Self::text(StatusCode::INTERNAL_SERVER_ERROR, Kind::Text),
        }
    }

    fn refusal(malformed: Malformed, heads: &Heads) -> Self {
        match malformed {
            Malformed::Host => Self::bad_request("exactly one Host line with a valid host is needed"),
            Malformed::Target => Self::bad_request("the target is not a path"),
            Malformed::Length => Self::bad_request("Transfer-Encoding and Content-Length exclude each other"),
            Malformed::TargetTooLong => {
                let status = heads.refuse(Refusal::UriTooLong).map(Refusal::status);
                let status = status.and_then(|(code, _)| StatusCode::from_u16(code).ok());
                Self::text(status.unwrap_or(StatusCode::URI_TOO_LONG), Kind::Text)
            }
        }
    }

    fn bad_request(why: &str) -> Self {
        let body = Bytes::from(format!("400 Bad Request: {why}\n"));
        Self { status: StatusCode::BAD_REQUEST, kind: Kind::Text, body: Body::bytes(body) }
    }

    /// An answer whose body is its status in words.
    fn text(status: StatusCode, kind: Kind) -> Self {
        let reason = status.canonical_reason().unwrap_or_default();
        Self { status, kind, body: Body::bytes(Bytes::from(format!("{} {reason}\n", status.as_u16()))) }
    }

    /// After 400 and 414 nobody knows where the next request begins (RFC 9112 section 2.2 and 9.6).
    fn ends_connection(&self) -> bool {
        matches!(self.status, StatusCode::BAD_REQUEST | StatusCode::URI_TOO_LONG)
    }
}

// === Ranges ===

fn content_range(range: &Range<u64>, length: u64) -> HeaderValue {
    let value = format!("bytes {}-{}/{length}", range.start, range.end - 1);
    HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static("bytes */*"))
}

/// A multipart/byteranges body (RFC 9110 section 14.6).
fn multipart(document: Arc<Document>, ranges: Vec<Range<u64>>) -> Rendered {
    let boundary = boundary(&document);
    let content_type = document.content_type.to_str().unwrap_or("application/octet-stream");
    let mut pieces = VecDeque::with_capacity(2 * ranges.len() + 1);
    for (index, range) in ranges.into_iter().enumerate() {
        let before = if index == 0 { "" } else { "\r\n" };
        let (first, last, length) = (range.start, range.end - 1, document.length);
        let part = format!(
            "{before}--{boundary}\r\nContent-Type: {content_type}\r\nContent-Range: bytes {first}-{last}/{length}\r\n\r\n"
        );
        pieces.push_back(Piece::Bytes(Bytes::from(part)));
        pieces.push_back(Piece::Range(Arc::clone(&document), range));
    }
    pieces.push_back(Piece::Bytes(Bytes::from(format!("\r\n--{boundary}--\r\n"))));
    let value = HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}"))
        .unwrap_or(HeaderValue::from_static("multipart/byteranges"));
    Rendered { status: StatusCode::PARTIAL_CONTENT, kind: Kind::Multipart(document, value), body: Body::many(pieces) }
}

/// The boundary is the document's validator: it cannot stand in the document by accident any more than a random one, and
/// the same request gets the same bytes.
fn boundary(document: &Document) -> String {
    let validator = document.etag.as_ref().or(document.last_modified.as_ref());
    let letters = validator.map(HeaderValue::as_bytes).unwrap_or_default();
    let letters = letters.iter().filter(|letter| letter.is_ascii_alphanumeric() || **letter == b'-');
    format!("quintain-{}", letters.map(|letter| char::from(*letter)).collect::<String>())
}
