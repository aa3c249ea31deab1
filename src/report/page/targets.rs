//! Who was measured, with the looks that each has in the charts.

use maud::{Markup, html};

use super::chart::{Owner, shown, shown_sentence, swatch};
use super::glance::baseline;
use super::table::{Column, Kind, table};
use crate::analysis::Analysis;
use crate::record::experiment::{Target, TargetKind};

/// The table of targets.
pub(super) fn render(analysis: &Analysis) -> Markup {
    let experiment = &analysis.experiment;
    let columns = [
        Column("Target", Kind::Words),
        Column("Version", Kind::Words),
        Column("Workers", Kind::Figures),
        Column("CPUs", Kind::Figures),
        Column("Where it came from", Kind::Words),
    ];
    let rows = html! { @for (place, target) in experiment.targets.iter().enumerate() { (row(place, target)) } };
    let caption = match analysis.comparisons.is_empty() {
        true => "Nothing is compared.".to_owned(),
        false => format!("The others are compared with {}.", baseline(analysis)),
    };
    table("targets-table", &caption, &columns, &rows)
}

fn row(place: usize, target: &Target) -> Markup {
    let unknown = |text: &str, else_shown: &str| if text.is_empty() { else_shown.to_owned() } else { shown(text) };
    html! {
        tr {
            th scope="row" { span.name { (swatch(Owner::Target(place))) span title=(shown(&target.name)) { (shown(&target.name)) } } }
            td.version { (unknown(&target.version, "says nothing")) }
            td.figures { @match target.workers { Some(workers) => (workers), None => "–" } }
            td.figures { (unknown(&target.cpus, "all")) }
            td { (origin(target)) }
        }
    }
}

fn origin(target: &Target) -> Markup {
    html! {
        @match target.kind {
            TargetKind::Ours => { "this program: " code { (command(target)) } }
            TargetKind::Command => code { (command(target)) },
            TargetKind::Running => { "was running at " code { (shown(&target.url)) } }
        }
    }
}

/// The command as it might be typed; words with spaces are shown in quotes. An option is not broken after its dashes: only
/// words that are too long for a phone may be broken at all.
fn command(target: &Target) -> Markup {
    const WHOLE: usize = 32;
    let words = target.command.iter().map(|word| match word.contains(char::is_whitespace) || word.is_empty() {
        true => format!("'{word}'"),
        false => word.clone(),
    });
    let words: Vec<String> = words.map(|word| shown_sentence(&word)).collect();
    html! {
        @for (at, word) in words.iter().enumerate() {
            @if at > 0 { " " }
            @if word.chars().count() <= WHOLE { span.whole { (word) } } @else { (word) }
        }
    }
}
