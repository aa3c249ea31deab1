//! What a comparison is, and what it may say.

use std::fmt;

use crate::record::experiment::ConnectionKind;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Answered requests per second: more is better.
    RequestsPerSecond,
    /// The server's CPU for each request: less is better.
    ServerCpu,
}

impl Metric {
    /// Both, in the order in which they are told.
    pub const ALL: [Self; 2] = [Self::RequestsPerSecond, Self::ServerCpu];

    /// Whether a ratio above 1 speaks for the one that stands above the line.
    #[must_use]
    pub const fn more_is_better(self) -> bool {
        matches!(self, Self::RequestsPerSecond)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RequestsPerSecond => "requests/s",
            Self::ServerCpu => "server CPU for each request",
        })
    }
}

/// One target against the group's first one, over the blocks in which both were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What was asked for.
    pub document: String,
    /// How.
    pub connections: ConnectionKind,
    /// Connections at once; `None` for the whole curve: each repeat's mean of the log ratios over all concurrencies. A
    /// group of only one concurrency has no curve.
    pub concurrency: Option<u64>,
    /// What it is over: the concurrency, or of a curve those in which both are valid.
    pub levels: Vec<u64>,
    /// What is compared.
    pub metric: Metric,
    /// Whose figure stands above the line of the ratio.
    pub target: String,
    /// Whose stands below: [`super::Group::baseline`].
    pub baseline: String,
    /// Blocks in which both are valid.
    pub pairs: usize,
    /// How it came out.
    pub outcome: Outcome,
}

impl Comparison {
    /// The figures, if it could be made.
    #[must_use]
    pub const fn estimate(&self) -> Option<&Estimate> {
        match &self.outcome {
            Outcome::Compared(estimate) => Some(estimate),
            Outcome::NotComparable(_) => None,
        }
    }
}

/// How a comparison came out.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Too little to compare, in words: a clause without a full stop.
    NotComparable(String),
    /// Compared.
    Compared(Estimate),
}

/// A ratio, how sure it is, and the word for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Target over baseline: the exponential of the mean log ratio.
    pub ratio: f64,
    /// Lower end of its 95 % interval (paired t), which knows nothing of other comparisons.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Of the t test that the ratio is within the band, before Holm's correction: below 0.05 where the interval is outside.
    pub p_t: f64,
    /// Of the exact Wilcoxon signed-rank test of the same, in the direction of the ratio.
    pub p_wilcoxon: f64,
    /// `p_t` after Holm's correction: over those that speak for a target, or over the points of curves.
    pub p_holm: f64,
    /// The word.
    pub word: Word,
    /// Where no difference was shown: how many more repeats one of this size would need. `None` where the ratio is within
    /// the band, so that no number would do.
    pub more_repeats: Option<u64>,
}

/// What may be said. For CPU "more" is dearer; the words are about the target's quality, not about the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    /// The target is better.
    Better,
    /// It is worse.
    Worse,
    /// The interval does not exclude the band.
    NoDifferenceShown,
    /// The two tests disagree.
    Borderline,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoDifferenceShown => "no difference shown",
            Self::Borderline => "borderline",
        })
    }
}
