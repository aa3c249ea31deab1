//! What the connections of one worker share under one configuration. Nothing of it is shared with another worker.

use std::sync::Arc;

use super::access_log;
use super::deadlines::Phase;
use super::head::Heads;
use super::post::Post;
use super::refusal::Refusals;
use super::transfer::Transfer;
use super::wire::Wire;
use crate::config::plan::{ConnectionPlan, HeadPlan};
use crate::site::{Now, Site};

/// One worker's own site and rules. A reload puts another one at the same [`Post`].
#[derive(Debug)]
pub struct Worker {
    pub post: Arc<Post>,
    /// Which configuration this is: the first is 1.
    pub generation: u32,
    pub site: Site,
    pub limits: ConnectionPlan,
    pub heads: Heads,
    pub refusals: Refusals,
    pub log: Option<access_log::Handle>,
    pub transfer: Transfer,
}

impl Worker {
    /// A worker for `post`, which has not taken it yet.
    pub fn new(
        post: Arc<Post>,
        generation: u32,
        site: Site,
        transfer: Transfer,
        limits: ConnectionPlan,
        head: HeadPlan,
        log: Option<access_log::Handle>,
    ) -> Self {
        let refusals = Refusals::new(&head);
        Self { post, generation, site, limits, heads: Heads::new(head), refusals, log, transfer }
    }

    /// The post's clock, in ticks.
    pub fn tick(&self) -> u32 {
        self.post.tick()
    }

    /// The same clock as the site wants it.
    pub fn now(&self) -> Now {
        Now(u64::from(self.tick()) * Post::TICK_MILLIS)
    }

    /// The kernel has taken bytes of the current answer.
    pub fn note_sent(&self, wire: &Wire, sent: usize) {
        self.post.counters.sent(sent as u64);
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
            self.post.counters.log_dropped(1);
        }
    }
}
