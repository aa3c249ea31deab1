//! Comparisons at a glance: a chart of ratios for each metric.

use maud::{Markup, html};

use super::chart::{self, Drawing, Quantity, Ratio, shown};
use super::charts::at_both_widths;
use super::comparisons::{in_words, is_a_difference, word};
use crate::analysis::{Comparison, Metric, Word};

/// What a reader has to know of such a chart.
pub(super) const LEGEND: &str = "Within the grey band a difference would not matter. A filled mark is a difference that was shown, a \
                                 hollow one is none.";

/// What a metric is called, and how in an id.
pub(in crate::report) const fn name(metric: Metric) -> (&'static str, &'static str) {
    let quantity = match metric {
        Metric::RequestsPerSecond => Quantity::Requests,
        Metric::ServerCpu => Quantity::ServerCpu,
    };
    (quantity.name(), quantity.slug())
}

/// A comparison as it is drawn. `place` is that of its target in the plan, whose looks it has, and `who` tells it from others of the
/// same document and kind of connections; empty where there are none.
pub(super) fn ratio(comparison: &Comparison, place: usize, who: &str) -> Ratio {
    let space = if who.is_empty() { "" } else { " " };
    let estimate = comparison.estimate();
    let in_short = match estimate.map(|estimate| estimate.word) {
        None => "not comparable",
        // There is little room; the whole words stand in the table.
        Some(Word::NoDifferenceShown) => "none shown",
        Some(verdict) => word(comparison.metric, verdict),
    };
    Ratio {
        place,
        name: format!("{who}{space}{} {}", shown(&comparison.document), comparison.connections.name()),
        ends: estimate.map(|estimate| [estimate.low, estimate.ratio, estimate.high]),
        shown: estimate.is_some_and(|estimate| is_a_difference(estimate.word)),
        word: in_short,
        title: in_words(comparison, who),
    }
}

/// The charts of both metrics beside each other, each as `draw` makes it for a size; `None` where it makes none.
pub(super) fn pair(draw: impl Fn(Metric, chart::Size) -> Option<Drawing>) -> Option<Markup> {
    let charts: Vec<_> = Metric::ALL.into_iter().filter_map(|metric| figure(metric, &draw)).collect();
    (!charts.is_empty()).then(|| html! { div.pair { @for chart in &charts { (chart) } } })
}

fn figure(metric: Metric, draw: impl Fn(Metric, chart::Size) -> Option<Drawing>) -> Option<Markup> {
    let (wide, narrow) = (draw(metric, chart::HALF)?, draw(metric, chart::NARROW)?);
    let (heading, slug) = name(metric);
    Some(html! {
        figure {
            figcaption { (heading) }
            (at_both_widths(&wide, &narrow, &format!("glance-{slug}")))
        }
    })
}
