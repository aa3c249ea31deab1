//! What of a worker outlives a configuration: its counters, its clock, its connections, and which configuration is the
//! present one.
//!
//! A reload makes a new [`Worker`] for each post. Connections hold the one that they began with and look for a newer one
//! whenever they are between two requests. What that costs a request is one relaxed load; the lock below is taken only
//! after a reload. Rejected: `ArcSwap`, whose reference counting on each load is for readers that keep nothing.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::admission::Admission;
use super::deadlines::{TICK, Watch};
use super::metrics::Counters;
use super::vitals::Vitals;
use super::worker::Worker;
use crate::site::CacheCounts;

/// The place of one worker.
#[derive(Debug)]
pub struct Post {
    pub counters: Counters,
    pub admission: Admission,
    pub watch: Watch,
    /// Where its threads show that they are alive.
    pub vitals: Vitals,
    tick: AtomicU32,
    draining: AtomicBool,
    /// The number of the present worker's configuration.
    generation: AtomicU32,
    present: Mutex<Present>,
}

#[derive(Debug, Default)]
struct Present {
    /// Empty only before the first one takes its post.
    worker: Option<Arc<Worker>>,
    /// What the caches of those before had counted when they were replaced.
    counts_before: CacheCounts,
}

impl Post {
    /// A post that nobody has taken yet.
    pub fn new(counters: Counters, admission: Admission, vitals: Vitals) -> Self {
        Self {
            counters,
            admission,
            watch: Watch::default(),
            vitals,
            tick: AtomicU32::new(0),
            draining: AtomicBool::new(false),
            generation: AtomicU32::new(0),
            present: Mutex::default(),
        }
    }

    /// Puts the next worker in the place of the present one: connections and requests that begin from now on are its.
    pub fn hand_over(&self, worker: Arc<Worker>) {
        let mut present = self.lock();
        if let Some(before) = &present.worker {
            present.counts_before = sum(present.counts_before, before.site.cache_counts());
        }
        // Inside of the lock: whoever sees the new number finds the new worker or a newer one.
        self.generation.store(worker.generation, Relaxed);
        present.worker = Some(worker);
    }

    /// Whether `worker` is not the present one any more.
    pub fn has_newer_than(&self, worker: &Worker) -> bool {
        self.generation.load(Relaxed) != worker.generation
    }

    /// The present worker, for a connection that begins or goes on under it. Post and worker hold each other until the
    /// process ends; the worker that was replaced ends with its last connection.
    pub fn present(&self) -> Arc<Worker> {
        self.lock().worker.clone().expect("a post is handed over before anybody accepts")
    }

    /// What the caches of this post have counted since the start, but for those of answers that were under way during a
    /// reload.
    pub fn cache_counts(&self) -> CacheCounts {
        let present = self.lock();
        let now = present.worker.as_ref().map(|worker| worker.site.cache_counts());
        sum(present.counts_before, now.unwrap_or_default())
    }

    /// The worker's clock: ticks since the start. One relaxed load, where a system clock would be asked
    /// four times a request.
    pub fn tick(&self) -> u32 {
        self.tick.load(Relaxed)
    }

    /// Moves the clock; called by the control loop.
    pub fn set_tick(&self, tick: u32) {
        self.tick.store(tick, Relaxed);
    }

    /// From now on each answer is the last one of its connection.
    pub fn start_draining(&self) {
        self.draining.store(true, Relaxed);
    }

    /// Whether the server is stopping.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Relaxed)
    }

    /// Length of the clock's tick in milliseconds.
    pub const TICK_MILLIS: u64 = TICK.as_millis() as u64;

    fn lock(&self) -> MutexGuard<'_, Present> {
        // A panic elsewhere does not make a reference wrong.
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is counted adds up; what is held is what the present cache holds.
fn sum(before: CacheCounts, now: CacheCounts) -> CacheCounts {
    CacheCounts {
        hits: before.hits + now.hits,
        misses: before.misses + now.misses,
        stale: before.stale + now.stale,
        ..now
    }
}
