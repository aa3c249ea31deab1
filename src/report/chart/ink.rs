//! What things are drawn with. A chart has no colours: it has classes, and the style sheet of whoever shows it knows light and
//! dark.

use plotters::style::Color;
use plotters_backend::BackendColor;

/// Targets after which colours come again, with another mark.
const COLOURS: usize = 6;

/// One kind of line or text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// What values are read against.
    Grid,
    /// The line that values stand on.
    Axis,
    /// Figures and names.
    Words,
    /// Names of rows that belong together.
    Heading,
    /// What explains, and what others have published.
    Muted,
    /// The curve of something published.
    Published,
    /// Ratios that are no difference that matters.
    Band,
    /// A target's curve, by its place in the plan.
    Target(usize),
}

impl Ink {
    const PLAIN: [Self; 7] =
        [Self::Grid, Self::Axis, Self::Words, Self::Heading, Self::Muted, Self::Published, Self::Band];

    /// Its class in chart.css.
    pub(super) fn class(self) -> String {
        match self {
            Self::Grid => "grid".to_owned(),
            Self::Axis => "axis".to_owned(),
            Self::Words => "words".to_owned(),
            Self::Heading => "words heading".to_owned(),
            Self::Muted => "words muted".to_owned(),
            Self::Published => "line published".to_owned(),
            Self::Band => "band".to_owned(),
            Self::Target(place) => format!("line {}", colour(place)),
        }
    }

    /// What [`Color`] carried through plotters.
    pub(super) fn of(colour: BackendColor) -> Self {
        match colour.rgb {
            (plain, 0, 0) => Self::PLAIN.get(usize::from(plain)).copied().unwrap_or(Self::Words),
            (_, place, _) => Self::Target(usize::from(place) - 1),
        }
    }
}

/// The class of a target's colour.
pub(super) fn colour(place: usize) -> String {
    format!("c{}", place % COLOURS)
}

/// Plotters knows inks as colours that nobody will see: the first byte is the place in [`Ink::PLAIN`], the second a target.
impl Color for Ink {
    fn to_backend_color(&self) -> BackendColor {
        let rgb = match *self {
            Self::Target(place) => (0, u8::try_from(place % COLOURS).unwrap_or_default() + 1, 0),
            plain => (Self::PLAIN.iter().position(|known| *known == plain).unwrap_or_default() as u8, 0, 0),
        };
        BackendColor { alpha: 1.0, rgb }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ink_comes_back_from_its_colour() {
        for ink in Ink::PLAIN.into_iter().chain((0..COLOURS).map(Ink::Target)) {
            assert_eq!(Ink::of(ink.to_backend_color()), ink);
        }
        assert_eq!(Ink::of(Ink::Target(COLOURS).to_backend_color()), Ink::Target(0), "colours come again");
    }
}
