//! The question, and the answer in a sentence.

use maud::{Markup, html};

use super::super::units::counted;
use super::chart::{grouped, shown, shown_sentence};
use super::typography::{date, machine_date, sentence};
use crate::analysis::Analysis;

/// The head of the page.
pub(super) fn head(analysis: &Analysis) -> Markup {
    let experiment = &analysis.experiment;
    let first = analysis.answer.first().map_or_else(|| "Nothing is answered.".to_owned(), |words| sentence(words));
    html! {
        header {
            p.kicker {
                "Experiment " strong { (shown(&experiment.plan)) } ", "
                time datetime=(machine_date(experiment.started_unix_s)) { (date(experiment.started_unix_s)) }
            }
            h1 { (shown_sentence(&experiment.question)) }
            p.lead { (first) }
            (unfinished(analysis))
            (doubt(analysis))
        }
    }
}

/// What is not there cannot be seen in charts, so it is told before them.
fn unfinished(analysis: &Analysis) -> Markup {
    let (measured, planned) = (analysis.measured, analysis.experiment.cells.len());
    html! {
        @if measured < planned {
            p.notice {
                strong { "Incomplete: " }
                (grouped(measured as f64, 0)) " of " (grouped(planned as f64, 0)) " measurements were made."
                @if analysis.untried > 0 { " " code { "quintain sweep --resume" } " goes on where it ended." }
            }
        }
    }
}

/// How much there is to be doubted, with the way to it.
fn doubt(analysis: &Analysis) -> Markup {
    let warnings = analysis.warnings.len() as u64;
    html! {
        @if warnings > 0 {
            p.before { "Before you believe it: " a href="#warnings" { (counted(warnings, "warning")) } "." }
        }
    }
}
