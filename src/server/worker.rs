//! What the connections of one worker share. Nothing of it is shared with another worker.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::access_log;
use super::admission::Admission;
use super::deadlines::{Phase, TICK, Watch};
use super::head::Heads;
use super::metrics::Counters;
use super::refusal::Refusals;
use super::transfer::Transfer;
use super::wire::Wire;
use crate::config::plan::{ConnectionPlan, HeadPlan};
use crate::site::{Now, Site};

/// One worker's own site, counters, limits and connections.
#[derive(Debug)]
pub struct Worker {
    pub site: Site,
    pub counters: Counters,
    pub admission: Admission,
    pub watch: Watch,
    pub limits: ConnectionPlan,
    pub heads: Heads,
    pub refusals: Refusals,
    pub log: Option<access_log::Handle>,
    pub transfer: Transfer,
    tick: AtomicU32,
    draining: AtomicBool,
}

impl Worker {
    /// A worker that has not accepted anything yet.
    pub fn new(
        site: Site,
        counters: Counters,
        admission: Admission,
        transfer: Transfer,
        limits: ConnectionPlan,
        head: HeadPlan,
        log: Option<access_log::Handle>,
    ) -> Self {
        let refusals = Refusals::new(&head);
        Self {
            site,
            counters,
            admission,
            watch: Watch::default(),
            limits,
            heads: Heads::new(head),
            refusals,
            log,
            transfer,
            tick: AtomicU32::new(0),
            draining: AtomicBool::new(false),
        }
    }

    /// The worker's clock: ticks since the start. One relaxed load, where a system clock would be asked
    /// four times a request.
    pub fn tick(&self) -> u32 {
        self.tick.load(Relaxed)
    }

    /// The same clock as the site wants it.
    pub fn now(&self) -> Now {
        Now(u64::from(self.tick()) * TICK.as_millis() as u64)
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

    /// The kernel has taken bytes of the current answer.
    pub fn note_sent(&self, wire: &Wire, sent: usize) {
        self.counters.sent(sent as u64);
        wire.pulse.beat(self.tick());
        if self.log.is_some()
            && let Some(pending) = wire.log().as_mut()
        {
            pending.sent += sent as u64;
        }
    }

    /// An answer has left the process as a whole.
    pub fn end_answer(&self, wire: &Wire) {
        self.finish_log(wire);
        wire.forget_file();
        wire.pulse.enter(Phase::Idle, self.tick());
    }

    /// Writes the access log line of the answer that has just ended, well or badly.
    pub fn finish_log(&self, wire: &Wire) {
        if let Some(log) = &self.log
            && let Some(pending) = wire.log().take()
            && !log.log(pending.finish())
        {
            self.counters.log_dropped(1);
        }
    }
}
