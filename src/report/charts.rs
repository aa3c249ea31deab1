//! The charts of an experiment as files of their own, for documents.

use super::chart::{self, ALONE, Quantity};
use super::page::glance;
use crate::analysis::{Analysis, Group, Metric};

/// Name and content of each: the ratios to the first target, then each group's quantities.
#[must_use]
pub fn files(analysis: &Analysis) -> Vec<(String, String)> {
    let ratios = Metric::ALL.into_iter().filter_map(|metric| {
        let drawing = glance::drawing(analysis, metric, ALONE)?;
        Some((format!("ratios-{}.svg", glance::name(metric).1), drawing.file()))
    });
    let groups = analysis.groups.iter().enumerate().flat_map(|(at, group)| of_group(at + 1, group));
    ratios.chain(groups).collect()
}

/// The number keeps names apart that differ in nothing that a file may be called.
fn of_group(number: usize, group: &Group) -> impl Iterator<Item = (String, String)> {
    let document: String = group.document.name.chars().map(plain).take(40).collect();
    let name = format!("{number:02}-{document}-{}", group.connections.name());
    Quantity::ALL.into_iter().filter_map(move |quantity| {
        let drawing = chart::of(group, quantity, ALONE)?;
        Some((format!("{name}-{}.svg", quantity.slug()), drawing.file()))
    })
}

/// What means nothing to any shell and to no file system.
fn plain(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' }
}
