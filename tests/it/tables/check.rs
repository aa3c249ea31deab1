//! What differs between an answer and a row, and between an answer and what is true of every answer.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use regex_lite::Regex;

use super::row::{Afterwards, Expect};
use crate::harness::{Response, printable};

/// Everything that differs, one sentence each.
pub fn answer(response: &Response, expect: &Expect, head_only: bool, old_version: bool) -> Vec<String> {
    let mut differences = Vec::new();
    if response.status != expect.status {
        differences.push(format!("the status is {}, not {}", response.status, expect.status));
    }
    headers(response, &expect.headers, &mut differences);
    body(response, expect, &mut differences);
    framing(response, head_only, &mut differences);
    persistence(response, expect.connection, old_version, &mut differences);
    version(response, old_version, &mut differences);
    common_lines(response, &mut differences);
    differences
}

fn headers(response: &Response, expected: &BTreeMap<String, String>, differences: &mut Vec<String>) {
    for (name, wanted) in expected {
        let values: Vec<_> = response.all(name).collect();
        let fits = match values.as_slice() {
            [] => wanted == "absent",
            [value] => matches(wanted, value),
            _ => false,
        };
        if !fits {
            differences.push(format!("{name} is {values:?}, not {wanted:?}"));
        }
    }
}

fn matches(wanted: &str, value: &str) -> bool {
    let regex = |pattern| Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    if let Some(pattern) = wanted.strip_prefix('~') {
        regex(pattern).is_match(value)
    } else if let Some(pattern) = wanted.strip_prefix("!~") {
        !regex(pattern).is_match(value)
    } else {
        wanted == value
    }
}

fn body(response: &Response, expect: &Expect, differences: &mut Vec<String>) {
    if let Some(wanted) = &expect.body
        && !std::str::from_utf8(&response.body).is_ok_and(|body| matches(wanted, body))
    {
        differences.push(format!("the body is {:?}, not {wanted:?}", printable(&response.body)));
    }
    if let Some(length) = expect.body_length
        && response.body.len() != length
    {
        differences.push(format!("the body has {} bytes, not {length}", response.body.len()));
    }
    if let Some(wanted) = &expect.parts {
        match parts(response) {
            Ok(found) if found == *wanted => {}
            Ok(found) => differences.push(format!("the parts are {found:?}, not {wanted:?}")),
            Err(why) => differences.push(format!("the multipart body cannot be read: {why}")),
        }
    }
}

/// RFC 9112 section 6: where an answer ends is said once, and only where a body can be.
fn framing(response: &Response, head_only: bool, differences: &mut Vec<String>) {
    let lengths: Vec<_> = response.all("content-length").collect();
    let bodiless = response.status == 204 || response.status == 304;
    match lengths.as_slice() {
        [] if bodiless => {}
        [_] if !bodiless => {}
        _ => differences.push(format!("Content-Length {lengths:?} with status {}", response.status)),
    }
    if response.all("transfer-encoding").next().is_some() {
        differences.push("Transfer-Encoding on a static answer".to_owned());
    }
    if head_only && !response.body.is_empty() {
        differences.push("a body for HEAD".to_owned());
    }
}

/// RFC 9112 section 9.3: what the answer says about its connection is what becomes of it.
fn persistence(response: &Response, afterwards: Afterwards, old_version: bool, differences: &mut Vec<String>) {
    let tokens: Vec<_> = response.all("connection").map(str::to_ascii_lowercase).collect();
    let fits = match (afterwards, old_version) {
        (Afterwards::Ends | Afterwards::Either, _) => true,
        (Afterwards::Open, true) => tokens == ["keep-alive"],
        (Afterwards::Open, false) => tokens.is_empty() || tokens == ["keep-alive"],
        // To a client of HTTP/1.0 silence says close as well.
        (Afterwards::Closed, true) => tokens.is_empty() || tokens == ["close"],
        (Afterwards::Closed, false) => tokens == ["close"],
    };
    if !fits {
        differences.push(format!("Connection is {tokens:?} on a connection that is to be {afterwards:?}"));
    }
}

/// RFC 9110 section 2.5 has a server answer with its own version; the client's own, if it is lower, is as good.
fn version(response: &Response, old_version: bool, differences: &mut Vec<String>) {
    let fits = response.version == "HTTP/1.1" || (old_version && response.version == "HTTP/1.0");
    if !fits {
        differences.push(format!("the version is {}", response.version));
    }
}

fn common_lines(response: &Response, differences: &mut Vec<String>) {
    let date = response.all("date").next().and_then(|date| httpdate::parse_http_date(date).ok());
    let fresh = date.and_then(|date| SystemTime::now().duration_since(date).ok());
    // A cached Date line may be behind, and both clocks are one; a minute leaves room for a machine that was asleep.
    if fresh.is_none_or(|age| age >= Duration::from_secs(60)) {
        differences.push(format!("Date is {:?}", response.all("date").collect::<Vec<_>>()));
    }
    let sniffable = response.all("content-type").next().is_some() && matches!(response.status, 200 | 206);
    if sniffable && response.all("x-content-type-options").collect::<Vec<_>>() != ["nosniff"] {
        differences.push("a typed body without X-Content-Type-Options: nosniff".to_owned());
    }
}

/// Takes a multipart/byteranges body apart: Content-Range and content of each part (RFC 9110 section 14.6).
fn parts(response: &Response) -> Result<Vec<(String, String)>, String> {
    let content_type = response.all("content-type").next().ok_or("no Content-Type")?;
    let boundary =
        content_type.strip_prefix("multipart/byteranges; boundary=").ok_or_else(|| content_type.to_owned())?;
    let text = std::str::from_utf8(&response.body).map_err(|_| "the body is not UTF-8")?;
    // RFC 2046 section 5.1.1: the line break before a delimiter belongs to it; the first may come without.
    let text = format!("\r\n{}", text.strip_prefix("\r\n").unwrap_or(text));
    let delimiter = format!("\r\n--{}", boundary.trim_matches('"'));
    let mut sections = text.split(&delimiter);
    if sections.next() != Some("") {
        return Err("something stands before the first delimiter".to_owned());
    }
    let mut parts = Vec::new();
    for section in sections.by_ref() {
        if let Some(after) = section.strip_prefix("--") {
            return if sections.next().is_none() && after.trim().is_empty() {
                Ok(parts)
            } else {
                Err("something stands after the last delimiter".to_owned())
            };
        }
        parts.push(part(section)?);
    }
    Err("the last delimiter is missing".to_owned())
}

fn part(section: &str) -> Result<(String, String), String> {
    let (head, content) = section.split_once("\r\n\r\n").ok_or("a part without an empty line")?;
    let lines: Vec<_> = head.trim_start().split("\r\n").filter_map(|line| line.split_once(": ")).collect();
    let value = |name: &str| lines.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| *value);
    value("content-type").ok_or("a part without Content-Type")?;
    let range = value("content-range").ok_or("a part without Content-Range")?;
    Ok((range.to_owned(), content.to_owned()))
}
