//! `quintain report`: what a sweep left, understood and written down.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use super::{FAILED, USAGE, fail, print, say};
use crate::analysis::Analysis;
use crate::analysis::across::{Across, Side};
use crate::cli::ReportArgs;
use crate::record::experiment::{JOURNAL_FILE, ReadError, Results, read};
use crate::report::experiment::{csv, json, markdown, table};
use crate::report::{self, charts, harmless, page};

mod files;

use files::{Unwritten, put};

/// The page for people.
const PAGE: &str = "report.html";
/// The page of two results.
const COMPARISON: &str = "comparison.html";
/// What one result is in other words, for documents and for programs.
const SUMMARIES: [&str; 3] = ["summary.md", "summary.csv", "summary.json"];

/// Reports one folder, or compares two.
#[must_use]
pub fn run(ReportArgs { folder, other, out, charts }: &ReportArgs) -> ExitCode {
    match other {
        None => present(folder, out.as_deref().unwrap_or(folder), *charts),
        Some(after) => compare(folder, after, out.as_deref().unwrap_or(after), *charts),
    }
}

/// Reads a sweep's folder, writes its report into another (or the same), and prints the short form and where the rest is.
pub(super) fn present(folder: &Path, out: &Path, with_charts: bool) -> ExitCode {
    let analysis = match understand(folder) {
        Ok(analysis) => analysis,
        Err(error) => return fail(FAILED, &error),
    };
    match write(&analysis, out, with_charts) {
        Ok(()) => {
            tell_of_old_charts(out, with_charts);
            print(&format!("{}\n{}", harmless::text(&table::render(&analysis)), whereabouts(out, with_charts)))
        }
        Err(error) => fail(FAILED, &format_args!("{error:#}")),
    }
}

/// They are somebody's pictures in somebody's folder, so they stay; but they are not of this report.
fn tell_of_old_charts(out: &Path, with_charts: bool) {
    let old = out.join(charts::FOLDER);
    if !with_charts && old.is_dir() {
        say(&format_args!("{} is of an earlier report: with --charts it is drawn again", old.display()));
    }
}

/// Compares what two sweeps left.
fn compare(before: &Path, after: &Path, out: &Path, with_charts: bool) -> ExitCode {
    if is_same(before, after) {
        let [before, after] = [before, after].map(Path::display);
        return fail(USAGE, &format_args!("{before} and {after} are one folder: name the results of two sweeps"));
    }
    let [earlier, later] = names(before, after);
    let side = |folder: &Path, name| understand(folder).map(|analysis| Side { name, analysis });
    let across = match (side(before, earlier), side(after, later)) {
        (Ok(before), Ok(after)) => Across::of(before, after),
        (Err(error), _) | (_, Err(error)) => return fail(FAILED, &error),
    };
    match write_across(&across, out, with_charts) {
        Ok(()) => print(&format!(
            "{}\nThe comparison is {}.\n",
            harmless::text(&report::across::render(&across)),
            out.join(COMPARISON).display()
        )),
        Err(error) => fail(FAILED, &error),
    }
}

/// What a folder's journal means. A torn end is told: what nobody has seen does not become a figure silently.
fn understand(folder: &Path) -> Result<Analysis, ReadError> {
    let Results { experiment, entries, torn } = read(folder)?;
    if torn {
        let journal = folder.join(JOURNAL_FILE);
        let words = "ends in the middle of a line: that measurement is not in the report";
        say(&format_args!("{} {words}", journal.display()));
    }
    Ok(Analysis::of(experiment, &entries))
}

/// By whatever path: a folder that is not there is told of by whoever reads it.
fn is_same(before: &Path, after: &Path) -> bool {
    matches!((before.canonicalize(), after.canonicalize()), (Ok(before), Ok(after)) if before == after)
}

/// What two results are called: the last part of their paths, if that tells them apart.
fn names(before: &Path, after: &Path) -> [String; 2] {
    let last = |folder: &Path| folder.file_name().map(|name| name.to_string_lossy().into_owned());
    match (last(before), last(after)) {
        (Some(before), Some(after)) if before != after => [before, after],
        _ => [before, after].map(|folder| folder.display().to_string()),
    }
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

fn write_across(across: &Across, out: &Path, with_charts: bool) -> Result<(), Unwritten> {
    put(out, COMPARISON, &page::across::render(across))?;
    if with_charts {
        for picture in charts::files_across(across) {
            put(out, &picture.name, &picture.svg)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_shortest_names_that_differ() {
        let named = |before: &str, after: &str| names(Path::new(before), Path::new(after)).join(", ");
        assert_eq!(named("results/old/", "results/new"), "old, new");
        assert_eq!(named("old/quick", "new/quick"), "old/quick, new/quick");
        assert_eq!(named(".", "../new"), "., ../new");
    }
}
