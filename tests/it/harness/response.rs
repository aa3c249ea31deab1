//! One answer as it came over the wire.

/// A parsed answer; header names are kept as they were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub version: String,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    /// Parses a head up to and without its empty line. Strict: the server under test has no excuse.
    pub fn from_head(head: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(head).map_err(|_| "the head is not UTF-8".to_owned())?;
        let mut lines = text.split("\r\n");
        let status_line = lines.next().unwrap_or_default();
        let mut words = status_line.splitn(3, ' ');
        let (version, code, reason) = (words.next(), words.next(), words.next());
        let (Some(version @ ("HTTP/1.1" | "HTTP/1.0")), Some(code), Some(_reason)) = (version, code, reason) else {
            return Err(format!("no status line: {status_line:?}"));
        };
        let status = code.parse().map_err(|_| format!("no status code: {status_line:?}"))?;
        let headers = lines.map(header_line).collect::<Result<_, _>>()?;
        Ok(Self { version: version.to_owned(), status, headers, body: Vec::new() })
    }

    /// The value of a header that must not be repeated; `None` if it is absent.
    #[track_caller]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.all(name);
        let first = values.next();
        assert!(values.next().is_none(), "{name} is there twice in {self:?}");
        first
    }

    /// Every value of a header, in order.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// The announced length, where there is one.
    pub fn content_length(&self) -> Option<u64> {
        self.header("content-length").and_then(|value| value.parse().ok())
    }

    /// Whether the answer says that its connection ends with it.
    pub fn says_close(&self) -> bool {
        self.all("connection").flat_map(|v| v.split(',')).any(|token| token.trim().eq_ignore_ascii_case("close"))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

fn header_line(line: &str) -> Result<(String, String), String> {
    let (name, value) = line.split_once(':').ok_or_else(|| format!("no header line: {line:?}"))?;
    if name.is_empty() || name.contains([' ', '\t']) || value.contains(['\r', '\n', '\0']) {
        return Err(format!("malformed header line: {line:?}"));
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

/// Bytes for a failure message: control characters escaped, each line on its own, the middle of long ones left out.
pub fn printable(bytes: &[u8]) -> String {
    const HEAD: usize = 1500;
    const TAIL: usize = 200;
    let escape = |part: &[u8]| part.escape_ascii().to_string().replace("\\n", "\\n\n    ");
    if bytes.len() <= HEAD + TAIL {
        return escape(bytes);
    }
    let (head, tail) = (&bytes[..HEAD], &bytes[bytes.len() - TAIL..]);
    format!("{}\n    [{} bytes left out]\n    {}", escape(head), bytes.len() - HEAD - TAIL, escape(tail))
}
