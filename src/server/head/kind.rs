//! The header lines that each kind of answer has.

use std::sync::Arc;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::site::Document;

/// The header lines that an answer has of its own.
pub enum Kind {
    /// A document, whole or the range of it that this Content-Range names.
    Document(Arc<Document>, Option<HeaderValue>),
    /// Several ranges of a document; the type has their boundary.
    Multipart(Arc<Document>, HeaderValue),
    /// That the client has the document already.
    NotModified(Arc<Document>),
    /// The methods there are.
    Allow {
        /// Whether there is a body, which has a type.
        with_type: bool,
    },
    /// Where the folder is.
    Moved(HeaderValue),
    /// How long the document is, as Content-Range.
    Unsatisfiable(HeaderValue),
    /// A shortage that will pass.
    RetryLater,
    /// A page of the server's own.
    Html,
    /// A line of text.
    Text,
}

impl Kind {
    /// The lines of this server's own order.
    pub fn write(&self, headers: &mut HeaderMap, cache_control: Option<&HeaderValue>) {
        match self {
            Self::Document(document, range) => {
                headers.insert(header::CONTENT_TYPE, document.content_type.clone());
                write_document(document, headers, cache_control);
                if let Some(range) = range {
                    headers.insert(header::CONTENT_RANGE, range.clone());
                }
                write_nosniff(headers);
            }
            Self::Multipart(document, content_type) => {
                headers.insert(header::CONTENT_TYPE, content_type.clone());
                write_document(document, headers, cache_control);
                write_nosniff(headers);
            }
            Self::NotModified(document) => write_validators(document, headers, cache_control),
            Self::Allow { .. }
            | Self::Moved(_)
            | Self::Unsatisfiable(_)
            | Self::RetryLater
            | Self::Html
            | Self::Text => {
                if let Some((name, value)) = self.own_line() {
                    headers.insert(name, value);
                }
                if let Some(content_type) = self.content_type() {
                    headers.insert(header::CONTENT_TYPE, content_type);
                    write_nosniff(headers);
                }
            }
        }
    }

    /// The lines of a document that no other server's list has a place for.
    pub fn write_rest(&self, headers: &mut HeaderMap, cache_control: Option<&HeaderValue>) {
        match self {
            Self::Document(document, _) | Self::Multipart(document, _) => {
                write_encoding(document, headers);
                write_caching(document, headers, cache_control);
            }
            Self::NotModified(document) => write_caching(document, headers, cache_control),
            _ => {}
        }
    }

    /// The document that the answer is about.
    pub fn document(&self) -> Option<&Document> {
        match self {
            Self::Document(document, _) | Self::Multipart(document, _) | Self::NotModified(document) => Some(document),
            _ => None,
        }
    }

    /// The type of the body, where there is one.
    pub fn content_type(&self) -> Option<HeaderValue> {
        match self {
            Self::Document(document, _) => Some(document.content_type.clone()),
            Self::Multipart(_, content_type) => Some(content_type.clone()),
            Self::NotModified(_) | Self::Allow { with_type: false } => None,
            Self::Html => Some(HeaderValue::from_static("text/html; charset=utf-8")),
            _ => Some(HeaderValue::from_static("text/plain; charset=utf-8")),
        }
    }

    /// The line that only this kind of answer has.
    pub fn own_line(&self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::Document(_, range) => range.clone().map(|range| (header::CONTENT_RANGE, range)),
            Self::Unsatisfiable(range) => Some((header::CONTENT_RANGE, range.clone())),
            Self::Allow { .. } => Some((header::ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"))),
            Self::Moved(location) => Some((header::LOCATION, location.clone())),
            Self::RetryLater => Some((header::RETRY_AFTER, HeaderValue::from_static("1"))),
            Self::Multipart(..) | Self::NotModified(_) | Self::Html | Self::Text => None,
        }
    }
}

fn write_document(document: &Document, headers: &mut HeaderMap, cache_control: Option<&HeaderValue>) {
    write_encoding(document, headers);
    write_validators(document, headers, cache_control);
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
}

/// What RFC 9110 section 15.4.5 wants in a 304, and a 200 as well.
fn write_validators(document: &Document, headers: &mut HeaderMap, cache_control: Option<&HeaderValue>) {
    if let Some(last_modified) = &document.last_modified {
        headers.insert(header::LAST_MODIFIED, last_modified.clone());
    }
    if let Some(etag) = &document.etag {
        headers.insert(header::ETAG, etag.clone());
    }
    write_caching(document, headers, cache_control);
}

fn write_caching(document: &Document, headers: &mut HeaderMap, cache_control: Option<&HeaderValue>) {
    if document.varies {
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    if let Some(cache_control) = cache_control {
        headers.insert(header::CACHE_CONTROL, cache_control.clone());
    }
}

fn write_encoding(document: &Document, headers: &mut HeaderMap) {
    if let Some(encoding) = &document.content_encoding {
        headers.insert(header::CONTENT_ENCODING, encoding.clone());
    }
}

fn write_nosniff(headers: &mut HeaderMap) {
    const NOSNIFF: HeaderName = header::X_CONTENT_TYPE_OPTIONS;
    headers.insert(NOSNIFF, HeaderValue::from_static("nosniff"));
}
