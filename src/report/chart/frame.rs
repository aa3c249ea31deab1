//! A canvas with axes.

use std::convert::Infallible;
use std::ops::Range;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::PathElement;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoTextStyle, TextStyle};

use super::canvas::Canvas;
use super::ink::Ink;

/// What plotters says where there is no room for what should be drawn.
pub(super) type Undrawable = DrawingAreaErrorKind<Infallible>;

/// All of the canvas, in pixels.
pub(super) type Root<'a> = DrawingArea<Canvas<'a>, Shift>;

/// How many lengths of an axis from its begin something may be drawn.
const FARTHEST: f64 = 1000.0;

/// What is inside the axes.
pub(super) type Plane<'r, 'a> = ChartContext<'r, Canvas<'a>, Cartesian2d<Axis, Axis>>;

/// One axis: where it begins and ends, and where it is labelled.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// At the left, or at the bottom.
    pub(super) from: f64,
    /// At the right, or at the top.
    pub(super) to: f64,
    /// Places and labels.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let share = (value - self.from) / (self.to - self.from);
        // What nobody would measure may stand in a file: it stands at the edge of the world, and pixels can be added to it.
        first + (share.clamp(-FARTHEST, FARTHEST) * f64::from(last - first)).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, hint: H) -> Vec<f64> {
        // "Light" points are lines without labels, between the ticks.
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(at, _)| at == value);
        tick.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

/// Along which axis values are read: the grid stands across it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Upwards: lines over concurrency.
    Up,
    /// To the right: rows.
    Right,
}

/// Sizes, in pixels.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// Of the whole.
    pub(super) size: (u32, u32),
    /// What is outside of the axes: above, right, below, left.
    pub(super) margins: [u32; 4],
    /// From left to right.
    pub(super) x: Axis,
    /// From bottom to top.
    pub(super) y: Axis,
    /// Where the grid goes.
    pub(super) values: Values,
}

impl Frame {
    /// Draws axes and grid, and then what is inside. What comes back are the elements of an `svg`.
    pub(super) fn draw(
        &self,
        inside: impl FnOnce(&Root<'_>, &mut Plane<'_, '_>) -> Result<(), Undrawable>,
    ) -> Result<String, Undrawable> {
        let mut drawn = String::new();
        let root = Canvas::new(self.size, &mut drawn).into_drawing_area();
        let [above, right, below, left] = self.margins;
        let mut plane = ChartBuilder::on(&root)
            .margin_top(above)
            .margin_right(right)
            .x_label_area_size(below)
            .y_label_area_size(left)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        self.grid(&mut plane)?;
        inside(&root, &mut plane)?;
        drop(plane);
        drop(root);
        Ok(drawn)
    }

    /// Lines across the values with their labels, and the line that values stand on.
    fn grid(&self, plane: &mut Plane<'_, '_>) -> Result<(), Undrawable> {
        let mut mesh = plane.configure_mesh();
        mesh.set_all_tick_mark_size(4)
            .x_label_style(style(Ink::Muted, HPos::Center))
            .y_label_style(style(Ink::Muted, HPos::Right))
            .bold_line_style(Ink::Grid)
            // Without its axes plotters draws no labels either: they are there and cannot be seen.
            .axis_style(Ink::Axis.mix(0.0));
        match self.values {
            Values::Up => mesh.disable_x_mesh(),
            Values::Right => mesh.disable_y_mesh(),
        };
        mesh.draw()?;
        let ends = match self.values {
            Values::Up => vec![(self.x.from, 0.0), (self.x.to, 0.0)],
            Values::Right => vec![(0.0, self.y.from), (0.0, self.y.to)],
        };
        plane.draw_series([PathElement::new(ends, Ink::Axis)])?;
        Ok(())
    }
}

/// Text of an ink, which is anchored there and in the middle of its height.
pub(super) fn style(ink: Ink, anchor: HPos) -> TextStyle<'static> {
    ("sans-serif", 12).with_color(ink).into_text_style(&(0, 0)).pos(Pos::new(anchor, VPos::Center))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_outside_is_at_the_edge_of_the_world() {
        let axis = Axis { from: 0.0, to: 1e-5, ticks: Vec::new() };
        assert_eq!([axis.map(&5e-6, (10, 110)), axis.map(&-1e300, (10, 110))], [60, 10 - 100_000]);
        assert_eq!(axis.map(&f64::INFINITY, (110, 10)), 110 - 100_000);
    }
}
