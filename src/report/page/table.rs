//! Tables, in boxes of their own: where one is wider than the page, it scrolls and the page does not.

use maud::{Markup, html};

/// A column: its heading, and whether figures stand in it.
pub(super) struct Column(pub(super) &'static str, pub(super) Kind);

/// What stands in a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Aligned to the left.
    Words,
    /// Aligned to the right.
    Figures,
}

impl Kind {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Figures => "figures",
        }
    }
}

/// A table whose rows are made already. The id is one that nothing else on the page has.
pub(super) fn table(id: &str, caption: &str, columns: &[Column], rows: &Markup) -> Markup {
    html! {
        // Whoever has no mouse can scroll it all the same.
        div.scroll role="region" tabindex="0" aria-labelledby=(id) {
            table {
                caption id=(id) { (caption) }
                thead { tr { @for Column(heading, kind) in columns { th scope="col" class=(kind.class()) { (heading) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// A figure.
pub(super) fn figure(inside: &Markup) -> Markup {
    html! { td.figures { (inside) } }
}

/// The sign of a point that takes no part in a verdict: what its mark looks like.
pub(super) fn hollow(is_hollow: bool) -> Markup {
    html! { @if is_hollow { span.sign title="takes no part in a verdict" { "○ " } } }
}

/// A figure that would take part in a verdict.
pub(super) fn judged(is_hollow: bool, inside: &Markup) -> Markup {
    html! { td.figures.hollow[is_hollow] { (hollow(is_hollow)) (inside) } }
}

/// What was not measured.
pub(super) fn nothing() -> Markup {
    html! { td.figures { span.muted title="not measured" { "–" } } }
}
