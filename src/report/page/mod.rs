//! The report of an experiment as one page: no script, no font and no picture from elsewhere, so that it opens from a disk, can
//! be mailed, and is the same in ten years.
//!
//! Names, versions and reasons come from plans and from servers that nobody vouches for. The template escapes whatever stands in
//! it, `chart::shown` takes out what steers, and the policy in the head lets nothing run or load even so.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::chart;
use crate::analysis::Analysis;

pub mod across;
mod answer;
mod charts;
mod comparisons;
mod endings;
mod figures;
pub(super) mod glance;
mod machine;
mod method;
pub(super) mod ratios;
mod table;
mod targets;
mod typography;
mod warnings;

const STYLE: &str = include_str!("page.css");

/// Nothing is loaded and nothing runs, whatever stands in the page.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// A part of the page.
struct Section {
    id: &'static str,
    heading: &'static str,
    inside: Markup,
}

/// The page of one experiment.
#[must_use]
pub fn render(analysis: &Analysis) -> String {
    let sections: Vec<_> = sections(analysis).into_iter().flatten().collect();
    let inside = html! {
        (answer::head(analysis))
        (contents(&sections))
        main { @for section in &sections { (section.render()) } }
        (footer(&analysis.experiment.tool, BESIDE))
    };
    document(&analysis.experiment.question, &inside)
}

/// The parts that have something to say, in their order.
fn sections(analysis: &Analysis) -> [Option<Section>; 9] {
    let section = |id, heading, inside: Option<Markup>| inside.map(|inside| Section { id, heading, inside });
    [
        section("glance", "At a glance", glance::render(analysis)),
        section("targets", "Who was measured", Some(targets::render(analysis))),
        section("charts", "Charts", charts::render(analysis)),
        section("figures", "All figures", figures::render(analysis)),
        section("endings", "How requests ended", endings::render(analysis)),
        section("machine", "The machine", Some(machine::render(&analysis.experiment.machine))),
        section("method", "How it was measured", Some(method::render(analysis))),
        section("warnings", "Warnings", Some(warnings::render(analysis))),
        section("comparisons", "Comparisons", comparisons::render(analysis)),
    ]
}

impl Section {
    fn render(&self) -> Markup {
        html! {
            section id=(self.id) aria-labelledby={ (self.id) "-heading" } {
                h2 id={ (self.id) "-heading" } { (self.heading) }
                (self.inside)
            }
        }
    }
}

fn contents(sections: &[Section]) -> Markup {
    html! {
        nav aria-label="Parts of this page" {
            ul { @for section in sections { li { a href={ "#" (section.id) } { (section.heading) } } } }
        }
    }
}

/// Where the rest is.
const BESIDE: &str =
    "The records are in journal.jsonl beside this page, every figure of it in summary.csv and summary.json.";

fn footer(measured_by: &str, rest: &str) -> Markup {
    let program = concat!("quintain ", env!("CARGO_PKG_VERSION"));
    html! {
        footer {
            p { "Measured by " (chart::shown(measured_by)) ", written by " (program) ". " (rest) }
        }
    }
}

/// A whole page.
fn document(title: &str, inside: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (chart::shown_sentence(title)) }
                // Browsers would ask for /favicon.ico else.
                link rel="icon" href="data:,";
                style { (PreEscaped(chart::STYLE)) (PreEscaped(STYLE)) }
            }
            body { (inside) }
        }
    };
    page.into_string()
}

#[cfg(test)]
mod tests;
