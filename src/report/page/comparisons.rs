//! All comparisons, with what their words stand on.

use maud::{Markup, html};

use super::super::units::counted;
use super::chart::{grouped, shown, shown_sentence};
use super::glance::baseline;
use super::table::{Column, Kind, table};
use super::typography::sentence;
use crate::analysis::{Analysis, Comparison, Estimate, Metric, Outcome, Word};

const COLUMNS: [Column; 10] = [
    Column("Document and connections", Kind::Words),
    Column("Connections", Kind::Figures),
    Column("Compared", Kind::Words),
    Column("Of which", Kind::Words),
    Column("Verdict", Kind::Words),
    Column("Ratio", Kind::Figures),
    Column("95 % interval", Kind::Figures),
    Column("Pairs", Kind::Figures),
    Column("p: t, Holm, Wilcoxon", Kind::Figures),
    Column("Repeats that it would need", Kind::Figures),
];

/// How many there are, and a table; `None` of one target alone.
pub(super) fn render(analysis: &Analysis) -> Option<Markup> {
    let baseline = baseline(analysis);
    let made = analysis.compared() as u64;
    (!analysis.comparisons.is_empty()).then(|| {
        html! {
            p {
                (counted(made, "comparison")) " with " (baseline) " could be made, of " (analysis.comparisons.len())
                ". The more there are, the more of them chance alone would call a difference: the verdicts are those after Holm's \
                 correction over all of them. Faster and cheaper is better, slower and dearer is worse."
            }
            (table("comparisons-table", &format!("Ratios to {baseline}"), &COLUMNS, &rows(&analysis.comparisons)))
        }
    })
}

fn rows(comparisons: &[Comparison]) -> Markup {
    html! { @for comparison in comparisons { (row(comparison)) } }
}

fn row(comparison: &Comparison) -> Markup {
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
            td.whole { (shown(&comparison.target)) " / " (shown(&comparison.baseline)) }
            @match &comparison.outcome {
                Outcome::Compared(estimate) => (compared(comparison, estimate)),
                Outcome::NotComparable(reason) => td colspan="6" { span.muted { "not comparable: " (sentence(reason)) } },
            }
        }
    }
}

fn compared(comparison: &Comparison, estimate: &Estimate) -> Markup {
    let Estimate { ratio, low, high, p_t, p_wilcoxon, p_holm, word: verdict, more_repeats } = estimate;
    html! {
        td { span class={ "verdict " (class(*verdict)) } { (word(comparison.metric, *verdict)) } }
        td.figures { (times(*ratio)) }
        td.figures { (times(*low).trim_end_matches('×')) " – " (times(*high)) }
        td.figures { (comparison.pairs) }
        td.figures { (probability(*p_t)) " · " (probability(*p_holm)) " · " (probability(*p_wilcoxon)) }
        td.figures { @match more_repeats { Some(more) => { (grouped(*more as f64, 0)) " more" }, None => "–" } }
    }
}

/// A comparison as a sentence.
pub(super) fn in_words(comparison: &Comparison) -> String {
    let Comparison { document, connections, metric, target, baseline, .. } = comparison;
    let about = format!("{}, {} connections", shown(document), connections.name());
    let (target, baseline, what) = (shown(target), shown(baseline), quantity(*metric));
    match &comparison.outcome {
        Outcome::NotComparable(reason) => {
            format!("{about}: {what} of {target} and {baseline} cannot be compared: {}.", shown_sentence(reason))
        }
        Outcome::Compared(Estimate { ratio, low, high, word: verdict, .. }) => format!(
            "{about}: {what} of {target} is {} of {baseline}'s (95 % interval {} to {}): {}.",
            times(*ratio),
            times(*low),
            times(*high),
            word(*metric, *verdict)
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

/// A ratio: `1.31×`, and near 1 with a digit more.
fn times(ratio: f64) -> String {
    let decimals = match ratio {
        ratio if ratio >= 99.5 => 0,
        ratio if (0.9..1.1).contains(&ratio) => 3,
        _ => 2,
    };
    format!("{}×", grouped(ratio, decimals))
}

fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}
