//! One run: starts the threads, watches them, and puts together what they have seen.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::net::{AddressFamily, SocketType, socket};

use super::clock::Clock;
use super::exchange::Rules;
use super::plan::{Address, Plan};
use super::reactor::{Live, Shared};
use super::rows::Rows;
use super::saturation::{self, Figures};
use super::summary;
use super::watch::Watches;
use super::worker::{self, Seen};
use crate::process::netstat::{NetworkCounters, congestion_control};
use crate::record::{Network, Progress, Run};

/// How often the threads are looked at, and the processes of `--watch` with them.
const LOOK: Duration = Duration::from_millis(200);

/// What a run has brought.
#[derive(Debug)]
pub struct Measured {
    /// The record.
    pub run: Run,
    /// A row for each answered request, if [`super::plan::Keep::rows`] wanted them.
    pub rows: Option<Rows>,
    /// Heads of answers, one behind the other, as many as [`super::plan::Keep::head_bytes`] had room for.
    pub heads: Vec<u8>,
}

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A process of `--watch`.
    #[error("{0}")]
    Watch(io::Error),
    /// A thread could not be started.
    #[error("cannot start thread {index} of {threads}: {error}")]
    Thread {
        /// Which of them.
        index: usize,
        /// How many were to be.
        threads: usize,
        /// What the system said.
        error: io::Error,
    },
    /// A thread could not go on: not because of the server, but of this machine.
    #[error("the load tool's thread {index} stopped: {error}")]
    Worker {
        /// Which of them.
        index: usize,
        /// What the system said.
        error: io::Error,
    },
    /// A thread panicked, which is a bug of this program.
    #[error("the load tool's thread {0} panicked; that is a bug, please report it with the command line")]
    Panicked(usize),
}

/// Runs a plan to its end, or until `stop` is set. `observe` is told of the progress some times a second.
///
/// # Errors
///
/// The run could not take place. Failing requests are no error: they are what is measured.
pub fn run(plan: &Plan, stop: &AtomicBool, observe: &mut dyn FnMut(&Progress)) -> Result<Measured, RunError> {
    let mut watches = Watches::open(&plan.watch).map_err(RunError::Watch)?;
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let network = NetworkCounters::now();
    let (shared, clock) = (Shared::default(), Clock::start());
    let lives: Vec<Live> = (0..plan.threads).map(|_| Live::default()).collect();
    let seen = in_threads(plan, stop, &lives, (&shared, clock), &mut || {
        watches.sample();
        observe(&progress(plan, &lives, clock));
    })?;
    let interrupted = stop.load(Ordering::Relaxed);
    let aborted = shared.aborted.load(Ordering::Relaxed);
    let network = network_of(plan, NetworkCounters::now().since(network));
    let heads = seen.iter().flat_map(|seen| seen.heads.iter().copied()).collect();
    let mut run = summary::of(plan, &seen, started, network);
    run.watched = watches.finish(run.endings.all(), Duration::from_secs_f64(run.elapsed_s));
    run.interrupted = interrupted;
    run.aborted = aborted;
    run.verdict = saturation::verdict(&figures(&run));
    let started_unix_us = started.as_micros() as u64;
    let logs = seen.into_iter().filter_map(|seen| seen.recorder.rows);
    let rows = plan.keep.rows.then(|| Rows::merge(logs, started_unix_us));
    Ok(Measured { run, rows, heads })
}

/// Starts the threads, calls `look` now and then until they have ended, and collects what they have seen.
fn in_threads(
    plan: &Plan,
    stop: &AtomicBool,
    lives: &[Live],
    (shared, clock): (&Shared, Clock),
    look: &mut dyn FnMut(),
) -> Result<Vec<Seen>, RunError> {
    let rules = Rules::new(&plan.requests, &plan.exchange);
    let main = thread::current();
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(plan.threads);
        for (index, live) in lives.iter().enumerate() {
            let (rules, ended) = (rules.clone(), Ended { shared, main: main.clone() });
            let work = move || {
                let _ended = ended;
                worker::run(plan, index, rules, (shared, live, clock))
            };
            match thread::Builder::new().name(format!("load-{index}")).spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    shared.stop.store(true, Ordering::Relaxed);
                    return Err(RunError::Thread { index, threads: plan.threads, error });
                }
            }
        }
        while shared.ended.load(Ordering::Acquire) < plan.threads {
            thread::park_timeout(LOOK);
            if stop.load(Ordering::Relaxed) {
                shared.stop.store(true, Ordering::Relaxed);
            }
            look();
        }
        let joined = threads.into_iter().enumerate().map(|(index, thread)| match thread.join() {
            Ok(Ok(seen)) => Ok(seen),
            Ok(Err(error)) => Err(RunError::Worker { index, error: error.into() }),
            Err(_) => Err(RunError::Panicked(index)),
        });
        joined.collect()
    })
}

/// Says that a thread has ended, however it did, and wakes the one that waits for that.
struct Ended<'a> {
    shared: &'a Shared,
    main: Thread,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        self.shared.ended.fetch_add(1, Ordering::Release);
        self.main.unpark();
    }
}

fn progress(plan: &Plan, lives: &[Live], clock: Clock) -> Progress {
    let sum = |of: fn(&Live) -> &AtomicU64| lives.iter().map(|live| of(live).load(Ordering::Relaxed)).sum();
    Progress {
        elapsed: Duration::from_nanos(clock.now()),
        ended: sum(|live| &live.ended),
        failed: sum(|live| &live.failed),
        latency_sum_ns: sum(|live| &live.latency_sum_ns),
        latencies: sum(|live| &live.latencies),
        requests: plan.end.requests,
        duration: plan.end.duration,
    }
}

fn figures(run: &Run) -> Figures<'_> {
    Figures {
        elapsed_s: run.elapsed_s,
        connections: run.settings.connections,
        opened: run.connections.opened,
        rate_per_s: run.settings.rate_per_s,
        mean_ns: run.latency.total.mean_ns,
        endings: &run.endings,
        client: &run.client,
        watched: &run.watched,
        network: &run.network,
        connect: &run.latency.connect,
        timer_error_p99_ns: run.latency.timer_error.as_ref().and_then(|late| late.percentile_ns(99.0)).unwrap_or(0),
    }
}

/// A new socket has the congestion control that connections get, unless a route says otherwise.
fn network_of(plan: &Plan, counters: NetworkCounters) -> Network {
    let NetworkCounters { syn_retransmits, listen_overflows, listen_drops } = counters;
    let family = match plan.target.address {
        Address::Tcp(address) if address.is_ipv4() => Some(AddressFamily::INET),
        Address::Tcp(_) => Some(AddressFamily::INET6),
        Address::Unix(_) => None,
    };
    let socket = family.and_then(|family| socket(family, SocketType::STREAM, None).ok());
    let congestion_control = socket.map(|socket| congestion_control(&socket)).unwrap_or_default();
    Network { syn_retransmits, listen_overflows, listen_drops, congestion_control }
}
