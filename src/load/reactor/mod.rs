//! The loop of one thread: waits for readiness, does what exchanges ask for, and keeps as many requests on their way as the
//! schedule and the connections allow.
//!
//! A connection is registered once and never again: a request on a kept connection costs one `send`, one `recv` and its
//! share of an `epoll_wait`. wrk and h2load arm and disarm EPOLLOUT for each request, which is two calls more.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::io::Errno;

use super::clock::Clock;
use super::exchange::{Asked, Rules};
use super::heads::Heads;
use super::poller::Poller;
use super::recorder::Recorder;
use super::schedule::{Due, Schedule};
use super::slot::{NEVER, Slot, State};
use super::socket::Dialer;
use crate::record::Outcome;

mod follow;
mod traffic;
mod waits;

/// Bytes that are read at once. wrk and h2load read 8 KiB, which makes 38 reads of a document of 300 KiB.
const READ_BYTES: usize = 256 << 10;
/// Bytes that are thrown away at once. They are never copied, so the memory behind them is never touched.
const DISCARD_BYTES: usize = 4 << 20;
/// New connections in one turn: a server shall be able to accept while others are being made, so that its accept queue does
/// not overflow only because the client is quick.
const BURST: usize = 64;
/// How long the next burst waits while [`UNPROVEN`] connections or more are without an answer.
const BURST_GAP_NS: u64 = 5_000_000;
/// So many connections without an answer hold the next burst back.
const UNPROVEN: usize = 512;
/// Longest wait: after it the stop flag is looked at.
const TURN_NS: u64 = 100_000_000;

/// What the threads of a run share: what they are told, and what they tell while they run.
#[derive(Debug, Default)]
pub struct Shared {
    /// Somebody wants the run to end.
    pub stop: AtomicBool,
    /// The run is given up because of `--abort-after`.
    pub aborted: AtomicBool,
    /// Threads that have ended.
    pub ended: AtomicUsize,
}

/// What one thread tells while it runs. Written once a turn, by that thread alone.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Live {
    /// Requests ended.
    pub ended: AtomicU64,
    /// Requests failed.
    pub failed: AtomicU64,
    /// Sum of headline latencies.
    pub latency_sum_ns: AtomicU64,
    /// Number of headline latencies.
    pub latencies: AtomicU64,
}

/// How a thread uses its connections.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Whether a connection carries more than one request.
    pub keep_alive: bool,
    /// Requests on their way on one connection.
    pub pipeline: usize,
    /// Longest time of a connect, and of a request.
    pub timeout: Duration,
    /// End of the run.
    pub duration: Option<Duration>,
    /// Failures in a row that end the run.
    pub abort_after: Option<u64>,
    /// Endings of which the first ends the run.
    pub fatal: &'static [Outcome],
    /// The first of the requests that this thread sends.
    pub first_request: usize,
}

/// The connections of one thread and the loop around them.
pub struct Reactor<'a> {
    shared: &'a Shared,
    live: &'a Live,
    clock: Clock,
    limits: Limits,
    timeout_ns: u64,
    rules: Rules,
    schedule: Schedule,
    dialer: Dialer,
    poller: Poller,
    slots: Vec<Slot>,
    /// Connections that carry nothing, and slots without a connection. An entry may have become untrue; it is looked at again.
    idle: Vec<usize>,
    vacant: Vec<usize>,
    /// Slots that have been opened at least once are those before this one.
    opened: usize,
    next_burst_at: u64,
    /// Connections that have not answered anything yet.
    unproven: usize,
    open: u64,
    /// Connections that have been read for long enough in this turn, each of them once.
    unread: Vec<usize>,
    /// Requests that go again, because their connection was lost before it was their turn.
    again: VecDeque<Asked>,
    /// Requests taken from the schedule that have not ended.
    outstanding: usize,
    next_request: usize,
    /// Since when a connection has been free for whatever is due; [`NEVER`] while none is.
    free_since: u64,
    next_sweep_at: u64,
    read_buffer: Vec<u8>,
    send_buffer: Vec<u8>,
    heads: Heads,
    recorder: Recorder,
}

impl<'a> Reactor<'a> {
    /// Nothing is opened yet.
    pub fn new(
        (shared, live, clock): (&'a Shared, &'a Live, Clock),
        limits: Limits,
        rules: Rules,
        schedule: Schedule,
        dialer: Dialer,
        (heads, recorder): (Heads, Recorder),
    ) -> Result<Self, Errno> {
        Ok(Self {
            shared,
            live,
            clock,
            timeout_ns: limits.timeout.as_nanos() as u64,
            rules,
            schedule,
            dialer,
            poller: Poller::new()?,
            slots: (0..limits.connections).map(|_| Slot::default()).collect(),
            idle: Vec::new(),
            vacant: Vec::new(),
            opened: 0,
            next_burst_at: 0,
            unproven: 0,
            open: 0,
            unread: Vec::new(),
            again: VecDeque::new(),
            outstanding: 0,
            next_request: limits.first_request,
            free_since: 0,
            next_sweep_at: 0,
            read_buffer: vec![0; DISCARD_BYTES],
            send_buffer: Vec::new(),
            heads,
            recorder,
            limits,
        })
    }

    /// Runs until the end of the run, and returns when that was.
    pub fn run(&mut self) -> Result<u64, Errno> {
        let end = self.limits.duration.map_or(NEVER, |duration| duration.as_nanos() as u64);
        loop {
            let now = self.clock.now();
            if now >= end || self.shared.stop.load(Ordering::Relaxed) || self.is_given_up() {
                self.cut_off(now.min(end));
                return Ok(now);
            }
            self.dispatch(now);
            self.sweep(now);
            if self.outstanding == 0 && self.schedule.next() == Due::Over {
                return Ok(self.clock.now());
            }
            let longest = if self.unread.is_empty() { self.longest_wait(self.clock.now(), end) } else { 0 };
            let ready = self.poller.wait(longest)?;
            self.handle(ready);
            self.read_on();
            self.tell();
        }
    }

    /// Handles the events of a wait, and notes how long the last of them had to wait for that.
    fn handle(&mut self, ready: usize) {
        if ready == 0 {
            return;
        }
        let woke = self.clock.now();
        for at in 0..ready {
            let event = self.poller.event(at);
            let slot = (event.key & u64::from(u32::MAX)) as usize;
            if self.slots[slot].key(slot) == event.key {
                self.on_event(slot, event);
            }
        }
        self.recorder.lag.record(self.clock.now() - woke);
    }

    /// Goes on with the connections that had more to read than one turn allows; no event will tell of them again.
    fn read_on(&mut self) {
        for slot in std::mem::take(&mut self.unread) {
            self.slots[slot].listed_unread = false;
            self.read(slot);
        }
    }

    /// Starts requests that are due for as long as there are connections for them.
    fn dispatch(&mut self, now: u64) {
        let mut new = 0;
        while self.has_request(now) || self.is_reserved() {
            let Some(slot) = self.free_slot(now, &mut new) else {
                if new < BURST && self.opened == self.slots.len() {
                    self.free_since = NEVER;
                }
                return;
            };
            self.start(slot, now);
        }
    }

    /// A connection that carries nothing, or else a slot for a new one.
    fn free_slot(&mut self, now: u64, new: &mut usize) -> Option<usize> {
        if self.has_request(now)
            && let Some(slot) = self.used_slot()
        {
            return Some(slot);
        }
        // Asked of the first of a burst alone: each of them puts the next burst off.
        let is_too_soon = *new == 0 && self.unproven >= UNPROVEN && now < self.next_burst_at;
        if self.opened == self.slots.len() || *new == BURST || is_too_soon {
            return None;
        }
        *new += 1;
        self.next_burst_at = now + BURST_GAP_NS;
        self.opened += 1;
        Some(self.opened - 1)
    }

    /// A connection that carries nothing, or else a slot whose connection has gone.
    fn used_slot(&mut self) -> Option<usize> {
        while let Some(slot) = self.idle.pop() {
            self.slots[slot].listed_idle = false;
            if self.slots[slot].is_idle() {
                return Some(slot);
            }
        }
        while let Some(slot) = self.vacant.pop() {
            self.slots[slot].listed_vacant = false;
            if self.slots[slot].state == State::Vacant {
                return Some(slot);
            }
        }
        None
    }

    /// Whether the requests that are left are for the connections that have not been opened, one for each. Otherwise quick
    /// answers on the first ones would use the requests up before there are as many connections as were asked for.
    fn is_reserved(&self) -> bool {
        let unopened = self.slots.len() - self.opened;
        unopened > 0 && self.schedule.left() == Some(unopened as u64) && self.schedule.next() == Due::Now
    }

    fn has_request(&self, now: u64) -> bool {
        !self.again.is_empty()
            || match self.schedule.next() {
                Due::Now => !self.is_reserved(),
                Due::At(due) => due <= now,
                Due::Over => false,
            }
    }

    /// Takes the next request that is due.
    fn take_request(&mut self, now: u64) -> Option<Asked> {
        if let Some(asked) = self.again.pop_front() {
            return Some(asked);
        }
        let due = match self.schedule.next() {
            Due::Now if self.is_reserved() => return None,
            Due::Now => now,
            Due::At(due) if due <= now => due,
            Due::At(_) | Due::Over => return None,
        };
        if self.schedule.next() != Due::Now {
            self.recorder.last_due = due;
            if due >= self.free_since {
                self.recorder.sent_late(now - due);
            }
        }
        self.schedule.take();
        self.outstanding += 1;
        let request = self.next_request;
        self.next_request = (request + 1) % self.rules.requests().len();
        Some(Asked { request, due, connect_ns: None, sent: now, written: now })
    }

    /// A request is over, and so its connection is free for what is due.
    fn request_ended(&mut self, now: u64) {
        self.outstanding -= 1;
        if self.free_since == NEVER {
            self.free_since = now;
        }
    }

    fn is_given_up(&self) -> bool {
        let Limits { abort_after, fatal, .. } = self.limits;
        let in_a_row = abort_after.is_some_and(|most| self.recorder.failures_in_a_row() >= most);
        if in_a_row || fatal.iter().any(|outcome| self.recorder.endings.of(*outcome) > 0) {
            self.shared.aborted.store(true, Ordering::Relaxed);
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        self.shared.aborted.load(Ordering::Relaxed)
    }

    /// Ends what has not ended. Requests that wait to go again are on no connection, and those whose connect has not succeeded
    /// are on none that the server knows of: its queue may be full.
    fn cut_off(&mut self, end: u64) {
        let connected = self.slots.iter().filter(|slot| slot.state != State::Connecting);
        let on_their_way = connected.flat_map(|slot| slot.exchange.waiting());
        let ages = on_their_way.map(|asked| end.saturating_sub(asked.begun())).sum();
        self.recorder.cut_off(self.outstanding as u64, ages);
        self.outstanding = 0;
        self.recorder.never_sent += self.schedule.due_before(end);
    }

    fn tell(&self) {
        let (sum, count) = self.recorder.headline();
        let endings = &self.recorder.endings;
        self.live.ended.store(endings.all(), Ordering::Relaxed);
        self.live.failed.store(endings.failed(), Ordering::Relaxed);
        self.live.latency_sum_ns.store(sum, Ordering::Relaxed);
        self.live.latencies.store(count, Ordering::Relaxed);
    }

    /// What was seen, and the heads that were kept.
    pub fn into_seen(self) -> (Recorder, Vec<u8>) {
        (self.recorder, self.heads.into_kept())
    }
}
