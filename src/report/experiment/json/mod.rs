//! `summary.json`: the analysis as other programs read it. Its shape is `schema/summary.json`; the shapes of `analysis` may
//! change without it.

mod shape;

use crate::analysis::Analysis;

/// The version of this shape. It grows when a field changes its meaning or goes; a new field alone does not change it.
pub const VERSION: u32 = 1;

/// The summary as indented JSON, with a newline at its end.
///
/// # Errors
///
/// None that an analysis can cause: no map has keys that are not texts.
pub fn render(analysis: &Analysis) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(&shape::Summary::of(analysis))? + "\n")
}

#[cfg(test)]
mod tests;
