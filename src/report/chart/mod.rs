//! Charts of an experiment, as SVG: plotters places what is drawn, and style sheets colour it.

use crate::analysis::Group;

mod canvas;
mod curve;
mod drawing;
mod forest;
mod frame;
mod ink;
mod levels;
mod mark;
mod plot;
mod quantity;
mod rows;
mod scale;
mod words;

pub(super) use drawing::Drawing;
pub(super) use forest::Ratio;
pub(super) use mark::{Owner, swatch};
use plot::Plot;
pub(super) use plot::{connections, published_name};
pub(super) use quantity::Quantity;
pub(super) use scale::{Dimension, grouped};
pub(super) use words::{shown, shown_sentence};

/// The colours, light and dark, and what is drawn with them. Pages and pictures that stand alone have it with them.
pub(super) const STYLE: &str = include_str!("chart.css");

/// Concurrencies up to which each has rows of its own, and no line goes from one to the next.
const ROWS: usize = 2;

/// How large a chart is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    width: u32,
    /// Of lines; rows take what they need.
    height: u32,
    /// Lines have their names at their ends.
    names: bool,
}

/// Across a page.
pub(super) const WIDE: Size = Size { width: 960, height: 400, names: true };
/// On a phone.
pub(super) const NARROW: Size = Size { width: 360, height: 300, names: false };
/// Half of a page.
pub(super) const HALF: Size = Size { width: 470, height: 300, names: false };
/// One of several, on whatever.
pub(super) const SMALL: Size = Size { width: 360, height: 220, names: false };

/// In a file of its own.
pub(super) const ALONE: Size = Size { width: 720, height: 340, names: true };

/// What a group is about, in words: `1k.html, short connections`.
pub(super) fn group_name(group: &Group) -> String {
    format!("{}, {} connections", shown(&group.document.name), group.connections.name())
}

/// A quantity of a group; `None` where it was not measured.
pub(super) fn of(group: &Group, quantity: Quantity, size: Size) -> Option<Drawing> {
    let plot = Plot::of(group, quantity)?;
    let title = format!("{}: {}", quantity.name(), group_name(group));
    let drawn = if plot.levels.len() <= ROWS { rows::draw(&plot, &size) } else { curve::draw(&plot, &size) };
    Some(Drawing::new(drawn, title, plot.in_words()))
}

/// Ratios and their intervals around a band that does not matter.
pub(super) fn ratios(ratios: &[Ratio], band: f64, title: &str, size: Size) -> Drawing {
    let words: Vec<_> = ratios.iter().map(|ratio| ratio.title.as_str()).collect();
    Drawing::new(forest::draw(ratios, band, &size), title.to_owned(), words.join(" "))
}

#[cfg(test)]
mod tests;
