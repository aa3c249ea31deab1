//! What a request to a folder of files means. No sockets, no hyper, no tokio: facts in, an [`Answer`] out.
//! (Interface sketch; the implementation replaces it.)
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use bytes::Bytes;
use http::HeaderValue;

/// What of a request decides its answer.
pub struct Request<'a> {
    pub method: Method,
    /// The target's path as it was sent (`/a%20b`), or `*`.
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub if_match: Option<Cow<'a, [u8]>>,
    pub if_none_match: Option<Cow<'a, [u8]>>,
    pub if_modified_since: Option<&'a [u8]>,
    pub if_unmodified_since: Option<&'a [u8]>,
    pub if_range: Option<&'a [u8]>,
    pub range: Option<&'a [u8]>,
    pub accept_encoding: Option<Cow<'a, [u8]>>,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method { Get, Head, Options, Other }

/// Every outcome of a request, one variant each; `server/service.rs` gives each its status and header lines.
pub enum Answer {
    /// 200 with the whole document
    Whole(Arc<Document>),
    /// 206 with one range of it
    Part(Arc<Document>, Range<u64>),
    /// 206 multipart/byteranges, ranges in ascending order, at least two
    Parts(Arc<Document>, Vec<Range<u64>>),
    /// 304
    NotModified(Arc<Document>),
    /// 412
    PreconditionFailed,
    /// 416
    RangeNotSatisfiable { length: u64 },
    /// 301
    Redirect(HeaderValue),
    /// 200 with an HTML page
    Listing(Bytes),
    /// 204 with Allow
    Options,
    /// 405 with Allow
    MethodNotAllowed,
    /// 400 and why
    BadRequest(&'static str),
    /// 403
    Forbidden,
    /// 404
    NotFound,
    /// 503 with Retry-After: descriptors or memory ran out
    Unavailable,
    /// 500: the disk failed
    Failed,
}

/// The facts of one opened file
pub struct Document {
    pub content: Content,
    pub length: u64,
    pub etag: HeaderValue,
    pub last_modified: Option<HeaderValue>,
    pub content_type: HeaderValue,
    pub content_encoding: Option<HeaderValue>,
    /// other encodings of the same document exist: the answer says `Vary: Accept-Encoding`
    pub varies: bool,
}
pub enum Content {
    /// read into memory
    Memory(Bytes),
    /// kept open; the mapping only lends addresses, nothing in this process reads through it
    Open(OpenFile),
}
pub struct OpenFile { pub file: std::os::fd::OwnedFd, pub map: memmap2::Mmap }
