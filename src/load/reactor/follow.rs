//! What follows from an answer or from the end of a connection: the next request, a pause, another connection.

use rustix::io::Errno;

use super::super::exchange::{Answer, Asked, Break, Loss};
use super::super::slot::{NEVER, State};
use super::Reactor;
use crate::record::Outcome;

/// How long a connection that the server has announced to close is waited for; then it is closed from here.
///
/// Who closes first holds the port for a minute (TIME_WAIT). That is the server's part, as with ab: 28,000 short
/// connections that end here would use up the ports of this side.
const LINGER_NS: u64 = 1_000_000_000;
/// Longest pause of a slot whose connects fail; the first is a 64th of it.
const BACKOFF_NS: u64 = 64_000_000;

/// What is behind an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rest {
    /// Nothing yet, or answers to other requests.
    Open,
    /// The end of the connection.
    Ended,
    /// Bytes that nobody asked for.
    Surplus,
}

impl Reactor<'_> {
    /// An answer is whole: counts it, and goes on with the connection or without it.
    pub(super) fn settle(&mut self, at: usize, answer: &Answer, rest: Rest, now: u64) {
        if self.recorder.first_answer.is_none() {
            self.recorder.first_answer = Some(self.heads.first_answer(answer.status, answer.body_bytes));
        }
        if self.slots[at].exchange.answers() == 1 {
            self.unproven -= 1;
        }
        self.recorder.transfer.received_body_bytes += answer.body_bytes;
        self.recorder.answered(answer, now);
        self.request_ended(now);
        let is_kept = self.limits.keep_alive && answer.keep_alive;
        match rest {
            // What is missing of the request must not be taken for another, and whoever waits for it will not close.
            _ if !answer.request_is_sent => self.close(at, now),
            Rest::Surplus => {
                self.recorder.connections.surplus += 1;
                self.close(at, now);
            }
            Rest::Ended if self.slots[at].exchange.in_flight() == 0 => {
                self.recorder.connections.stale_keep_alive += u64::from(is_kept);
                self.close(at, now);
            }
            Rest::Ended | Rest::Open if is_kept => self.refill(at, now),
            // A server that was asked to close, and does not say that it will, is not waited for.
            Rest::Ended | Rest::Open if answer.keep_alive => self.close(at, now),
            Rest::Ended | Rest::Open => self.linger(at, now),
        }
    }

    /// Sends what is due on an open connection, up to the depth of its pipeline.
    pub(super) fn refill(&mut self, at: usize, now: u64) {
        self.take_more(at, now);
        let slot = &mut self.slots[at];
        match slot.exchange.front() {
            Some(front) => slot.wakes_at = front.sent + self.timeout_ns,
            None => {
                slot.wakes_at = NEVER;
                return self.list_idle(at);
            }
        }
        self.flush(at, now);
    }

    pub(super) fn take_more(&mut self, at: usize, now: u64) {
        while self.slots[at].exchange.in_flight() < self.limits.pipeline
            && let Some(asked) = self.take_request(now)
        {
            self.slots[at].exchange.ask(Asked { connect_ns: None, sent: now, ..asked }, &self.rules);
        }
    }

    /// The connection is at its end, one way or the other.
    pub(super) fn lose(&mut self, at: usize, how: Break, error: Option<Errno>, now: u64) {
        if self.slots[at].state == State::Connecting {
            let outcome =
                if error == Some(Errno::TIMEDOUT) { Outcome::ConnectTimedOut } else { Outcome::ConnectFailed };
            return self.connect_failed(at, outcome, error, now);
        }
        if self.slots[at].state == State::Lingering {
            return self.close(at, now);
        }
        let error = error.or(self.slots[at].broken);
        let how = if error == Some(Errno::CONNRESET) { Break::Reset } else { how };
        match self.slots[at].exchange.lost(how, now, &self.rules) {
            Loss::Answered(answer) => {
                return self.settle(at, &Answer { keep_alive: false, ..answer }, Rest::Ended, now);
            }
            Loss::Idle => self.recorder.connections.stale_keep_alive += u64::from(self.limits.keep_alive),
            Loss::Stale => self.recorder.connections.stale_keep_alive += 1,
            Loss::Failed(outcome) => {
                self.slots[at].exchange.take_front();
                let reset = (outcome == Outcome::Reset).then(|| error.unwrap_or(Errno::CONNRESET));
                self.fail(outcome, now, reset);
            }
        }
        self.close(at, now);
    }

    /// A connect failed or took too long: its request has failed, and the slot pauses.
    pub(super) fn connect_failed(&mut self, at: usize, outcome: Outcome, error: Option<Errno>, now: u64) {
        self.slots[at].exchange.take_front();
        self.fail(outcome, now, error);
        self.drop_connection(at);
        self.back_off(at, now);
    }

    /// The server sent what is no answer, or more than was asked for.
    pub(super) fn spoiled(&mut self, at: usize, now: u64) {
        if self.slots[at].exchange.take_front().is_some() {
            self.fail(Outcome::Malformed, now, None);
        }
        self.close(at, now);
    }

    pub(super) fn fail(&mut self, outcome: Outcome, now: u64, error: Option<Errno>) {
        self.recorder.failed(outcome, now, error.map(Errno::raw_os_error));
        self.request_ended(now);
    }

    /// Waits for the server's close.
    fn linger(&mut self, at: usize, now: u64) {
        let slot = &mut self.slots[at];
        self.again.extend(slot.exchange.take_in_flight());
        slot.state = State::Lingering;
        slot.wakes_at = now + LINGER_NS;
    }

    /// Closes, and begins anew if something is due.
    pub(super) fn close(&mut self, at: usize, now: u64) {
        self.drop_connection(at);
        if self.has_request(now) {
            self.dial(at, now);
        } else {
            self.vacate(at);
        }
    }

    fn drop_connection(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        if matches!(slot.state, State::Open | State::Lingering) {
            self.open -= 1;
        }
        if slot.fd.is_some() && slot.exchange.answers() == 0 {
            self.unproven -= 1;
        }
        self.again.extend(slot.exchange.take_in_flight());
        slot.fd = None;
        slot.generation = slot.generation.wrapping_add(1);
    }

    pub(super) fn vacate(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        slot.state = State::Vacant;
        slot.wakes_at = NEVER;
        if !slot.listed_vacant {
            slot.listed_vacant = true;
            self.vacant.push(at);
        }
    }

    fn list_idle(&mut self, at: usize) {
        if !self.slots[at].listed_idle {
            self.slots[at].listed_idle = true;
            self.idle.push(at);
        }
    }

    pub(super) fn back_off(&mut self, at: usize, now: u64) {
        let slot = &mut self.slots[at];
        slot.failed_connects += 1;
        slot.state = State::BackingOff;
        slot.wakes_at = now + (BACKOFF_NS >> 7_u32.saturating_sub(slot.failed_connects));
        self.next_sweep_at = self.next_sweep_at.min(slot.wakes_at);
    }
}
