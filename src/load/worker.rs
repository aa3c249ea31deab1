//! One thread: its share of requests and connections, its own loop, its own figures. Nothing is shared until the end.

use std::num::NonZeroU64;
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;

use super::clock::Clock;
use super::exchange::Rules;
use super::heads::Heads;
use super::plan::{Pace, Plan};
use super::reactor::{Limits, Live, Reactor, Shared};
use super::recorder::Recorder;
use super::rows::RowLog;
use super::schedule::Schedule;
use super::socket::Dialer;
use crate::process::schedule::ThreadTimes;
use crate::record::ClientThread;

/// What a thread has seen.
#[derive(Debug)]
pub struct Seen {
    /// Counts and times.
    pub recorder: Recorder,
    /// Heads of answers, as far as they were to be kept.
    pub heads: Vec<u8>,
    /// What the scheduler gave it.
    pub thread: ClientThread,
    /// When its last request ended, in nanoseconds since the start of the run.
    pub ended_at: u64,
}

/// The work of thread number `index`: it returns at the end of the run.
pub fn run(
    plan: &Plan,
    index: usize,
    rules: Rules,
    (shared, live, clock): (&Shared, &Live, Clock),
) -> Result<Seen, Errno> {
    plan.pins.of(index).apply();
    // Wake-ups of an open loop are to come when they are due, not up to 50 us later (prctl(2), PR_SET_TIMERSLACK).
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let before = ThreadTimes::now();
    let limits = limits(plan, index);
    // Threads take neighbouring source addresses, so that all are used although no thread knows of the others.
    let no_delay = plan.exchange.pipeline > 1 || plan.requests.iter().any(|request| request.body_bytes > 0);
    let dialer = Dialer::new(&plan.target.address, &plan.sources, (index, plan.threads), plan.socket, no_delay)?;
    let schedule = Schedule::new(plan.pace, plan.end.requests, index, plan.threads);
    let mut recorder = Recorder::new(plan.pace != Pace::Closed);
    recorder.rows = plan.keep.rows.then(RowLog::default);
    let seen = (Heads::new(plan.keep.head_bytes), recorder);
    let mut reactor = Reactor::new((shared, live, clock), limits, rules, schedule, dialer, seen)?;
    let ended_at = reactor.run()?;
    let times = ThreadTimes::now().since(before);
    let thread = ClientThread {
        cpu_s: times.cpu.as_secs_f64(),
        run_delay_s: times.run_delay.as_secs_f64(),
        wall_s: Duration::from_nanos(ended_at).as_secs_f64(),
    };
    let (recorder, heads) = reactor.into_seen();
    Ok(Seen { recorder, heads, thread, ended_at })
}

/// Shares of connections, like those of requests, differ by one at most.
fn limits(plan: &Plan, index: usize) -> Limits {
    Limits {
        connections: plan.connections / plan.threads + usize::from(index < plan.connections % plan.threads),
        keep_alive: plan.exchange.keep_alive,
        pipeline: plan.exchange.pipeline,
        timeout: plan.exchange.timeout,
        duration: plan.end.duration,
        abort_after: plan.end.abort_after,
        fatal: plan.end.fatal,
        first_request: index % plan.requests.len(),
    }
}
