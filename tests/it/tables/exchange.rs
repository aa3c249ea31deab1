//! Sends one row and collects what differs.

use std::fmt::Write as _;

use super::check;
use super::row::{Afterwards, Expect, Row, Step};
use crate::harness::{Broken, Client, Response, Server, TEN, printable};

/// Runs a row, and its HEAD twin if it has one: a report for each that differs.
pub fn run(server: &Server, row: &Row) -> Vec<String> {
    let steps: Vec<_> = row.steps().into_iter().map(|step| resolve(server, row, step)).collect();
    let mut exchange = Exchange { client: server.client(), sent: Vec::new(), differences: Vec::new() };
    let answers = exchange.play(&steps, row.half_close);
    let mut reports = Vec::from_iter(exchange.report());
    if let (Some(head), [Some(answer)]) = (head_twin(row, &steps), answers.as_slice()) {
        reports.extend(mirror(server, &head, answer));
    }
    reports
}

struct Exchange {
    client: Client,
    sent: Vec<u8>,
    differences: Vec<String>,
}

impl Exchange {
    /// Plays all steps and returns the answers, as far as they came.
    fn play(&mut self, steps: &[Step], half_close: bool) -> Vec<Option<Response>> {
        let mut answers = Vec::new();
        let mut stays_open = true;
        for (at, step) in steps.iter().enumerate() {
            let bytes = expand(&step.send);
            // A server may answer and close before it has read everything; then the write fails and the answer decides.
            let _ = self.client.try_send(&bytes);
            self.sent.extend_from_slice(&bytes);
            if half_close && at + 1 == steps.len() {
                self.client.half_close();
            }
            for expect in &step.expect {
                let answer = self.read(&step.send, expect);
                let says_close = answer.as_ref().map(Response::says_close);
                answers.push(answer);
                stays_open = match (expect.connection, says_close) {
                    (_, None) => return answers,
                    (Afterwards::Open, _) => true,
                    (Afterwards::Closed | Afterwards::Ends, _) => false,
                    (Afterwards::Either, Some(says_close)) => !says_close,
                };
            }
        }
        if stays_open {
            self.probe();
        } else {
            self.expect_end();
        }
        answers
    }

    fn read(&mut self, request: &str, expect: &Expect) -> Option<Response> {
        let begins_with_head = request.trim_start_matches("\r\n").starts_with("HEAD ");
        let head_only = expect.head.unwrap_or(begins_with_head);
        let answer = if head_only { self.client.answer_to_head() } else { self.client.answer() };
        match answer {
            Ok(response) => {
                let old_version = request.trim_end().contains("HTTP/1.0");
                self.differences.extend(check::answer(&response, expect, head_only, old_version));
                if self.client.has_received(crate::harness::SECRET.as_bytes()) {
                    self.differences.push("a file from outside of the root was sent".to_owned());
                }
                Some(response)
            }
            Err(Broken::Closed) if expect.or_silence => None,
            Err(broken) => {
                self.differences.push(format!("expected an answer with status {}, but {broken}", expect.status));
                None
            }
        }
    }

    fn expect_end(&mut self) {
        if let Err(why) = self.client.end() {
            self.differences.push(format!("expected the end of the connection, but {why}"));
        }
    }

    /// Asks for something else: the answer can only be right if the one before was framed rightly on both sides.
    fn probe(&mut self) {
        let sent = self.client.try_send(b"GET /ten.txt HTTP/1.1\r\nHost: probe\r\n\r\n");
        match sent.map_err(Broken::Reset).and_then(|()| self.client.answer()) {
            Ok(probe) if probe.status == 200 && probe.body == TEN.as_bytes() => {}
            Ok(probe) => self.differences.push(format!("the next request on the connection was answered by {probe:?}")),
            Err(broken) => self.differences.push(format!("the next request on the connection: {broken}")),
        }
    }

    fn report(&self) -> Option<String> {
        if self.differences.is_empty() {
            return None;
        }
        let mut text = format!("  sent:\n    {}\n  received:\n    {}\n", printable(&self.sent), self.client.received());
        for difference in &self.differences {
            writeln!(text, "  differs: {difference}").expect("a String grows");
        }
        Some(text)
    }
}

/// The row as HEAD, if it is one plain GET for the whole (RFC 9110 section 14.2 defines Range for GET only).
fn head_twin(row: &Row, steps: &[Step]) -> Option<String> {
    let [Step { send, expect }] = steps else { return None };
    let plain = row.mirror && expect.len() == 1 && !row.half_close && !send.to_ascii_lowercase().contains("\r\nrange:");
    plain.then(|| send.strip_prefix("GET ").map(|rest| format!("HEAD {rest}"))).flatten()
}

/// RFC 9110 section 9.3.2: HEAD is answered with the head that GET is answered with.
fn mirror(server: &Server, request: &str, get: &Response) -> Option<String> {
    let mut client = server.client();
    let _ = client.try_send(&expand(request));
    let difference = match client.answer_to_head() {
        Err(broken) => Some(broken.to_string()),
        Ok(head) if head.status == get.status && timeless(&head) == timeless(get) => {
            let end = if get.says_close() { client.end() } else { Ok(()) };
            end.err()
        }
        Ok(head) => Some(format!(
            "GET was answered with {:?}\n    and HEAD with {head:?}",
            Response { body: vec![], ..get.clone() }
        )),
    };
    difference.map(|difference| format!("  sent: {}\n  differs: {difference}", printable(request.as_bytes())))
}

/// The header lines without the time, in an order of their own: that of lines with different names means nothing.
fn timeless(response: &Response) -> Vec<&(String, String)> {
    let mut lines: Vec<_> = response.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("date")).collect();
    lines.sort();
    lines
}

/// Replaces `{etag}`, `{etag:gzip}` (the validator of that encoding) and `{last-modified}` by the server's own.
fn resolve(server: &Server, row: &Row, mut step: Step) -> Step {
    let target =
        row.validators_of.clone().or_else(|| step.send.split(' ').nth(1).map(str::to_owned)).unwrap_or_default();
    let resolve = |text: &str| {
        let mut text = text.to_owned();
        for (placeholder, header, encoding) in [
            ("{etag}", "etag", "identity"),
            ("{etag:gzip}", "etag", "gzip"),
            ("{etag:br}", "etag", "br"),
            ("{last-modified}", "last-modified", "identity"),
        ] {
            if text.contains(placeholder) {
                let response = server.client().get_with(&target, &format!("Accept-Encoding: {encoding}\r\n"));
                let value = response.header(header);
                text = text.replace(placeholder, value.unwrap_or_else(|| panic!("{}: no {header}", row.name)));
            }
        }
        text
    };
    step.send = resolve(&step.send);
    for expect in &mut step.expect {
        for value in expect.headers.values_mut() {
            *value = resolve(value);
        }
    }
    step
}

/// Expands `{repeat:N:text}`, and `{byte:XX}` for bytes that are not UTF-8.
fn expand(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(start) = ["{repeat:", "{byte:"].iter().filter_map(|name| rest.find(name)).min() {
        bytes.extend_from_slice(&rest.as_bytes()[..start]);
        let end = start + rest[start..].find('}').expect("a placeholder ends");
        let (name, argument) = rest[start + 1..end].split_once(':').expect("a placeholder has an argument");
        if name == "byte" {
            bytes.push(u8::from_str_radix(argument, 16).expect("two hexadecimal digits"));
        } else {
            let (count, what) = argument.split_once(':').expect("a count and a text");
            bytes.extend_from_slice(what.repeat(count.parse().expect("a count")).as_bytes());
        }
        rest = &rest[end + 1..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
