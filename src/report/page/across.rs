//! Two results beside each other, as one page.

use maud::{Markup, html};

use super::super::units::counted;
use super::chart::{self, Drawing, Size, shown, shown_sentence};
use super::comparisons::{HOLM, of_all};
use super::table::{Column, Kind, table};
use super::typography::{date, machine_date, sentence};
use super::{Section, contents, document, footer, ratios};
use crate::analysis::across::{Across, Change, Difference, Side};
use crate::analysis::{Group, Metric};

/// The page.
#[must_use]
pub fn render(across: &Across) -> String {
    let sections: Vec<_> = sections(across).into_iter().flatten().collect();
    let inside = html! {
        (head(across))
        (contents(&sections))
        main { @for section in &sections { (section.render()) } }
        (footer(&across.after.analysis.experiment.tool, "The records are in the two folders."))
    };
    document(&title(across), &inside)
}

fn title(across: &Across) -> String {
    let [before, after] = [&across.before, &across.after].map(|side| shown(&side.name));
    format!("{after} beside {before}")
}

fn sections(across: &Across) -> [Option<Section>; 5] {
    let section = |id, heading, inside: Option<Markup>| inside.map(|inside| Section { id, heading, inside });
    [
        section("glance", "At a glance", glance(across)),
        section("differences", "What else differs", Some(differences(across))),
        section("warnings", "Warnings", Some(warnings(across))),
        section("method", "How it was compared", Some(method())),
        section("comparisons", "Comparisons", comparisons(across)),
    ]
}

fn head(across: &Across) -> Markup {
    let first = across.answer.first().map_or_else(|| "Nothing is answered.".to_owned(), |words| sentence(words));
    html! {
        header {
            p.kicker { "Two results beside each other" }
            h1 { (title(across)) }
            p.lead { (first) }
            p.before {
                "Before you believe it: " a href="#warnings" { (counted(across.warnings.len() as u64, "warning")) } ", and "
                a href="#differences" { (counted(across.differences.len() as u64, "recorded difference")) } "."
            }
            dl.facts.sides {
                (side("Before", &across.before))
                (side("After", &across.after))
            }
        }
    }
}

fn side(name: &str, side: &Side) -> Markup {
    let experiment = &side.analysis.experiment;
    html! {
        div {
            dt { (name) }
            dd {
                code { (shown(&side.name)) } ", plan " (shown(&experiment.plan)) ", "
                time datetime=(machine_date(experiment.started_unix_s)) { (date(experiment.started_unix_s)) }
                br;
                (shown_sentence(&experiment.question))
            }
        }
    }
}

/// `None` where the two have nothing in common.
fn glance(across: &Across) -> Option<Markup> {
    let charts = ratios::pair(|metric, size| drawing(across, metric, size))?;
    let more = across.answer.get(1..).unwrap_or_default();
    Some(html! {
        p {
            "What is right of 1 is more than it was before, with the 95 % interval of the ratio. " (ratios::LEGEND) " "
            a href="#comparisons" { "All comparisons" } "."
        }
        (charts)
        @if !more.is_empty() { ul.prose { @for words in more { li { (sentence(words)) } } } }
    })
}

/// The changes of a metric that speak for their targets; `None` without any.
pub(in crate::report) fn drawing(across: &Across, metric: Metric, size: Size) -> Option<Drawing> {
    let experiment = &across.after.analysis.experiment;
    let alone = experiment.targets.len() == 1;
    let ratio = |change: &Change| {
        let place = experiment.targets.iter().position(|target| target.name == change.target).unwrap_or(0);
        let who = if alone { String::new() } else { shown(&change.target) };
        ratios::ratio(&change.comparison, place, &who)
    };
    let ratios: Vec<_> = headlines(across).filter(|change| change.comparison.metric == metric).map(ratio).collect();
    let title = format!("{}, as a ratio to {}", ratios::name(metric).0, shown(&across.before.name));
    (!ratios.is_empty()).then(|| chart::ratios(&ratios, experiment.band, &title, size))
}

/// Target by target, so that what belongs together stands together.
fn headlines(across: &Across) -> impl Iterator<Item = &Change> {
    let analysis = &across.after.analysis;
    let of_group = |group: &Group| across.headlines(&group.document.name, group.connections).collect::<Vec<_>>();
    let all: Vec<_> = analysis.groups.iter().flat_map(of_group).collect();
    let of_target = move |name: &str| all.iter().copied().filter(|change| change.target == name).collect::<Vec<_>>();
    analysis.experiment.targets.iter().flat_map(move |target| of_target(&target.name))
}

fn differences(across: &Across) -> Markup {
    if across.differences.is_empty() {
        return html! { p { "Nothing that is recorded: plan, machine, settings, client and versions are the same." } };
    }
    let columns = [Column("What", Kind::Words), Column("Before", Kind::Words), Column("After", Kind::Words)];
    let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { shown_sentence(text) };
    let rows = html! {
        @for Difference { what, before, after } in &across.differences {
            tr { th scope="row" { (shown(what)) } td { (or_none(before)) } td { (or_none(after)) } }
        }
    };
    html! {
        p { "A change may come from any of these, or from what nobody recorded." }
        (table("differences-table", "Recorded differences", &columns, &rows))
    }
}

fn warnings(across: &Across) -> Markup {
    html! { ul.prose { @for words in &across.warnings { li { (sentence(words)) } } } }
}

fn method() -> Markup {
    html! {
        p {
            "The two were not measured in blocks, so no repeat of one belongs to one of the other. A ratio is that of the geometric \
             means over the repeats, its interval that of Welch's t on the logarithms, beside which the exact rank-sum test is asked. \
             For a whole curve each repeat counts once, with its mean over the concurrencies that are valid in both."
        }
    }
}

fn comparisons(across: &Across) -> Option<Markup> {
    let rows = across.changes.iter().map(|change| (shown(&change.target), &change.comparison));
    let caption = format!("Ratios of {} to {}", shown(&across.after.name), shown(&across.before.name));
    (!across.changes.is_empty()).then(|| {
        html! {
            p {
                (across.compared()) " of " (across.changes.len()) " comparisons could be made. " (HOLM)
            }
            (of_all(&caption, ["Repeats", "p: t, Holm, ranks"], rows))
        }
    })
}
