//! The charts of an experiment as files of their own, for documents.

use super::chart::{self, ALONE, Quantity, group_name};
use super::experiment::markdown::Chart;
use super::page::{across, glance, ratios};
use crate::analysis::across::Across;
use crate::analysis::{Analysis, Group, Metric};

/// The folder that they are in.
pub const FOLDER: &str = "charts";

/// What documents show of a group. The page has more.
const SHOWN: [Quantity; 3] = [Quantity::Requests, Quantity::ServerCpu, Quantity::P99];

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path, relative to the folder of the report.
    pub name: String,
    /// Its content.
    pub svg: String,
    /// How `summary.md` shows it; `None` if it is of no group alone.
    pub chart: Option<Chart>,
}

/// The ratios to the first target, then what documents show of each group.
#[must_use]
pub fn files(analysis: &Analysis) -> Vec<File> {
    let ratios = Metric::ALL.into_iter().filter_map(|metric| {
        let drawing = glance::drawing(analysis, metric, ALONE)?;
        let name = format!("{FOLDER}/ratios-{}.svg", ratios::name(metric).1);
        Some(File { name, svg: drawing.file(), chart: None })
    });
    let groups = analysis.groups.iter().enumerate().flat_map(|(at, group)| of_group(at + 1, group));
    ratios.chain(groups).collect()
}

/// The ratios of two results.
#[must_use]
pub fn files_across(across: &Across) -> Vec<File> {
    let ratios = Metric::ALL.into_iter().filter_map(|metric| {
        let drawing = across::drawing(across, metric, ALONE)?;
        let name = format!("{FOLDER}/changes-{}.svg", ratios::name(metric).1);
        Some(File { name, svg: drawing.file(), chart: None })
    });
    ratios.collect()
}

/// The number keeps names apart that differ in nothing that a file may be called.
fn of_group(number: usize, group: &Group) -> impl Iterator<Item = File> {
    let document: String = group.document.name.chars().map(plain).take(40).collect();
    let beginning = format!("{FOLDER}/{number:02}-{document}-{}", group.connections.name());
    SHOWN.into_iter().filter_map(move |quantity| {
        let drawing = chart::of(group, quantity, ALONE)?;
        let name = format!("{beginning}-{}.svg", quantity.slug());
        let chart = Chart {
            document: group.document.name.clone(),
            connections: group.connections,
            title: format!("{}: {}", quantity.name(), group_name(group)),
            file: name.clone(),
        };
        Some(File { name, svg: drawing.file(), chart: Some(chart) })
    })
}

/// What means nothing to any shell and to no file system.
fn plain(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' }
}
