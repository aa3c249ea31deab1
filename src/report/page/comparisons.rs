//! All comparisons, with what their words stand on.

use maud::{Markup, html};

use super::super::units::counted;
use super::chart::{grouped, shown, shown_sentence};
use super::glance::baseline;
use super::table::{Column, Kind, table};
use super::typography::sentence;
use crate::analysis::{Analysis, Comparison, Estimate, Metric, Outcome, Word};

/// How many there are, and a table; `None` of one target alone.
pub(super) fn render(analysis: &Analysis) -> Option<Markup> {
    let baseline = baseline(analysis);
    let who = |comparison: &Comparison| format!("{} / {}", shown(&comparison.target), shown(&comparison.baseline));
    let rows = analysis.comparisons.iter().map(|comparison| (who(comparison), comparison));
    (!analysis.comparisons.is_empty()).then(|| {
        html! {
            p {
                (counted(analysis.compared() as u64, "comparison")) " with " (baseline) " could be made, of "
                (analysis.comparisons.len()) ". " (HOLM)
            }
            (of_all(&format!("Ratios to {baseline}"), ["Pairs", "p: t, Holm, Wilcoxon"], rows))
        }
    })
}

/// Why verdicts are fewer than intervals would have them.
pub(super) const HOLM: &str = "The more there are, the more of them chance alone would call a difference: the verdicts are those after Holm's \
     correction, in which points of curves and those that speak for a target have a half each, where there are both. Faster and cheaper is better, slower and dearer is worse.";

/// A row for each comparison, and whose it is. The two names are those of the columns that depend on how it was compared.
pub(super) fn of_all<'a>(
    caption: &str,
    [pairs, tests]: [&'static str; 2],
    comparisons: impl Iterator<Item = (String, &'a Comparison)>,
) -> Markup {
    let columns = [
        Column("Document and connections", Kind::Words),
        Column("Connections", Kind::Figures),
        Column("Compared", Kind::Words),
        Column("Of which", Kind::Words),
        Column("Verdict", Kind::Words),
        Column("Ratio", Kind::Figures),
        Column("95 % interval", Kind::Figures),
        Column(pairs, Kind::Figures),
        Column(tests, Kind::Figures),
        Column("Repeats that it would need", Kind::Figures),
    ];
    let rows = html! { @for (who, comparison) in comparisons { (row(&who, comparison)) } };
    table("comparisons-table", caption, &columns, &rows)
}

fn row(who: &str, comparison: &Comparison) -> Markup {
    let curve = comparison.concurrency.is_none();
    html! {
        tr.curve[curve] {
            th scope="row" { (shown(&comparison.document)) ", " (comparison.connections.name()) }
            td.figures {
                @match comparison.concurrency {
                    Some(concurrency) => (grouped(concurrency as f64, 0)),
                    None => "whole curve",
                }
            }
            td.whole { (quantity(comparison.metric)) }
            td.whole { (who) }
            @match &comparison.outcome {
                Outcome::Compared(estimate) => (compared(comparison, estimate)),
                Outcome::NotComparable(reason) => td colspan="6" { span.muted { "not comparable: " (sentence(reason)) } },
            }
        }
    }
}

fn compared(comparison: &Comparison, estimate: &Estimate) -> Markup {
    let Estimate { p_t, p_wilcoxon, p_holm, word: verdict, more_repeats, .. } = estimate;
    html! {
        td { span class={ "verdict " (class(*verdict)) } { (word(comparison.metric, *verdict)) } }
        td.figures { (estimate.shown_ratio()) "×" }
        td.figures { (estimate.shown_interval().replace(" to ", " – ")) "×" }
        td.figures { (comparison.pairs) }
        td.figures { (probability(*p_t)) " · " (probability(*p_holm)) " · " (probability(*p_wilcoxon)) }
        td.figures { @match more_repeats { Some(more) => { (grouped(*more as f64, 0)) " more" }, None => "–" } }
    }
}

/// A comparison as a sentence, which begins with whose it is.
pub(super) fn in_words(comparison: &Comparison, who: &str) -> String {
    let Comparison { document, connections, metric, target, baseline, .. } = comparison;
    let comma = if who.is_empty() { "" } else { ", " };
    let about = format!("{who}{comma}{}, {} connections", shown(document), connections.name());
    let (target, baseline, what) = (shown(target), shown(baseline), quantity(*metric));
    match &comparison.outcome {
        Outcome::NotComparable(reason) => {
            format!("{about}: {what} of {target} and {baseline} cannot be compared: {}.", shown_sentence(reason))
        }
        Outcome::Compared(estimate) => format!(
            "{about}: {what} of {target} is {} times that of {baseline} (95 % interval {}): {}.",
            estimate.shown_ratio(),
            estimate.shown_interval(),
            word(*metric, estimate.word)
        ),
    }
}

const fn quantity(metric: Metric) -> &'static str {
    match metric {
        Metric::RequestsPerSecond => "requests/s",
        Metric::ServerCpu => "server CPU/request",
    }
}

/// The word for the quantity that it is about.
pub(super) const fn word(metric: Metric, word: Word) -> &'static str {
    match (metric, word) {
        (Metric::RequestsPerSecond, Word::Better) => "faster",
        (Metric::RequestsPerSecond, Word::Worse) => "slower",
        (Metric::ServerCpu, Word::Better) => "cheaper",
        (Metric::ServerCpu, Word::Worse) => "dearer",
        (_, Word::NoDifferenceShown) => "no difference shown",
        (_, Word::Borderline) => "borderline",
    }
}

const fn class(word: Word) -> &'static str {
    match word {
        Word::Better => "better",
        Word::Worse => "worse",
        Word::NoDifferenceShown => "none",
        Word::Borderline => "borderline",
    }
}

/// Whether something was shown.
pub(super) const fn is_a_difference(word: Word) -> bool {
    matches!(word, Word::Better | Word::Worse)
}

fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}
