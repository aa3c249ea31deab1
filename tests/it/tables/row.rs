//! The rows as they are written.

use std::collections::BTreeMap;

use serde::Deserialize;

pub type Settings = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    row: Vec<Row>,
}

/// One situation and what must come of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub name: String,
    /// The bytes to send, in one write. With several expectations their answers are read one after the other.
    #[serde(default)]
    request: Option<String>,
    /// Short for a request: `GET <this> HTTP/1.1`, a Host, `lines`, an empty line.
    #[serde(default)]
    get: Option<String>,
    /// Header lines for `get`, without their ends.
    #[serde(default)]
    lines: Vec<String>,
    /// Several requests on one connection, each sent when the answer to the one before has been read.
    #[serde(default)]
    requests: Vec<String>,
    /// The target whose validators `{etag}` and `{last-modified}` mean, where it is not the request's own.
    #[serde(default)]
    pub validators_of: Option<String>,
    /// Shut the sending side once everything is sent.
    #[serde(default)]
    pub half_close: bool,
    /// Whether the row is asked again as HEAD; it is if it is a plain GET that asks for the whole.
    #[serde(default = "yes")]
    pub mirror: bool,
    #[serde(default)]
    pub settings: Settings,
    expect: OneOrMany<Expect>,
}

/// What must come back.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    pub status: u16,
    /// The server may as well close the connection without a word.
    #[serde(default)]
    pub or_silence: bool,
    /// Name to value, `absent`, `~` and a regular expression, or `!~` and one that must not match.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body, or a regular expression as for headers.
    #[serde(default)]
    pub body: Option<String>,
    #[serde(default)]
    pub body_length: Option<usize>,
    /// The parts of a multipart body: Content-Range and content of each.
    #[serde(default)]
    pub parts: Option<Vec<(String, String)>>,
    /// Whether the answer is one to HEAD, where the first bytes sent do not say it.
    #[serde(default)]
    pub head: Option<bool>,
    /// What becomes of the connection.
    #[serde(default)]
    pub connection: Afterwards,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Afterwards {
    /// It answers another request.
    #[default]
    Open,
    /// The answer says `Connection: close`, and the connection ends after its last byte.
    Closed,
    /// The connection ends after the answer, whatever the answer says: the client has said that it sends no more.
    Ends,
    /// The server may choose, but must do what its answer says.
    Either,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// Bytes to send at once, and the answers to read for them.
pub struct Step {
    pub send: String,
    pub expect: Vec<Expect>,
}

impl Row {
    /// The row as bytes to send and answers to read.
    pub fn steps(&self) -> Vec<Step> {
        let expect = match &self.expect {
            OneOrMany::One(one) => vec![one.clone()],
            OneOrMany::Many(many) => many.clone(),
        };
        if self.requests.is_empty() {
            return vec![Step { send: self.single_request(), expect }];
        }
        assert_eq!(self.requests.len(), expect.len(), "{}: one expectation for each request", self.name);
        let pairs = self.requests.iter().cloned().zip(expect);
        pairs.map(|(send, expect)| Step { send, expect: vec![expect] }).collect()
    }

    fn single_request(&self) -> String {
        match (&self.request, &self.get) {
            (Some(request), None) if self.lines.is_empty() => request.clone(),
            (None, Some(target)) => {
                let lines: String = self.lines.iter().map(|line| format!("{line}\r\n")).collect();
                format!("GET {target} HTTP/1.1\r\nHost: t\r\n{lines}\r\n")
            }
            _ => panic!("{}: needs `request`, or `get` with `lines`, or `requests`", self.name),
        }
    }
}

/// Reads a table; anything in it that is not understood is an error.
pub fn parse(name: &str, source: &str) -> Vec<Row> {
    let table: Table = toml::from_str(source).unwrap_or_else(|error| panic!("{name}.toml: {error}"));
    table.row
}

fn yes() -> bool {
    true
}
