//! `[published]`: figures that somebody published, to be drawn beside what is measured.

use std::path::{Path, PathBuf};

use super::matrix::no_such;
use super::place::Place;
use super::section::{At, Section};
use super::words::Line;
use crate::record::experiment::{ConnectionKind, Published};
use crate::sweep::order::Block;

/// Most rows of one file.
const ROWS_MAX: usize = 10_000;

/// One line of the file. Its columns are told apart by their names; further ones may be there.
#[derive(Debug, serde::Deserialize)]
struct Row {
    source: String,
    server: String,
    version: String,
    connections: ConnectionKind,
    /// Name of the document here: published are 30,877 bytes, and here that is `30k.html`.
    here: String,
    /// Nobody wrote it down for some; such a row has no place in a curve.
    concurrency: Option<u64>,
    requests_per_second: f64,
    note: String,
}

/// The rows that the section asks for, and of them those that a block measures too.
pub(super) fn read(mut section: Section<'_>, place: &Place, blocks: &[At<Block>]) -> Vec<Published> {
    let file = section.take::<PathBuf>("file");
    let sources = section.take::<Vec<Line>>("sources");
    let servers = section.take::<Vec<Line>>("servers");
    let rows = file.as_ref().and_then(|file| open(file, &section, place));
    if let (None, Some(At { line, .. })) = (&file, sources.as_ref().or(servers.as_ref())) {
        section.wrong(*line, "published: of which file? Write file");
    }
    let rows = rows.unwrap_or_default();
    let wanted = |row: &Row| is_named(&sources, &row.source) && is_named(&servers, &row.server);
    if !rows.is_empty() {
        complain(&sources, "sources", &section, rows.iter().map(|row| row.source.as_str()));
        complain(&servers, "servers", &section, rows.iter().map(|row| row.server.as_str()));
    }
    section.finish();
    let measured = |row: &Row| {
        blocks.iter().any(|At { value, .. }| value.document == row.here && value.connections == row.connections)
    };
    rows.into_iter().filter(|row| wanted(row) && measured(row)).filter_map(Row::published).collect()
}

fn open(file: &At<PathBuf>, section: &Section<'_>, place: &Place) -> Option<Vec<Row>> {
    let rows = place.text(&file.value).map_err(|error| error.to_string()).and_then(|text| parse(&text));
    let refused = |says: String| section.wrong(file.line, format!("published.file: {}: {says}", shown(&file.value)));
    rows.map_err(refused).ok()
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
        let row: Row = row.map_err(|error| error.to_string())?;
        if !(row.requests_per_second.is_finite() && row.requests_per_second > 0.0) {
            return Err(format!("{} requests per second cannot have been measured", row.requests_per_second));
        }
        rows.push(row);
        if rows.len() > ROWS_MAX {
            return Err(format!("it has more than {ROWS_MAX} rows"));
        }
    }
    Ok(rows)
}

fn is_named(names: &Option<At<Vec<Line>>>, name: &str) -> bool {
    names.as_ref().is_none_or(|names| names.value.iter().any(|Line(wanted)| wanted == name))
}

/// Names that no row has.
fn complain<'r>(
    names: &Option<At<Vec<Line>>>,
    key: &str,
    section: &Section<'_>,
    rows: impl Iterator<Item = &'r str> + Clone,
) {
    let Some(At { value, line }) = names else { return };
    for Line(name) in value {
        if !rows.clone().any(|known| known == name) {
            let mut known: Vec<_> = rows.clone().map(str::to_owned).collect();
            known.sort_unstable();
            known.dedup();
            section.wrong(*line, format!("published.{key}: {}", no_such("row of", name, &known)));
        }
    }
}

impl Row {
    fn published(self) -> Option<Published> {
        let Self { source, server, version, connections, here, concurrency, requests_per_second, note } = self;
        let server = if version.is_empty() { server } else { format!("{server} {version}") };
        let requests_per_s = requests_per_second;
        Some(Published { source, server, document: here, connections, concurrency: concurrency?, requests_per_s, note })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::shipped;

    #[test]
    fn the_published_figures_can_all_be_read() {
        let rows = parse(shipped::PUBLISHED.text).unwrap();
        assert_eq!(rows.len(), 263);
        let bundled = crate::fixtures::standard();
        for row in &rows {
            assert!(bundled.iter().any(|document| document.name() == row.here), "{row:?}");
        }
        let last = rows.into_iter().next_back().and_then(Row::published).unwrap();
        assert_eq!((last.server.as_str(), last.concurrency), ("Tomcat Linux 2.6.35.4", 5000));
        assert!((last.requests_per_s - 28_249.3).abs() < f64::EPSILON);
    }

    #[test]
    fn what_is_no_table_of_figures() {
        let head = "source,server,version,connections,here,concurrency,requests_per_second,note\n";
        let rows = [
            ("a,b,,short,1k.html,50,1,\n", None),
            ("a,b,,short,1k.html,,1,\n", None),
            ("a,b,,long,1k.html,50,1,\n", Some("unknown variant `long`")),
            ("a,b,,short,1k.html,50,fast,\n", Some("invalid float")),
            ("a,b,,short,1k.html,50,0,\n", Some("0 requests per second")),
            ("a,b,,short,1k.html,50,NaN,\n", Some("NaN requests per second")),
            ("a,b,,short\n", Some("4 fields")),
        ];
        for (row, expected) in rows {
            let error = parse(&format!("{head}{row}")).err();
            match expected {
                None => assert_eq!(error, None, "{row}"),
                Some(part) => assert!(error.as_ref().is_some_and(|error| error.contains(part)), "{row}: {error:?}"),
            }
        }
        let error = parse("a,b\n1,2\n").unwrap_err();
        assert!(error.contains("missing field `source`"), "{error}");
    }
}
