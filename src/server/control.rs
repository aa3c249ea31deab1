//! The main thread while workers serve: the clock, the deadlines, the signals, the admin listener, and the end.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::MissedTickBehavior;

use super::ServerError;
use super::admin::{self, Overview};
use super::deadlines::{Limits, TICK};
use super::listen::Bound;
use super::stop::Stop;
use super::worker::Worker;
use crate::config::plan::DeadlinesPlan;

/// What the main thread does until the end.
pub struct Control {
    runtime: LocalRuntime,
    signals: Signals,
    team: Vec<Arc<Worker>>,
    limits: Limits,
    /// Ticks between two sweeps.
    sweep_every: u32,
    /// The most that a drain may take.
    shutdown: Duration,
    overview: Arc<Overview>,
    admin: Option<Bound>,
}

/// Time that a worker gets to notice that its connections were cut.
const LAST_GRACE: Duration = Duration::from_millis(500);

impl Control {
    /// Sets up signals before any worker starts, so that none is missed.
    pub fn new(
        team: Vec<Arc<Worker>>,
        deadlines: &DeadlinesPlan,
        overview: Overview,
        admin: Option<Bound>,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
        let signals = {
            let _guard = runtime.enter();
            Signals::install()?
        };
        Ok(Self {
            runtime,
            signals,
            team,
            limits: Limits::new(deadlines),
            sweep_every: sweep_interval(deadlines),
            shutdown: deadlines.shutdown,
            overview: Arc::new(overview),
            admin,
        })
    }

    /// Runs until a signal has ended the server and the workers are gone, or a worker has ended by itself.
    pub fn run(self, threads: Vec<JoinHandle<io::Result<()>>>, stop: Stop) -> Result<(), ServerError> {
        let Self { runtime, mut signals, team, limits, sweep_every, shutdown, overview, admin } = self;
        runtime.block_on(async {
            let clock = tokio::task::spawn_local(keep_time(team.clone(), limits, sweep_every));
            let _admin = admin.map(|bound| tokio::task::spawn_local(admin::serve(bound, Arc::clone(&overview))));
            let first = tokio::select! {
                name = signals.next() => Some(name),
                () = any_ended(&threads) => None,
            };
            overview.forget_listeners();
            stop.token.cancel();
            if let Some(name) = first {
                tracing::info!("{name}: stopping, with {} for running answers", in_seconds(shutdown));
            }
            tokio::select! {
                () = drain(&team, &threads, &stop, shutdown) => {}
                name = signals.next() => tracing::warn!("{name} again: ending at once"),
            }
            clock.abort();
            if first.is_some() { Ok(()) } else { Err(ServerError::Worker) }
        })?;
        report_panics(threads)
    }
}

fn in_seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// Often enough to keep the shortest limit within a quarter of itself.
fn sweep_interval(deadlines: &DeadlinesPlan) -> u32 {
    let DeadlinesPlan { header, idle, write_stall, shutdown: _ } = deadlines;
    let shortest = (*header).min(*idle).min(*write_stall).min(Duration::from_secs(4));
    u32::try_from(shortest.as_millis() / 4 / TICK.as_millis()).unwrap_or(1).max(1)
}

/// Moves each worker's clock and sweeps its connections.
async fn keep_time(team: Vec<Arc<Worker>>, limits: Limits, sweep_every: u32) {
    let mut interval = tokio::time::interval(TICK);
    // After a pause of the whole machine one late tick is enough.
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut tick, mut last, mut swept) = (0_u32, Instant::now(), 0);
    loop {
        interval.tick().await;
        let passed = (last.elapsed().as_millis() / TICK.as_millis()).min(MOST_AT_ONCE);
        last = Instant::now();
        tick = tick.wrapping_add(passed.max(1) as u32);
        for worker in &team {
            worker.set_tick(tick);
        }
        if tick.wrapping_sub(swept) >= sweep_every {
            swept = tick;
            for worker in &team {
                worker.watch.sweep(&limits, tick, |kind| worker.counters.timed_out(kind));
            }
        }
    }
}

/// Ticks that the clock moves at once. While the process was stopped (SIGSTOP, a suspended machine) no client could be
/// served, so none was silent for that time.
const MOST_AT_ONCE: u128 = 3;

/// Idle connections end at once, running answers may finish, and after `most` everything ends.
async fn drain(team: &[Arc<Worker>], threads: &[JoinHandle<io::Result<()>>], stop: &Stop, most: Duration) {
    const LOOK: Duration = Duration::from_millis(20);
    team.iter().for_each(|worker| worker.start_draining());
    // A client whose connection ends must not be able to come in again.
    wait_until(LAST_GRACE, LOOK / 10, || stop.is_heard_by_all()).await;
    let soft = wait_until(most, LOOK, || {
        team.iter().for_each(|worker| worker.watch.drain());
        threads.iter().all(JoinHandle::is_finished)
    });
    if soft.await {
        return;
    }
    let left: usize = team.iter().map(|worker| worker.admission.open()).sum();
    tracing::warn!("{left} connections did not end in time and are cut");
    wait_until(LAST_GRACE, LOOK, || {
        team.iter().for_each(|worker| worker.watch.cut_all());
        threads.iter().all(JoinHandle::is_finished)
    })
    .await;
}

async fn wait_until(most: Duration, every: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + most;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        tokio::time::sleep(every).await;
    }
}

/// A worker that ends while nobody asked it to would leave its share of the clients without answers.
async fn any_ended(threads: &[JoinHandle<io::Result<()>>]) {
    const LOOK: Duration = Duration::from_millis(500);
    while !threads.iter().any(JoinHandle::is_finished) {
        tokio::time::sleep(LOOK).await;
    }
}

/// Joins what has ended; a thread that still runs is left to the end of the process.
fn report_panics(threads: Vec<JoinHandle<io::Result<()>>>) -> Result<(), ServerError> {
    for thread in threads.into_iter().filter(JoinHandle::is_finished) {
        match thread.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(ServerError::Runtime(error)),
            Err(_) => return Err(ServerError::Worker),
        }
    }
    Ok(())
}

/// The signals that end the server.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn install() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
