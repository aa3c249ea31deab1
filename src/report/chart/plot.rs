//! What a chart shows, before anybody thinks about pixels.

use super::mark::Owner;
use super::quantity::Quantity;
use super::scale::grouped;
use super::words::{shown, shown_sentence};
use crate::analysis::{Group, Point, Series};
use crate::record::experiment::Published;

/// One quantity of one group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plot {
    /// What is drawn.
    pub(super) quantity: Quantity,
    /// All concurrencies that were measured, rising.
    pub(super) levels: Vec<u64>,
    /// The targets that were measured, in the plan's order, then what was published.
    pub(super) lines: Vec<Line>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// Whose.
    pub(super) owner: Owner,
    /// As it is shown.
    pub(super) name: String,
    /// By rising concurrency; never empty.
    pub(super) dots: Vec<Dot>,
}

/// One point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dot {
    /// Connections at once.
    pub(super) concurrency: u64,
    /// Of the repeats.
    pub(super) low: f64,
    /// The median.
    pub(super) at: f64,
    /// Of the repeats.
    pub(super) high: f64,
    /// It takes no part in a verdict.
    pub(super) broken: bool,
    /// What it says when it is pointed at.
    pub(super) words: String,
}

impl Plot {
    /// `None` if nobody was measured.
    pub(super) fn of(group: &Group, quantity: Quantity) -> Option<Self> {
        let targets = group.series.iter().filter_map(|series| target(series, quantity));
        let mut lines: Vec<_> = targets.collect();
        let mut levels: Vec<_> = lines.iter().flat_map(|line| &line.dots).map(|dot| dot.concurrency).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.first()?;
        if quantity == Quantity::Requests {
            lines.extend(published(group.published_beside()));
        }
        Some(Self { quantity, levels, lines })
    }

    /// The highest figure that is drawn.
    pub(super) fn most(&self) -> f64 {
        self.lines.iter().flat_map(|line| &line.dots).map(|dot| dot.high).fold(0.0, f64::max)
    }

    /// What somebody is told who does not see the chart. All the figures stand in the table.
    pub(super) fn in_words(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(|line| self.line_in_words(line)).collect();
        lines.join(" ")
    }

    fn line_in_words(&self, line: &Line) -> String {
        let told = |dot: &Dot| {
            let broken = if dot.broken { " (takes no part in a verdict)" } else { "" };
            format!("{} at {}{broken}", self.quantity.dimension().words(dot.at), dot.concurrency)
        };
        let mut ends: Vec<_> = line.dots.iter().map(told).collect();
        if let ([first, .., last], true) = (line.dots.as_slice(), line.dots.len() > FEW) {
            let highest = line.dots.iter().max_by(|a, b| a.at.total_cmp(&b.at)).unwrap_or(first);
            ends = vec![told(first), format!("highest {}", told(highest)), told(last)];
        }
        format!("{}: {}.", line.name, ends.join(", "))
    }
}

/// So many figures of a line are told one by one.
const FEW: usize = 5;

fn target(series: &Series, quantity: Quantity) -> Option<Line> {
    let name = shown(&series.target);
    let dots: Vec<_> = series.points.iter().filter_map(|point| dot(&name, point, quantity)).collect();
    (!dots.is_empty()).then_some(Line { owner: Owner::Target(series.place), name, dots })
}

/// A point; none where it was not measured. A figure that is none, or endless, is not drawn.
fn dot(name: &str, point: &Point, quantity: Quantity) -> Option<Dot> {
    let [low, at, high] = quantity.of(point).filter(|spread| spread.iter().all(|figure| figure.is_finite()))?;
    let dimension = quantity.dimension();
    let mut words = format!("{name}, {}: {}{}", connections(point.concurrency), dimension.words(at), quantity.noun());
    if point.repeats > 1 {
        let [low, high] = [low, high].map(|end| dimension.words(end));
        words += &format!(" (median of {} repeats, {low} to {high})", point.repeats);
    }
    let faults = quantity.faults(point);
    for fault in &faults {
        words += &format!("\nTakes no part in a verdict: {}", shown_sentence(fault));
    }
    Some(Dot { concurrency: point.concurrency, low, at, high, broken: !faults.is_empty(), words })
}

/// The published figures, a line for each server of each source.
fn published<'a>(figures: impl Iterator<Item = &'a Published>) -> Vec<Line> {
    let mut lines: Vec<((&str, &str), Line)> = Vec::new();
    for figure in figures.filter(|figure| figure.requests_per_s.is_finite()) {
        let key = (figure.source.as_str(), figure.server.as_str());
        let dot = published_dot(figure);
        match lines.iter_mut().find(|(known, _)| *known == key) {
            Some((_, line)) => line.dots.push(dot),
            None => lines.push((key, Line { owner: Owner::Published, name: published_name(figure), dots: vec![dot] })),
        }
    }
    let mut lines: Vec<_> = lines.into_iter().map(|(_, line)| line).collect();
    lines.iter_mut().for_each(|line| line.dots.sort_by_key(|dot| dot.concurrency));
    lines
}

/// How something published is called beside what was measured.
pub(in crate::report) fn published_name(figure: &Published) -> String {
    format!("{}, published", shown(&figure.server))
}

fn published_dot(figure: &Published) -> Dot {
    let Published { source, concurrency, requests_per_s: at, note, .. } = figure;
    let (name, rate) = (published_name(figure), Quantity::Requests.dimension().words(*at));
    let mut words = format!("{name}, {}: {rate} requests/s ({})", connections(*concurrency), shown(source));
    if !note.is_empty() {
        words += &format!("\n{}", shown_sentence(note));
    }
    Dot { concurrency: *concurrency, low: *at, at: *at, high: *at, broken: false, words }
}

/// `1 connection`, `50 connections`.
pub(in crate::report) fn connections(count: u64) -> String {
    format!("{} connection{}", grouped(count as f64, 0), if count == 1 { "" } else { "s" })
}
