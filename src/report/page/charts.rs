//! A group after the other: what was answered over concurrency, large, and below it what it took.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::chart::{self, Drawing, Owner, Quantity, connections, group_name, grouped, published_name, shown, swatch};
use crate::analysis::{Analysis, Group};
use crate::record::experiment::ConnectionKind;

/// Charts of all groups; `None` where nothing was measured.
pub(super) fn render(analysis: &Analysis) -> Option<Markup> {
    let groups = analysis.groups.iter().enumerate();
    (!analysis.groups.is_empty()).then(|| {
        html! {
            p {
                "Marks are medians, bars go from the lowest repeat to the highest. A hollow mark takes no part in a verdict, and no line \
                 goes through it; point at it to see why."
            }
            @for (number, group) in groups { (render_group(analysis, group, number + 1)) }
        }
    })
}

fn render_group(analysis: &Analysis, group: &Group, number: usize) -> Markup {
    let id = format!("group-{number}");
    let small = Quantity::ALL.into_iter().filter(|quantity| *quantity != Quantity::Requests);
    html! {
        section.group id=(id) aria-labelledby={ (id) "-heading" } {
            h3 id={ (id) "-heading" } { (group_name(group)) }
            p.muted { (asked(group)) }
            (legend(analysis, group))
            (large(group, &id))
            div.several { @for quantity in small { (one_of_several(group, quantity, &id)) } }
        }
    }
}

fn asked(group: &Group) -> String {
    let bytes = grouped(group.document.bytes as f64, 0);
    let kind = match group.connections {
        ConnectionKind::Short => "a connection for each request",
        ConnectionKind::KeepAlive => "as many requests on a connection as the server allows",
    };
    match group.levels.as_slice() {
        [only] => format!("{bytes} bytes, {kind}, {} at once", connections(*only)),
        _ => format!("{bytes} bytes, {kind}"),
    }
}

/// Whose marks these are. With one target alone there is nothing to tell apart.
fn legend(analysis: &Analysis, group: &Group) -> Markup {
    let series = group.series.iter().filter(|series| !series.points.is_empty());
    let entries: Vec<_> = series.map(|series| (place(analysis, &series.target), shown(&series.target))).collect();
    let published: BTreeSet<_> =
        group.published_beside().map(|one| (published_name(one), shown(&one.source))).collect();
    html! {
        @if entries.len() + published.len() > 1 {
            ul.legend {
                @for (place, name) in &entries { li { (swatch(Owner::Target(*place))) " " (name) } }
                @for (name, source) in &published {
                    li.muted { (swatch(Owner::Published)) " " (name) " (" (source) ")" }
                }
            }
        }
    }
}

/// A target's place in the plan, which its looks come from.
fn place(analysis: &Analysis, target: &str) -> usize {
    analysis.experiment.targets.iter().position(|known| known.name == target).unwrap_or(0)
}

fn large(group: &Group, id: &str) -> Markup {
    let [wide, narrow] = [chart::WIDE, chart::NARROW].map(|size| chart::of(group, Quantity::Requests, size));
    html! {
        @if let (Some(wide), Some(narrow)) = (wide, narrow) {
            figure.large {
                figcaption { (Quantity::Requests.name()) }
                (at_both_widths(&wide, &narrow, &format!("{id}-requests")))
            }
        }
    }
}

/// A chart twice, of which the style sheet shows one: its letters would else be too small to be read on a phone.
pub(super) fn at_both_widths(wide: &Drawing, narrow: &Drawing, id: &str) -> Markup {
    html! {
        div.wide { (wide.inline(id)) }
        div.narrow { (narrow.inline(&format!("{id}-narrow"))) }
    }
}

fn one_of_several(group: &Group, quantity: Quantity, id: &str) -> Markup {
    let drawing = chart::of(group, quantity, chart::SMALL);
    html! {
        @if let Some(drawing) = drawing {
            figure { figcaption { (quantity.name()) } (drawing.inline(&format!("{id}-{}", quantity.slug()))) }
        }
    }
}
