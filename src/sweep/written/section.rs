//! A plan's text as sections whose keys are taken one by one.
//!
//! A key exists because somebody takes it, so that there is no second list of names to be kept: what nobody took is unknown,
//! and the nearest of all that were asked for is offered instead. All mistakes of a file are found in one run.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use crate::config::written::{LIKE, Written, quoted};
use crate::config::{Mistake, Mistakes};

/// Longest quotation in a mistake; a value may be as long as its file.
const QUOTED_MAX: usize = 80;

/// Most tables of one name, such as `[[target]]`.
const TABLES_MAX: usize = 64;

/// A value, and the line of its key.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) line: usize,
}

/// The text of a plan, and what is wrong with it so far.
pub(super) struct Sheet<'a> {
    /// The file, as mistakes name it.
    name: &'a str,
    text: &'a str,
    mistakes: RefCell<Vec<(usize, String)>>,
    /// Section and key of everything that was asked for.
    known: RefCell<Vec<(String, &'static str)>>,
    /// Line, section and key of what nobody asked for.
    unknown: RefCell<Vec<(usize, String, String)>>,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text, mistakes: RefCell::default(), known: RefCell::default(), unknown: RefCell::default() }
    }

    /// The whole text as one section without a name, or what keeps it from being TOML.
    pub(super) fn parse(&'a self) -> Result<Section<'a>, Mistakes> {
        match DeTable::parse(self.text) {
            Ok(table) => Ok(Section::of(self, String::new(), 1, table.into_inner())),
            Err(error) => {
                let line = self.line(error.span().map_or(0, |span| span.start));
                Err(self.mistake(line, &format!("not TOML: {}", error.message())).into())
            }
        }
    }

    /// Notes a mistake.
    pub(super) fn wrong(&self, line: usize, says: impl Into<String>) {
        self.mistakes.borrow_mut().push((line, says.into()));
    }

    /// The place of a line, as a mistake begins with it.
    pub(super) fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.name)
    }

    /// Everything that was wrong, in the order of the file.
    pub(super) fn verdict(&self) -> Result<(), Mistakes> {
        let mut mistakes = self.mistakes.borrow().clone();
        let known = self.known.borrow();
        let unknown = self.unknown.borrow();
        mistakes.extend(unknown.iter().map(|(line, section, key)| (*line, unknown_key(section, key, &known))));
        mistakes.sort();
        mistakes.dedup();
        let mistakes: Vec<_> = mistakes.iter().map(|(line, says)| self.mistake(*line, says)).collect();
        if mistakes.is_empty() { Ok(()) } else { Err(Mistakes(mistakes)) }
    }

    fn mistake(&self, line: usize, says: &str) -> Mistake {
        Mistake { place: self.place(line), says: says.to_owned() }
    }

    fn line(&self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }
}

/// `order.repeat is no key of a plan; did you mean order.repeats?`
fn unknown_key(section: &str, key: &str, known: &[(String, &'static str)]) -> String {
    let likeness = |(_, known): &(String, &'static str)| strsim::jaro_winkler(key, known);
    // Of two that are as like, the one in the section that was written.
    let preferred = |name: &(String, &'static str)| likeness(name) + if name.0 == section { 0.05 } else { 0.0 };
    let like = known.iter().filter(|name| likeness(name) > LIKE);
    let way_out = match like.max_by(|a, b| preferred(a).total_cmp(&preferred(b))) {
        Some((section, key)) => format!("did you mean {}?", dotted(section, key)),
        None => keys_of(section, known),
    };
    format!("{} is no key of a plan; {way_out}", shortened(dotted(section, key)))
}

/// What there is instead.
fn keys_of(section: &str, known: &[(String, &'static str)]) -> String {
    let mut keys: Vec<_> = known.iter().filter(|(of, _)| of == section).map(|(_, key)| *key).collect();
    keys.sort_unstable();
    keys.dedup();
    let whose = if section.is_empty() { "a plan" } else { section };
    format!("{whose} has {}", keys.join(", "))
}

fn dotted(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// A name or value as a sentence quotes it.
pub(super) fn shortened(text: String) -> String {
    match text.char_indices().nth(QUOTED_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The keys of one table, until they are taken.
pub(super) struct Section<'a> {
    sheet: &'a Sheet<'a>,
    /// As mistakes name it: `order.warm_up`; empty for the whole file.
    name: String,
    /// Where it begins.
    pub(super) line: usize,
    keys: Vec<(String, usize, Spanned<DeValue<'a>>)>,
}

impl<'a> Section<'a> {
    fn of(sheet: &'a Sheet<'a>, name: String, line: usize, table: DeTable<'a>) -> Self {
        let named = |(key, value): (Spanned<_>, _)| {
            let line = sheet.line(key.span().start);
            (String::from(key.into_inner()), line, value)
        };
        let keys = table.into_iter().map(named).collect();
        Self { sheet, name, line, keys }
    }

    fn pop(&mut self, key: &'static str) -> Option<(usize, Spanned<DeValue<'a>>)> {
        self.sheet.known.borrow_mut().push((self.name.clone(), key));
        let at = self.keys.iter().position(|(name, ..)| name == key)?;
        let (_, line, value) = self.keys.swap_remove(at);
        Some((line, value))
    }

    /// Takes a value. One that is not what was expected is a mistake, and is as if it were not there.
    pub(super) fn take<T: Written>(&mut self, key: &'static str) -> Option<At<T>> {
        let (line, value) = self.pop(key)?;
        let name = dotted(&self.name, key);
        let Ok(value) = Value::deserialize(value.into_deserializer()) else {
            // The one thing that a parsed document may hold and a `Value` may not.
            self.sheet.wrong(line, format!("{name}: a number is beyond 64 bits"));
            return None;
        };
        let read = T::read(&value);
        if read.is_none() {
            let way_out = T::meant(&value).map_or(String::new(), |word| format!("; did you mean {word}?"));
            let got = shortened(quoted(&value));
            self.sheet.wrong(line, format!("{name}: expected {}, got {got}{way_out}", T::expected()));
        }
        read.map(|value| At { value, line })
    }

    /// Takes a value that has to be there.
    pub(super) fn need<T: Written>(&mut self, key: &'static str) -> Option<At<T>> {
        if !self.has(key) {
            let name = dotted(&self.name, key);
            self.wrong(self.line, format!("{name} is missing; expected {}", T::expected()));
        }
        self.take(key)
    }

    /// Whether a key is still there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(name, ..)| name == key)
    }

    /// Takes a table; one that is not there has no keys, so that its defaults stand where the others do.
    pub(super) fn section(&mut self, key: &'static str) -> Section<'a> {
        let name = dotted(&self.name, key);
        match self.pop(key) {
            Some((line, value)) => self.table(name, line, value),
            None => Section::of(self.sheet, name, self.line, DeTable::new()),
        }
    }

    fn table(&self, name: String, line: usize, value: Spanned<DeValue<'a>>) -> Section<'a> {
        match value.into_inner() {
            DeValue::Table(table) => Section::of(self.sheet, name, line, table),
            other => {
                self.sheet.wrong(line, format!("{name}: expected a table, [{name}], got {}", article(&other)));
                Section::of(self.sheet, name, line, DeTable::new())
            }
        }
    }

    /// Takes the tables that are written as `[[key]]`.
    pub(super) fn sections(&mut self, key: &'static str) -> Vec<Section<'a>> {
        let name = dotted(&self.name, key);
        let Some((line, value)) = self.pop(key) else { return Vec::new() };
        let DeValue::Array(items) = value.into_inner() else {
            self.sheet.wrong(line, format!("{name}: there may be several, each of which begins with [[{name}]]"));
            return Vec::new();
        };
        if items.len() > TABLES_MAX {
            self.sheet.wrong(line, format!("{name}: there are {} of them, and at most {TABLES_MAX}", items.len()));
        }
        let table = |item: Spanned<_>| self.table(name.clone(), self.sheet.line(item.span().start), item);
        items.into_iter().take(TABLES_MAX).map(table).collect()
    }

    /// Notes a mistake about a line of it.
    pub(super) fn wrong(&self, line: usize, says: impl Into<String>) {
        self.sheet.wrong(line, says);
    }

    /// What nobody took is unknown.
    pub(super) fn finish(self) {
        let unknown = self.keys.into_iter().map(|(key, line, _)| (line, self.name.clone(), key));
        self.sheet.unknown.borrow_mut().extend(unknown);
    }
}

fn article(value: &DeValue<'_>) -> String {
    let kind = value.type_str();
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}
