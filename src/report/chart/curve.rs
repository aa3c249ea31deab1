//! Lines over concurrency.

use plotters::element::PathElement;
use plotters::style::text_anchor::HPos;

use super::Size;
use super::frame::{Axis, Frame, Plane, Root, Undrawable, Values, style};
use super::ink::Ink;
use super::levels::Levels;
use super::mark::{Mark, Owner};
use super::plot::{Line, Plot};
use super::scale::Ticks;
use super::words::{characters_in, fitted, width};

/// Above the axes: the unit.
const ABOVE: u32 = 28;
/// Below them: labels and what they are of.
const BELOW: u32 = 44;
/// Right of them, where no names are.
const RIGHT: u32 = 14;
/// Most room for a name.
const NAMES: i32 = 190;
/// Between the last point and its name.
const LEADER: i32 = 14;
/// Height of a name.
const NAME_HEIGHT: i32 = 16;

/// The frame of a plot, and what stands in it.
pub(super) fn draw(plot: &Plot, size: &Size) -> Result<(Frame, String), Undrawable> {
    let levels = Levels::of(&plot.levels);
    let ticks = Ticks::up_to(plot.most(), if size.height > 300 { 5 } else { 4 }, plot.quantity.dimension());
    let frame = frame(plot, size, levels, &ticks);
    let unit = match ticks.unit {
        "" => plot.quantity.noun().trim_start(),
        unit => unit,
    };
    let drawn = frame.draw(|root, plane| {
        captions(&frame, root, unit, levels.caption())?;
        for line in in_drawing_order(plot) {
            draw_line(line, levels, mark_size(plot, &frame), plane)?;
        }
        if size.names { draw_names(plot, &frame, levels, root, plane) } else { Ok(()) }
    })?;
    Ok((frame, drawn))
}

fn frame(plot: &Plot, size: &Size, levels: Levels, ticks: &Ticks) -> Frame {
    let left = ticks.marks.iter().map(|(_, label)| width(label)).max().unwrap_or(0) + 10;
    let names = plot.lines.iter().map(|line| width(&line.name)).max().unwrap_or(0).min(NAMES);
    let right = if size.names { names + LEADER + 8 } else { RIGHT as i32 };
    let inside = size.width as i32 - left - right;
    Frame {
        size: (size.width, size.height),
        margins: [ABOVE, right as u32, BELOW, left as u32],
        x: Axis { from: levels.from, to: levels.to, ticks: levels.ticks(&plot.levels, inside) },
        y: Axis { from: 0.0, to: ticks.end, ticks: ticks.marks.clone() },
        values: Values::Up,
    }
}

/// What the axes count: the unit above the one, and in the middle below the other.
fn captions(frame: &Frame, root: &Root<'_>, unit: &str, below: &str) -> Result<(), Undrawable> {
    let (width, height) = (frame.size.0 as i32, frame.size.1 as i32);
    let [_, right, _, left] = frame.margins.map(|margin| margin as i32);
    let middle = left + (width - left - right) / 2;
    root.draw_text(unit, &style(Ink::Muted, HPos::Left), (2, 10))?;
    root.draw_text(below, &style(Ink::Muted, HPos::Center), (middle, height - 9))
}

/// What was published lies below what was measured, and of this the first target on top.
fn in_drawing_order(plot: &Plot) -> impl Iterator<Item = &Line> {
    let (published, measured): (Vec<_>, Vec<_>) = plot.lines.iter().partition(|line| line.owner == Owner::Published);
    published.into_iter().chain(measured.into_iter().rev())
}

/// Half the width of a mark, in tenths of a pixel: where many stand beside each other they are small.
fn mark_size(plot: &Plot, frame: &Frame) -> u32 {
    let inside = frame.size.0.saturating_sub(frame.margins[1]).saturating_sub(frame.margins[3]);
    let step = inside / plot.levels.len().max(1) as u32;
    (step * 2).clamp(16, 45)
}

/// The curve through the points that count, and all points on top of it.
fn draw_line(line: &Line, levels: Levels, tenths: u32, plane: &mut Plane<'_, '_>) -> Result<(), Undrawable> {
    let ink = match line.owner {
        Owner::Target(place) => Ink::Target(place),
        Owner::Published => Ink::Published,
    };
    let at = |concurrency: u64, figure: f64| (levels.place(concurrency), figure);
    let valid = line.dots.iter().filter(|dot| !dot.broken);
    let path: Vec<_> = valid.map(|dot| at(dot.concurrency, dot.at)).collect();
    plane.draw_series([PathElement::new(path, ink)])?;
    plane.draw_series(line.dots.iter().map(|dot| Mark {
        owner: line.owner,
        points: [dot.low, dot.at, dot.high].map(|figure| at(dot.concurrency, figure)),
        hollow: dot.broken,
        title: dot.words.clone(),
        tenths,
    }))?;
    Ok(())
}

/// The names at the ends of their curves, moved apart where curves end together.
fn draw_names(
    plot: &Plot,
    frame: &Frame,
    levels: Levels,
    root: &Root<'_>,
    plane: &Plane<'_, '_>,
) -> Result<(), Undrawable> {
    let [above, right, below, _] = frame.margins.map(|margin| margin as i32);
    let (edge, bottom) = (frame.size.0 as i32 - right, frame.size.1 as i32 - below);
    let ends = plot.lines.iter().filter_map(|line| {
        let last = line.dots.last()?;
        Some((line, plane.backend_coord(&(levels.place(last.concurrency), last.at))))
    });
    let mut ends: Vec<_> = ends.collect();
    ends.sort_by_key(|(_, (_, y))| *y);
    let wanted: Vec<_> = ends.iter().map(|(_, (_, y))| *y).collect();
    // What has no room beside the axis has its name in the legend only.
    let places = moved_apart(&wanted, above, bottom);
    for ((line, end), y) in ends.into_iter().zip(places) {
        let name = fitted(&line.name, characters_in(right - LEADER));
        let ink = if line.owner == Owner::Published { Ink::Muted } else { Ink::Words };
        root.draw(&PathElement::new(vec![(end.0 + 7, end.1), (edge + LEADER - 3, y)], Ink::Grid))?;
        root.draw_text(&name, &style(ink, HPos::Left), (edge + LEADER, y))?;
    }
    Ok(())
}

/// Places as near to the wanted ones (rising) as they can be without touching, from `top` to `bottom`; as many as there is room
/// for.
fn moved_apart(wanted: &[i32], top: i32, bottom: i32) -> Vec<i32> {
    let room = usize::try_from((bottom - top) / NAME_HEIGHT + 1).unwrap_or(0);
    let mut places = Vec::new();
    let mut least = top;
    for y in wanted.iter().take(room) {
        places.push(least.max(*y));
        least = least.max(*y) + NAME_HEIGHT;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = most.min(*place);
        most = *place - NAME_HEIGHT;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_touch_and_stay_inside() {
        assert_eq!(moved_apart(&[50, 52, 54, 200], 0, 300), [50, 66, 82, 200]);
        assert_eq!(moved_apart(&[290, 295, 300], 0, 300), [268, 284, 300]);
        assert_eq!(moved_apart(&[5; 30], 0, 64).len(), 5, "no more than there is room for");
    }
}
