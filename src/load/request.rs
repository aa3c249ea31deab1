//! A request as bytes, made once and sent as often as wanted.

use std::sync::Arc;

use super::url::Url;

/// The bytes of one request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its URL, for the report.
    pub url: String,
    /// Its method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// `1.0` or `1.1`.
    pub http: &'static str,
    /// Head and body.
    pub bytes: Arc<[u8]>,
    /// Length of the body at the end of `bytes`.
    pub body_bytes: usize,
}

impl Request {
    /// Whether the answer has no body whatever its head says (RFC 9110 section 9.3.2).
    pub fn is_head(&self) -> bool {
        self.method == "HEAD"
    }
}

impl Request {
    /// Writes the request line, the lines of the head in their order, and the body.
    #[must_use]
    pub fn new(
        url: &Url,
        method: &str,
        target: &str,
        http: &'static str,
        lines: &[(String, String)],
        body: &[u8],
    ) -> Self {
        let mut bytes = format!("{method} {target} HTTP/{http}\r\n").into_bytes();
        for (name, value) in lines {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        Self {
            url: url.text.clone(),
            method: method.to_owned(),
            path: url.path.clone(),
            http,
            bytes: bytes.into(),
            body_bytes: body.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_request() {
        let url = Url::parse("http://h:81/a?b").unwrap();
        let lines = [("Host".to_owned(), url.authority()), ("Content-Length".to_owned(), "2".to_owned())];
        let request = Request::new(&url, "POST", &url.path, "1.1", &lines, b"xy");
        let expected = "POST /a?b HTTP/1.1\r\nHost: h:81\r\nContent-Length: 2\r\n\r\nxy";
        assert_eq!((&*request.bytes, request.body_bytes, request.is_head()), (expected.as_bytes(), 2, false));
    }
}
