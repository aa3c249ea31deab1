//! What is known of the disk, for as long as it is believed: bounds, age, remembered failures.
//!
//! Eviction is quick_cache's (S3-FIFO with ghosts). It resists scans: a client that asks for a million names that do
//! not exist displaces other rarely used entries, not the documents that are asked for all the time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use quick_cache::{Weighter, unsync};

use super::document::Content;
use super::resource::{Representations, Resource};
use crate::config::plan::{CachePlan, FilesMode};

/// A moment of a coarse monotonic clock, in milliseconds since any beginning. The caller reads the clock: a server
/// does once for many requests, a test has no need to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Now(pub u64);

/// What the cache has done and what it holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Answered from memory alone.
    pub hits: u64,
    /// Looked up on the disk, because nothing was known.
    pub misses: u64,
    /// Compared with the disk or looked up again, because what was known had grown old.
    pub stale: u64,
    /// Paths that something is known of.
    pub entries: u64,
    /// What they weigh. It is near the memory they take; an open file weighs more, see
    /// [`Site::open`](super::Site::open).
    pub weight_bytes: u64,
}

/// What is known of a path.
pub(super) enum Known<T> {
    /// What was made of a resource that is still believed.
    Fresh(T),
    /// Too old to be believed.
    Stale(Resource),
    Nothing,
}

/// One lock over everything: each worker owns its own site, so it is never contended, and an uncontended lock is
/// cheaper than the reference counts that sharing without one would need.
#[derive(Debug)]
pub(super) struct Cache {
    state: Mutex<State>,
    mode: FilesMode,
    revalidate_ms: u64,
    /// What one kept-open file weighs at least.
    open_file_weight: u64,
}

#[derive(Debug)]
struct State {
    entries: unsync::Cache<Box<[u8]>, Entry, EntryWeight, foldhash::fast::RandomState>,
    hits: u64,
    misses: u64,
    stale: u64,
}

#[derive(Debug)]
struct Entry {
    resource: Resource,
    found: Now,
    /// Kept, because it must not change while the entry is in the cache.
    weight: u64,
}

/// What an entry without content weighs: its slot, key and header values. It bounds the number of entries.
const ENTRY_WEIGHT: u64 = 512;

/// A capacity holds at most this many open files, so that the cache leaves descriptors to the connections.
const MAX_OPEN_FILES: u64 = 256;

impl Cache {
    pub fn new(plan: &CachePlan) -> Self {
        // `file_max_bytes` is the finder's.
        let CachePlan { mode, capacity_bytes, file_max_bytes: _, revalidate } = plan;
        // The expected number of entries sizes the memory of what was evicted; an order of magnitude is enough.
        let expected = usize::try_from(capacity_bytes / (16 * ENTRY_WEIGHT)).unwrap_or(usize::MAX).clamp(16, 1 << 16);
        let entries = unsync::Cache::with(
            expected,
            *capacity_bytes,
            EntryWeight,
            foldhash::fast::RandomState::default(),
            unsync::DefaultLifecycle::default(),
        );
        Cache {
            state: Mutex::new(State { entries, hits: 0, misses: 0, stale: 0 }),
            mode: *mode,
            revalidate_ms: u64::try_from(revalidate.as_millis()).unwrap_or(u64::MAX),
            open_file_weight: capacity_bytes / MAX_OPEN_FILES,
        }
    }

    /// Looks a path up, and makes the answer from what is fresh while the lock is held: a hit takes it once, copies
    /// nothing and allocates nothing.
    pub fn look_up<T>(&self, path: &[u8], now: Now, answer: impl FnOnce(&Resource) -> T) -> Known<T> {
        let state = &mut *self.lock();
        let known = if self.mode == FilesMode::Cached { state.entries.get(path) } else { None };
        let Some(entry) = known else {
            state.misses += 1;
            return Known::Nothing;
        };
        // Clocks of several threads may disagree by a moment: an entry from the future is new.
        if now.0.saturating_sub(entry.found.0) < self.revalidate_ms {
            state.hits += 1;
            Known::Fresh(answer(&entry.resource))
        } else {
            state.stale += 1;
            Known::Stale(entry.resource.clone())
        }
    }

    /// Remembers what was found at a path. What is too heavy is not admitted, and what was known before is forgotten.
    pub fn remember(&self, path: &[u8], resource: Resource, found: Now) {
        if self.mode == FilesMode::PerRequest {
            return;
        }
        let weight = self.weigh(path, &resource);
        self.lock().entries.insert(path.into(), Entry { resource, found, weight });
    }

    pub fn counts(&self) -> CacheCounts {
        let state = self.lock();
        CacheCounts {
            hits: state.hits,
            misses: state.misses,
            stale: state.stale,
            entries: state.entries.len() as u64,
            weight_bytes: state.entries.weight(),
        }
    }

    fn weigh(&self, path: &[u8], resource: &Resource) -> u64 {
        let content = match resource {
            Resource::Document(representations) => self.weigh_contents(representations),
            Resource::Listing(page) => page.len() as u64,
            Resource::Folder | Resource::Forbidden | Resource::Nothing => 0,
        };
        ENTRY_WEIGHT + path.len() as u64 + content
    }

    fn weigh_contents(&self, representations: &Representations) -> u64 {
        let weigh = |content: &Content| match content {
            Content::Memory(bytes) => bytes.len() as u64,
            Content::Open(_) => self.open_file_weight,
        };
        representations.documents().map(|document| ENTRY_WEIGHT + weigh(&document.content)).sum()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock can only come from a bug in making an answer, and that does not touch the state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone)]
struct EntryWeight;

impl Weighter<Box<[u8]>, Entry> for EntryWeight {
    fn weight(&self, _path: &Box<[u8]>, entry: &Entry) -> u64 {
        entry.weight
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;

    fn cache(capacity_bytes: u64, revalidate: Duration) -> Cache {
        Cache::new(&CachePlan { mode: FilesMode::Cached, capacity_bytes, file_max_bytes: 0, revalidate })
    }

    fn is_fresh(cache: &Cache, path: &[u8], now: u64) -> bool {
        matches!(cache.look_up(path, Now(now), |_| ()), Known::Fresh(()))
    }

    #[test]
    fn entries_are_believed_until_they_are_old() {
        let cache = cache(1 << 20, Duration::from_millis(1000));
        assert!(matches!(cache.look_up(b"a", Now(5000), |_| ()), Known::Nothing));
        cache.remember(b"a", Resource::Folder, Now(5000));
        for (now, expected) in [(5000, true), (5999, true), (6000, false), (u64::MAX, false), (4000, true)] {
            assert_eq!(is_fresh(&cache, b"a", now), expected, "{now}");
        }
        assert!(matches!(cache.look_up(b"a", Now(6000), |_| ()), Known::Stale(Resource::Folder)));
        cache.remember(b"a", Resource::Nothing, Now(6000));
        assert!(is_fresh(&cache, b"a", 6999));
        let counts = cache.counts();
        assert_eq!((counts.hits, counts.misses, counts.stale, counts.entries), (4, 1, 3, 1));
    }

    #[test]
    fn nothing_is_believed_when_every_request_is_to_check() {
        let cache = cache(1 << 20, Duration::ZERO);
        cache.remember(b"a", Resource::Folder, Now(7));
        assert!(!is_fresh(&cache, b"a", 7));
    }

    #[test]
    fn the_capacity_bounds_contents_and_the_number_of_entries() {
        let capacity = 1 << 16;
        let cache = cache(capacity, Duration::from_secs(1));
        for number in 0..10_000 {
            cache.remember(format!("gone-{number}").as_bytes(), Resource::Nothing, Now(0));
        }
        let counts = cache.counts();
        assert!(counts.entries <= capacity / ENTRY_WEIGHT && counts.entries > 0, "{counts:?}");
        for number in 0..100 {
            let page = Bytes::from(vec![0; 1 << 14]);
            cache.remember(format!("page-{number}").as_bytes(), Resource::Listing(page), Now(0));
        }
        assert!(cache.counts().weight_bytes <= capacity);
    }

    #[test]
    fn what_does_not_fit_is_not_admitted_and_displaces_what_was_known() {
        let cache = cache(1 << 14, Duration::from_secs(1));
        cache.remember(b"a", Resource::Nothing, Now(0));
        cache.remember(b"b", Resource::Nothing, Now(0));
        cache.remember(b"a", Resource::Listing(Bytes::from(vec![0; 1 << 14])), Now(0));
        assert!(!is_fresh(&cache, b"a", 0));
        assert!(is_fresh(&cache, b"b", 0));
    }

    #[test]
    fn a_cache_of_nothing_holds_nothing() {
        let cache = cache(0, Duration::from_secs(1));
        cache.remember(b"a", Resource::Nothing, Now(0));
        assert!(!is_fresh(&cache, b"a", 0));
        assert_eq!(cache.counts().entries, 0);
    }

    /// The documents that are asked for all the time survive a client that asks for names at random.
    #[test]
    fn a_scan_does_not_displace_what_is_used() {
        let cache = cache(1 << 16, Duration::from_secs(1));
        cache.remember(b"used", Resource::Folder, Now(0));
        for number in 0..10_000 {
            assert!(is_fresh(&cache, b"used", 0), "displaced after {number}");
            cache.remember(format!("scan-{number}").as_bytes(), Resource::Nothing, Now(0));
        }
    }
}
