//! Where a plan lies, and where its relative paths begin.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use super::super::shipped::{self, Shipped};
use crate::config::Mistake;
use crate::config::written::nearest;
use crate::record::experiment::EXPERIMENT_FILE;

/// Longest file that is read, so that a device or a log named by mistake does not fill the memory.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The folder in which the plans that are built in would lie, so that their paths mean the same in both.
const SHIPPED_FOLDER: &str = "plans";

/// Where a plan lies.
#[derive(Debug, Clone)]
pub struct Place {
    /// The plan's name: the file's without its ending.
    pub name: String,
    /// How mistakes name the file.
    pub file: String,
    /// Where its relative paths begin; absolute, so that it means the same to a child process.
    folder: PathBuf,
    is_shipped: bool,
}

/// A plan, not yet understood.
#[derive(Debug, Clone)]
pub struct Text {
    /// Where it lies.
    pub place: Place,
    /// Its content.
    pub content: String,
}

impl Text {
    /// Finds what somebody named: a file if there is a slash in it or `.toml` behind it, else a plan that is built in. Looking
    /// for both would let a file of that name change what `sweep quick` means.
    ///
    /// # Errors
    ///
    /// There is no such file, or no such plan.
    pub fn find(word: &str, working: &Path) -> Result<Self, Mistake> {
        if word.contains('/') || word.ends_with(".toml") {
            return Self::open(Path::new(word), working);
        }
        let shipped = shipped::find(word).ok_or_else(|| no_plan(word, working))?;
        Ok(Self::of(shipped, working))
    }

    /// One that is built in.
    #[must_use]
    pub fn of(shipped: &Shipped, working: &Path) -> Self {
        let place = Place {
            name: shipped.name.to_owned(),
            file: format!("{}.toml (built in)", shipped.name),
            folder: working.join(SHIPPED_FOLDER),
            is_shipped: true,
        };
        Self { place, content: shipped.text.to_owned() }
    }

    fn open(path: &Path, working: &Path) -> Result<Self, Mistake> {
        let file = path.display().to_string();
        let refused = |says: String| Mistake { place: file.clone(), says };
        if let Some(says) = says_of_folder(path, working) {
            return Err(refused(says));
        }
        let content =
            read(&working.join(path)).map_err(|error| refused(format!("cannot be read as a plan: {error}")))?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| refused("is no file".to_owned()))?;
        let folder = working.join(path.parent().unwrap_or(Path::new("")));
        let folder = folder.canonicalize().map_err(|error| refused(format!("its folder cannot be found: {error}")))?;
        if folder.to_str().is_none() {
            return Err(refused(
                "the name of its folder is not UTF-8, and could not be handed to a command".to_owned(),
            ));
        }
        Ok(Self { place: Place { name, file, folder, is_shipped: false }, content })
    }
}

fn read(path: &Path) -> io::Result<String> {
    // To open a pipe that nobody writes to takes for ever, unless it is opened like this.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}

fn no_plan(word: &str, working: &Path) -> Mistake {
    let place = format!("plan {word:?}");
    let says = says_of_folder(Path::new(word), working).unwrap_or_else(|| unknown(word, working));
    Mistake { place, says }
}

fn unknown(word: &str, working: &Path) -> String {
    let file = format!("{word}.toml");
    if working.join(&file).is_file() {
        return format!("there is no plan of this name that is built in; did you mean the file {file}?");
    }
    let names: Vec<_> = shipped::ALL.iter().map(|shipped| shipped.name).collect();
    let way_out = match nearest(word, names.iter().copied()) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("built in are {}.", names.join(", ")),
    };
    format!("there is no plan of this name; {way_out} A file's name ends in .toml, or has a slash in it")
}

/// What somebody wants who names a folder: mostly its results.
fn says_of_folder(path: &Path, working: &Path) -> Option<String> {
    let (folder, shown) = (working.join(path), path.display());
    if path.as_os_str().is_empty() || !folder.is_dir() {
        return None;
    }
    if folder.join(EXPERIMENT_FILE).exists() {
        return Some(format!(
            "this is the folder of a sweep, and no plan; `quintain sweep --resume {shown}` goes on with it, and \
             `quintain report {shown}` reads what is there"
        ));
    }
    Some("this is a folder, and a plan is a file: its name ends in .toml, or has a slash in it".to_owned())
}

impl Place {
    /// A path of the plan. Dots are taken out by name and not by the kernel, because the folder of a built-in plan need not be
    /// there for `../fixtures` to mean something.
    pub(super) fn below(&self, path: &Path) -> PathBuf {
        plain(&self.folder.join(path))
    }

    /// A command whose program has a slash in it: that is a path of the plan; a bare name is looked for in PATH. `{plan}` in an
    /// argument is the plan's folder.
    pub(super) fn program(&self, words: &[String]) -> Vec<String> {
        let folder = plain(&self.folder).to_string_lossy().into_owned();
        let mut words: Vec<_> = words.iter().map(|word| word.replace("{plan}", &folder)).collect();
        if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
            *program = self.below(Path::new(program)).to_string_lossy().into_owned();
        }
        words
    }

    /// The text of a file beside the plan; of a plan that is built in, what is built in beside it.
    pub(super) fn text(&self, path: &Path) -> io::Result<String> {
        if self.is_shipped && path == Path::new(shipped::PUBLISHED.name) {
            return Ok(shipped::PUBLISHED.text.to_owned());
        }
        read(&self.below(path))
    }
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
