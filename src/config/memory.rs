//! A plan that fits the memory that the process may use.

use std::fmt;

use super::plan::{FilesMode, ServePlan};
use super::units::{K, show_size};

/// The caches together may take this part of the memory. The other half is for connections, whose number the cache cannot
/// know, and for the page cache that `sendfile(2)` sends from: both count for the limit too.
const CACHES_SHARE: u64 = 2;

/// The smallest cache, as of `files.cache_bytes`.
const CAPACITY_MIN: u64 = 64 * K;

/// A cache that had to be made smaller than it was configured. Its text is the sentence that tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounded {
    /// What was configured for each cache.
    pub configured_bytes: u64,
    /// What each cache got.
    pub capacity_bytes: u64,
    /// How many there are.
    pub caches: usize,
    /// The limit on the memory of the process.
    pub limit_bytes: u64,
}

impl fmt::Display for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { configured_bytes, capacity_bytes, caches, limit_bytes } = *self;
        let (configured, capacity) = (show_size(configured_bytes), show_size(capacity_bytes));
        let limit = show_size(limit_bytes);
        let caches = if caches == 1 { "the cache".to_owned() } else { format!("each of {caches} caches") };
        write!(
            f,
            "files.cache_bytes is {configured}, but {caches} gets {capacity}: together no more than half of {limit}, the memory \
             limit of the control group"
        )
    }
}

/// Makes the caches of a plan fit. A plan without conflicts stays one: the largest file that is kept shrinks with them.
pub(super) fn bound(plan: &mut ServePlan, limit_bytes: u64) -> Option<Bounded> {
    let caches = plan.threads.caches().get();
    let cache = &mut plan.live.site.cache;
    // Whole kilobytes, as config.toml would have it.
    let share = (limit_bytes / CACHES_SHARE / caches as u64 / K * K).max(CAPACITY_MIN);
    if cache.mode == FilesMode::PerRequest || cache.capacity_bytes <= share {
        return None;
    }
    let configured_bytes = cache.capacity_bytes;
    cache.capacity_bytes = share;
    cache.file_max_bytes = cache.file_max_bytes.min(share);
    Some(Bounded { configured_bytes, capacity_bytes: share, caches, limit_bytes })
}
