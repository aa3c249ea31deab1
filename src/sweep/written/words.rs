//! How the values of a plan are written: names, lists of words, levels of concurrency, and what differs by document.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::config::units::Count;
use crate::config::written::{Choice, Written, text};
use crate::record::experiment::ConnectionKind;
use crate::sweep::cpus::CpuSet;

/// Longest name of a target or a document: they are parts of file names.
const NAME_MAX: usize = 64;

/// Longest question.
const QUESTION_MAX: usize = 300;

/// Most words of a command.
const WORDS_MAX: usize = 256;

/// Most levels of concurrency in one table.
const LEVELS_MAX: u32 = 1000;

/// Connections at once that can be asked for: as many as the load tool takes.
type Level = Count<1, 1_000_000>;

/// The name of a target or a document. It becomes part of URLs and file names, so it has no characters that mean something
/// there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(pub(super) String);

impl Written for Name {
    fn expected() -> String {
        format!("a name: up to {NAME_MAX} letters, digits, '.', '-' and '_', no '.' or '-' in front")
    }

    fn read(value: &Value) -> Option<Self> {
        let name = value.as_str()?;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        let fits = (1..=NAME_MAX).contains(&name.len()) && !name.starts_with(['.', '-']);
        (fits && name.bytes().all(allowed)).then(|| Self(name.to_owned()))
    }

    fn write(&self) -> Value {
        self.0.as_str().into()
    }
}

/// What is asked.
pub(super) struct Question(pub(super) String);

impl Written for Question {
    fn expected() -> String {
        format!("one sentence of up to {QUESTION_MAX} characters that ends with a question mark")
    }

    fn read(value: &Value) -> Option<Self> {
        let sentence = text(value)?.trim();
        let fits = (2..=QUESTION_MAX).contains(&sentence.chars().count());
        (fits && sentence.ends_with('?')).then(|| Self(sentence.to_owned()))
    }

    fn write(&self) -> Value {
        self.0.as_str().into()
    }
}

/// A text on one line that something else reads: a gate, a URL, addresses.
pub(super) struct Line(pub(super) String);

impl Written for Line {
    fn expected() -> String {
        "a text on one line".into()
    }

    fn read(value: &Value) -> Option<Self> {
        text(value).filter(|text| !text.trim().is_empty()).map(|text| Self(text.trim().to_owned()))
    }

    fn write(&self) -> Value {
        self.0.as_str().into()
    }
}

/// A program and its arguments, word by word. A text is refused: whoever writes one expects a shell to read it, with its
/// quotes, variables and `&&`, and none does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command(pub(super) Vec<String>);

impl Written for Command {
    fn expected() -> String {
        r#"a program and its arguments as a list, such as ["nginx", "-c", "{root}/nginx.conf"] (no shell reads it)"#
            .into()
    }

    fn read(value: &Value) -> Option<Self> {
        let Arguments(words) = Arguments::read(value)?;
        (!words.first()?.is_empty()).then_some(Self(words))
    }

    fn write(&self) -> Value {
        self.0.clone().into()
    }
}

/// Arguments, word by word; none too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arguments(pub(super) Vec<String>);

impl Written for Arguments {
    fn expected() -> String {
        format!(r#"a list of at most {WORDS_MAX} arguments, such as ["--set", "server.backlog=100"]"#)
    }

    fn read(value: &Value) -> Option<Self> {
        let words = value.as_array().filter(|words| words.len() <= WORDS_MAX)?;
        // The kernel ends an argument at a NUL.
        let word = |word: &Value| word.as_str().filter(|word| !word.contains('\0')).map(str::to_owned);
        words.iter().map(word).collect::<Option<_>>().map(Self)
    }

    fn write(&self) -> Value {
        self.0.clone().into()
    }
}

/// CPUs to be pinned to, or none in particular.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cpus {
    All,
    Only(CpuSet),
}

impl Written for Cpus {
    fn expected() -> String {
        format!(r#""all" or CPUs by number, each below {}, such as "0" or "0,2-3""#, CpuSet::MOST)
    }

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) if word == "all" => Some(Self::All),
            Value::Integer(number) => number.to_string().parse().ok().map(Self::Only),
            other => text(other)?.parse().ok().filter(|set| *set != CpuSet::default()).map(Self::Only),
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::All => "all".into(),
            Self::Only(set) => set.to_string().into(),
        }
    }
}

/// Connections at once: a number, a list, or from one to another in steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Levels(pub(super) Vec<u64>);

impl Written for Levels {
    fn expected() -> String {
        format!(
            "{}, a list of them, or {{ from = 50, to = 2000, step = 50 }}, at most {LEVELS_MAX} together",
            Level::expected()
        )
    }

    fn read(value: &Value) -> Option<Self> {
        let levels = match value {
            Value::Table(table) => ladder(table)?,
            Value::Array(items) => items.iter().map(level).collect::<Option<_>>()?,
            other => vec![level(other)?],
        };
        let fits = !levels.is_empty() && levels.len() <= LEVELS_MAX as usize;
        fits.then_some(Self(levels))
    }

    fn write(&self) -> Value {
        self.0.iter().map(|level| Value::Integer(level.cast_signed())).collect::<Vec<_>>().into()
    }

    fn meant(value: &Value) -> Option<Cow<'static, str>> {
        OneOrEach::<Level>::meant(value)
    }
}

fn level(value: &Value) -> Option<u64> {
    Level::read(value).map(|level| level.0.into())
}

fn ladder(table: &Table) -> Option<Vec<u64>> {
    let number = |key: &str| level(table.get(key)?);
    let (from, to, step) = (number("from")?, number("to")?, number("step")?);
    let fits = table.len() == 3 && from <= to && (to - from) / step < LEVELS_MAX.into();
    fits.then(|| (from..=to).step_by(usize::try_from(step).unwrap_or(usize::MAX)).collect())
}

/// The same for each document, or for each its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PerDocument<T> {
    Same(T),
    Each(BTreeMap<String, T>),
}

impl<T> PerDocument<T> {
    /// Names of the documents that have their own.
    pub(super) fn names(&self) -> Option<Vec<&str>> {
        match self {
            Self::Same(_) => None,
            Self::Each(values) => Some(values.keys().map(String::as_str).collect()),
        }
    }

    /// The one of this document.
    pub(super) fn of(&self, document: &str) -> Option<&T> {
        match self {
            Self::Same(value) => Some(value),
            Self::Each(values) => values.get(document),
        }
    }
}

impl<T: Written> Written for PerDocument<T> {
    fn expected() -> String {
        format!(r#"{}, or one for each document, such as {{ "1k.html" = …, "7.5m.html" = … }}"#, T::expected())
    }

    fn read(value: &Value) -> Option<Self> {
        let Value::Table(table) = value else { return T::read(value).map(Self::Same) };
        table.iter().map(|(name, value)| Some((name.clone(), T::read(value)?))).collect::<Option<_>>().map(Self::Each)
    }

    fn write(&self) -> Value {
        match self {
            Self::Same(value) => value.write(),
            Self::Each(values) => {
                Value::Table(values.iter().map(|(name, value)| (name.clone(), value.write())).collect())
            }
        }
    }

    fn meant(value: &Value) -> Option<Cow<'static, str>> {
        match value {
            Value::Table(table) => table.values().filter(|value| T::read(value).is_none()).find_map(T::meant),
            one => T::meant(one),
        }
    }
}

/// One, or several of which each makes a target of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OneOrEach<T> {
    One(T),
    Each(Vec<T>),
}

impl<T: Written> Written for OneOrEach<T> {
    fn expected() -> String {
        format!("{}, or a list of them, each of which is a target of its own", T::expected())
    }

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Array(_) => Vec::<T>::read(value).map(Self::Each),
            one => T::read(one).map(Self::One),
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::One(value) => value.write(),
            Self::Each(values) => values.write(),
        }
    }

    fn meant(value: &Value) -> Option<Cow<'static, str>> {
        match value.as_array() {
            Some(items) => items.iter().filter(|item| T::read(item).is_none()).find_map(T::meant),
            None => T::meant(value),
        }
    }
}

/// Kinds of connections: one, or a list.
pub(super) struct Kinds(pub(super) Vec<ConnectionKind>);

impl Written for Kinds {
    fn expected() -> String {
        r#""short", "keep-alive" or a list of both"#.into()
    }

    fn read(value: &Value) -> Option<Self> {
        match OneOrEach::<ConnectionKind>::read(value)? {
            OneOrEach::One(kind) => Some(Self(vec![kind])),
            OneOrEach::Each(kinds) => {
                (kinds.len() == 1 || kinds.len() == 2 && kinds[0] != kinds[1]).then_some(Self(kinds))
            }
        }
    }

    fn write(&self) -> Value {
        self.0.write()
    }

    fn meant(value: &Value) -> Option<Cow<'static, str>> {
        OneOrEach::<ConnectionKind>::meant(value)
    }
}

impl Choice for ConnectionKind {
    const CHOICES: &'static [(&'static str, Self)] =
        &[(Self::Short.name(), Self::Short), (Self::KeepAlive.name(), Self::KeepAlive)];
}

/// How large a difference has to be to matter.
pub(super) struct Band(pub(super) f64);

impl Written for Band {
    fn expected() -> String {
        "a share from 0 to 0.5, such as 0.02 for 2 %".into()
    }

    fn read(value: &Value) -> Option<Self> {
        let share = match value {
            Value::Float(share) => *share,
            Value::Integer(0) => 0.0,
            _ => return None,
        };
        (0.0..=0.5).contains(&share).then_some(Self(share))
    }

    fn write(&self) -> Value {
        self.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        let table: Table = format!("x = {text}").parse().unwrap();
        table["x"].clone()
    }

    #[test]
    fn levels() {
        let rows: &[(&str, Option<&[u64]>)] = &[
            ("50", Some(&[50])),
            ("[500, 50]", Some(&[500, 50])),
            ("{ from = 50, to = 200, step = 50 }", Some(&[50, 100, 150, 200])),
            ("{ from = 50, to = 199, step = 50 }", Some(&[50, 100, 150])),
            ("{ from = 7, to = 7, step = 1 }", Some(&[7])),
            ("0", None),
            ("[]", None),
            ("[50, 0]", None),
            ("{ from = 50, to = 200 }", None),
            ("{ from = 50, to = 40, step = 1 }", None),
            ("{ from = 1, to = 2, step = 0 }", None),
            ("{ from = 1, to = 2, step = 1, by = 1 }", None),
            ("{ from = 1, to = 1_000_000, step = 1 }", None),
            ("1.5", None),
        ];
        for (text, expected) in rows {
            assert_eq!(Levels::read(&value(text)).map(|levels| levels.0).as_deref(), *expected, "{text}");
        }
    }

    #[test]
    fn names() {
        for name in ["a", "our-nginx_2.0", "7.5m.html"] {
            assert!(Name::read(&name.into()).is_some(), "{name}");
        }
        for name in ["", ".a", "-a", "a/b", "a b", "é", "..", &"a".repeat(65)] {
            assert_eq!(Name::read(&name.into()), None, "{name}");
        }
    }

    #[test]
    fn cpus() {
        let only = |text: &str| Some(Cpus::Only(text.parse().unwrap()));
        let rows = [
            (r#""all""#, Some(Cpus::All)),
            ("0", only("0")),
            (r#""0,2-3""#, only("0,2-3")),
            (r#""""#, None),
            ("-1", None),
            (r#""every""#, None),
            ("1024", None),
        ];
        for (text, expected) in rows {
            assert_eq!(Cpus::read(&value(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_command_is_a_list() {
        assert_eq!(Command::read(&value(r#"["a b", ""]"#)), Some(Command(vec!["a b".into(), String::new()])));
        for text in [r#""nginx -g""#, "[]", r#"[""]"#, r#"["a", 1]"#, r#"["a\u0000"]"#] {
            assert_eq!(Command::read(&value(text)), None, "{text}");
        }
        assert_eq!(Arguments::read(&value("[]")), Some(Arguments(Vec::new())));
    }

    #[test]
    fn a_value_for_each_document() {
        type Requests = PerDocument<Count<1, 9>>;
        assert_eq!(Requests::read(&value("3")), Some(PerDocument::Same(Count(3))));
        let each = [("a".to_owned(), Count(1)), ("b".to_owned(), Count(2))];
        assert_eq!(Requests::read(&value("{ a = 1, b = 2 }")), Some(PerDocument::Each(each.into())));
        assert_eq!(Requests::read(&value("{ a = 1, b = 0 }")), None);
    }

    #[test]
    fn the_word_that_was_meant() {
        assert_eq!(Kinds::meant(&value(r#"["short", "keepalive"]"#)).as_deref(), Some("keep-alive"));
        assert_eq!(Kinds::meant(&value(r#""shorts""#)).as_deref(), Some("short"));
        assert_eq!(Kinds::meant(&value("3")), None);
        type Requests = PerDocument<Count<1, 100_000>>;
        for text in [r#""50k""#, r#"{ a = 3, b = "50k" }"#] {
            assert_eq!(Requests::meant(&value(text)).as_deref(), Some("50000"), "{text}");
        }
        assert_eq!(Levels::meant(&value(r#"[5, "1k"]"#)).as_deref(), Some("1000"));
    }

    #[test]
    fn questions_are_asked() {
        for text in ["Which is faster?", " Is it? "] {
            assert!(Question::read(&text.into()).is_some(), "{text}");
        }
        for text in ["", "?", "It is.", "Is\nit?"] {
            assert!(Question::read(&text.into()).is_none(), "{text}");
        }
    }
}
