//! A row for each target: what is shown of one or two concurrencies, between which a line would say more than was measured.

use plotters::style::text_anchor::HPos;

use super::Size;
use super::frame::{Axis, Frame, Plane, Root, Undrawable, Values, style};
use super::ink::Ink;
use super::mark::{Mark, Owner};
use super::plot::{Dot, Line, Plot, connections};
use super::scale::Ticks;
use super::words::{characters_in, fitted, width};

const ROW: u32 = 24;
const HEADING: u32 = 30;
/// Below the rows: the labels of the axis.
const BELOW: u32 = 40;
/// Above them.
const ABOVE: u32 = 6;

/// One line of the chart.
enum Row<'a> {
    /// What the rows below it have in common.
    Heading(String),
    /// A point and its name.
    Point(String, &'a Line, &'a Dot),
}

/// The frame of a plot, and what stands in it.
pub(super) fn draw(plot: &Plot, size: &Size) -> Result<(Frame, String), Undrawable> {
    let rows = rows(plot);
    let ticks = Ticks::up_to(plot.most(), if size.width > 500 { 6 } else { 3 }, plot.quantity.dimension());
    let frame = frame(plot, &rows, size, &ticks);
    let unit = match ticks.unit {
        "" => plot.quantity.noun().trim_start(),
        unit => unit,
    };
    let drawn = frame.draw(|root, plane| {
        let [_, right, _, left] = frame.margins.map(|margin| margin as i32);
        let (width, height) = (frame.size.0 as i32, frame.size.1 as i32);
        let middle = left + (width - left - right) / 2;
        root.draw_text(unit, &style(Ink::Muted, HPos::Center), (middle, height - 9))?;
        tops(&rows).zip(&rows).try_for_each(|(top, row)| draw_row(row, top, plot, &frame, root, plane))
    })?;
    Ok((frame, drawn))
}

/// The rows in their order. With one target alone the concurrency is the name of the row, and one concurrency alone needs no
/// heading.
fn rows(plot: &Plot) -> Vec<Row<'_>> {
    let alone = plot.lines.len() == 1;
    let mut rows = Vec::new();
    for level in &plot.levels {
        if !alone && plot.levels.len() > 1 {
            rows.push(Row::Heading(connections(*level)));
        }
        for line in &plot.lines {
            let dots = line.dots.iter().filter(|dot| dot.concurrency == *level);
            let name = if alone { connections(*level) } else { line.name.clone() };
            rows.extend(dots.map(|dot| Row::Point(name.clone(), line, dot)));
        }
    }
    rows
}

const fn height(row: &Row<'_>) -> u32 {
    match row {
        Row::Heading(_) => HEADING,
        Row::Point(..) => ROW,
    }
}

/// The upper edge of each row.
fn tops(rows: &[Row<'_>]) -> impl Iterator<Item = u32> {
    rows.iter().scan(ABOVE, |next, row| {
        let top = *next;
        *next += height(row);
        Some(top)
    })
}

fn frame(plot: &Plot, rows: &[Row<'_>], size: &Size, ticks: &Ticks) -> Frame {
    let names = rows.iter().map(|row| match row {
        // It is bold.
        Row::Heading(name) => width(name) * 11 / 10,
        Row::Point(name, ..) => width(name),
    });
    let left = names.max().unwrap_or(0).clamp(60, size.width as i32 * 2 / 5) + 8;
    let dots = plot.lines.iter().flat_map(|line| &line.dots);
    let figures = dots.map(|dot| width(&plot.quantity.dimension().words(dot.at)));
    // The figure of the highest point stands right of it.
    let right = figures.max().unwrap_or(0) + 16;
    let inside: u32 = rows.iter().map(height).sum();
    Frame {
        size: (size.width, ABOVE + inside + BELOW),
        margins: [ABOVE, right as u32, BELOW, left as u32],
        x: Axis { from: 0.0, to: ticks.end, ticks: ticks.marks.clone() },
        // In pixels, from below.
        y: Axis { from: f64::from(inside), to: 0.0, ticks: Vec::new() },
        values: Values::Right,
    }
}

fn draw_row(
    row: &Row<'_>,
    top: u32,
    plot: &Plot,
    frame: &Frame,
    root: &Root<'_>,
    plane: &mut Plane<'_, '_>,
) -> Result<(), Undrawable> {
    let left = frame.margins[3] as i32;
    let middle = (top + height(row) / 2) as i32;
    let (name, line, dot) = match row {
        Row::Heading(name) => return root.draw_text(name, &style(Ink::Heading, HPos::Left), (0, middle + 3)),
        Row::Point(name, line, dot) => (name, line, dot),
    };
    let ink = if line.owner == Owner::Published { Ink::Muted } else { Ink::Words };
    root.draw_text(&fitted(name, characters_in(left - 8)), &style(ink, HPos::Left), (0, middle))?;
    let y = f64::from(top - ABOVE + height(row) / 2);
    plane.draw_series([Mark {
        owner: line.owner,
        points: [dot.low, dot.at, dot.high].map(|figure| (figure, y)),
        hollow: dot.broken,
        title: dot.words.clone(),
        tenths: 50,
    }])?;
    let beside = plane.backend_coord(&(dot.high, y)).0 + 10;
    root.draw_text(&plot.quantity.dimension().words(dot.at), &style(ink, HPos::Left), (beside, middle))
}
