//! Ratios with their intervals, a row for each comparison: what is left of the line of 1 is less, what is right of it more.

use plotters::element::{PathElement, Rectangle};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::Size;
use super::frame::{Axis, Frame, Plane, Root, Undrawable, Values, style};
use super::ink::Ink;
use super::mark::{Mark, Owner};
use super::words::{characters_in, fitted, width};

const ROW: u32 = 24;
/// Below the rows: the labels of the axis.
const BELOW: u32 = 26;
const ABOVE: u32 = 6;
/// No axis shows more than this ratio, or less than 1 through it: an interval beyond it goes to the edge.
const WIDEST: f64 = 16.0;
/// What an axis shows at least.
const NARROWEST: f64 = 1.15;

/// A comparison as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::report) struct Ratio {
    /// Whose, by its place in the plan.
    pub(in crate::report) place: usize,
    /// What is compared.
    pub(in crate::report) name: String,
    /// Lower end of the interval, ratio, upper end; `None` where nothing could be compared.
    pub(in crate::report) ends: Option<[f64; 3]>,
    /// A difference was shown.
    pub(in crate::report) shown: bool,
    /// The word, right of the row.
    pub(in crate::report) word: &'static str,
    /// What it says when it is pointed at.
    pub(in crate::report) title: String,
}

/// The frame of some ratios, and what stands in it. The band is that of ratios which are no difference that matters.
pub(super) fn draw(ratios: &[Ratio], band: f64, size: &Size) -> Result<(Frame, String), Undrawable> {
    let frame = frame(ratios, size);
    let drawn = frame.draw(|root, plane| {
        draw_band(band, ratios.len(), plane)?;
        ratios.iter().enumerate().try_for_each(|(at, ratio)| draw_row(at, ratio, &frame, root, plane))
    })?;
    Ok((frame, drawn))
}

fn frame(ratios: &[Ratio], size: &Size) -> Frame {
    let room = |texts: &mut dyn Iterator<Item = &str>| texts.map(width).max().unwrap_or(0);
    let left = room(&mut ratios.iter().map(|ratio| ratio.name.as_str())).clamp(60, size.width as i32 / 2) + 8;
    let right = room(&mut ratios.iter().map(|ratio| ratio.word)) + 18;
    let inside = ratios.len() as u32 * ROW;
    let reach = reach(ratios);
    Frame {
        size: (size.width, ABOVE + inside + BELOW),
        margins: [ABOVE, right as u32, BELOW, left as u32],
        x: Axis { from: -reach.ln(), to: reach.ln(), ticks: ticks(reach) },
        y: Axis { from: f64::from(inside), to: 0.0, ticks: Vec::new() },
        values: Values::Right,
    }
}

/// How far the axis goes to either side of 1.
fn reach(ratios: &[Ratio]) -> f64 {
    let farthest = ratios.iter().filter_map(|ratio| ratio.ends).flatten().filter(|end| end.is_finite() && *end > 0.0);
    let farthest = farthest.map(|end| end.ln().abs()).fold(0.0, f64::max).exp();
    (farthest * 1.02).clamp(NARROWEST, WIDEST)
}

/// Labels that both sides have: 0.5 and 2, or 0.9 and 1.1.
fn ticks(reach: f64) -> Vec<(f64, String)> {
    const STEPS: [f64; 9] = [1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0];
    let Some(step) = STEPS.into_iter().rfind(|step| *step < reach) else { return vec![(0.0, "1×".to_owned())] };
    // The one below 1 is round too, and not quite as far.
    let below = (100.0 / step).ceil() / 100.0;
    [below, 1.0, step].map(|at| (at.ln(), format!("{at}×"))).to_vec()
}

/// What is no difference that matters, and the line of 1 on top of it.
fn draw_band(band: f64, rows: usize, plane: &mut Plane<'_, '_>) -> Result<(), Undrawable> {
    let (edge, height) =
        (band.max(0.0).ln_1p().min(plane.plotting_area().get_x_range().end), rows as f64 * f64::from(ROW));
    plane.draw_series([Rectangle::new([(-edge, 0.0), (edge, height)], Ink::Band.filled())])?;
    plane.draw_series([PathElement::new(vec![(0.0, 0.0), (0.0, height)], Ink::Axis)])?;
    Ok(())
}

fn draw_row(
    at: usize,
    ratio: &Ratio,
    frame: &Frame,
    root: &Root<'_>,
    plane: &mut Plane<'_, '_>,
) -> Result<(), Undrawable> {
    let [_, right, _, left] = frame.margins.map(|margin| margin as i32);
    let y = at as f64 * f64::from(ROW) + f64::from(ROW) / 2.0;
    let middle = (ABOVE as f64 + y) as i32;
    let inside = |end: f64| if end > 0.0 { end.ln().clamp(frame.x.from, frame.x.to) } else { frame.x.from };
    root.draw_text(&fitted(&ratio.name, characters_in(left - 8)), &style(Ink::Words, HPos::Left), (0, middle))?;
    plane.draw_series(ratio.ends.map(|ends| Mark {
        owner: Owner::Target(ratio.place),
        points: ends.map(|end| (inside(end), y)),
        hollow: !ratio.shown,
        title: ratio.title.clone(),
        tenths: 50,
    }))?;
    let edge = frame.size.0 as i32 - right + 10;
    if let Some((figure, is_less)) = ratio.ends.and_then(|[_, at, _]| beyond(at, frame.x.to.exp())) {
        let (anchor, x) = if is_less { (HPos::Left, left + 10) } else { (HPos::Right, edge - 20) };
        root.draw_text(&figure, &style(Ink::Words, anchor), (x, middle))?;
    }
    root.draw_text(ratio.word, &style(Ink::Muted, HPos::Left), (edge, middle))
}

/// A ratio that the axis does not reach: all such marks stand at the edge, and only an arrow and the figure tell them apart. With
/// it, whether it is below 1.
fn beyond(ratio: f64, reach: f64) -> Option<(String, bool)> {
    if !ratio.is_finite() || ratio <= 0.0 || ratio.ln().abs() <= reach.ln() {
        return None;
    }
    // Two digits that count, of however small a ratio.
    let decimals = (1.0 - ratio.log10().floor()).clamp(0.0, 9.0) as usize;
    let figure = format!("{ratio:.decimals$}×");
    let is_less = ratio < 1.0;
    Some((if is_less { format!("← {figure}") } else { format!("{figure} →") }, is_less))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(ends: [f64; 3]) -> Ratio {
        Ratio { place: 1, name: "a".to_owned(), ends: Some(ends), shown: true, word: "faster", title: String::new() }
    }

    #[test]
    fn both_sides_of_one_are_alike() {
        let labels = |reach: f64| ticks(reach).into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ");
        assert_eq!(labels(1.1), "0.96× 1× 1.05×");
        assert_eq!(labels(2.3), "0.5× 1× 2×");
        assert_eq!(labels(16.0), "0.09× 1× 12×");
        assert_eq!(labels(1.0), "1×");
    }

    #[test]
    fn the_axis_reaches_every_interval_but_not_beyond_reason() {
        assert_eq!(reach(&[ratio([0.99, 1.0, 1.01])]), NARROWEST);
        assert!((reach(&[ratio([0.45, 0.5, 0.55])]) - 1.02 / 0.45).abs() < 1e-9);
        assert_eq!(reach(&[ratio([0.0, 1.0, f64::INFINITY])]), NARROWEST);
        assert_eq!(reach(&[ratio([1e-9, 1.0, 2.0])]), WIDEST);
        assert_eq!(reach(&[Ratio { ends: None, ..ratio([1.0; 3]) }]), NARROWEST);
    }

    /// Two ratios of which one was twelve times the other stood at one place, and nothing said so.
    #[test]
    fn a_ratio_beyond_the_axis_is_told() {
        for (at, told) in [(0.0047, "← 0.0047×"), (0.0553, "← 0.055×"), (47.3, "47× →"), (1234.0, "1234× →")]
        {
            assert_eq!(beyond(at, WIDEST).map(|(told, _)| told).as_deref(), Some(told));
        }
        for at in [0.0, f64::INFINITY, f64::NAN, 1.0, 15.9, 0.07] {
            assert_eq!(beyond(at, WIDEST), None, "{at}");
        }
        let size = Size { width: 600, height: 100, names: false };
        let (_, drawn) = draw(&[ratio([0.004, 0.0047, 0.005]), ratio([0.9, 1.0, 1.1])], 0.02, &size).unwrap();
        assert_eq!(drawn.matches("← ").count(), 1, "{drawn}");
    }
}
