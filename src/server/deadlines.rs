//! Header, idle, write-stall and linger limits without a timer per request.
//!
//! A connection notes what it is doing and since which tick, with two relaxed stores. A sweep outside of the worker
//! looks at the notes some times a second and acts on the descriptor with `shutdown(2)`: the connection then sees an
//! end of input or a broken pipe on its normal path. Rejected: hyper's timer, which boxes and re-arms once a request;
//! a tokio timer per connection, which takes the timer wheel's lock and does not exist for blocking sockets.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

use rustix::net::Shutdown;
use slab::Slab;

use super::listen;
use super::metrics::Timeout;
use super::wire::Wire;
use crate::config::plan::DeadlinesPlan;

/// What a connection is doing, as far as a deadline cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Accepted; not one byte has come.
    New,
    /// The first byte of a head has come, its end has not.
    Head,
    /// A request is whole and its answer is being found: the server's own time, which is held against nobody.
    Decide,
    /// A request is being answered; each byte that the client takes counts as progress.
    Answer,
    /// Between two requests.
    Idle,
    /// Idle, and its buffers are given back.
    Parked,
    /// The last answer is out; what the client still sends is thrown away.
    Linger,
}

impl Phase {
    /// No byte of a next request has come, and no answer is owed: the moment for another configuration.
    pub fn is_between_requests(self) -> bool {
        matches!(self, Self::New | Self::Idle)
    }
}

/// Why the sweep cut a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Cut {
    /// Nobody did.
    Not,
    /// It was silent for too long in the phase that it was in.
    Overdue,
    /// The server is stopping.
    Drain,
}

/// A connection's note to the sweep.
#[derive(Debug)]
pub struct Pulse {
    phase: AtomicU8,
    since: AtomicU32,
    cut: AtomicU8,
    /// Bytes that the client had acknowledged when a sweep last met an answer that waits.
    acknowledged: AtomicU64,
}

impl Pulse {
    /// A connection accepted at `tick`.
    pub fn new(tick: u32) -> Self {
        Self {
            phase: AtomicU8::new(Phase::New as u8),
            since: AtomicU32::new(tick),
            cut: AtomicU8::new(Cut::Not as u8),
            acknowledged: AtomicU64::new(0),
        }
    }

    /// Begins `phase` at `tick`.
    pub fn enter(&self, phase: Phase, tick: u32) {
        self.phase.store(phase as u8, Relaxed);
        self.since.store(tick, Relaxed);
    }

    /// Goes from idle to parked, which does not begin the wait anew.
    pub fn park(&self) {
        self.phase.store(Phase::Parked as u8, Relaxed);
    }

    /// Notes progress within the current phase.
    pub fn beat(&self, tick: u32) {
        self.since.store(tick, Relaxed);
    }

    /// What the connection is doing.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Relaxed) {
            0 => Phase::New,
            1 => Phase::Head,
            2 => Phase::Decide,
            3 => Phase::Answer,
            4 => Phase::Idle,
            5 => Phase::Parked,
            _ => Phase::Linger,
        }
    }

    /// Ticks since the phase began or made progress.
    pub fn age(&self, tick: u32) -> u32 {
        tick.wrapping_sub(self.since.load(Relaxed))
    }

    /// Whether and why the sweep cut the connection.
    pub fn cut(&self) -> Cut {
        match self.cut.load(Relaxed) {
            0 => Cut::Not,
            1 => Cut::Overdue,
            _ => Cut::Drain,
        }
    }

    fn mark(&self, cut: Cut) {
        self.cut.store(cut as u8, Relaxed);
    }
}

/// Length of a tick. Deadlines are kept to within two of them.
pub const TICK: Duration = Duration::from_millis(100);

/// The limits in ticks.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    header: u32,
    idle: u32,
    write_stall: u32,
    linger: u32,
}

/// How long a refused client may go on sending before the connection is closed under it. nginx gives 30 s
/// (`lingering_time`); a benchmark target that is being attacked should not hold descriptors for that long.
const LINGER: Duration = Duration::from_secs(5);

/// Idle time after which a connection gives its buffers back even when the worker holds few connections.
const PARK_AFTER_TICKS: u32 = 10;

impl Limits {
    /// Rounds each limit of the plan up to whole ticks.
    pub fn new(plan: &DeadlinesPlan) -> Self {
        let DeadlinesPlan { header, idle, write_stall, shutdown: _ } = plan;
        Self { header: ticks(*header), idle: ticks(*idle), write_stall: ticks(*write_stall), linger: ticks(LINGER) }
    }

    fn of(&self, phase: Phase) -> u32 {
        match phase {
            Phase::New | Phase::Head => self.header,
            Phase::Decide => u32::MAX,
            Phase::Answer => self.write_stall,
            Phase::Idle | Phase::Parked => self.idle,
            Phase::Linger => self.linger,
        }
    }
}

fn ticks(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis().div_ceil(TICK.as_millis())).unwrap_or(u32::MAX)
}

/// A connection as the sweep sees it.
#[derive(Debug)]
struct Watched {
    wire: Arc<Wire>,
    waker: Waker,
}

/// The connections of one worker that wait for something. Bounded by the worker's admission limit.
#[derive(Debug, Default)]
pub struct Watch {
    connections: Mutex<Slab<Watched>>,
}

impl Watch {
    /// Begins to watch a connection; the key ends it.
    pub fn add(&self, wire: Arc<Wire>, waker: Waker) -> usize {
        self.lock().insert(Watched { wire, waker })
    }

    /// Stops watching.
    pub fn remove(&self, key: usize) {
        self.lock().remove(key);
    }

    /// Cuts each connection whose time is over, and wakes those that have been idle long enough to be parked.
    pub fn sweep(&self, limits: &Limits, tick: u32, mut report: impl FnMut(Timeout)) {
        for (_, Watched { wire, waker }) in self.lock().iter() {
            let pulse = &wire.pulse;
            let (phase, age) = (pulse.phase(), pulse.age(tick));
            // `>` and not `>=`: the first tick may have been nearly over when the phase began.
            let limit = limits.of(phase);
            if age >= u32::MAX / 2 {
                // The connection's tick is newer than the sweep's.
            } else if phase == Phase::Answer && age > 0 && takes_bytes(wire) {
                pulse.beat(tick);
            } else if age > limit {
                if pulse.cut() == Cut::Not {
                    report(timeout_of(phase));
                }
                cut(wire, phase, Cut::Overdue);
            } else if phase == Phase::Idle && age >= PARK_AFTER_TICKS {
                waker.wake_by_ref();
            }
        }
    }

    /// Lets each connection look around, as it does after an event.
    pub fn wake_all(&self) {
        for (_, Watched { waker, .. }) in self.lock().iter() {
            waker.wake_by_ref();
        }
    }

    /// Ends what is idle; called again and again while the server drains.
    pub fn drain(&self) {
        for (_, Watched { wire, .. }) in self.lock().iter() {
            let phase = wire.pulse.phase();
            if matches!(phase, Phase::Idle | Phase::Parked | Phase::New) {
                cut(wire, phase, Cut::Drain);
            }
        }
    }

    /// Ends everything.
    pub fn cut_all(&self) {
        for (_, Watched { wire, .. }) in self.lock().iter() {
            cut(wire, Phase::Answer, Cut::Drain);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Slab<Watched>> {
        // A panic elsewhere does not make a slab of references wrong.
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an idle connection of this age should give its buffers back.
pub fn idle_long_enough(pulse: &Pulse, tick: u32) -> bool {
    pulse.age(tick) >= PARK_AFTER_TICKS
}

/// Whether the client has acknowledged anything since this was asked last. The kernel takes more of an answer only when a
/// third of its buffer is free, so a slow client can be alive for long while no write succeeds. Each sweep asks, and not
/// the one that would cut alone: a window is opened in large steps, so a reader may show no progress for a sweep or two.
fn takes_bytes(wire: &Wire) -> bool {
    let now = listen::acknowledged(&wire.socket).unwrap_or(0);
    now > wire.pulse.acknowledged.swap(now, Relaxed)
}

fn timeout_of(phase: Phase) -> Timeout {
    match phase {
        Phase::New | Phase::Head => Timeout::Header,
        Phase::Decide | Phase::Answer => Timeout::WriteStall,
        Phase::Idle | Phase::Parked => Timeout::Idle,
        Phase::Linger => Timeout::Linger,
    }
}

/// A connection that waits for input sees its end, after whatever has already arrived: a request that crossed the
/// deadline on its way is still answered. One that waits to write sees a broken pipe.
fn cut(wire: &Wire, phase: Phase, why: Cut) {
    wire.pulse.mark(why);
    let how = match phase {
        Phase::New | Phase::Head | Phase::Idle | Phase::Parked => Shutdown::Read,
        Phase::Decide | Phase::Answer | Phase::Linger => Shutdown::Both,
    };
    // ENOTCONN: the client was faster.
    let _ = rustix::net::shutdown(socket(wire), how);
}

fn socket(wire: &Wire) -> &OwnedFd {
    &wire.socket
}
