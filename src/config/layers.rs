//! The layers of configuration, laid one over another: defaults < profile < file < environment <
//! flags.
//!
//! A layer is a list of [`Entry`]. Entries are applied one by one, so each mistake belongs to exactly one of them, and all
//! mistakes are found in one run. An entry replaces a setting as a whole, lists too.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use toml::Value;

use super::settings::{Refused, Settings};
use super::written::{LIKE, quoted};

/// One setting as one layer has it.
pub struct Entry {
    /// `section.key`; not yet known to exist.
    pub key: String,
    pub value: Value,
    pub origin: Origin,
}

/// Where a value came from; a later variant goes before an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    Default,
    Profile(&'static str),
    File { path: PathBuf, line: usize },
    Environment(String),
    Flag(String),
}

impl Origin {
    /// The name of a setting as this layer writes it.
    fn spell(&self, key: &str) -> String {
        match self {
            Origin::Environment(_) => variable(key),
            Origin::Default | Origin::Profile(_) | Origin::File { .. } | Origin::Flag(_) => key.into(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Profile(name) => write!(f, "profile {name}"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::Flag(name) => f.write_str(name),
        }
    }
}

/// Something that somebody wrote and that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {says}")]
pub struct Mistake {
    /// `config.toml:12`, `environment QUINTAIN_SERVER__WORKERS` or `--workers`.
    pub place: String,
    /// What is wrong, and what would be right.
    pub says: String,
}

impl Mistake {
    pub(super) fn new(place: impl fmt::Display, says: impl fmt::Display) -> Self {
        Mistake { place: place.to_string(), says: says.to_string() }
    }
}

/// The layers laid over one another.
#[derive(Default)]
pub struct Merged {
    pub settings: Settings,
    /// Of each setting that is not at its default.
    origins: BTreeMap<String, Origin>,
}

impl Merged {
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::Default)
    }

    /// Lays the next layer over those before it; what cannot be applied is left out and returned.
    pub fn apply(&mut self, layer: impl IntoIterator<Item = Entry>) -> Vec<Mistake> {
        layer.into_iter().filter_map(|entry| self.apply_one(entry).err()).collect()
    }

    fn apply_one(&mut self, Entry { key, value, origin }: Entry) -> Result<(), Mistake> {
        match self.settings.set(&key, &value) {
            Ok(()) => {
                self.origins.insert(key, origin);
                Ok(())
            }
            Err(Refused::Unknown) => Err(unknown(&key, &origin)),
            Err(Refused::Expected { expected, meant, wrong_part }) => {
                let part = wrong_part.map_or(String::new(), |part| format!("; {part}"));
                let way_out = meant.map_or(String::new(), |word| format!("; did you mean {word}?"));
                let says = format_args!("{key}: expected {expected}, got {}{part}{way_out}", quoted(&value));
                Err(Mistake::new(&origin, says))
            }
        }
    }
}

fn unknown(key: &str, origin: &Origin) -> Mistake {
    let way_out = match nearest(key) {
        Some(known) => format!("did you mean {}?", origin.spell(known)),
        None => existing(key),
    };
    Mistake::new(origin, format_args!("{key} is not a setting; {way_out}"))
}

/// What there is instead: in the section that was written, else the sections.
fn existing(key: &str) -> String {
    let section = key.split_once('.').map_or(key, |(section, _)| section);
    let keys: Vec<_> = Settings::keys_of(section).collect();
    if keys.is_empty() {
        return format!("the sections are {}", Settings::SECTIONS.join(", "));
    }
    format!("{section} has {}", keys.join(", "))
}

/// How much a setting of the section that was written goes before one as like it in another.
const SAME_SECTION: f64 = 0.05;

/// The setting whose name is most like this one; a right key in a wrong section or in none counts too.
fn nearest(key: &str) -> Option<&'static str> {
    let (section, last) = parts(key);
    let likeness = |known: &str| {
        let (known_section, known_last) = parts(known);
        // A section that is right says nothing about the key, and would make every key in it alike.
        let whole = if section == known_section { 0.0 } else { strsim::jaro_winkler(key, known) };
        let keys = strsim::jaro_winkler(last, known_last) * 0.95;
        // `keepalive_timeout` is a section and a key in one, as nginx has them.
        let joined = strsim::jaro_winkler(last, known) * 0.9;
        whole.max(keys).max(joined)
    };
    let like = Settings::KEYS.iter().map(|known| (likeness(known), *known)).filter(|(likeness, _)| *likeness > LIKE);
    let preferred = |(likeness, known): (f64, &'static str)| {
        let bonus = if parts(known).0 == section { SAME_SECTION } else { 0.0 };
        (likeness + bonus, known)
    };
    like.map(preferred).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// Section and key; without a dot all is key.
fn parts(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// The environment variable of a setting: `QUINTAIN_SERVER__WORKERS` for `server.workers`.
fn variable(key: &str) -> String {
    format!("QUINTAIN_{}", key.replace('.', "__").to_uppercase())
}

/// The layer of the environment: each variable that begins with `QUINTAIN_` and means a setting.
pub fn environment(variables: &[(OsString, OsString)]) -> Result<Vec<Entry>, Mistake> {
    let mut entries = Vec::new();
    for (name, value) in variables {
        let Some(name) = name.to_str() else { continue };
        if !means_a_setting(name) {
            continue;
        }
        let origin = Origin::Environment(name.into());
        let Some(value) = value.to_str() else {
            return Err(Mistake::new(origin, "its value is not UTF-8"));
        };
        entries.push(Entry { key: key_of(name), value: value.into(), origin });
    }
    entries.sort_by(|a, b| a.origin.cmp(&b.origin));
    Ok(entries)
}

/// A `__` makes a variable one of settings, whether its setting exists or not. Without it, it may be `QUINTAIN_CONFIG`, or
/// what an orchestrator adds for a service named quintain; but the very name of a setting with one `_` too few is its
/// misspelling, which must not be ignored in silence.
fn means_a_setting(name: &str) -> bool {
    let is_misspelt = |key: &str| variable(key).replace("__", "_").eq_ignore_ascii_case(name);
    name.starts_with("QUINTAIN_") && (name.contains("__") || Settings::KEYS.iter().copied().any(is_misspelt))
}

/// The setting that a variable names. Only capitals do: of two spellings of one name nobody could say which counts.
fn key_of(name: &str) -> String {
    let key = &name["QUINTAIN_".len()..];
    if key.contains(char::is_lowercase) { key.into() } else { key.replacen("__", ".", 1).to_lowercase() }
}

/// A flag of the command line that stands for a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// As it was typed: `--workers`.
    pub name: &'static str,
    /// `server.workers`
    pub key: String,
    /// The value; a list is separated by commas.
    pub text: String,
}

impl Flag {
    /// A flag, the setting it stands for, and what was typed after it.
    pub fn new(name: &'static str, key: &str, text: &str) -> Self {
        Flag { name, key: key.into(), text: text.into() }
    }
}

/// The layer of the command line.
pub fn flags(flags: &[Flag]) -> impl Iterator<Item = Entry> {
    flags.iter().map(|Flag { name, key, text }| Entry {
        key: key.clone(),
        value: text.as_str().into(),
        origin: Origin::Flag(name.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name() {
        let rows = [
            ("server.wokers", Some("server.workers")),
            ("server.worker", Some("server.workers")),
            ("sever.workers", Some("server.workers")),
            ("workers", Some("server.workers")),
            ("worker_processes", Some("server.workers")),
            ("server.max_conns", Some("server.max_connections")),
            ("keepalive.timeout", Some("keep_alive.timeout")),
            ("server.keepalive_timeout", Some("keep_alive.timeout")),
            ("keepAlive.maxRequests", Some("keep_alive.max_requests")),
            ("limits.header_bytes", Some("limits.head_bytes")),
            ("site.indexes", Some("site.index")),
            ("socket.no_delay", Some("socket.nodelay")),
            ("headers.server_tokens", Some("headers.server")),
            ("log.loglevel", Some("log.level")),
            // Two sections have it: the one that was written, and else either.
            ("server.listn", Some("server.listen")),
            ("admin.listn", Some("admin.listen")),
            ("log.colour", None),
            ("files.compression", None),
            ("tls.certificate", None),
            ("x", None),
            ("", None),
        ];
        for (typed, known) in rows {
            assert_eq!(nearest(typed), known, "{typed:?}");
        }
    }

    #[test]
    fn each_variable_is_the_name_of_one_setting() {
        for key in Settings::KEYS {
            assert_eq!(key_of(&variable(key)), *key);
        }
        assert_eq!(variable("keep_alive.max_requests"), "QUINTAIN_KEEP_ALIVE__MAX_REQUESTS");
    }

    #[test]
    fn a_variable_with_one_underscore_too_few_is_a_mistake_that_names_the_right_one() {
        for key in Settings::KEYS {
            let misspelt = variable(key).replace("__", "_");
            let layer = environment(&[(misspelt.clone().into(), "1".into())]).unwrap();
            let mistakes = Merged::default().apply(layer);
            let way_out = format!("did you mean {}?", variable(key));
            assert_eq!(mistakes.len(), 1, "{misspelt}");
            assert!(mistakes[0].says.ends_with(&way_out), "{}", mistakes[0]);
        }
    }

    #[test]
    fn a_value_that_is_no_text_is_a_mistake_of_settings_only() {
        use std::os::unix::ffi::OsStringExt;
        let latin1 = OsString::from_vec(vec![0xe9]);
        let says = environment(&[("QUINTAIN_SERVER__ROOT".into(), latin1.clone())]).err().map(|m| m.to_string());
        assert_eq!(says.as_deref(), Some("environment QUINTAIN_SERVER__ROOT: its value is not UTF-8"));
        assert!(environment(&[("QUINTAIN_ROOT".into(), latin1.clone()), (latin1.clone(), latin1)]).is_ok());
    }

    #[test]
    fn an_origin_of_a_later_layer_goes_before() {
        let file = Origin::File { path: "z".into(), line: 99 };
        let environment = Origin::Environment("z".into());
        let flag = Origin::Flag("a".into());
        let profile = Origin::Profile("z");
        assert!(Origin::Default < profile && profile < file && file < environment && environment < flag);
    }
}
