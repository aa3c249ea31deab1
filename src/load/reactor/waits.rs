//! What has waited too long, and how long the thread itself may wait.

use super::super::schedule::Due;
use super::super::slot::{NEVER, State};
use super::{BURST_GAP_NS, Reactor, TURN_NS};
use crate::record::Outcome;

/// Shortest time between two sweeps.
const SWEEP_NS: u64 = 5_000_000;

impl Reactor<'_> {
    /// Looks at every slot now and then, instead of keeping a timer for each: a timeout is noticed up to a twentieth of it, or
    /// 100 ms, too late, and a sweep over 10,000 slots takes some 20 us.
    pub(super) fn sweep(&mut self, now: u64) {
        if now < self.next_sweep_at {
            return;
        }
        self.next_sweep_at = now + (self.timeout_ns / 20).clamp(SWEEP_NS, TURN_NS);
        for at in 0..self.opened {
            let slot = &self.slots[at];
            if slot.wakes_at <= now {
                self.wake(at, now);
            } else if slot.state == State::BackingOff {
                self.next_sweep_at = self.next_sweep_at.min(slot.wakes_at);
            }
        }
    }

    fn wake(&mut self, at: usize, now: u64) {
        match self.slots[at].state {
            State::Vacant => {}
            State::BackingOff | State::Lingering => self.close(at, now),
            State::Connecting => self.connect_failed(at, Outcome::ConnectTimedOut, None, now),
            State::Open => self.time_out(at, now),
        }
    }

    /// The request at the front has been given its time; those behind it go again.
    fn time_out(&mut self, at: usize, now: u64) {
        if let Some(asked) = self.slots[at].exchange.take_front() {
            self.recorder.timed_out(&asked, now);
            self.request_ended(now);
        }
        self.close(at, now);
    }

    /// How long nothing needs to be done unless something happens.
    pub(super) fn longest_wait(&self, now: u64, end: u64) -> u64 {
        let due = match self.schedule.next() {
            // Waits for a connection, whose event ends the wait.
            Due::At(due) if due <= now => NEVER,
            Due::At(due) => due,
            Due::Now | Due::Over => NEVER,
        };
        let is_opening = self.opened < self.slots.len() && (self.has_request(now) || self.is_reserved());
        let burst = if is_opening { BURST_GAP_NS } else { TURN_NS };
        let until = due.min(end).min(self.next_sweep_at);
        until.saturating_sub(now).min(burst)
    }
}
