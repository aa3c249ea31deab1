//! The file: which one it is, and its entries with their lines.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::layers::{Entry, Mistake, Origin};
use super::settings::Settings;

/// The file that is read when nobody names one, if it is there.
const USUAL: &str = "config.toml";

/// The environment variable that names the file.
const VARIABLE: &str = "QUINTAIN_CONFIG";

/// Longest file that is read, so that a device or a log named by mistake does not fill the memory.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The layer of the file, and which one that is: the one named by the flag, else by the environment, else config.toml if it is
/// there. Relative paths begin at `folder`.
pub fn layer(
    flag: Option<&Path>,
    environment: &[(OsString, OsString)],
    folder: &Path,
) -> Result<(Option<PathBuf>, Vec<Entry>), Mistake> {
    let named = flag.map(PathBuf::from).or_else(|| named_by(environment));
    let must_exist = named.is_some();
    let path = named.unwrap_or_else(|| USUAL.into());
    match read(&folder.join(&path)) {
        Ok(text) => Ok((Some(folder.join(&path)), entries(&text, &path)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => Ok((None, vec![])),
        Err(error) => Err(Mistake::new(
            path.display(),
            format_args!("cannot be read as configuration: {error}; {}", way_out(flag, &error)),
        )),
    }
}

/// What somebody can do about a file that cannot be read, who has named it by a flag, by a variable or not at all.
fn way_out(flag: Option<&Path>, error: &io::Error) -> String {
    match (error.kind(), flag) {
        (io::ErrorKind::NotFound, Some(_)) => {
            "name the file that is meant with --config, or leave that away".to_owned()
        }
        (io::ErrorKind::NotFound, None) => format!("name the file that is meant in {VARIABLE}, or unset it"),
        (io::ErrorKind::PermissionDenied, _) => "let this user read it, or name another with --config".to_owned(),
        _ => "name a file of settings with --config".to_owned(),
    }
}

/// An empty variable is how container files say "none".
fn named_by(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let (_, path) = environment.iter().find(|(name, _)| name == VARIABLE)?;
    (!path.is_empty()).then(|| path.into())
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}

/// Without waiting: a named pipe would keep whoever opens it until somebody writes, and at a reload that is the thread that
/// keeps all deadlines. A pipe that the process was started with (`--config <(generate)`) has its writer already.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let is_inherited =
        path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd") || path == Path::new("/dev/stdin");
    if file.metadata()?.file_type().is_fifo() && !is_inherited {
        return Err(io::Error::other("it is a named pipe, and can be read only once; name a file"));
    }
    rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// The entries of a file's text, in its order. Every setting is `section.key`; what stands elsewhere becomes an entry too,
/// under a name that no setting has.
fn entries(text: &str, path: &Path) -> Result<Vec<Entry>, Mistake> {
    let origin = |offset| Origin::File { path: path.into(), line: line(text, offset) };
    let document = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Mistake::new(origin(offset), format_args!("not TOML: {}", error.message()))
    })?;
    let mut entries = Vec::new();
    for (section, value) in document.into_inner() {
        let name = section.get_ref();
        match value.into_inner() {
            DeValue::Table(keys) if !keys.is_empty() || Settings::SECTIONS.contains(&name.as_ref()) => {
                for (key, value) in keys {
                    let origin = origin(key.span().start);
                    entries.push(entry(format!("{name}.{}", key.get_ref()), value, origin)?);
                }
            }
            other => {
                let value = Spanned::new(section.span(), other);
                entries.push(entry(name.to_string(), value, origin(section.span().start))?);
            }
        }
    }
    entries.sort_by(|a, b| a.origin.cmp(&b.origin));
    Ok(entries)
}

fn entry(key: String, value: Spanned<DeValue<'_>>, origin: Origin) -> Result<Entry, Mistake> {
    // The one thing that a parsed document may hold and a `Value` may not.
    let too_large = |_| Mistake::new(&origin, format_args!("{key}: a number is beyond 64 bits"));
    let value = Value::deserialize(value.into_deserializer()).map_err(too_large)?;
    Ok(Entry { key, value, origin })
}

fn line(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_has_the_line_of_its_key() {
        let text = "log.level = 'warn'\r\n[server]\n\n  workers = 2\nlisten = [\n  '80',\n]\n[headers]\n[headers.extra]\nX-A = 'b'\n[site]";
        let entries = entries(text, Path::new("a.toml")).unwrap();
        let places: Vec<_> = entries.iter().map(|entry| format!("{} {}", entry.origin, entry.key)).collect();
        let expected =
            ["a.toml:1 log.level", "a.toml:4 server.workers", "a.toml:5 server.listen", "a.toml:9 headers.extra"];
        assert_eq!(places, expected);
    }

    #[test]
    fn what_is_in_no_section_is_an_entry_too() {
        let rows =
            [("port = 80", "port"), ("[tls]", "tls"), ("[[server]]\nworkers = 2", "server"), ("server = 1", "server")];
        for (text, key) in rows {
            let entries = entries(text, Path::new("a.toml")).unwrap();
            assert_eq!(entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), [key], "{text}");
        }
        assert!(entries("[site]\n[log]\n# nothing\n", Path::new("a.toml")).unwrap().is_empty());
    }
}
