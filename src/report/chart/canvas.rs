//! What plotters draws on: SVG whose elements have classes instead of colours, and titles where something is pointed at.
//!
//! Not plotters' own SVG backend: its colours are fixed when it draws, so that a page could not be dark, and it has no way to
//! say anything about a point. Elements are made by maud, which escapes whatever stands in them.

use std::convert::Infallible;
use std::fmt::Write;

use maud::{Markup, html};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};

use super::ink::Ink;

/// What drawing gives: nothing of ours can fail.
pub(super) type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// The inside of an `svg` element.
#[derive(Debug)]
pub(super) struct Canvas<'a> {
    size: (u32, u32),
    drawn: &'a mut String,
}

impl<'a> Canvas<'a> {
    /// An empty one of so many pixels, whose elements are appended there.
    pub(super) fn new(size: (u32, u32), drawn: &'a mut String) -> Self {
        Self { size, drawn }
    }

    /// Adds an element.
    pub(super) fn add(&mut self, element: Markup) -> Drawn {
        self.drawn.push_str(&element.into_string());
        Ok(())
    }

    fn stroke(&mut self, points: impl IntoIterator<Item = BackendCoord>, colour: BackendColor) -> Drawn {
        if colour.alpha == 0.0 {
            return Ok(());
        }
        self.add(html! { path class=(Ink::of(colour).class()) d=(polyline(points)) {} })
    }
}

fn polyline(points: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut d = String::new();
    for (x, y) in points {
        let letter = if d.is_empty() { 'M' } else { 'L' };
        let _ = write!(d, "{letter}{x} {y}");
    }
    d
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> Drawn {
        self.draw_rect((x, y), (x + 1, y + 1), &colour, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.stroke([from, to], style.color())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        self.stroke(path, style.color())
    }

    /// Only filled ones are drawn.
    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        _: bool,
    ) -> Drawn {
        let (width, height) = (right - left, bottom - top);
        self.add(
            html! { rect class=(Ink::of(style.color()).class()) x=(left) y=(top) width=(width) height=(height) {} },
        )
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): BackendCoord) -> Drawn {
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        let dy = match style.anchor().v_pos {
            VPos::Top => "0.8em",
            VPos::Center => "0.35em",
            VPos::Bottom => "-0.2em",
        };
        self.add(html! {
            text class=(Ink::of(style.color()).class()) x=(x) y=(y) dy=(dy) text-anchor=(anchor) { (text) }
        })
    }
}
