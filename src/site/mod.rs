//! What a request to a folder of files means. No sockets, no hyper, no tokio: facts in, an [`Answer`] out.
//!
//! - [`target`]: the request target becomes a path below the root, or is refused;
//! - `cache`: what is known of that path, if it is recent enough;
//! - `resource`: else, what stands there on the disk, found through
//! - `root`: the folder as an open handle, with no way out of it,
//! - `document`: the facts of one opened file,
//! - `variants`: its precompressed neighbours, and which one the client gets,
//! - `listing`: or the page of a folder;
//! - [`conditions`]: RFC 9110, section 13;
//! - [`ranges`]: RFC 9110, section 14.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;

mod cache;
pub mod conditions;
mod document;
mod listing;
pub mod ranges;
mod resource;
mod root;
pub mod target;
mod variants;

#[cfg(test)]
mod tests;

use cache::{Cache, Known};
use conditions::{Validators, Verdict};
use document::Loading;
use ranges::Selection;
use resource::{Finder, Resource};
use root::{OpenError, RootFolder};
use target::{Refusal, Target};

use crate::config::plan::SitePlan;

pub use cache::{CacheCounts, Now};
pub use document::{Content, Document, OpenFile};
pub use root::SiteError;

/// What of a request decides its answer.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// The target's path as it was sent (`/a%20b`), or `*`.
    pub path: &'a str,
    /// What follows the question mark, if there is one.
    pub query: Option<&'a str>,
    /// `If-Match`, its lines joined with commas.
    pub if_match: Option<Cow<'a, [u8]>>,
    /// `If-None-Match`, its lines joined with commas.
    pub if_none_match: Option<Cow<'a, [u8]>>,
    /// `If-Modified-Since`
    pub if_modified_since: Option<&'a [u8]>,
    /// `If-Unmodified-Since`
    pub if_unmodified_since: Option<&'a [u8]>,
    /// `If-Range`
    pub if_range: Option<&'a [u8]>,
    /// `Range`
    pub range: Option<&'a [u8]>,
    /// `Accept-Encoding`, its lines joined with commas.
    pub accept_encoding: Option<Cow<'a, [u8]>>,
}

impl<'a> Request<'a> {
    /// A request without a query and without any of the lines.
    pub fn new(method: Method, path: &'a str) -> Self {
        Request {
            method,
            path,
            query: None,
            if_match: None,
            if_none_match: None,
            if_modified_since: None,
            if_unmodified_since: None,
            if_range: None,
            range: None,
            accept_encoding: None,
        }
    }
}

/// The methods that a site tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// HEAD
    Head,
    /// OPTIONS
    Options,
    /// Any other: a site is only read.
    Other,
}

/// Every outcome of a request, one variant each; `server/service.rs` gives each its status and header lines.
#[derive(Debug)]
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
    RangeNotSatisfiable {
        /// How long the document is, for Content-Range.
        length: u64,
    },
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

/// A folder, served.
#[derive(Debug)]
pub struct Site {
    finder: Finder,
    cache: Cache,
}

impl Site {
    /// Opens a folder. It is held open: renaming it later changes nothing.
    ///
    /// Contents in the cache weigh what they take. A file that is kept open weighs at least a 256th of the capacity,
    /// so that the cache holds at most 256 descriptors, and every entry weighs some hundred bytes more, so that their
    /// number is bounded.
    pub fn open(root: &Path, plan: &SitePlan) -> Result<Site, SiteError> {
        // The caller has turned `plan.root` into a folder that exists.
        let SitePlan { root: _, index, hidden, listing, precompressed, labels, cache } = plan;
        let finder = Finder {
            root: RootFolder::open(root)?,
            index: index.clone().into_bytes(),
            hidden: *hidden,
            listing: *listing,
            precompressed: *precompressed,
            loading: Loading { memory_max: cache.file_max_bytes, labels: *labels },
        };
        Ok(Site { finder, cache: Cache::new(cache) })
    }

    /// Decides what a request is answered.
    pub fn decide(&self, request: &Request<'_>, now: Now) -> Answer {
        match request.method {
            Method::Get | Method::Head => {}
            Method::Options => return Answer::Options,
            Method::Other => return Answer::MethodNotAllowed,
        }
        let target = match Target::parse(request.path) {
            Ok(target) if target.is_hidden() && !self.finder.hidden => return Answer::NotFound,
            Ok(target) => target,
            Err(Refusal::Malformed(why)) => return Answer::BadRequest(why),
            Err(Refusal::AboveRoot) => return Answer::NotFound,
        };
        match self.cache.look_up(target.path(), now, |resource| answer(resource, &target, request)) {
            Known::Fresh(answer) => answer,
            Known::Stale(resource) => self.check(resource, &target, request, now),
            Known::Nothing => self.find(&target, request, now),
        }
    }

    /// What the cache has done so far.
    pub fn cache_counts(&self) -> CacheCounts {
        self.cache.counts()
    }

    /// Keeps a document that the disk still agrees with, and looks everything else up again.
    #[cold]
    fn check(&self, known: Resource, target: &Target<'_>, request: &Request<'_>, now: Now) -> Answer {
        let Resource::Document(representations) = &known else {
            return self.find(target, request, now);
        };
        match self.finder.is_current(target.path(), representations) {
            Ok(true) => {
                let answer = answer(&known, target, request);
                self.cache.remember(target.path(), known, now);
                answer
            }
            // Comparing takes a descriptor. When there is none, what is known is served on, and the next request
            // tries again: a server at its limit of connections must not answer 503 for documents that it holds in
            // memory.
            Err(OpenError::Unavailable) => answer(&known, target, request),
            Ok(false) | Err(_) => self.find(target, request, now),
        }
    }

    #[cold]
    fn find(&self, target: &Target<'_>, request: &Request<'_>, now: Now) -> Answer {
        match self.finder.find(target.path()) {
            Ok(resource) => {
                let answer = answer(&resource, target, request);
                self.cache.remember(target.path(), resource, now);
                answer
            }
            Err(OpenError::Nothing) => Answer::NotFound,
            Err(OpenError::Forbidden) => Answer::Forbidden,
            Err(OpenError::Unavailable) => Answer::Unavailable,
            Err(OpenError::Failed(errno)) => {
                tracing::error!(path = %target::escape(target.path()), %errno, "a file cannot be read");
                Answer::Failed
            }
        }
    }
}

/// The answer to a GET or HEAD of what stands at its target.
fn answer(resource: &Resource, target: &Target<'_>, request: &Request<'_>) -> Answer {
    match resource {
        Resource::Document(representations) => {
            answer_document(representations.select(request.accept_encoding.as_deref()), request)
        }
        Resource::Folder => match HeaderValue::try_from(target.folder_reference(request.query)) {
            Ok(reference) => Answer::Redirect(reference),
            Err(_) => Answer::BadRequest("the query cannot stand in a header line"),
        },
        Resource::Listing(page) => answer_listing(page, request),
        Resource::Forbidden => Answer::Forbidden,
        Resource::Nothing => Answer::NotFound,
    }
}

fn answer_document(document: &Arc<Document>, request: &Request<'_>) -> Answer {
    let document = Arc::clone(document);
    match conditions::evaluate(request, document.validators()) {
        Verdict::Proceed => {}
        Verdict::NotModified => return Answer::NotModified(document),
        Verdict::Failed => return Answer::PreconditionFailed,
    }
    match select(&document, request) {
        Selection::Whole => Answer::Whole(document),
        Selection::Part(range) => Answer::Part(document, range),
        Selection::Parts(ranges) => Answer::Parts(document, ranges),
        Selection::Unsatisfiable => Answer::RangeNotSatisfiable { length: document.length },
    }
}

/// RFC 9110, section 14.2: only GET has ranges.
fn select(document: &Document, request: &Request<'_>) -> Selection {
    match request.range {
        Some(header)
            if request.method == Method::Get && conditions::range_applies(request.if_range, document.validators()) =>
        {
            ranges::select(header, document.length)
        }
        _ => Selection::Whole,
    }
}

/// A listing has nothing to be compared by: `If-Match` with a tag fails, and no condition makes it a 304.
fn answer_listing(page: &Bytes, request: &Request<'_>) -> Answer {
    match conditions::evaluate(request, Validators::default()) {
        Verdict::Failed => Answer::PreconditionFailed,
        Verdict::Proceed | Verdict::NotModified => Answer::Listing(page.clone()),
    }
}
