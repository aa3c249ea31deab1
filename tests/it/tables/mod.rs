//! Every row of `tests/tables/*.toml`, sent as raw bytes to the real server, once for each shape of the server.
//!
//! Beside what a row expects, [`check`] holds every answer to what is true of all of them, and asks each row that is
//! a plain GET again as HEAD.

mod check;
mod exchange;
mod row;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::harness::{Launch, Server, Site};
use row::{Row, Settings};

/// The forms that the server can take without any answer changing: settings that are added to every row's own. Each
/// I/O model, each way from a file to the socket, and the pairs of them whose code is not that of either alone.
const SHAPES: &[(&str, &[(&str, &str)])] = &[
    ("one worker", &[("server.workers", "1")]),
    ("two workers", &[("server.workers", "2")]),
    ("boss and workers", &[("server.model", "boss-worker"), ("server.workers", "2")]),
    ("work stealing", &[("server.model", "work-stealing"), ("server.workers", "2")]),
    ("threads", &[("server.model", "thread-per-connection")]),
    ("from memory", &[("transfer.path", "memory"), ("files.cache_file_max", "0")]),
    ("by sendfile", &[("transfer.path", "sendfile"), ("files.cache_file_max", "0")]),
    ("streamed", &[("transfer.path", "stream"), ("transfer.chunk", "1k"), ("files.cache_file_max", "0")]),
    ("files per request", &[("files.mode", "per-request")]),
    (
        "threads, by sendfile, files per request",
        &[("server.model", "thread-per-connection"), ("transfer.path", "sendfile"), ("files.mode", "per-request")],
    ),
    (
        "threads, streamed",
        &[("server.model", "thread-per-connection"), ("transfer.path", "stream"), ("files.cache_file_max", "0")],
    ),
    (
        "work stealing, streamed",
        &[("server.model", "work-stealing"), ("transfer.path", "stream"), ("files.cache_file_max", "0")],
    ),
];

/// Fewest rows that all tables have together; a table that is read in part must not pass.
const ROWS: usize = 550;

const TABLES: &[(&str, &str)] = &[
    ("connections", include_str!("../../tables/connections.toml")),
    ("requests", include_str!("../../tables/requests.toml")),
    ("targets", include_str!("../../tables/targets.toml")),
    ("validators", include_str!("../../tables/validators.toml")),
    ("ranges", include_str!("../../tables/ranges.toml")),
    ("bodies", include_str!("../../tables/bodies.toml")),
];

#[test]
fn connections() {
    run("connections");
}

#[test]
fn requests() {
    run("requests");
}

#[test]
fn targets() {
    run("targets");
}

#[test]
fn validators() {
    run("validators");
}

#[test]
fn ranges() {
    run("ranges");
}

#[test]
fn bodies() {
    run("bodies");
}

#[test]
fn no_row_is_lost() {
    let tables: Vec<_> = TABLES.iter().map(|(name, _)| (name, row::parse(name, source(name)))).collect();
    let count: usize = tables.iter().map(|(_, rows)| rows.len()).sum();
    assert!(count >= ROWS, "only {count} rows");
    for (table, rows) in tables {
        let mut names: Vec<_> = rows.iter().map(|row| &row.name).collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{table} has two rows of one name");
    }
}

fn source(table: &str) -> &'static str {
    TABLES.iter().find(|(name, _)| *name == table).expect("a table of that name").1
}

/// Runs all rows of a table and fails with a report of all that differ.
fn run(table: &str) {
    let site = Site::full();
    let mut report = String::new();
    let mut failures = 0;
    for (shape, shape_settings) in SHAPES {
        for (settings, rows) in by_settings(row::parse(table, source(table))) {
            let server = start(&site, shape_settings, &settings);
            for row in rows {
                for failure in exchange::run(&server, &row) {
                    failures += 1;
                    writeln!(report, "\n{table}.toml, {:?}, shape {shape:?}\n{failure}", row.name)
                        .expect("a String grows");
                }
            }
        }
    }
    assert!(failures == 0, "{failures} failures\n{report}");
}

/// Rows with the same settings share one server.
fn by_settings(rows: Vec<Row>) -> BTreeMap<Settings, Vec<Row>> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for row in rows {
        groups.entry(row.settings.clone()).or_default().push(row);
    }
    groups
}

#[track_caller]
fn start(site: &Site, shape: &[(&str, &str)], settings: &Settings) -> Server {
    let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8")).listen("127.0.0.1:0");
    let launch = shape.iter().fold(launch, |launch, (key, value)| launch.set(key, value));
    settings.iter().fold(launch, |launch, (key, value)| launch.set(key, value)).start()
}
