//! What is known of the disk, for as long as it is believed: bounds, age, remembered failures.
//!
//! Eviction is quick_cache's (S3-FIFO with ghosts). It resists scans: a client that asks for a million names that do not exist
//! displaces other rarely used entries, not the documents that are asked for all the time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use quick_cache::{Weighter, unsync};

use super::document::Content;
use super::resource::{Representations, Resource};
use crate::config::plan::CachePlan;

/// A moment of a coarse monotonic clock, in milliseconds since any beginning. The caller reads the clock: a server does once
/// for many requests, a test has no need to wait.
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
    /// What they weigh. It is near the memory they take; an open file weighs more, see [`Site::open`](super::Site::open).
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

/// One lock over everything: each worker owns its own site, so it is never contended, and an uncontended lock is cheaper
/// than the reference counts that sharing without one would need.
#[derive(Debug)]
pub(super) struct Cache {
    state: Mutex<State>,
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
        let CachePlan { capacity_bytes, file_max_bytes: _, revalidate } = plan;
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
            revalidate_ms: u64::try_from(revalidate.as_millis()).unwrap_or(u64::MAX),
            open_file_weight: capacity_bytes / MAX_OPEN_FILES,
        }
    }

    /// Looks a path up, and makes the answer from what is fresh while the lock is held: a hit takes it once, copies nothing and
    /// allocates nothing.
    pub fn look_up<T>(&self, path: &[u8], now: Now, answer: impl FnOnce(&Resource) -> T) -> Known<T> {
        let state = &mut *self.lock();
        let Some(entry) = state.entries.get(path) else {
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
