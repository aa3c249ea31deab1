//! The bytes of one connection: connect, send, receive. What follows from them stands in `follow.rs`.

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::super::exchange::{Break, Step};
use super::super::poller::Readiness;
use super::super::slot::State;
use super::follow::Rest;
use super::{READ_BYTES, Reactor};
use crate::record::Outcome;

/// Reads of one connection in one turn. A server that fills the socket faster than this thread empties it must neither
/// starve the other connections nor outlast the end of the run.
const READS: usize = 16;
/// Bytes of one connection that are looked at in one turn. In chunks of a byte, this much takes some milliseconds.
const LOOKED_AT: usize = 2 * READ_BYTES;

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
        let slot = &mut self.slots[at];
        if slot.generation != generation || !event.readable {
            return;
        }
        slot.ended |= event.ended;
        if slot.state == State::Lingering && slot.ended {
            let now = self.clock.now();
            return self.close(at, now);
        }
        self.read(at);
    }

    /// Begins a connection with the next request that is due.
    pub(super) fn dial(&mut self, at: usize, now: u64) {
        let Some(asked) = self.take_request(now) else { return self.vacate(at) };
        let dialled = self.dialer.dial();
        let slot = &mut self.slots[at];
        slot.generation = slot.generation.wrapping_add(1);
        slot.exchange.reset();
        (slot.ended, slot.broken) = (false, None);
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
            // The accept queue of a unix socket is full. The request has not failed yet; it stays with its slot until that
            // tries again, so that the others do not all try with the same one.
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
    pub(super) fn flush(&mut self, at: usize, now: u64) {
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
    pub(super) fn read(&mut self, at: usize) {
        let generation = self.slots[at].generation;
        let (mut reads, mut looked_at) = (0, 0);
        while reads < READS && looked_at < LOOKED_AT {
            let (received, is_short) = self.receive(at);
            reads += 1;
            let now = self.clock.now();
            match received {
                Received::Nothing => return,
                Received::End(how) => return self.lose(at, how, None, now),
                Received::Discarded { body, surplus } => {
                    self.note_received(body + surplus, now);
                    self.slots[at].exchange.discarded(body as u64);
                    self.digest(at, surplus, now);
                }
                Received::Bytes(count) => {
                    looked_at += count;
                    self.note_received(count, now);
                    self.digest(at, count, now);
                }
            }
            let slot = &self.slots[at];
            if slot.generation != generation || slot.fd.is_none() || (is_short && !slot.ended) {
                return;
            }
        }
        if !self.slots[at].listed_unread {
            self.slots[at].listed_unread = true;
            self.unread.push(at);
        }
    }

    /// One read, and whether it found less than it could have taken.
    ///
    /// A body that nobody looks at is thrown away in the kernel (MSG_TRUNC, tcp(7)). Where nothing may follow it, one byte more
    /// than belongs to it is asked for: if that comes, the server has sent more than it said. Elsewhere that byte would be
    /// lost to the chunk framing, or to the next answer.
    fn receive(&mut self, at: usize) -> (Received, bool) {
        let slot = &self.slots[at];
        let (Some(fd), State::Open | State::Lingering) = (&slot.fd, slot.state) else {
            return (Received::Nothing, true);
        };
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
    fn digest(&mut self, at: usize, count: usize, now: u64) {
        let generation = self.slots[at].generation;
        let buffer = std::mem::take(&mut self.read_buffer);
        let mut input = &buffer[..count];
        while self.slots[at].generation == generation {
            let heads = &mut self.heads;
            match self.slots[at].exchange.next(&mut input, now, &self.rules, |head| heads.saw(head)) {
                Ok(Step::Wait) => break,
                Ok(Step::Answered(answer)) => {
                    let rest = match (input.is_empty(), self.slots[at].exchange.in_flight()) {
                        (true, _) if self.slots[at].ended => Rest::Ended,
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
}
