//! The marks of points: a shape for each target, so that nobody has to tell colours apart, a bar from the lowest repeat to the
//! highest, and the figures as a title.

use std::array;
use std::convert::Infallible;

use maud::{Markup, html};
use plotters::element::{Drawable, PointCollection};
use plotters_backend::{BackendCoord, DrawingErrorKind};

use super::canvas::{Canvas, Drawn};
use super::ink::colour;

/// Shapes after which they come again; with six colours, 24 targets differ.
const SHAPES: usize = 8;

/// Whose point it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Owner {
    /// A target's, by its place in the plan.
    Target(usize),
    /// Somebody's who has published it.
    Published,
}

/// A point to be drawn.
#[derive(Debug)]
pub(super) struct Mark {
    /// Whose.
    pub(super) owner: Owner,
    /// The lower end of its bar, itself, and the upper end.
    pub(super) points: [(f64, f64); 3],
    /// It takes no part in a verdict.
    pub(super) hollow: bool,
    /// What it says when it is pointed at.
    pub(super) title: String,
    /// Half its width, in tenths of a pixel.
    pub(super) tenths: u32,
}

impl PointCollection<'_, (f64, f64)> for &Mark {
    type Point = (f64, f64);
    type IntoIter = array::IntoIter<(f64, f64), 3>;

    fn point_iter(self) -> Self::IntoIter {
        self.points.into_iter()
    }
}

impl Drawable<Canvas<'_>> for Mark {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        mut points: I,
        canvas: &mut Canvas<'_>,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        match (points.next(), points.next(), points.next()) {
            (Some(low), Some(at), Some(high)) => self.draw_at(low, at, high, canvas),
            _ => Ok(()),
        }
    }
}

impl Mark {
    fn draw_at(&self, low: BackendCoord, at: BackendCoord, high: BackendCoord, canvas: &mut Canvas<'_>) -> Drawn {
        canvas.add(html! {
            g class=(self.owner.class()) {
                title { (self.title) }
                @if low != high {
                    path class="range" d=(format!("M{} {}L{} {}", low.0, low.1, high.0, high.1)) {}
                }
                path class=(if self.hollow { "mark hollow" } else { "mark" }) d=(self.owner.shape(at, self.tenths)) {}
            }
        })
    }
}

impl Owner {
    fn class(self) -> String {
        match self {
            Self::Target(place) => colour(place),
            Self::Published => "faint".to_owned(),
        }
    }

    fn shape(self, at: BackendCoord, tenths: u32) -> String {
        let r = f64::from(tenths) / 10.0;
        match self {
            Self::Target(place) => shape(place, at, r),
            Self::Published => diamond(at, r * 0.65),
        }
    }
}

/// A target's shape around a place. They are of about the same area, and the first ones differ most.
fn shape(place: usize, at: BackendCoord, r: f64) -> String {
    let (x, y) = (f64::from(at.0), f64::from(at.1));
    let moved = |corners: &[(f64, f64)]| {
        let moved: Vec<_> = corners.iter().map(|(dx, dy)| format!("{:.1} {:.1}", x + dx * r, y + dy * r)).collect();
        format!("M{}z", moved.join("L"))
    };
    match place % SHAPES {
        0 => format!("M{:.1} {y}a{r} {r} 0 1 0 {d:.1} 0a{r} {r} 0 1 0 -{d:.1} 0z", x - r, d = 2.0 * r),
        1 => moved(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => moved(&[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)]),
        3 => diamond(at, r),
        4 => moved(&[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)]),
        5 => moved(&PLUS),
        6 => moved(&PLUS.map(|(dx, dy)| ((dx - dy) * 0.72, (dx + dy) * 0.72))),
        _ => moved(&[(-1.15, 0.0), (-0.6, -1.05), (0.6, -1.05), (1.15, 0.0), (0.6, 1.05), (-0.6, 1.05)]),
    }
}

const PLUS: [(f64, f64); 12] = [
    (-0.4, -1.2),
    (0.4, -1.2),
    (0.4, -0.4),
    (1.2, -0.4),
    (1.2, 0.4),
    (0.4, 0.4),
    (0.4, 1.2),
    (-0.4, 1.2),
    (-0.4, 0.4),
    (-1.2, 0.4),
    (-1.2, -0.4),
    (-0.4, -0.4),
];

fn diamond(at: BackendCoord, r: f64) -> String {
    let (x, y, d) = (f64::from(at.0), f64::from(at.1), 1.3 * r);
    format!("M{x} {:.1}L{:.1} {y}L{x} {:.1}L{:.1} {y}z", y - d, x + d, y + d, x - d)
}

/// A line with a mark on it, as legends show it. It says nothing that does not stand beside it.
pub(in crate::report) fn swatch(owner: Owner) -> Markup {
    let line = match owner {
        Owner::Target(_) => "line",
        Owner::Published => "line published",
    };
    html! {
        svg.chart.swatch viewBox="0 0 30 14" width="30" height="14" aria-hidden="true" {
            g class=(owner.class()) {
                path class=(line) d="M1 7L29 7" {}
                path.mark d=(owner.shape((15, 7), 45)) {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn twenty_four_targets_differ() {
        let looks = (0..24).map(|place| (colour(place), shape(place, (0, 0), 4.0)));
        assert_eq!(looks.collect::<BTreeSet<_>>().len(), 24);
    }

    #[test]
    fn a_title_is_escaped_and_a_range_of_nothing_is_not_drawn() {
        let mut drawn = String::new();
        let mut canvas = Canvas::new((100, 100), &mut drawn);
        let point = (0.0, 0.0);
        let mark = Mark {
            owner: Owner::Target(7),
            points: [point; 3],
            hollow: true,
            title: "<script>alert(1)</script>".to_owned(),
            tenths: 45,
        };
        mark.draw_at((10, 10), (10, 10), (10, 10), &mut canvas).unwrap();
        assert!(drawn.contains("<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>"), "{drawn}");
        assert!(drawn.starts_with(r#"<g class="c1">"#) && drawn.contains(r#"class="mark hollow""#), "{drawn}");
        assert!(!drawn.contains("range"), "{drawn}");
    }
}
