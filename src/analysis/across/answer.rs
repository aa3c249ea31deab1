//! What two results say about each other, in sentences.

use super::{Across, Change, Metric, Side};
use crate::analysis::answer::{cpu_clause, over, rates_clause, tally};
use crate::analysis::words::{case, counted, list, sentence};
use crate::analysis::{Comparison, Group, Outcome};

/// The sentences; the first one is the headline.
pub(super) fn sentences(across: &Across) -> Vec<String> {
    if across.changes.is_empty() {
        return vec![
            "Nothing can be compared: the two have no target of the same name at the same document, kind of connections and \
             concurrency."
                .to_owned(),
        ];
    }
    let mut names: Vec<&str> = Vec::new();
    for change in &across.changes {
        if !names.contains(&change.target.as_str()) {
            names.push(&change.target);
        }
    }
    let overviews = names.into_iter().filter_map(|target| overview(across, target));
    let each = across.after.analysis.groups.iter().flat_map(|group| cases(across, group));
    overviews.chain(each).collect()
}

/// A target over all its cases, if these are several.
fn overview(across: &Across, target: &str) -> Option<String> {
    let groups = &across.after.analysis.groups;
    let of = |metric| -> Vec<&Comparison> {
        let each = groups.iter().filter_map(|group| headline(across, group, target, metric));
        each.collect()
    };
    let [rates, cpu] = Metric::ALL.map(of);
    (rates.len() > 1).then(|| {
        format!(
            "{target} in {} against {}, in {} (documents and kinds of connections): requests/s {}; server CPU for each request \
             {}.",
            across.after.name,
            across.before.name,
            counted(rates.len() as u64, "case"),
            tally(&rates, ["more", "fewer"]),
            tally(&cpu, ["less", "more"])
        )
    })
}

fn headline<'a>(across: &'a Across, group: &Group, target: &str, metric: Metric) -> Option<&'a Comparison> {
    let mut headlines = across.headlines(&group.document.name, group.connections);
    let found = headlines.find(|change| change.target == target && change.comparison.metric == metric);
    found.map(|change| &change.comparison)
}

/// A sentence for each target of a group.
fn cases(across: &Across, group: &Group) -> Vec<String> {
    let of = |target: &str| {
        let rates = headline(across, group, target, Metric::RequestsPerSecond)?;
        let cpu = headline(across, group, target, Metric::ServerCpu)?;
        let at = format!("{target} at {}", case(group));
        let over_for_cpu = if rates.levels == cpu.levels { String::new() } else { over(cpu, group) };
        let words = match (&rates.outcome, &cpu.outcome) {
            (Outcome::NotComparable(reason), Outcome::NotComparable(other)) if reason == other => {
                format!("{at}: not comparable: {reason}")
            }
            _ => format!(
                "{at}: {}, and {}",
                rates_clause(rates, &over(rates, group)),
                cpu_clause(cpu, rates, &over_for_cpu)
            ),
        };
        Some(sentence(&words))
    };
    group.series.iter().filter_map(|series| of(&series.target)).collect()
}

/// What to know before believing any of it.
pub(super) fn warnings(across: &Across) -> Vec<String> {
    if across.before.analysis == across.after.analysis {
        return vec![one_and_the_same(across)];
    }
    let mut warnings = vec![apart(across)];
    warnings.extend(turned(across));
    warnings.extend(differing(across));
    warnings.extend(in_one_only(across));
    for side in [&across.before, &across.after] {
        warnings.extend(side.analysis.warnings.iter().map(|warning| format!("{}: {warning}", side.name)));
    }
    warnings
}

fn one_and_the_same(Across { before, after, .. }: &Across) -> String {
    format!("{} and {} are one and the same result: every ratio is 1, and says nothing.", before.name, after.name)
}

/// Whoever typed them may have meant it, so it is told and not turned back.
fn turned(across: &Across) -> Option<String> {
    let Across { before, after, .. } = across;
    (began(after) < began(before)).then(|| {
        format!(
            "{}, which is called the later one here, was begun before {}: with the two the other way round each ratio would be turned \
             over.",
            after.name, before.name
        )
    })
}

const fn began(side: &Side) -> f64 {
    side.analysis.experiment.started_unix_s
}

fn apart(across: &Across) -> String {
    let hours = (began(&across.after) - began(&across.before)).abs() / 3600.0;
    let apart = if hours < 48.0 { format!("{hours:.1} hours") } else { format!("{:.0} days", hours / 24.0) };
    format!(
        "The two were measured one after the other, begun {apart} apart, and not in blocks: whatever changed with time between \
         them is in the ratios."
    )
}

/// The list itself stands in the report; here only what follows from it.
fn differing(across: &Across) -> Option<String> {
    let names: Vec<&str> = across.differences.iter().map(|difference| difference.what.as_str()).collect();
    match names.as_slice() {
        [] => None,
        [only] => Some(format!("What is known to differ between them is one thing: {only}.")),
        several => Some(format!(
            "{} things differ between them ({}): which of these a change comes from cannot be told.",
            several.len(),
            list(several)
        )),
    }
}

/// Cells of one that the other does not have.
fn in_one_only(across: &Across) -> Option<String> {
    let cells = |side: &Side| -> usize {
        let series = side.analysis.groups.iter().flat_map(|group| &group.series);
        series.map(|series| series.points.len()).sum()
    };
    let of_cell = |change: &&Change| {
        change.comparison.concurrency.is_some() && change.comparison.metric == Metric::RequestsPerSecond
    };
    let common = across.changes.iter().filter(of_cell).count();
    let (before, after) = (cells(&across.before), cells(&across.after));
    (before > common || after > common).then(|| {
        format!(
            "Of {} points of {} and {} of {}, {common} can be laid beside each other.",
            before, across.before.name, after, across.after.name
        )
    })
}
