//! For each measurement also ab's report, in a file of its own, so that the scripts that read ab's reports read these:
//!
//! ```sh
//! cd ab/nginx && grep "Requests per second:" 300k_* | awk -F':' '{print substr($1,6),$3}' | sort -n
//! ```
//!
//! The place is `ab/TARGET/DOCUMENT_CONCURRENCY`, the document without its ending. Further repeats, and the kind of connections
//! where the plan has both, are folders between, so that the names stay what scripts expect and nothing is written twice.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::record::Run;
use crate::record::experiment::{Cell, ConnectionKind, Document, Measured};
use crate::report::ab::{self, Options};
use crate::sweep::plan::Plan;

/// Below the sweep's folder.
const FOLDER: &str = "ab";

/// Where ab's reports of one sweep go.
#[derive(Debug)]
pub(super) struct AbTexts {
    folder: PathBuf,
    both_kinds: bool,
    documents: Vec<Document>,
}

impl AbTexts {
    pub(super) fn of(plan: &Plan, folder: &Path) -> Self {
        let first = plan.cells.first().map(|cell| cell.connections);
        let both_kinds = plan.cells.iter().any(|cell| Some(cell.connections) != first);
        Self { folder: folder.join(FOLDER), both_kinds, documents: plan.documents.clone() }
    }

    /// Writes the report of a measurement; one that is there, of a measurement that never came into the journal, is replaced.
    pub(super) fn write(&self, measured: &Measured) -> Result<(), String> {
        let Some(run) = measured.record.runs.first() else { return Ok(()) };
        let path = self.path(&measured.cell);
        let failed = |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", path.display());
        let text = text(run, measured.cell.connections).map_err(|error| failed(&error))?;
        put(&path, &text).map_err(|error| failed(&error))
    }

    fn path(&self, cell: &Cell) -> PathBuf {
        let Cell { target, document, connections, concurrency, repeat, .. } = cell;
        let mut path = self.folder.join(target);
        if self.both_kinds {
            path.push(connections.name());
        }
        if *repeat > 1 {
            path.push(format!("repeat-{repeat}"));
        }
        path.join(format!("{}_{concurrency}", self.short(document)))
    }

    /// A document's name without its ending, unless another one has that name already or would then have the same.
    fn short<'a>(&self, name: &'a str) -> &'a str {
        let stem = stem_of(name);
        let is_taken = |other: &Document| other.name != name && (other.name == stem || stem_of(&other.name) == stem);
        if self.documents.iter().any(is_taken) { name } else { stem }
    }
}

fn stem_of(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn text(run: &Run, connections: ConnectionKind) -> Result<String, impl std::fmt::Display> {
    let keep_alive = connections == ConnectionKind::KeepAlive;
    ab::render(run, &Options { keep_alive, ..Options::default() })
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(both_kinds: bool, documents: &[&str]) -> AbTexts {
        let document = |name: &&str| Document { name: (*name).into(), bytes: 1 };
        AbTexts { folder: "ab".into(), both_kinds, documents: documents.iter().map(document).collect() }
    }

    fn cell(document: &str, repeat: u64) -> Cell {
        let (target, document, connections) = ("nginx".into(), document.into(), ConnectionKind::Short);
        Cell { target, document, connections, concurrency: 50, repeat, requests: Some(10), duration_ms: None }
    }

    #[test]
    fn every_measurement_has_a_place_of_its_own() {
        let one = texts(false, &["300k.html", "README"]);
        let path = |texts: &AbTexts, document, repeat| texts.path(&cell(document, repeat)).display().to_string();
        assert_eq!(path(&one, "300k.html", 1), "ab/nginx/300k_50");
        assert_eq!(path(&one, "300k.html", 2), "ab/nginx/repeat-2/300k_50");
        assert_eq!(path(&one, "README", 1), "ab/nginx/README_50");
        let both = texts(true, &["7.5m.html", "7.5m.txt", "1k.html"]);
        assert_eq!(path(&both, "7.5m.html", 1), "ab/nginx/short/7.5m.html_50");
        assert_eq!(path(&both, "1k.html", 3), "ab/nginx/short/repeat-3/1k_50");
        // The second is what the third would be without its ending.
        let like = texts(false, &["a.txt", "a.html", "a.html.x", "b.x"]);
        let paths = ["a.txt", "a.html", "a.html.x", "b.x"].map(|name| path(&like, name, 1));
        assert_eq!(paths, ["a.txt_50", "a.html_50", "a.html.x_50", "b_50"].map(|name| format!("ab/nginx/{name}")));
    }
}
