//! `[[matrix]]`: what is measured of whom.

use std::collections::HashSet;

use super::documents::Documents;
use super::section::{At, Section, shortened};
use super::words::{Kinds, Levels, Name, PerDocument};
use crate::config::units::{Count, HOUR, Period};
use crate::config::written::nearest;
use crate::record::experiment::ConnectionKind;
use crate::sweep::order::Block;

type Requests = PerDocument<Count<1, { u32::MAX }>>;
type Time = PerDocument<Period<100, { 24 * HOUR }>>;

/// One table.
struct Typed {
    documents: At<Vec<Name>>,
    levels: At<Levels>,
    kinds: At<Kinds>,
    requests: Option<At<Requests>>,
    duration: Option<At<Time>>,
    /// Names of the targets, in the order of the plan.
    targets: Vec<String>,
}

/// The blocks of one table. `targets` are the names that there are, in the order of the plan; `room` is for how many cells
/// there still is.
pub(super) fn read(
    mut section: Section<'_>,
    targets: &[String],
    documents: &mut Documents<'_>,
    room: &mut u64,
) -> Vec<At<Block>> {
    let typed = Typed::read(&mut section, targets);
    let mut blocks = Vec::new();
    if let Some(typed) = &typed {
        documents.add(&typed.documents, &section);
        typed.check(&section);
        match room.checked_sub(typed.cells()) {
            Some(left) => (*room, blocks) = (left, typed.blocks()),
            None => section.wrong(section.line, "matrix: with this one there are more cells than anybody has time for"),
        }
    }
    let line = section.line;
    section.finish();
    blocks.into_iter().map(|value| At { value, line }).collect()
}

impl Typed {
    fn read(section: &mut Section<'_>, all: &[String]) -> Option<Self> {
        let documents = section.need("documents");
        let levels = section.need("concurrency");
        let kinds = section.need("connections");
        let (has_end, line) = (section.has("requests") || section.has("duration"), section.line);
        let (requests, duration) = (section.take("requests"), section.take("duration"));
        if !has_end {
            section.wrong(
                line,
                "matrix: when does a measurement end? Write requests, duration, or both: the first to come ends it",
            );
        }
        let targets = match section.take::<Vec<Name>>("targets") {
            Some(named) => subset(&named, all, section),
            None => all.to_vec(),
        };
        Some(Self { documents: documents?, levels: levels?, kinds: kinds?, requests, duration, targets })
    }

    /// A value for each document is there for each, and for no other.
    fn check(&self, section: &Section<'_>) {
        let names: Vec<_> = self.documents.value.iter().map(|Name(name)| name.as_str()).collect();
        let requests = self.requests.as_ref().and_then(|at| Some(("requests", at.line, at.value.names()?)));
        let duration = self.duration.as_ref().and_then(|at| Some(("duration", at.line, at.value.names()?)));
        for (key, line, written) in [requests, duration].into_iter().flatten() {
            for name in names.iter().filter(|name| !written.contains(name)) {
                section.wrong(line, format!("matrix.{key}: there is none for {name}, which is one of the documents"));
            }
            for name in written.iter().filter(|name| !names.contains(name)) {
                let name = shortened((*name).to_owned());
                section.wrong(line, format!("matrix.{key}: {name} is none of the documents of this table"));
            }
        }
    }

    fn cells(&self) -> u64 {
        let factors =
            [self.documents.value.len(), self.kinds.value.0.len(), self.levels.value.0.len(), self.targets.len()];
        factors.iter().fold(1, |product, factor| product.saturating_mul(*factor as u64))
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for Name(document) in &self.documents.value {
            let requests = self.requests.as_ref().and_then(|at| at.value.of(document)).map(|count| count.0.into());
            let duration = self.duration.as_ref().and_then(|at| at.value.of(document)).map(|period| period.0);
            let duration_ms = duration.map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
            for connections in &self.kinds.value.0 {
                for concurrency in &self.levels.value.0 {
                    let (document, targets) = (document.clone(), self.targets.clone());
                    let (connections, concurrency) = (*connections, *concurrency);
                    blocks.push(Block { document, connections, concurrency, requests, duration_ms, targets });
                }
            }
        }
        blocks
    }
}

/// Those that are named, in the order of the plan: it is the order within a block.
fn subset(named: &At<Vec<Name>>, all: &[String], section: &Section<'_>) -> Vec<String> {
    for Name(name) in named.value.iter().filter(|Name(name)| !all.contains(name)) {
        section.wrong(named.line, format!("matrix.targets: {}", no_such("target", name, all)));
    }
    all.iter().filter(|name| named.value.iter().any(|Name(wanted)| wanted == *name)).cloned().collect()
}

/// Why a name is none of those that there are, and which was probably meant.
pub(super) fn no_such(what: &str, name: &str, all: &[String]) -> String {
    match nearest(name, all.iter().map(String::as_str)) {
        Some(nearest) => format!("there is no {what} {name}; did you mean {nearest}?"),
        None => format!("there is no {what} {name}; there are {}", all.join(", ")),
    }
}

/// What a measurement is, besides its target.
type Same<'a> = (&'a str, &'a str, ConnectionKind, u64);

/// Two measurements of one target that nobody could tell apart in the report: those of which only the end differs too.
pub(super) fn doubles(blocks: &[At<Block>]) -> Vec<At<String>> {
    let mut seen: HashSet<Same<'_>> = HashSet::new();
    let mut doubles = Vec::new();
    for At { value: block, line } in blocks {
        let Block { document, connections, concurrency, .. } = block;
        let mut targets = block.targets.iter();
        if let Some(target) = targets.find(|target| !seen.insert((*target, document, *connections, *concurrency))) {
            let kind = connections.name();
            let what = format!("{document} over {concurrency} {kind} connections of {target}");
            doubles.push(At {
                value: format!("matrix: {what} is measured twice; repeats are order.repeats"),
                line: *line,
            });
        }
    }
    doubles
}
