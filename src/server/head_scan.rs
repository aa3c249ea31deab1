//! What hyper does not tell about a head, seen while it passes: a request line beyond its limit, also when it comes in
//! pieces (hyper limits only the whole head, and answers 431 where RFC 9112 section 3 asks for 414), and
//! Transfer-Encoding beside Content-Length (hyper drops the length; RFC 9112 section 6.3 calls it a smuggling attempt).
//!
//! One pass for line ends (`cargo bench --bench hot_functions -- scan` times it).

/// A scan of one head after the other.
#[derive(Debug)]
pub struct HeadScan {
    most_in_line: usize,
    /// Bytes that the request line may still have; `None` when it has ended.
    left: Option<usize>,
    too_long: bool,
    method: Prefix,
    /// The method of the head before.
    last_method: Prefix,
    /// The beginning of a line that a read has cut.
    cut: Prefix,
    framing: Framing,
    ambiguous: bool,
    is_over: bool,
}

/// Room for the method (the longest registered one has 17 letters), two spaces and the version beside the target.
const AROUND_TARGET: usize = 32;

impl HeadScan {
    /// A scan for heads whose targets have at most `target_bytes`.
    pub fn new(target_bytes: usize) -> Self {
        Self {
            most_in_line: target_bytes + AROUND_TARGET,
            left: Some(target_bytes + AROUND_TARGET),
            too_long: false,
            method: Prefix::default(),
            last_method: Prefix::default(),
            cut: Prefix::default(),
            framing: Framing::default(),
            ambiguous: false,
            is_over: false,
        }
    }

    /// Another limit, for the heads that begin from now on.
    pub fn set_limit(&mut self, target_bytes: usize) {
        self.most_in_line = target_bytes + AROUND_TARGET;
        if !self.is_within_head() {
            self.left = Some(self.most_in_line);
        }
    }

    /// Whether a head has begun and not ended.
    pub fn is_within_head(&self) -> bool {
        !self.is_over && (self.left.is_none() || !is_blank(self.cut.bytes()))
    }

    /// A head begins with the next byte.
    fn begin(&mut self) {
        self.left = Some(self.most_in_line);
        self.last_method = std::mem::take(&mut self.method);
        self.cut = Prefix::default();
        self.framing = Framing::default();
    }

    /// Whether the latest request line asks for nothing but a head.
    pub fn is_head_request(&self) -> bool {
        let latest = if self.method.is_empty() { &self.last_method } else { &self.method };
        latest.bytes().starts_with(b"HEAD ")
    }

    /// Whether a request line passed its limit before it ended.
    pub fn line_is_too_long(&self) -> bool {
        self.too_long
    }

    /// Whether some head had both ways to say how long its body is.
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// Looks at the next bytes of the connection.
    pub fn pass(&mut self, bytes: &[u8]) {
        if self.is_done() {
            return;
        }
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.end_line(&bytes[start..end]);
            start = end + 1;
            if self.is_done() {
                return;
            }
        }
        self.cut_line(&bytes[start..]);
    }

    /// Nothing that follows is a head: a body, or the rest of a connection that is refused.
    fn is_done(&self) -> bool {
        self.is_over || self.too_long
    }

    fn end_line(&mut self, rest: &[u8]) {
        if let Some(left) = self.left.take() {
            // An empty line may stand before the request line (RFC 9112 section 2.2).
            if is_blank(self.cut.bytes()) && is_blank(rest) {
                self.left = Some(left);
            } else {
                self.method = std::mem::take(&mut self.cut);
                self.method.extend(rest);
            }
            self.too_long |= rest.len() > left;
        } else if self.cut.is_empty() {
            self.note_field(rest);
        } else {
            let mut whole = std::mem::take(&mut self.cut);
            whole.extend(rest);
            self.note_field(whole.bytes());
        }
        self.cut = Prefix::default();
    }

    fn note_field(&mut self, line: &[u8]) {
        if !is_blank(line) {
            self.framing.note(line);
            return;
        }
        self.ambiguous |= self.framing.is_ambiguous();
        if self.framing.announces_body() {
            // What follows is not looked at; after a body that nobody reads the connection closes.
            self.is_over = true;
        } else {
            self.begin();
        }
    }

    fn cut_line(&mut self, beginning: &[u8]) {
        self.cut.extend(beginning);
        if let Some(left) = &mut self.left {
            if beginning.len() > *left {
                self.too_long = true;
                self.method = self.cut;
            }
            *left = left.saturating_sub(beginning.len());
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line, [] | [b'\r'])
}

/// Which lines about the body's length a head has had so far.
#[derive(Debug, Default)]
struct Framing {
    transfer_encoding: bool,
    content_length: bool,
}

impl Framing {
    fn note(&mut self, line: &[u8]) {
        match line[0] {
            b'T' | b't' => self.transfer_encoding |= begins_with(line, b"transfer-encoding:"),
            b'C' | b'c' => self.content_length |= begins_with(line, b"content-length:"),
            _ => {}
        }
    }

    fn is_ambiguous(&self) -> bool {
        self.transfer_encoding && self.content_length
    }

    fn announces_body(&self) -> bool {
        self.transfer_encoding || self.content_length
    }
}

fn begins_with(line: &[u8], name: &[u8]) -> bool {
    line.get(..name.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(name))
}

/// As much of a line as its field name needs.
#[derive(Debug, Default, Clone, Copy)]
struct Prefix {
    bytes: [u8; 18],
    length: u8,
}

impl Prefix {
    fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    fn extend(&mut self, bytes: &[u8]) {
        let start = usize::from(self.length);
        let take = bytes.len().min(self.bytes.len() - start);
        self.bytes[start..start + take].copy_from_slice(&bytes[..take]);
        self.length += take as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole, and cut at every place: the same must be found: a line too long, an ambiguous length, a HEAD request.
    fn scan(head: &[u8], target_bytes: usize) -> (bool, bool, bool) {
        let whole = pieces(&[head], target_bytes);
        for cut in 0..=head.len() {
            let (before, after) = head.split_at(cut);
            assert_eq!(pieces(&[before, after], target_bytes), whole, "cut at {cut}");
        }
        let bytes: Vec<_> = head.chunks(1).collect();
        assert_eq!(pieces(&bytes, target_bytes), whole, "byte by byte");
        whole
    }

    fn pieces(pieces: &[&[u8]], target_bytes: usize) -> (bool, bool, bool) {
        let mut scan = HeadScan::new(target_bytes);
        pieces.iter().for_each(|piece| scan.pass(piece));
        (scan.line_is_too_long(), scan.is_ambiguous(), scan.is_head_request())
    }

    #[test]
    fn lengths_of_request_lines() {
        let line = |target: usize| [b"GET /", "a".repeat(target - 1).as_bytes(), b" HTTP/1.1\r\n\r\n"].concat();
        assert!(!scan(&line(100), 100).0);
        assert!(scan(&line(120), 100).0);
        assert!(!scan(&[b"\r\n", &line(100)[..]].concat(), 100).0);
        assert!(scan(&line(1000)[..500], 100).0, "before its end");
        assert!(
            !scan(b"GET / HTTP/1.1\r\nA: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n\r\n", 10).0
        );
    }

    #[test]
    fn head_requests() {
        assert!(scan(b"HEAD / HTTP/1.1\r\nA: b\r\n", 100).2);
        assert!(scan(b"\r\nHEAD / HTTP/1.1\r\n", 100).2);
        assert!(scan(&[b"HEAD /", "a".repeat(500).as_bytes()].concat(), 100).2, "cut off for its length");
        assert!(scan(&[b"HEAD /", "a".repeat(500).as_bytes(), b" HTTP/1.1\r\nA: b\r\n\r\n"].concat(), 100).2);
        assert!(!scan(b"GET /HEAD HTTP/1.1\r\nHEAD / HTTP/1.1\r\n", 100).2);
        assert!(!scan(b"HEADER / HTTP/1.1\r\n", 100).2);
        assert!(!scan(b"HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n", 100).2, "the one that is being read");
        assert!(scan(b"GET / HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\n", 100).2);
    }

    /// A line that is refused for its length is still one of HEAD, whatever was read behind it.
    #[test]
    fn heads_that_are_too_long_keep_their_method() {
        for (method, expected) in [("HEAD", true), ("GET", false)] {
            let head = format!("{method} /{} HTTP/1.1\r\nHost: t\r\n\r\n", "a".repeat(200));
            for end in [150, head.len()] {
                let mut scan = HeadScan::new(100);
                scan.begin();
                scan.pass(&head.as_bytes()[..end]);
                scan.pass(b"");
                assert_eq!((scan.line_is_too_long(), scan.is_head_request()), (true, expected), "{method}, {end}");
            }
        }
    }

    #[test]
    fn within_a_head_or_between_two() {
        let within = |bytes: &[u8]| {
            let mut scan = HeadScan::new(100);
            scan.pass(bytes);
            scan.is_within_head()
        };
        assert!(!within(b""));
        assert!(!within(b"\r\n"));
        assert!(within(b"G"));
        assert!(within(b"GET / HTTP/1.1\r\n"));
        assert!(!within(b"GET / HTTP/1.1\r\nA: b\r\n\r\n"));
        assert!(within(b"GET / HTTP/1.1\r\nA: b\r\n\r\nGE"));
        assert!(!within(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nGET / HTT"), "that is a body");
    }

    #[test]
    fn a_body_is_no_request_line() {
        let head = b"POST / HTTP/1.1\r\nContent-Length: 500\r\n\r\n";
        assert!(!scan(&[head, "x".repeat(500).as_bytes()].concat(), 100).0);
        let second = [b"GET / HTTP/1.1\r\n\r\nGET /", "x".repeat(500).as_bytes()].concat();
        assert!(scan(&second, 100).0, "a pipelined one");
    }

    #[test]
    fn two_ways_to_frame_a_body() {
        let table: [(&[u8], bool); 7] = [
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", true),
            (b"POST / HTTP/1.1\ncontent-LENGTH:5\nA: b\nTRANSFER-encoding:x\n\n", true),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n", false),
            (b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTrailer: x\r\n\r\n", false),
            (b"GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", false),
            (b"GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nTransfer-Encoding: x\r\nContent-Length: 5\r\n\r\n", true),
            (b"GET /Transfer-Encoding:x HTTP/1.1\r\nContent-Length: 0\r\n\r\n", false),
        ];
        for (head, expected) in table {
            assert_eq!(scan(head, 8192).1, expected, "{}", String::from_utf8_lossy(head));
        }
    }
}
