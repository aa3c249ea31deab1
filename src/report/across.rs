//! Two results beside each other on the terminal: a row for each target of each document, what else differs, the answer, the
//! warnings.

use super::text::{labelled, wrapped};
use crate::analysis::across::{Across, Change, Difference};
use crate::analysis::{Group, Metric, Word};

/// Most differences, sentences of the answer, and warnings: the page has all of them.
const SHOWN: usize = 10;
/// Width of a target's name; a longer one makes its row wider.
const NAME: usize = 16;
/// Width of what is said of one figure.
const VERDICT: usize = 38;

/// The whole text.
#[must_use]
pub fn render(across: &Across) -> String {
    let mut text = wrapped("", &format!("{} beside {}", across.after.name, across.before.name), 0);
    for group in &across.after.analysis.groups {
        text += &of_group(across, group);
    }
    let differences: Vec<_> = across.differences.iter().map(difference).collect();
    text.push('\n');
    text + &list("Differs", &differences) + &list("Answer", &across.answer) + &list("Warnings", &across.warnings)
}

/// `kernel: 6.12.0, now 6.18.0`.
fn difference(Difference { what, before, after }: &Difference) -> String {
    let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
    format!("{what}: {}, now {}", or_none(before), or_none(after))
}

/// The first ones under a label, and how many there are more.
fn list(label: &str, all: &[String]) -> String {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let mut text: String = labels.zip(all).take(SHOWN).map(|(label, words)| labelled(label, words)).collect();
    if all.len() > SHOWN {
        text += &labelled("", &format!("(and {} more)", all.len() - SHOWN));
    }
    text
}

/// The rows of a document; nothing where the two have none in common.
fn of_group(across: &Across, group: &Group) -> String {
    let name = &group.document.name;
    let of = |target: &str| -> Vec<&Change> {
        across.headlines(name, group.connections).filter(|change| change.target == target).collect()
    };
    let rows: String = group.series.iter().filter_map(|series| row(&series.target, &of(&series.target))).collect();
    if rows.is_empty() {
        return rows;
    }
    let head = format!("  {:<NAME$}  {:<VERDICT$}{}", "", "requests/s", "server CPU for each request");
    format!("\n{name}, {} connections\n{head}\n{rows}", group.connections.name())
}

fn row(target: &str, changes: &[&Change]) -> Option<String> {
    let of = |metric| changes.iter().find(|change| change.comparison.metric == metric).map(|change| in_short(change));
    let (rates, cpu) = (of(Metric::RequestsPerSecond)?, of(Metric::ServerCpu)?);
    Some(format!("  {target:<NAME$}  {rates:<VERDICT$}{cpu}\n"))
}

/// `1.31 (1.28 to 1.34) better`. "Not shown" is short for "no difference shown".
fn in_short(change: &Change) -> String {
    let Some(estimate) = change.comparison.estimate() else { return "not comparable".to_owned() };
    let word = match estimate.word {
        Word::NoDifferenceShown => "not shown".to_owned(),
        word => word.to_string(),
    };
    format!("{} ({}) {word}", estimate.shown_ratio(), estimate.shown_interval())
}
