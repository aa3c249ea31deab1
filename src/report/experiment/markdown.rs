//! `summary.md`: the report as a page of text, for a repository or a ticket.

mod machine;
mod tables;

use crate::analysis::Analysis;
use crate::record::experiment::ConnectionKind;

use super::super::harmless::letter;
use super::super::units::counted;
use super::moment::moment;

/// A chart that stands beside the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// The document that it is of.
    pub document: String,
    /// The kind of connections.
    pub connections: ConnectionKind,
    /// What it shows, for those who do not see it.
    pub title: String,
    /// Its file, relative to the page.
    pub file: String,
}

/// The page, with a link to each chart below the heading of its document.
#[must_use]
pub fn render(analysis: &Analysis, charts: &[Chart]) -> String {
    let mut text = format!("# {}\n\n{}\n", escaped(&analysis.experiment.question), origin(analysis));
    text += &section("Answer", &list(&analysis.answer));
    text += &section("Warnings", &list(&analysis.warnings));
    for group in &analysis.groups {
        text += &tables::of_group(analysis, group, charts);
    }
    text += &section("How it was measured", &(list(&analysis.method) + &machine::targets(analysis)));
    text += &section("Machine", &machine::machine(&analysis.experiment));
    text
}

/// What was measured, when and by what.
fn origin(analysis: &Analysis) -> String {
    let experiment = &analysis.experiment;
    let when = moment(experiment.started_unix_s);
    format!(
        "Plan {}, {} of {}, {} planned, by {}{}.",
        escaped(&experiment.plan),
        analysis.measured,
        counted(experiment.cells.len() as u64, "measurement"),
        counted(experiment.repeats, "repeat"),
        escaped(&experiment.tool),
        if when.is_empty() { when } else { format!(", begun {when}") }
    )
}

/// Without its heading where there is nothing below it.
fn section(title: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n## {title}\n\n{text}") }
}

fn list(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!("- {}\n", escaped(sentence))).collect()
}

/// Names and reasons come from plans and from servers: what would be markup, or would end a cell or a line, is not.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~' => {
                escaped.extend(['\\', c]);
            }
            _ if c.is_control() => escaped.push(' '),
            _ => escaped.push(letter(c)),
        }
    }
    escaped
}

/// A line of a table.
fn cells<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let cells: String = cells.into_iter().map(|cell| format!(" {} |", cell.as_ref())).collect();
    format!("|{cells}\n")
}

#[cfg(test)]
mod tests;
