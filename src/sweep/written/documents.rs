//! `root` and the documents in it: where they are, and how long.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::place::Place;
use super::section::{At, Section};
use super::words::Name;
use crate::config::written::nearest;
use crate::fixtures;
use crate::record::experiment::Document;

/// The folder of the bundled documents, as `quintain serve` looks for it.
const BUNDLED: &str = "fixtures";

/// Where the documents are.
pub(super) enum Root {
    /// A folder that the plan names.
    Named(PathBuf),
    /// The bundled ones: in this folder if it is there, else made when they are needed.
    Bundled(PathBuf),
}

impl Root {
    pub(super) fn read(section: &mut Section<'_>, place: &Place, working: &Path) -> Self {
        let Some(At { value, line }) = section.take::<PathBuf>("root") else {
            return Self::Bundled(working.join(BUNDLED));
        };
        let folder = place.below(&value);
        if !folder.is_dir() {
            section.wrong(line, format!("root: there is no folder {}", folder.display()));
        }
        Self::Named(folder)
    }

    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Named(folder) | Self::Bundled(folder) => folder,
        }
    }

    /// The document of this name, or why there is none.
    fn find(&self, name: &str) -> Result<Document, String> {
        match self {
            Self::Named(folder) => in_folder(folder, name),
            Self::Bundled(folder) => bundled(folder, name),
        }
    }
}

fn in_folder(folder: &Path, name: &str) -> Result<Document, String> {
    let path = folder.join(name);
    let facts = fs::metadata(&path).map_err(|error| format!("{} cannot be found: {error}", path.display()))?;
    if !facts.is_file() {
        return Err(format!("{} is not a file", path.display()));
    }
    Ok(Document { name: name.to_owned(), bytes: facts.len() })
}

/// The lengths are part of what was published: a folder in which somebody has written others is not measured as if it were
/// the bundled one.
fn bundled(folder: &Path, name: &str) -> Result<Document, String> {
    let standard = fixtures::standard();
    let Some(known) = standard.iter().find(|document| document.name() == name) else {
        return Err(no_such_document(&standard, name));
    };
    let (name, bytes) = (known.name().to_owned(), known.bytes());
    if folder.is_dir() {
        let there = in_folder(folder, &name)?.bytes;
        if there != bytes {
            return Err(format!(
                "{} has {there} bytes, and {bytes} as it is bundled; `quintain fixtures` writes it anew",
                folder.join(&name).display()
            ));
        }
    }
    Ok(Document { name, bytes })
}

fn no_such_document(standard: &[fixtures::Document], name: &str) -> String {
    let nearest = nearest(name, standard.iter().map(fixtures::Document::name));
    let way_out = nearest.map_or(String::new(), |nearest| format!("; did you mean {nearest}?"));
    let names: Vec<_> = standard.iter().map(fixtures::Document::name).collect();
    format!(
        "{name} is none of the bundled documents, which are {}{way_out}{}",
        names.join(", "),
        if way_out.is_empty() { "; a folder of your own is named by root" } else { "" }
    )
}

/// Documents that any table names, in the order in which they first stand there.
pub(super) struct Documents<'a> {
    root: &'a Root,
    seen: HashSet<String>,
    pub(super) found: Vec<Document>,
}

impl<'a> Documents<'a> {
    pub(super) fn of(root: &'a Root) -> Self {
        Self { root, seen: HashSet::new(), found: Vec::new() }
    }

    /// Takes note of a list; a name that is wrong is said once.
    pub(super) fn add(&mut self, names: &At<Vec<Name>>, section: &Section<'_>) {
        for Name(name) in &names.value {
            if !self.seen.insert(name.clone()) {
                continue;
            }
            match self.root.find(name) {
                Ok(document) => self.found.push(document),
                Err(says) => section.wrong(names.line, format!("matrix.documents: {says}")),
            }
        }
    }
}
