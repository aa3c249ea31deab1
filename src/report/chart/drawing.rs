//! A chart that is drawn: as a part of a page, and as a file of its own.

use maud::{Markup, PreEscaped, html};

use super::STYLE;
use super::frame::{Frame, Undrawable};

/// Around a chart that stands alone.
const MARGIN: u32 = 16;
/// For its title.
const TITLE: u32 = 32;

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::report) struct Drawing {
    /// Width and height, in pixels.
    size: (u32, u32),
    /// The elements of its `svg`, made by [`Canvas`](super::canvas::Canvas), which has them escaped.
    inside: String,
    /// What it is.
    title: String,
    /// What it shows, for those who do not see it.
    words: String,
}

impl Drawing {
    /// What plotters has drawn, or why it could not: an empty place would look like nothing measured.
    pub(super) fn new(drawn: Result<(Frame, String), Undrawable>, title: String, words: String) -> Self {
        match drawn {
            Ok((frame, inside)) => Self { size: frame.size, inside, title, words },
            Err(error) => {
                let sorry = html! { text.words x="0" y="20" { "This chart cannot be drawn: " (error.to_string()) } };
                Self { size: (360, 40), inside: sorry.into_string(), title, words }
            }
        }
    }

    /// As a part of a page, whose style sheet it needs. The id is one that nothing else on the page has.
    pub(in crate::report) fn inline(&self, id: &str) -> Markup {
        let (width, height) = self.size;
        html! {
            svg.chart id=(id) role="img" aria-labelledby={ (id) "-title " (id) "-words" }
                viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
                title id={ (id) "-title" } { (self.title) }
                desc id={ (id) "-words" } { (self.words) }
                (PreEscaped(&self.inside))
            }
        }
    }

    /// As a file of its own, light or dark as its reader is.
    pub(in crate::report) fn file(&self) -> String {
        let (width, height) = (self.size.0 + 2 * MARGIN, self.size.1 + TITLE + 2 * MARGIN);
        let svg = html! {
            svg.chart xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title words"
                viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
                title id="title" { (self.title) }
                desc id="words" { (self.words) }
                style { (PreEscaped(STYLE)) }
                rect.surface width=(width) height=(height) rx="6" {}
                text.words.heading.title x=(MARGIN) y=(MARGIN + 14) { (self.title) }
                g transform={ "translate(" (MARGIN) " " (MARGIN + TITLE) ")" } { (PreEscaped(&self.inside)) }
            }
        };
        svg.into_string() + "\n"
    }
}
