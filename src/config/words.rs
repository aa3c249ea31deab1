//! Settings that are names: addresses, paths, words of a short list, header lines.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use http::{HeaderName, HeaderValue};
use toml::{Table, Value};
use tracing::level_filters::LevelFilter;

use super::plan::{
    AccessFormat, AccessLog, Address, Affinity, FilesMode, HeadStyle, LogFile, LogFormat, Model, Profile, TransferPath,
    UserName,
};
use super::units::Count;
use super::written::{Choice, LIST_MAX, Written, digits, items, quoted, text};

/// Longest path of a unix socket: `sun_path` in `unix(7)`, less the NUL at its end.
const SOCKET_PATH_MAX: usize = 107;

/// Longest name of a congestion control: `TCP_CA_NAME_MAX` of the kernel, less the NUL at its end.
const CONGESTION_MAX: usize = 15;

/// Longest name of a file: `NAME_MAX`.
const FILE_NAME_MAX: usize = 255;

impl Written for Address {
    fn expected() -> String {
        r#"an address (no host name) such as "127.0.0.1:8080", "[::1]:8080", "8080" (on every IPv4 address) or "unix:/path""#
            .into()
    }

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(port) => port_everywhere(&port.to_string()),
            other => address(text(other)?),
        }
    }

    fn write(&self) -> Value {
        self.to_string().into()
    }
}

fn address(text: &str) -> Option<Address> {
    if let Some(path) = text.strip_prefix("unix:") {
        return (1..=SOCKET_PATH_MAX).contains(&path.len()).then(|| Address::Unix(path.into()));
    }
    port_everywhere(text).or_else(|| text.parse().ok().map(Address::Tcp))
}

/// A port alone means every IPv4 address, as in nginx's `listen 8080`; `*:8080` and `:8080` are other servers' ways to say it.
fn port_everywhere(text: &str) -> Option<Address> {
    let port = text.strip_prefix("*:").or(text.strip_prefix(':')).unwrap_or(text);
    let port = u16::try_from(digits(port)?).ok()?;
    Some(Address::Tcp(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))))
}

impl Written for PathBuf {
    fn expected() -> String {
        "a path".into()
    }

    fn read(value: &Value) -> Option<Self> {
        text(value).filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    fn write(&self) -> Value {
        // Paths come from text, so nothing is lost.
        self.to_string_lossy().into_owned().into()
    }
}

impl Written for AccessLog {
    fn expected() -> String {
        r#""off", "stdout", "stderr" or a path with a dot or slash in it"#.into()
    }

    fn read(value: &Value) -> Option<Self> {
        match text(value)? {
            "off" => Some(AccessLog::Off),
            "stdout" => Some(AccessLog::Stdout),
            "stderr" => Some(AccessLog::Stderr),
            // A misspelt word must not become a file of that name.
            path => path.contains(['.', '/']).then(|| AccessLog::File(path.into())),
        }
    }

    fn write(&self) -> Value {
        match self {
            AccessLog::Off => "off".into(),
            AccessLog::Stdout => "stdout".into(),
            AccessLog::Stderr => "stderr".into(),
            AccessLog::File(path) => path.write(),
        }
    }
}

impl Written for LogFile {
    fn expected() -> String {
        r#""stderr" or a path with a dot or slash in it"#.into()
    }

    fn read(value: &Value) -> Option<Self> {
        match text(value)? {
            "stderr" => Some(LogFile::Stderr),
            // A misspelt word must not become a file of that name.
            path => path.contains(['.', '/']).then(|| LogFile::File(path.into())),
        }
    }

    fn write(&self) -> Value {
        match self {
            LogFile::Stderr => "stderr".into(),
            LogFile::File(path) => path.write(),
        }
    }
}

impl fmt::Display for UserName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.user)?;
        self.group.as_ref().map_or(Ok(()), |group| write!(f, ":{group}"))
    }
}

/// `"NAME"` or `"NAME:GROUP"`. Whether they exist shows on the machine that serves.
impl Written for UserName {
    fn expected() -> String {
        r#"a user, such as "www-data" or "www-data:adm""#.into()
    }

    fn read(value: &Value) -> Option<Self> {
        let usable = |name: &str| !name.is_empty() && !name.contains(|c: char| c == ':' || c.is_whitespace());
        let (user, group) = match text(value)?.split_once(':') {
            Some((user, group)) => (user, Some(group)),
            None => (text(value)?, None),
        };
        let both = usable(user) && group.is_none_or(usable);
        both.then(|| UserName { user: user.into(), group: group.map(Into::into) })
    }

    fn write(&self) -> Value {
        self.to_string().into()
    }
}

impl Choice for LevelFilter {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("off", LevelFilter::OFF),
        ("error", LevelFilter::ERROR),
        ("warn", LevelFilter::WARN),
        ("info", LevelFilter::INFO),
        ("debug", LevelFilter::DEBUG),
        ("trace", LevelFilter::TRACE),
    ];
}

impl Choice for LogFormat {
    const CHOICES: &'static [(&'static str, Self)] = &[("text", LogFormat::Text), ("json", LogFormat::Json)];
}

impl Choice for Model {
    const CHOICES: &'static [(&'static str, Self)] = &[
        (Model::EventLoop.name(), Model::EventLoop),
        (Model::BossWorker.name(), Model::BossWorker),
        (Model::WorkStealing.name(), Model::WorkStealing),
        (Model::ThreadPerConnection.name(), Model::ThreadPerConnection),
    ];
}

impl Choice for Profile {
    const CHOICES: &'static [(&'static str, Self)] = &[
        (Profile::None.name(), Profile::None),
        (Profile::Nginx.name(), Profile::Nginx),
        (Profile::Netty.name(), Profile::Netty),
        (Profile::Tomcat.name(), Profile::Tomcat),
        (Profile::TomcatBio.name(), Profile::TomcatBio),
        (Profile::Jetty.name(), Profile::Jetty),
    ];
}

impl Choice for HeadStyle {
    const CHOICES: &'static [(&'static str, Self)] = &[
        (HeadStyle::Quintain.name(), HeadStyle::Quintain),
        (HeadStyle::Nginx.name(), HeadStyle::Nginx),
        (HeadStyle::Tomcat.name(), HeadStyle::Tomcat),
        (HeadStyle::Jetty.name(), HeadStyle::Jetty),
        (HeadStyle::Netty.name(), HeadStyle::Netty),
    ];
}

impl Choice for FilesMode {
    const CHOICES: &'static [(&'static str, Self)] =
        &[(FilesMode::Cached.name(), FilesMode::Cached), (FilesMode::PerRequest.name(), FilesMode::PerRequest)];
}

impl Choice for TransferPath {
    const CHOICES: &'static [(&'static str, Self)] = &[
        (TransferPath::Auto.name(), TransferPath::Auto),
        (TransferPath::Memory.name(), TransferPath::Memory),
        (TransferPath::Sendfile.name(), TransferPath::Sendfile),
        (TransferPath::Stream.name(), TransferPath::Stream),
    ];
}

/// A number of connections: of the whole server, or of each worker, as nginx counts them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Connections {
    InAll(Count<1, 1_000_000>),
    EachWorker(Count<1, 1_000_000>),
}

/// What stands behind the number of each worker.
const EACH_WORKER: &str = "/worker";

impl Written for Connections {
    fn expected() -> String {
        format!(r#"{}, or of each worker, such as "768{EACH_WORKER}""#, Count::<1, 1_000_000>::expected())
    }

    fn read(value: &Value) -> Option<Self> {
        match value.as_str().and_then(|text| text.strip_suffix(EACH_WORKER)) {
            Some(count) => Count::read(&count.into()).map(Self::EachWorker),
            None => Count::read(value).map(Self::InAll),
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::InAll(count) => count.write(),
            Self::EachWorker(count) => format!("{}{EACH_WORKER}", count.0).into(),
        }
    }
}

/// Largest number of a CPU: what `sched_setaffinity(2)` takes without a larger set.
const CPU_MAX: i64 = 1023;

/// `"none"`, `"auto"`, or a list of CPU numbers; in a text they are separated by commas.
impl Written for Affinity {
    fn expected() -> String {
        format!(r#""none", "auto" or a list of CPUs from 0 to {CPU_MAX}, such as [0, 2]"#)
    }

    fn read(value: &Value) -> Option<Self> {
        let cpu = |number: i64| (0..=CPU_MAX).contains(&number).then_some(number as usize);
        match value {
            Value::Array(list) if !list.is_empty() && list.len() <= LIST_MAX => {
                list.iter().map(|entry| cpu(entry.as_integer()?)).collect::<Option<_>>().map(Affinity::Cpus)
            }
            Value::Integer(number) => cpu(*number).map(|cpu| Affinity::Cpus(vec![cpu])),
            _ => match text(value)? {
                "none" => Some(Affinity::None),
                "auto" => Some(Affinity::Auto),
                list => {
                    let numbers = items(list).map(|item| cpu(digits(item)?.try_into().ok()?));
                    numbers.collect::<Option<_>>().map(Affinity::Cpus)
                }
            },
        }
    }

    fn write(&self) -> Value {
        match self {
            Affinity::None => "none".into(),
            Affinity::Auto => "auto".into(),
            Affinity::Cpus(cpus) => cpus.iter().map(|cpu| Value::Integer(*cpu as i64)).collect::<Vec<_>>().into(),
        }
    }
}

impl Choice for AccessFormat {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("combined", AccessFormat::Combined), ("json", AccessFormat::Json)];
}

/// The name of a file, without a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct FileName(pub String);

impl Written for FileName {
    fn expected() -> String {
        "a file name without a slash".into()
    }

    fn read(value: &Value) -> Option<Self> {
        let name = text(value)?;
        let usable = (1..=FILE_NAME_MAX).contains(&name.len()) && !name.contains('/') && name != "." && name != "..";
        usable.then(|| FileName(name.into()))
    }

    fn write(&self) -> Value {
        self.0.clone().into()
    }
}

/// The name of a TCP congestion control. Whether the kernel has it shows when it is set.
#[derive(Debug, Clone, PartialEq)]
pub struct Congestion(pub String);

impl Written for Congestion {
    fn expected() -> String {
        r#"a name such as "cubic""#.into()
    }

    fn read(value: &Value) -> Option<Self> {
        let name = text(value)?;
        let usable = (1..=CONGESTION_MAX).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        usable.then(|| Congestion(name.into()))
    }

    fn write(&self) -> Value {
        self.0.clone().into()
    }
}

impl Written for HeaderValue {
    fn expected() -> String {
        "a header value of visible ASCII".into()
    }

    fn read(value: &Value) -> Option<Self> {
        let text = text(value)?.trim();
        let usable = !text.is_empty() && text.is_ascii();
        usable.then(|| HeaderValue::from_str(text).ok()).flatten()
    }

    fn write(&self) -> Value {
        header_text(self).into()
    }
}

fn header_text(value: &HeaderValue) -> &str {
    value.to_str().expect("it was read from text")
}

/// Header lines, each name at most once.
#[derive(Debug, Clone, PartialEq)]
pub struct HeaderLines(pub Vec<(HeaderName, HeaderValue)>);

impl Written for HeaderLines {
    fn expected() -> String {
        format!(
            "at most {LIST_MAX} lines, each name once, as {{ X-Name = \"value\" }} or as text X-Name=value,X-Other=value"
        )
    }

    fn read(value: &Value) -> Option<Self> {
        header_lines(value).ok().map(HeaderLines)
    }

    fn wrong_part(value: &Value) -> Option<String> {
        header_lines(value).err().flatten()
    }

    fn write(&self) -> Value {
        let lines = self.0.iter().map(|(name, value)| (name.to_string(), header_text(value).into()));
        Value::Table(lines.collect::<Table>())
    }
}

/// Or which part of the value cannot be meant, if it is one and not all of it.
fn header_lines(value: &Value) -> Result<Vec<(HeaderName, HeaderValue)>, Option<String>> {
    let written: Vec<(&str, Value)> = match value {
        Value::Table(table) => table.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
        Value::String(text) if text.is_empty() => vec![],
        Value::String(text) => text.split(',').map(name_and_value).collect::<Result<_, _>>()?,
        _ => return Err(None),
    };
    let mut lines: Vec<(HeaderName, HeaderValue)> = Vec::new();
    for (name, value) in written {
        let (name, value) = header_line(name.trim(), &value)?;
        if lines.len() == LIST_MAX {
            return Err(None);
        }
        if lines.iter().any(|(other, _)| *other == name) {
            return Err(Some(format!("{name} is there twice")));
        }
        lines.push((name, value));
    }
    Ok(lines)
}

fn header_line(name: &str, value: &Value) -> Result<(HeaderName, HeaderValue), String> {
    let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no name of a header line"))?;
    match HeaderValue::read(value) {
        Some(value) => Ok((known, value)),
        None => Err(format!("{} of {known} is not {}", quoted(value), HeaderValue::expected())),
    }
}

fn name_and_value(line: &str) -> Result<(&str, Value), String> {
    let (name, value) = line.split_once('=').ok_or_else(|| format!("{line:?} has no = in it"))?;
    Ok((name, value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(address: &str) -> Option<Address> {
        Some(Address::Tcp(address.parse().unwrap()))
    }

    #[test]
    fn addresses() {
        let longest = format!("unix:/{}", "s".repeat(SOCKET_PATH_MAX - 1));
        let rows = [
            ("127.0.0.1:8080", tcp("127.0.0.1:8080")),
            ("127.0.0.1:0", tcp("127.0.0.1:0")),
            ("[::1]:8080", tcp("[::1]:8080")),
            ("8080", tcp("0.0.0.0:8080")),
            (":8080", tcp("0.0.0.0:8080")),
            ("*:8080", tcp("0.0.0.0:8080")),
            ("unix:/run/q.sock", Some(Address::Unix("/run/q.sock".into()))),
            (&longest, Some(Address::Unix(longest["unix:".len()..].into()))),
            (&format!("{longest}s"), None),
            ("unix:", None),
            ("*8080", None),
            ("65536", None),
            ("::1:8080", None),
            ("127.0.0.1", None),
            ("localhost:8080", None),
            ("", None),
        ];
        for (written, address) in rows {
            assert_eq!(Address::read(&written.into()), address, "{written:?}");
        }
        assert_eq!(Address::read(&8080.into()), tcp("0.0.0.0:8080"));
        assert_eq!(Address::read(&(-1).into()), None);
    }

    #[test]
    fn connections_are_counted_in_two_ways() {
        let rows = [
            ("768", Some(Connections::InAll(Count(768)))),
            ("768/worker", Some(Connections::EachWorker(Count(768)))),
            ("0/worker", None),
            ("/worker", None),
            ("768 /worker", None),
            ("768/workers", None),
        ];
        for (written, connections) in rows {
            assert_eq!(Connections::read(&written.into()), connections, "{written:?}");
            if let Some(connections) = connections {
                assert_eq!(Connections::read(&connections.write()), Some(connections));
            }
        }
        assert_eq!(Connections::read(&768.into()), Some(Connections::InAll(Count(768))));
    }

    #[test]
    fn access_log_takes_words_and_paths() {
        let rows = [
            ("off", Some(AccessLog::Off)),
            ("stdout", Some(AccessLog::Stdout)),
            ("stderr", Some(AccessLog::Stderr)),
            ("access.log", Some(AccessLog::File("access.log".into()))),
            ("/dev/null", Some(AccessLog::File("/dev/null".into()))),
            ("stdot", None),
            ("on", None),
            ("", None),
        ];
        for (written, access) in rows {
            assert_eq!(AccessLog::read(&written.into()), access, "{written:?}");
        }
        assert_eq!(AccessLog::read(&true.into()), None);
    }

    #[test]
    fn names_are_names() {
        for wrong in ["", ".", "..", "a/b", "a\0b", &"n".repeat(256)] {
            assert_eq!(FileName::read(&wrong.into()), None, "{wrong:?}");
        }
        for wrong in ["", "no spaces", "sixteen_letters_"] {
            assert_eq!(Congestion::read(&wrong.into()), None, "{wrong:?}");
        }
        assert!(Congestion::read(&"fifteen_letters".into()).is_some());
        assert_eq!(LogFormat::read(&"xml".into()), None);
        assert_eq!(LogFormat::expected(), r#""text" or "json""#);
        assert_eq!(LevelFilter::expected(), r#""off", "error", "warn", "info", "debug" or "trace""#);
    }

    #[test]
    fn header_lines_in_a_table_and_in_a_text_are_the_same() {
        let table = toml::toml! { X-Run = "7" X-Path = "a=b" };
        let lines = HeaderLines::read(&Value::Table(table)).unwrap();
        assert_eq!(HeaderLines::read(&"x-path=a=b, X-Run= 7 ".into()), Some(lines.clone()));
        assert_eq!(HeaderLines::read(&lines.write()), Some(lines));
        assert_eq!(HeaderLines::read(&"".into()), Some(HeaderLines(vec![])));
        for wrong in ["X-Run", "X Run=7", "X-Run=", "X-Run=\u{e9}", "X-Run=a\nb", "X-Run=1,x-run=2"] {
            assert_eq!(HeaderLines::read(&wrong.into()), None, "{wrong:?}");
        }
        let parts = [
            ("X-Run", "\"X-Run\" has no = in it"),
            ("A=1,X Run=7", "\"X Run\" is no name of a header line"),
            ("A=1,X-Run=", "\"\" of x-run is not a header value of visible ASCII"),
            ("X-Run=1,x-run=2", "x-run is there twice"),
        ];
        for (wrong, part) in parts {
            assert_eq!(HeaderLines::wrong_part(&wrong.into()).as_deref(), Some(part));
        }
    }
}
