//! How a search for the highest rate went.

use serde::{Deserialize, Serialize};

/// The way to what a search found, and what it means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// The client was the limit where the rate did not go any higher: the server takes at least what was found.
    pub lower_bound: bool,
    /// What was found, or why nothing was, as a sentence with its figures.
    pub words: String,
    /// One for each run of the record, in the same order.
    pub stages: Vec<Stage>,
}

/// One run of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stage {
    /// The rate that was asked for.
    pub rate_per_s: f64,
    /// What it was for.
    pub purpose: Purpose,
    /// The gates that it broke, as sentences; empty of a run that passed, and of one that was interrupted.
    pub broke: Vec<String>,
}

/// What a run of a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Purpose {
    /// The first rate, or twice the last one, which passed.
    Double,
    /// Half of the last rate, because not even the first one passed.
    Halve,
    /// Between the highest rate that passed and the lowest one that broke.
    Bisect,
    /// Longer, to confirm what was found.
    Hold,
}
