//! `quintain report`: what a sweep left, understood and written down.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use super::{FAILED, fail, print, say};
use crate::analysis::Analysis;
use crate::cli::ReportArgs;
use crate::record::experiment::{JOURNAL_FILE, Results, read};
use crate::report::experiment::{csv, json, markdown, table};
use crate::report::{charts, page};

mod files;

use files::put;

/// The page for people.
const PAGE: &str = "report.html";
/// The same for documents and for programs.
const SUMMARIES: [&str; 3] = ["summary.md", "summary.csv", "summary.json"];

/// Reports a folder.
#[must_use]
pub fn run(ReportArgs { folder, out, charts }: &ReportArgs) -> ExitCode {
    present(folder, out.as_deref().unwrap_or(folder), *charts)
}

/// Reads a sweep's folder, writes its report into another (or the same), and prints the short form and where the rest is.
pub(super) fn present(folder: &Path, out: &Path, with_charts: bool) -> ExitCode {
    let results = match read(folder) {
        Ok(results) => results,
        Err(error) => return fail(FAILED, &error),
    };
    if results.torn {
        say(&format_args!("{JOURNAL_FILE} ends in the middle of a line: that measurement is not in the report"));
    }
    let Results { experiment, entries, .. } = results;
    let analysis = Analysis::of(experiment, &entries);
    match write(&analysis, out, with_charts) {
        Ok(()) => print(&format!("{}\n{}", harmless(&table::render(&analysis)), whereabouts(out, with_charts))),
        Err(error) => fail(FAILED, &format_args!("{error:#}")),
    }
}

/// Names and reasons come from plans and from servers: what would steer a terminal is not printed.
fn harmless(text: &str) -> String {
    let plain = |c: char| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(plain).collect()
}

fn whereabouts(out: &Path, with_charts: bool) -> String {
    let [first, second, third] = SUMMARIES;
    let charts = if with_charts { ", charts/" } else { "" };
    format!("The report is {}; beside it are {first}, {second}, {third}{charts}.\n", out.join(PAGE).display())
}

fn write(analysis: &Analysis, out: &Path, with_charts: bool) -> anyhow::Result<()> {
    let pictures = if with_charts { charts::files(analysis) } else { Vec::new() };
    let shown: Vec<_> = pictures.iter().filter_map(|picture| picture.chart.clone()).collect();
    let [markdown_file, csv_file, json_file] = SUMMARIES;
    put(out, PAGE, &page::render(analysis))?;
    put(out, markdown_file, &markdown::render(analysis, &shown))?;
    put(out, csv_file, &csv::render(analysis).context(csv_file)?)?;
    put(out, json_file, &json::render(analysis).context(json_file)?)?;
    for picture in &pictures {
        put(out, &picture.name, &picture.svg)?;
    }
    Ok(())
}
