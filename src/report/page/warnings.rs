//! What a reader has to know before believing it.

use maud::{Markup, html};

use super::chart::{connections, grouped, shown};
use super::typography::sentence;
use crate::analysis::Analysis;
use crate::record::experiment::NotMeasured;

/// Most measurements that are told one by one.
const TOLD: usize = 50;

/// The warnings, and which measurements are missing.
pub(super) fn render(analysis: &Analysis) -> Markup {
    html! {
        @if analysis.warnings.is_empty() { p { "None." } }
        @else { ul.prose { @for words in &analysis.warnings { li { (sentence(words)) } } } }
        // One alone stands in the warnings already.
        @if analysis.not_measured.len() > 1 { (missing(&analysis.not_measured)) }
    }
}

fn missing(not_measured: &[NotMeasured]) -> Markup {
    html! {
        h3 { "Tried in vain" }
        ul.prose {
            @for NotMeasured { cell, reason } in not_measured.iter().take(TOLD) {
                li {
                    (shown(&cell.target)) ", " (shown(&cell.document)) ", " (cell.connections.name()) ", "
                    (connections(cell.concurrency)) ", repeat " (cell.repeat) ": " (sentence(reason))
                }
            }
        }
        @if not_measured.len() > TOLD { p { "And " (grouped((not_measured.len() - TOLD) as f64, 0)) " more." } }
    }
}
