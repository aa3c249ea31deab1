//! The plans that are built in: the files of `plans/`, so that a program that stands alone has them too.

/// A file of `plans/`.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// The name of a plan, without `.toml`; of another file its whole name.
    pub name: &'static str,
    /// Its content.
    pub text: &'static str,
}

/// The plan that is run where nobody names one.
pub const USUAL: &str = "quick";

/// The plans, the usual one first.
pub const ALL: &[Shipped] = &[Shipped { name: "quick", text: include_str!("../../plans/quick.toml") }];

/// The published figures.
pub const PUBLISHED: Shipped = Shipped { name: "published.csv", text: include_str!("../../plans/published.csv") };

/// The plan of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Shipped> {
    ALL.iter().find(|shipped| shipped.name == name)
}
