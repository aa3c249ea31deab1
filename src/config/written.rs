//! How a setting is written down, and how it is read back.
//!
//! Every layer hands over a [`Value`]: config.toml its own, environment and flags a text. So each type reads its text form
//! too, and a value means the same wherever it is written.

use std::borrow::Cow;
use std::marker::PhantomData;

use toml::Value;

/// Longest list that a setting takes; nobody listens on more addresses or adds more header lines by hand.
pub const LIST_MAX: usize = 64;

/// From which likeness on (Jaro-Winkler, 0 to 1) a name is offered for one that does not exist.
pub const LIKE: f64 = 0.8;

/// The name that is most like a word, if one is like it at all.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.into_iter().map(|name| (strsim::jaro_winkler(word, name), name));
    scored.filter(|(likeness, _)| *likeness > LIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

/// A type that a setting may have.
pub trait Written: Sized {
    /// What may be written; completes the sentence "expected ...".
    fn expected() -> String;
    /// `None`: that is not what was expected.
    fn read(value: &Value) -> Option<Self>;
    /// The value in its plainest form, which [`read`](Self::read) takes back.
    fn write(&self) -> Value;
    /// The word or number that was probably meant by a value that is not what was expected.
    fn meant(_value: &Value) -> Option<Cow<'static, str>> {
        None
    }
    /// What is wrong with a value of several parts of which one is not what was expected.
    fn wrong_part(_value: &Value) -> Option<String> {
        None
    }
}

/// The text of a value. A control character is in no name, address or header that is meant, and would break log lines.
pub fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.contains(|c: char| c.is_control()))
}

/// A whole number, as a number or as its text.
pub fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        Value::String(text) => digits(text),
        _ => None,
    }
}

/// Decimal digits and nothing else: `str::parse` would let a sign pass.
pub fn digits(text: &str) -> Option<u64> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The items of a list that is written as text: separated by commas, and as config.toml writes it if somebody pastes that,
/// in brackets and quotation marks. An IPv6 address begins with a bracket too, but does not end with one.
pub fn items(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    enclosed(text, '[', ']').unwrap_or(text).split(',').map(|item| {
        let item = item.trim();
        enclosed(item, '"', '"').or(enclosed(item, '\'', '\'')).unwrap_or(item)
    })
}

fn enclosed(text: &str, before: char, behind: char) -> Option<&str> {
    text.strip_prefix(before)?.strip_suffix(behind)
}

/// A value as an error quotes it: on one line.
pub fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}

impl Written for bool {
    fn expected() -> String {
        "true or false".into()
    }

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Boolean(answer) => Some(*answer),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::Boolean(*self)
    }
}

impl<T: Written> Written for Vec<T> {
    fn expected() -> String {
        format!("a list of 1 to {LIST_MAX}, each {}", T::expected())
    }

    fn read(value: &Value) -> Option<Self> {
        let items = listed(value)?;
        if items.is_empty() || items.len() > LIST_MAX {
            return None;
        }
        items.iter().map(T::read).collect()
    }

    fn wrong_part(value: &Value) -> Option<String> {
        let items = listed(value)?;
        let wrong = items.iter().find(|item| T::read(item).is_none()).filter(|_| items.len() > 1)?;
        Some(format!("{} is not", quoted(wrong)))
    }

    fn write(&self) -> Value {
        self.iter().map(T::write).collect::<Vec<_>>().into()
    }
}

fn listed(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items.clone()),
        Value::String(text) => Some(items(text).map(Value::from).collect()),
        _ => None,
    }
}

/// One of a few words.
pub trait Choice: Copy + PartialEq + 'static {
    const CHOICES: &'static [(&'static str, Self)];
}

impl<T: Choice> Written for T {
    fn expected() -> String {
        let words: Vec<_> = T::CHOICES.iter().map(|(word, _)| format!("{word:?}")).collect();
        match words.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            _ => words.concat(),
        }
    }

    fn read(value: &Value) -> Option<Self> {
        let text = value.as_str()?;
        T::CHOICES.iter().find(|(word, _)| *word == text).map(|(_, choice)| *choice)
    }

    fn write(&self) -> Value {
        let word = T::CHOICES.iter().find(|(_, choice)| choice == self);
        word.map_or("", |(word, _)| *word).into()
    }

    fn meant(value: &Value) -> Option<Cow<'static, str>> {
        let text = value.as_str()?.to_lowercase();
        nearest(&text, T::CHOICES.iter().map(|(word, _)| *word)).map(Cow::Borrowed)
    }
}

/// A value, or the word that says there is none: `Or<Auto, Count<1, 1024>>` is `"auto"` or a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Or<W, T> {
    pub value: Option<T>,
    word: PhantomData<W>,
}

impl<W, T> Or<W, T> {
    pub const WORD: Self = Or { value: None, word: PhantomData };

    pub const fn value(value: T) -> Self {
        Or { value: Some(value), word: PhantomData }
    }
}

/// The word of an [`Or`].
pub trait Word {
    const WORD: &'static str;
}

/// The program decides.
#[derive(Debug, Clone, PartialEq)]
pub struct Auto;

impl Word for Auto {
    const WORD: &'static str = "auto";
}

/// Not used.
#[derive(Debug, Clone, PartialEq)]
pub struct Off;

impl Word for Off {
    const WORD: &'static str = "off";
}

/// The kernel's configuration decides.
#[derive(Debug, Clone, PartialEq)]
pub struct System;

impl Word for System {
    const WORD: &'static str = "system";
}

/// Left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Empty;

impl Word for Empty {
    const WORD: &'static str = "";
}

impl<W: Word, T: Written> Written for Or<W, T> {
    fn expected() -> String {
        format!("{:?} or {}", W::WORD, T::expected())
    }

    fn read(value: &Value) -> Option<Self> {
        if value.as_str() == Some(W::WORD) {
            return Some(Self::WORD);
        }
        T::read(value).map(Self::value)
    }

    fn write(&self) -> Value {
        self.value.as_ref().map_or(W::WORD.into(), T::write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::units::Count;

    #[test]
    fn every_type_reads_its_own_value_and_its_text() {
        assert_eq!(bool::read(&true.into()), Some(true));
        assert_eq!(bool::read(&"false".into()), Some(false));
        assert_eq!(bool::read(&"yes".into()), None);
        assert_eq!(bool::read(&1.into()), None);

        type Numbers = Vec<Count<1, 9>>;
        let expected = Some(vec![Count(1), Count(2)]);
        assert_eq!(Numbers::read(&vec![1, 2].into()), expected);
        assert_eq!(Numbers::read(&"1, 2".into()), expected);
        assert_eq!(Numbers::read(&"[1, 2]".into()), expected);
        assert_eq!(Numbers::read(&" [ \"1\", '2' ] ".into()), expected);
        for wrong in ["1,,2", "[]", "[1, 2", "1, 2]", "[[1, 2]]", "[1], [2]", "\"1, 2\""] {
            assert_eq!(Numbers::read(&wrong.into()), None, "{wrong}");
        }
        assert_eq!(Numbers::read(&"".into()), None);
        assert_eq!(Numbers::read(&Value::Array(vec![])), None);
        assert_eq!(Numbers::read(&vec![1; LIST_MAX].into()).map(|list| list.len()), Some(LIST_MAX));
        assert_eq!(Numbers::read(&vec![1; LIST_MAX + 1].into()), None);

        type Workers = Or<Auto, Count<1, 9>>;
        assert_eq!(Workers::read(&"auto".into()), Some(Or::WORD));
        assert_eq!(Workers::read(&3.into()), Some(Or::value(Count(3))));
        assert_eq!(Workers::read(&"3".into()), Some(Or::value(Count(3))));
        assert_eq!(Workers::read(&"Auto".into()), None);
        assert_eq!(Workers::expected(), r#""auto" or a number from 1 to 9"#);
    }

    #[test]
    fn digits_are_digits_only() {
        assert_eq!(digits("12"), Some(12));
        for text in ["", "+1", "-1", " 1", "1 ", "0x1", "1_000", "18446744073709551616"] {
            assert_eq!(digits(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_quoted_value_stays_on_one_line() {
        assert_eq!(quoted(&"a\nb".into()), r#""a\nb""#);
        assert_eq!(quoted(&vec![1, 2].into()), "[1, 2]");
        assert_eq!(text(&"a\nb".into()), None);
    }
}
