//! The answer in sentences: of several targets what the comparisons say, of one what it did.

use super::words::{case, counted, list, range, ratio, sentence};
use super::{Analysis, Comparison, Estimate, Group, Metric, Outcome, Series, Word, portrait};

/// The sentences; the first one answers the question.
pub(super) fn sentences(analysis: &Analysis) -> Vec<String> {
    if analysis.groups.is_empty() {
        return vec!["Nothing was measured, so nothing is answered.".to_owned()];
    }
    if analysis.comparisons.is_empty() {
        return portrait::sentences(analysis);
    }
    let names = || analysis.experiment.targets.iter().map(|target| target.name.as_str());
    let pairs = names().flat_map(|baseline| names().map(move |target| (target, baseline)));
    let overviews = pairs.filter_map(|(target, baseline)| overview(analysis, target, baseline));
    // What was found comes before what could not be: the first sentences are those that are read.
    let each: Vec<Case> = analysis.groups.iter().flat_map(|group| cases(analysis, group)).collect();
    let (found, open): (Vec<_>, Vec<_>) = each.into_iter().partition(|case| case.is_comparable);
    overviews.chain(found.into_iter().chain(open).flat_map(|case| case.sentences)).collect()
}

/// What is said of a target in a group.
struct Case {
    sentences: Vec<String>,
    /// By at least one figure.
    is_comparable: bool,
}

/// A target against another over all their cases, if these are several.
fn overview(analysis: &Analysis, target: &str, baseline: &str) -> Option<String> {
    let with_both = |group: &&Group| group.baseline == baseline && group.series_of(target).is_some();
    let groups: Vec<&Group> = analysis.groups.iter().filter(with_both).collect();
    if target == baseline || groups.len() < 2 {
        return None;
    }
    let of = |metric| -> Vec<&Comparison> {
        groups.iter().filter_map(|group| analysis.headline(group, target, metric)).collect()
    };
    let [rates, cpu] = Metric::ALL.map(of);
    let cases = counted(groups.len() as u64, "case");
    Some(format!(
        "{target} against {baseline}, in {cases} (documents and kinds of connections): requests/s {}; server CPU for each \
         request {}.",
        tally(&rates, ["more", "fewer"]),
        tally(&cpu, ["less", "more"])
    ))
}

/// `more in 3 (1.10 to 1.62 times), no difference shown in 1`.
pub(super) fn tally(comparisons: &[&Comparison], [better, worse]: [&str; 2]) -> String {
    let ratios_of = |word: Word| -> Vec<f64> {
        let estimates = comparisons.iter().filter_map(|comparison| comparison.estimate());
        estimates.filter(|estimate| estimate.word == word).map(|estimate| estimate.ratio).collect()
    };
    let words = [
        (Word::Better, better),
        (Word::Worse, worse),
        (Word::Borderline, "borderline"),
        (Word::NoDifferenceShown, "no difference shown"),
    ];
    let mut parts = Vec::new();
    for (word, name) in words {
        let ratios = ratios_of(word);
        if !ratios.is_empty() {
            parts.push(format!("{name} in {} ({} times)", ratios.len(), range(&ratios, ratio)));
        }
    }
    let open = comparisons.iter().filter(|comparison| comparison.estimate().is_none()).count();
    if open > 0 {
        parts.push(format!("not comparable in {open}"));
    }
    parts.join(", ")
}

/// What a group says: a sentence for each target, and a second one where the curves cross.
fn cases(analysis: &Analysis, group: &Group) -> Vec<Case> {
    let of = |series: &Series| {
        let target = series.target.as_str();
        let sentences = [of_target(analysis, group, target), crossing(analysis, group, target)];
        let verdicts = Metric::ALL.map(|metric| analysis.headline(group, target, metric));
        let is_comparable = verdicts.into_iter().flatten().any(|comparison| comparison.estimate().is_some());
        Case { sentences: sentences.into_iter().flatten().collect(), is_comparable }
    };
    group.series.iter().map(of).collect()
}

fn of_target(analysis: &Analysis, group: &Group, target: &str) -> Option<String> {
    let rates = analysis.headline(group, target, Metric::RequestsPerSecond)?;
    let cpu = analysis.headline(group, target, Metric::ServerCpu)?;
    let at = format!("At {}", case(group));
    // Told once where it is the same for both.
    let over_for_cpu = if rates.levels == cpu.levels { String::new() } else { over(cpu, group) };
    let words = match (&rates.outcome, &cpu.outcome) {
        (Outcome::NotComparable(reason), Outcome::NotComparable(other)) if reason == other => {
            format!("{at}, {target} and {} cannot be compared: {reason}", rates.baseline)
        }
        _ => {
            format!("{at}, {}, and {}", rates_clause(rates, &over(rates, group)), cpu_clause(cpu, rates, &over_for_cpu))
        }
    };
    Some(sentence(&words))
}

pub(super) fn rates_clause(comparison: &Comparison, over: &str) -> String {
    let Comparison { target, baseline, outcome, .. } = comparison;
    match outcome {
        Outcome::NotComparable(reason) => {
            format!("requests/s of {target} and {baseline} cannot be compared ({reason})")
        }
        Outcome::Compared(estimate) if estimate.word == Word::NoDifferenceShown => {
            format!(
                "no difference in requests/s was shown between {target} and {baseline}{over} ({})",
                unshown(estimate)
            )
        }
        Outcome::Compared(estimate) => {
            let doubt = doubt(estimate);
            format!("{target} answered {} the requests/s of {baseline}{over}{doubt}", shown(estimate))
        }
    }
}

pub(super) fn cpu_clause(comparison: &Comparison, rates: &Comparison, over: &str) -> String {
    let Comparison { target, baseline, outcome, .. } = comparison;
    match outcome {
        Outcome::NotComparable(reason) => format!("server CPU for each request cannot be compared ({reason})"),
        Outcome::Compared(estimate) if estimate.word == Word::NoDifferenceShown => {
            format!("no difference in server CPU for each request was shown{over} ({})", unshown(estimate))
        }
        Outcome::Compared(estimate) => {
            // The target is the subject already where the other clause says that it answered.
            let goes_on = rates.estimate().is_some_and(|rates| rates.word != Word::NoDifferenceShown);
            let (subject, whose) = if goes_on {
                (String::new(), "its".to_owned())
            } else {
                (format!("{target} "), format!("{baseline}'s"))
            };
            format!("{subject}took {} {whose} CPU for each request{over}{}", shown(estimate), doubt(estimate))
        }
    }
}

/// `1.31 times (1.27 to 1.36)`.
fn shown(estimate: &Estimate) -> String {
    format!("{} times ({})", estimate.shown_ratio(), estimate.shown_interval())
}

/// `1.01 times, 0.98 to 1.04; 7 more repeats would probably show one of this size`.
fn unshown(estimate: &Estimate) -> String {
    let ratio = format!("{} times, {}", estimate.shown_ratio(), estimate.shown_interval());
    match estimate.more_repeats {
        Some(more) => format!("{ratio}; {} would probably show one of this size", counted(more, "more repeat")),
        None => ratio,
    }
}

fn doubt(estimate: &Estimate) -> &'static str {
    if estimate.word == Word::Borderline { ", which is borderline" } else { "" }
}

/// Over what the comparison is.
pub(super) fn over(comparison: &Comparison, group: &Group) -> String {
    match (comparison.concurrency, comparison.levels.len(), group.levels.len()) {
        (Some(level), ..) => format!(" at concurrency {level}"),
        (None, used, all) if used == all => format!(" over all {all} concurrencies"),
        (None, used, all) => format!(" over {used} of {all} concurrencies"),
    }
}

/// The mean of a curve hides that another target may be ahead at its other end.
fn crossing(analysis: &Analysis, group: &Group, target: &str) -> Option<String> {
    let at = |word: Word| -> Vec<String> {
        let cells = group
            .levels
            .iter()
            .filter_map(|level| analysis.comparison(group, target, Metric::RequestsPerSecond, Some(*level)));
        let with = cells.filter(|cell| cell.estimate().is_some_and(|estimate| estimate.word == word));
        with.flat_map(|cell| cell.levels.iter().map(u64::to_string)).collect()
    };
    let (better, worse) = (at(Word::Better), at(Word::Worse));
    let crosses = !better.is_empty() && !worse.is_empty();
    crosses.then(|| {
        format!(
            "There the curves cross: {target} answered more requests/s at concurrency {}, and fewer at {}.",
            list(&better),
            list(&worse)
        )
    })
}
