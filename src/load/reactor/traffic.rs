//! What happens on one connection: connect, send, receive, and what follows from an answer or a loss.

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::super::exchange::{Answer, Asked, Break, Loss, Step};
use super::super::poller::Readiness;
use super::super::slot::{NEVER, State};
use super::{READ_BYTES, Reactor};
use crate::record::Outcome;

/// How long a connection that the server has announced to close is waited for; then it is closed from here.
///
/// Who closes first holds the port for a minute (TIME_WAIT). That is the server's part, as with ab: 28,000 short
/// connections that end here would use up the ports of this side.
const LINGER_NS: u64 = 1_000_000_000;
/// Longest pause of a slot whose connects fail; the first is a 64th of it.
const BACKOFF_NS: u64 = 64_000_000;

/// Reads of one connection in one turn. A server that fills the socket faster than this thread empties it must neither
/// starve the other connections nor outlast the end of the run.
const READS: usize = 16;
/// Bytes of one connection that are looked at in one turn. In chunks of a byte, this much takes some milliseconds.
const LOOKED_AT: usize = 2 * READ_BYTES;

/// What is behind an answer.
#[derive(Debug, Clone, Copy)]
enum Rest {
    /// Nothing yet, or answers to other requests.
    Open,
    /// The end of the connection.
    Ended,
    /// Bytes that nobody asked for.
    Surplus,
}

/// What a read brought.
enum Received {
    /// So many bytes, into the buffer.
    Bytes(usize),
    /// So many bytes of a body, which are gone, and what came behind it.
    Discarded { body: usize, surplus: usize },
    /// Nothing for now.
    Nothing,
    /// The end.
    End(Break),
}

impl Reactor<'_> {
    /// Sends the next request that is due on an idle connection, or on a new one.
    pub(super) fn start(&mut self, at: usize, now: u64) {
        if self.slots[at].state == State::Open {
            self.refill(at, now);
        } else {
            self.dial(at, now);
        }
    }

    /// Readiness of a connection.
    pub(super) fn on_event(&mut self, at: usize, event: Readiness) {
        let generation = self.slots[at].generation;
        if event.writable && self.slots[at].exchange.has_unsent() {
            let now = self.clock.now();
            self.flush(at, now);
        }
        let slot = &self.slots[at];
        if slot.state == State::Lingering && slot.generation == generation && event.ended {
            let now = self.clock.now();
            return self.close(at, now);
        }
        if event.readable && slot.generation == generation && matches!(slot.state, State::Open | State::Lingering) {
            self.read(at, event.ended);
        }
    }

    /// Begins a connection with the next request that is due.
    fn dial(&mut self, at: usize, now: u64) {
        let Some(asked) = self.kept_request(at).or_else(|| self.take_request(now)) else { return self.vacate(at) };
        let dialled = self.dialer.dial();
        let slot = &mut self.slots[at];
        slot.generation = slot.generation.wrapping_add(1);
        slot.exchange.reset();
        slot.broken = None;
        slot.connect_begun = now;
        match dialled {
            Ok(fd) => {
                slot.fd = Some(fd);
                slot.state = State::Connecting;
                slot.wakes_at = now + self.timeout_ns;
                slot.exchange.ask(asked, &self.rules);
                self.unproven += 1;
                self.connect(at);
            }
            // The accept queue of a unix socket is full. The request has not failed yet, and stays with its slot.
            Err(Errno::AGAIN) if now.saturating_sub(asked.sent) < self.timeout_ns => {
                slot.exchange.ask(asked, &self.rules);
                self.back_off(at, now);
            }
            Err(Errno::AGAIN) => {
                self.fail(Outcome::ConnectTimedOut, now, None);
                self.back_off(at, now);
            }
            Err(error) => {
                self.fail(Outcome::ConnectFailed, now, Some(error));
                self.back_off(at, now);
            }
        }
    }

    /// The request that waits in this slot for room in an accept queue.
    fn kept_request(&mut self, at: usize) -> Option<Asked> {
        let slot = &mut self.slots[at];
        if slot.state == State::BackingOff { slot.exchange.take_front() } else { None }
    }

    /// Tries to send at once: on the loopback a connection is there as soon as it was asked for. Only then it is registered.
    fn connect(&mut self, at: usize) {
        let generation = self.slots[at].generation;
        let now = self.clock.now();
        if self.limits.pipeline > 1 {
            self.take_more(at, now);
        }
        self.flush(at, now);
        let slot = &self.slots[at];
        if slot.generation != generation {
            return;
        }
        if let Some(fd) = &slot.fd
            && let Err(error) = self.poller.add(fd.as_fd(), slot.key(at))
        {
            self.lose(at, Break::Reset, Some(error), now);
        }
    }

    /// Sends what is to be sent, as far as the socket takes it.
    fn flush(&mut self, at: usize, now: u64) {
        loop {
            let slot = &mut self.slots[at];
            let Some(fd) = &slot.fd else { return };
            let bytes = slot.exchange.unsent(&self.rules, &mut self.send_buffer);
            if bytes.is_empty() {
                return;
            }
            match send(fd, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    let is_short = sent < bytes.len();
                    if slot.state == State::Connecting {
                        self.connected(at, now);
                    }
                    self.recorder.transfer.sent_bytes += sent as u64;
                    self.slots[at].exchange.sent(sent, now, &self.rules);
                    if is_short {
                        return;
                    }
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(error) => return self.cannot_send(at, error, now),
            }
        }
    }

    fn connected(&mut self, at: usize, now: u64) {
        let slot = &mut self.slots[at];
        slot.state = State::Open;
        slot.failed_connects = 0;
        slot.exchange.connected(now - slot.connect_begun, now);
        slot.wakes_at = now + self.timeout_ns;
        self.open += 1;
        let connections = &mut self.recorder.connections;
        connections.opened += 1;
        connections.open_max = connections.open_max.max(self.open);
    }

    /// A send failed: because the connect did, or because the server has closed. In that case there may be an answer to read
    /// before the end, of which an event has told or will tell.
    fn cannot_send(&mut self, at: usize, error: Errno, now: u64) {
        if self.slots[at].state == State::Connecting {
            self.lose(at, Break::Reset, Some(error), now);
        } else {
            self.slots[at].broken = Some(error);
        }
    }

    /// Reads until nothing is left. On a stream socket a short read says so (epoll(7), question 9), unless the peer has
    /// ended its side: no event will tell that again.
    pub(super) fn read(&mut self, at: usize, ended: bool) {
        let generation = self.slots[at].generation;
        let mut looked_at = 0;
        for _ in 0..READS {
            if looked_at >= LOOKED_AT {
                break;
            }
            let (received, is_short) = self.receive(at);
            let now = self.clock.now();
            match received {
                Received::Nothing => return,
                Received::End(how) => return self.lose(at, how, None, now),
                Received::Discarded { body, surplus } => {
                    self.note_received(body + surplus, now);
                    self.slots[at].exchange.discarded(body as u64);
                    self.digest(at, surplus, ended, now);
                }
                Received::Bytes(count) => {
                    looked_at += count;
                    self.note_received(count, now);
                    self.digest(at, count, ended, now);
                }
            }
            let slot = &self.slots[at];
            if slot.generation != generation || slot.fd.is_none() || (is_short && !ended) {
                return;
            }
        }
        self.unread.push((self.slots[at].key(at), ended));
    }

    /// One read, and whether it found less than it could have taken.
    ///
    /// A body that nobody looks at is thrown away in the kernel (MSG_TRUNC, tcp(7)). Where nothing may follow it, one byte more
    /// than belongs to it is asked for: if that comes, the server has sent more than it said. Elsewhere that byte would be
    /// lost to the chunk framing, or to the next answer.
    fn receive(&mut self, at: usize) -> (Received, bool) {
        let slot = &self.slots[at];
        let Some(fd) = &slot.fd else { return (Received::Nothing, true) };
        let discardable = slot.exchange.discardable();
        let (room, flags) = if discardable > 0 && slot.state == State::Open {
            let beyond = usize::from(slot.exchange.nothing_may_follow());
            let room = usize::try_from(discardable).unwrap_or(usize::MAX).saturating_add(beyond);
            (room.min(self.read_buffer.len()), RecvFlags::TRUNC)
        } else {
            (READ_BYTES, RecvFlags::empty())
        };
        loop {
            return match recv(fd, &mut self.read_buffer[..room], flags) {
                Ok((_, 0)) => (Received::End(Break::Closed), true),
                Ok((_, count)) if flags.is_empty() => (Received::Bytes(count), count < room),
                Ok((_, count)) => {
                    let body = count.min(usize::try_from(discardable).unwrap_or(usize::MAX));
                    (Received::Discarded { body, surplus: count - body }, count < room)
                }
                Err(Errno::AGAIN) => (Received::Nothing, true),
                Err(Errno::INTR) => continue,
                Err(_) => (Received::End(Break::Reset), true),
            };
        }
    }

    fn note_received(&mut self, count: usize, now: u64) {
        self.recorder.transfer.received_bytes += count as u64;
        self.recorder.intervals.received(now, count as u64);
    }

    /// Looks at the first bytes of the buffer: answers are settled one after the other.
    fn digest(&mut self, at: usize, count: usize, ended: bool, now: u64) {
        let generation = self.slots[at].generation;
        let buffer = std::mem::take(&mut self.read_buffer);
        let mut input = &buffer[..count];
        while self.slots[at].generation == generation {
            let heads = &mut self.heads;
            match self.slots[at].exchange.next(&mut input, now, &self.rules, |head| heads.saw(head)) {
                Ok(Step::Wait) => break,
                Ok(Step::Answered(answer)) => {
                    let rest = match (input.is_empty(), self.slots[at].exchange.in_flight()) {
                        (true, _) if ended => Rest::Ended,
                        (false, 0) => Rest::Surplus,
                        _ => Rest::Open,
                    };
                    self.settle(at, &answer, rest, now);
                }
                Err(_) => {
                    self.spoiled(at, now);
                    break;
                }
            }
        }
        self.read_buffer = buffer;
    }

    /// An answer is whole: counts it, and goes on with the connection or without it.
    fn settle(&mut self, at: usize, answer: &Answer, rest: Rest, now: u64) {
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
    fn refill(&mut self, at: usize, now: u64) {
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

    fn take_more(&mut self, at: usize, now: u64) {
        while self.slots[at].exchange.in_flight() < self.limits.pipeline
            && let Some(asked) = self.take_request(now)
        {
            self.slots[at].exchange.ask(Asked { connect_ns: None, sent: now, ..asked }, &self.rules);
        }
    }

    /// The connection is at its end, one way or the other.
    fn lose(&mut self, at: usize, how: Break, error: Option<Errno>, now: u64) {
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
    fn spoiled(&mut self, at: usize, now: u64) {
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

    fn vacate(&mut self, at: usize) {
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

    fn back_off(&mut self, at: usize, now: u64) {
        let slot = &mut self.slots[at];
        slot.failed_connects += 1;
        slot.state = State::BackingOff;
        slot.wakes_at = now + (BACKOFF_NS >> 7_u32.saturating_sub(slot.failed_connects));
        self.next_sweep_at = self.next_sweep_at.min(slot.wakes_at);
    }
}
