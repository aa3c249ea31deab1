//! Statistics of few, dear numbers: the repeats of an experiment. Pure; it knows nothing of servers.
//!
//! Each formula names its source, and is tested against worked examples that somebody published.

mod holm;
mod mean;
mod rank_sum;
mod ranks;
mod repeats;
mod signed_rank;
mod spread;

pub use holm::holm_in_families;
pub use mean::Mean;
pub use rank_sum::RankSum;
pub use repeats::{MOST, pairs_needed};
pub use signed_rank::SignedRank;
pub use spread::Spread;
