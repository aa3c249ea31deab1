//! The main thread while workers serve: the clock, the deadlines, the signals, the admin listener, and the end.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::time::MissedTickBehavior;

use super::ServerError;
use super::admin::{self, Overview};
use super::deadlines::{Limits, TICK};
use super::listen::Bound;
use super::operator::Operator;
use super::orphans;
use super::post::Post;
use super::reload::Stage;
use super::signals::{Deaf, Signals, Wish};
use super::stop::Stop;
use super::vitals::Vitals;
use crate::config::plan::DeadlinesPlan;
use crate::process::manager::Manager;

/// What the main thread does until the end.
pub struct Control {
    runtime: LocalRuntime,
    signals: Signals,
    stage: Stage,
    pace: Rc<Cell<Pace>>,
    overview: Arc<Overview>,
    admin: Option<Bound>,
    manager: Rc<Manager>,
    vitals: Vitals,
}

/// Time that a worker gets to notice that its connections were cut.
const LAST_GRACE: Duration = Duration::from_millis(500);

/// How long waits may last, as the present configuration has it.
#[derive(Debug, Clone, Copy)]
struct Pace {
    limits: Limits,
    /// Ticks between two sweeps.
    sweep_every: u32,
    /// The most that a drain may take.
    shutdown: Duration,
}

impl Pace {
    fn new(deadlines: &DeadlinesPlan) -> Self {
        Self { limits: Limits::new(deadlines), sweep_every: sweep_interval(deadlines), shutdown: deadlines.shutdown }
    }
}

impl Control {
    /// Sets up signals before any worker starts, so that none is missed.
    pub fn new(
        stage: Stage,
        deadlines: &DeadlinesPlan,
        overview: Overview,
        admin: Option<Bound>,
        manager: Manager,
        vitals: Vitals,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
        let signals = {
            let _guard = runtime.enter();
            Signals::install()?
        };
        let (pace, overview, manager) =
            (Rc::new(Cell::new(Pace::new(deadlines))), Arc::new(overview), Rc::new(manager));
        Ok(Self { runtime, signals, stage, pace, overview, admin, manager, vitals })
    }

    /// Runs until a signal has ended the server and the workers are gone, or a worker has ended by itself. The stage comes
    /// back, with what is left to be written.
    pub fn run(
        self,
        threads: Vec<JoinHandle<io::Result<()>>>,
        stop: Stop,
        operator: &mut dyn Operator,
    ) -> (Stage, Result<(), ServerError>) {
        let Self { runtime, mut signals, mut stage, pace, overview, admin, manager, vitals } = self;
        let asked = runtime.block_on(async {
            if all_begin(&threads, &vitals).await {
                operator.serving();
                manager.ready();
            }
            let clock = tokio::task::spawn_local(keep_time(stage.posts.clone(), Rc::clone(&pace), Rc::clone(&manager)));
            let watchdog = tokio::task::spawn_local(keep_watchdog_quiet(Rc::clone(&manager), vitals));
            let _orphans = tokio::task::spawn_local(orphans::bury());
            let _admin = admin.map(|bound| tokio::task::spawn_local(admin::serve(bound, Arc::clone(&overview))));
            let team = stage.posts.clone();
            let mut obey = Obey { stage: &mut stage, pace: &pace, overview: &overview, manager: &manager, operator };
            let first = tokio::select! {
                name = obey.until_stop(&mut signals) => Some(name),
                () = any_ended(&threads) => None,
            };
            manager.stopping();
            overview.forget_listeners();
            stop.token.cancel();
            let shutdown = pace.get().shutdown;
            if let Some(name) = first {
                tracing::info!("{name}: stopping, with {} for running answers", in_seconds(shutdown));
            }
            tokio::select! {
                () = drain(&team, &threads, &stop, shutdown) => {}
                name = obey.until_stop_again(&mut signals) => tracing::warn!("{name} again: ending at once"),
            }
            clock.abort();
            watchdog.abort();
            first
        });
        (stage, verdict(asked.is_some(), threads))
    }
}

const NO_UPGRADE: &str = "SIGUSR2: nothing is done at it; to change the program, start the new one beside this one with \
     server.share_port = true in both, or restart it behind a socket that the service manager holds";

/// Obeys signals while the server serves.
struct Obey<'a> {
    stage: &'a mut Stage,
    pace: &'a Cell<Pace>,
    overview: &'a Overview,
    manager: &'a Manager,
    operator: &'a mut dyn Operator,
}

impl Obey<'_> {
    /// Until one asks to end; its name.
    async fn until_stop(&mut self, signals: &mut Signals) -> &'static str {
        loop {
            match signals.next().await {
                Wish::Stop(name) => return name,
                Wish::Reload => self.reload_and_tell(),
                Wish::ReopenLogs => self.reopen_logs(),
                Wish::Nothing => tracing::warn!("{NO_UPGRADE}"),
            }
        }
    }

    /// While running answers finish, which may take long enough for a rotation of logs.
    async fn until_stop_again(&mut self, signals: &mut Signals) -> &'static str {
        loop {
            match signals.next().await {
                Wish::Stop(name) => return name,
                Wish::Reload => tracing::warn!("SIGHUP: the server is stopping; the configuration is not read again"),
                Wish::ReopenLogs => self.reopen_logs(),
                Wish::Nothing => tracing::warn!("{NO_UPGRADE}"),
            }
        }
    }

    /// A signal has no answer, so what came of it is told wherever somebody may look.
    fn reload_and_tell(&mut self) {
        self.manager.reloading();
        let refusal = self.reload().err();
        match &refusal {
            None => tracing::info!(root = %self.stage.folder().display(), "SIGHUP: the configuration is in force"),
            Some(why) => tracing::error!("SIGHUP: refused, the old configuration stays in force: {why}"),
        }
        self.overview.note_reload(refusal.as_deref());
        self.manager.reloaded(refusal.as_deref());
    }

    /// As a whole or not at all.
    fn reload(&mut self) -> Result<(), String> {
        let _deaf = Deaf::begin().map_err(|error| format!("cannot listen to signals meanwhile: {error}"))?;
        let live = self.operator.read_again()?.live;
        let next = self.stage.prepare(live.clone()).map_err(|error| error.to_string())?;
        self.operator.change_log(&live.log).map_err(|error| error.to_string())?;
        self.pace.set(Pace::new(&self.stage.apply(next)));
        self.overview.show(&live);
        Ok(())
    }

    /// Each goes on in the old file if the new one cannot be opened.
    fn reopen_logs(&mut self) {
        // Without it a disk that does not answer is still no reason to leave the logs as they are.
        let _deaf = Deaf::begin();
        let failed = [self.operator.reopen_log(), self.stage.log.reopen()].into_iter().filter_map(Result::err);
        let failed: Vec<_> = failed.map(|error| error.to_string()).collect();
        match failed.as_slice() {
            [] => tracing::info!("SIGUSR1: log files are open again"),
            errors => tracing::error!("SIGUSR1: {}; the old file is written to further", errors.join("; ")),
        }
    }
}

/// Shows the service manager that the server lives, but only while each thread that serves shows it too. Half the
/// interval, as sd_watchdog_enabled(3) advises.
async fn keep_watchdog_quiet(manager: Rc<Manager>, vitals: Vitals) {
    let Some(interval) = manager.watchdog() else { return };
    loop {
        tokio::time::sleep(interval / 2).await;
        if vitals.all_are_alive() {
            manager.alive();
        } else {
            tracing::error!(
                "a thread that serves does not get to its tasks; the service manager is not told otherwise"
            );
        }
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

/// Moves each worker's clock and sweeps its connections. Whoever has no room for words is asked again at each tick.
async fn keep_time(team: Vec<Arc<Post>>, pace: Rc<Cell<Pace>>, manager: Rc<Manager>) {
    let mut interval = tokio::time::interval(TICK);
    // After a pause of the whole machine one late tick is enough.
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut tick, mut last, mut swept) = (0_u32, Instant::now(), 0);
    loop {
        interval.tick().await;
        manager.say_what_waits();
        let passed = (last.elapsed().as_millis() / TICK.as_millis()).min(MOST_AT_ONCE);
        last = Instant::now();
        tick = tick.wrapping_add(passed.max(1) as u32);
        for post in &team {
            post.set_tick(tick);
        }
        let Pace { limits, sweep_every, shutdown: _ } = pace.get();
        if tick.wrapping_sub(swept) >= sweep_every {
            swept = tick;
            for post in &team {
                post.watch.sweep(&limits, tick, |kind| post.counters.timed_out(kind));
            }
        }
    }
}

/// Ticks that the clock moves at once. While the process was stopped (SIGSTOP, a suspended machine) no client could be
/// served, so none was silent for that time.
const MOST_AT_ONCE: u128 = 3;

/// Idle connections end at once, running answers may finish, and after `most` everything ends.
async fn drain(team: &[Arc<Post>], threads: &[JoinHandle<io::Result<()>>], stop: &Stop, most: Duration) {
    const LOOK: Duration = Duration::from_millis(20);
    team.iter().for_each(|post| post.start_draining());
    // A client whose connection ends must not be able to come in again.
    wait_until(LAST_GRACE, LOOK / 10, || stop.is_heard_by_all()).await;
    let soft = wait_until(most, LOOK, || {
        team.iter().for_each(|post| post.watch.drain());
        threads.iter().all(JoinHandle::is_finished)
    });
    if soft.await {
        return;
    }
    let left: usize = team.iter().map(|post| post.admission.open()).sum();
    tracing::warn!("connections that did not end in time and are cut: {left}");
    wait_until(LAST_GRACE, LOOK, || {
        team.iter().for_each(|post| post.watch.cut_all());
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

/// Waits until each thread serves; false if one has ended instead, or hangs for so long that nobody is told of a start.
async fn all_begin(threads: &[JoinHandle<io::Result<()>>], vitals: &Vitals) -> bool {
    const MOST: Duration = Duration::from_secs(10);
    tokio::select! {
        begun = tokio::time::timeout(MOST, vitals.have_begun(threads.len())) => begun.is_ok(),
        () = any_ended(threads) => false,
    }
}

/// A worker that ends while nobody asked it to would leave its share of the clients without answers.
async fn any_ended(threads: &[JoinHandle<io::Result<()>>]) {
    const LOOK: Duration = Duration::from_millis(500);
    while !threads.iter().any(JoinHandle::is_finished) {
        tokio::time::sleep(LOOK).await;
    }
}

/// What the end means. A thread's own reason for its end says more than that it ended.
fn verdict(was_asked_to: bool, threads: Vec<JoinHandle<io::Result<()>>>) -> Result<(), ServerError> {
    report_panics(threads)?;
    if was_asked_to { Ok(()) } else { Err(ServerError::Worker) }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// "This is a defect" was all that the log said of a server that had too few descriptors.
    #[test]
    fn a_thread_that_ended_by_itself_says_why() {
        let ends = |result: io::Result<()>| {
            let thread = std::thread::Builder::new().name("ended".to_owned()).spawn(|| result).expect("a thread");
            while !thread.is_finished() {
                std::thread::yield_now();
            }
            vec![thread]
        };
        let full = || Err(io::Error::from_raw_os_error(libc::EMFILE));
        let said = verdict(false, ends(full())).unwrap_err().to_string();
        assert!(said.contains("cannot set up the event loop: Too many open files"), "{said}");
        assert!(matches!(verdict(false, ends(Ok(()))), Err(ServerError::Worker)));
        assert!(verdict(true, ends(Ok(()))).is_ok());
    }
}
