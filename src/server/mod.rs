//! The target: bytes on sockets. Bind, serve, drain.
//!
//! A worker is one thread with its own listeners, site, counters and connections; nothing on the path of a request is
//! shared between two of them. The main thread keeps the clock, the deadlines, the signals and the admin listener.

pub mod access_log;
mod admin;
mod admission;
pub mod beforehand;
mod body;
mod connection;
mod control;
mod deadlines;
pub mod head;
pub mod head_scan;
mod incoming;
mod link;
mod listen;
pub mod metrics;
mod model;
pub mod operator;
mod orphans;
mod outgoing;
mod post;
mod refusal;
mod reload;
pub mod request;
mod sendfile;
mod service;
mod signals;
mod socket_name;
mod stop;
mod transfer;
mod transport;
mod vitals;
mod wire;
mod worker;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use self::admin::Overview;
use self::admission::Admission;
use self::control::Control;
use self::listen::{Bound, ListenError};
use self::metrics::{About, Counters, Reloads};
use self::model::Shape;
use self::operator::Operator;
use self::post::Post;
use self::reload::Stage;
use self::stop::Stop;
use self::vitals::Vitals;
use crate::config::plan::{AdminPlan, ListenPlan, LivePlan, ProcessPlan, ServePlan, ThreadsPlan};
use crate::process::activation::Inherited;
use crate::process::limits::{self, TooFewDescriptors};
use crate::process::manager::Manager;
use crate::process::user::{User, UserError};
use crate::site::SiteError;

/// Why the server did not start, or ended badly. Each message names the way out.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Not one connection would fit.
    #[error(transparent)]
    Descriptors(#[from] TooFewDescriptors),
    /// An address cannot be had.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Of several sockets for the admin listener all but one would be held by nobody, and whoever connects there wait for ever.
    #[error(
        "LISTEN_FDNAMES calls {0} sockets \"admin\", but there is one admin listener; give the others another name"
    )]
    AdminDoors(usize),
    /// The folder cannot be served.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// There is no folder, and no place for the bundled documents.
    #[error("cannot make the bundled documents in a temporary folder: {0}; name a folder with --root")]
    Bundled(io::Error),
    /// The access log's destination cannot be opened.
    #[error("cannot write the access log: {0}; choose another place with --access-log")]
    AccessLog(io::Error),
    /// The server cannot become whom it should.
    #[error(transparent)]
    User(#[from] UserError),
    /// The system refuses a thread.
    #[error("cannot start a thread: {0}; lower server.workers or raise the limit with `ulimit -u`")]
    Thread(io::Error),
    /// The system refuses an epoll set or a signal handler.
    #[error("cannot set up the event loop: {0}")]
    Runtime(io::Error),
    /// A worker ended while nobody had asked it to.
    #[error("a worker thread ended before its time; this is a defect, please report it with the lines above")]
    Worker,
}

/// Serves until SIGTERM or SIGINT, then drains. `inherited` are listening sockets that take the place of the plan's addresses;
/// `operator` is asked for whatever lies outside of the server.
pub fn run(plan: ServePlan, inherited: Vec<Inherited>, operator: &mut dyn Operator) -> Result<(), ServerError> {
    let ServePlan { listen, threads, process, admin, live } = plan;
    let shape = model::shape(&threads);
    let room = room(&shape, &listen, inherited.len())?;
    let user = who_to_become(&process)?;
    let (mut bound, admin) = open_doors(&listen, &admin, inherited, shape.listeners, user.as_ref())?;

    let manager = Manager::of_this_process();
    // Each thread shows itself twice in the time in which it is looked at once.
    let vitals = Vitals::new(manager.watchdog().map(|interval| interval / 4));
    let post = || Arc::new(Post::new(Counters::new(shape.writers), Admission::new(0), vitals.clone()));
    let mut stage = Stage::new((0..shape.workers).map(|_| post()).collect(), threads.model, room);
    stage.open_log(&live.log, user.as_ref())?;
    // What only root may do is done: addresses are bound, logs are open. Documents are opened by whom the server becomes.
    user.map_or(Ok(()), |user| user.become_this())?;
    let next = stage.prepare(live.clone())?;
    let deadlines = stage.apply(next);

    let about = about(&threads, &live, &bound);
    let stop = Stop::default();
    let overview = Overview::new(stage.posts.clone(), &bound, about, stage.log.lost(), operator.log_lost())
        .map_err(ServerError::Runtime)?;
    let (team, root) = (stage.posts.clone(), stage.folder().display().to_string());
    let control = Control::new(stage, &deadlines, overview, admin, manager, vitals).map_err(ServerError::Runtime)?;
    let listeners = deal(&mut bound, shape.listeners);
    let running = model::start(&threads, &team, listeners, &stop).map_err(ServerError::Thread)?;
    for address in &bound {
        tracing::info!(
            profile = live.profile.name(),
            model = threads.model.name(),
            workers = threads.workers,
            root,
            pid = std::process::id(),
            "listening on {}",
            address.url
        );
    }
    let (stage, outcome) = control.run(running, stop, operator);
    if !stage.log.stop(LOG_PATIENCE) {
        tracing::warn!("the access log does not take its last lines; they are lost");
    }
    // Without it nobody can tell a server that has ended from one that still drains.
    if outcome.is_ok() {
        tracing::info!("stopped");
    }
    outcome
}

/// How many connections the process has descriptors for, in this model.
fn room(shape: &Shape, listen: &ListenPlan, inherited: usize) -> Result<usize, TooFewDescriptors> {
    let sockets = shape.listeners * listen.addresses.len().max(inherited);
    let reserve = limits::reserve(shape.event_loops, sockets);
    Ok(limits::room_for_connections(limits::raise(), reserve)?.min(shape.most_connections))
}

/// The addresses to serve on and the admin listener's: inherited sockets where there are any, else the plan's.
fn open_doors(
    listen: &ListenPlan,
    admin: &AdminPlan,
    inherited: Vec<Inherited>,
    sets: usize,
    heir: Option<&User>,
) -> Result<(Vec<Bound>, Option<Bound>), ServerError> {
    let AdminPlan { listen: admin } = admin;
    let admin_plan = listen::admin_plan();
    let (mut for_admin, to_serve): (Vec<_>, Vec<_>) = inherited.into_iter().partition(|door| door.name == ADMIN_DOOR);
    if for_admin.len() > 1 {
        return Err(ServerError::AdminDoors(for_admin.len()));
    }
    let bound = match to_serve.is_empty() {
        true => listen::bind(listen, sets, heir)?,
        false => to_serve.into_iter().map(|door| listen::adopt(door, listen, sets)).collect::<Result<_, _>>()?,
    };
    let admin = match (for_admin.pop(), admin) {
        (Some(door), _) => Some(listen::adopt(door, &admin_plan, 1)?),
        (None, Some(address)) => Some(listen::bind_admin(address, heir)?),
        (None, None) => None,
    };
    if let Some(bound) = &admin {
        tracing::info!("admin on {}", bound.url);
    }
    Ok((bound, admin))
}

/// An inherited socket of this name is the admin listener's (`FileDescriptorName=admin` in a socket unit).
const ADMIN_DOOR: &str = "admin";

/// Another user than the one who has started the server, if the plan names one.
fn who_to_become(process: &ProcessPlan) -> Result<Option<User>, UserError> {
    let ProcessPlan { pid_file: _, user } = process;
    user.as_ref().map(|name| User::find(&name.user, name.group.as_deref())).transpose()
}

fn about(threads: &ThreadsPlan, live: &LivePlan, bound: &[Bound]) -> About {
    About {
        version: env!("CARGO_PKG_VERSION"),
        uptime: Duration::ZERO,
        started_unix_s: UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()),
        workers: threads.workers.get(),
        listen: bound.iter().map(|address| address.url.clone()).collect(),
        profile: live.profile.name(),
        model: threads.model.name(),
        files_mode: live.site.cache.mode.name(),
        transfer_path: live.transfer.path.name(),
        stack_bytes: threads.stack_bytes.map_or(RUST_STACK_BYTES, |bytes| bytes.get() as u64),
        reloads: Reloads::default(),
    }
}

/// One set of listening sockets for each that the model wants, with one socket for each address.
fn deal(bound: &mut [Bound], sets: usize) -> Vec<Vec<OwnedFd>> {
    (0..sets).map(|_| bound.iter_mut().filter_map(|address| address.sockets.pop()).collect()).collect()
}

/// Stack of a thread whose builder names no size (std::thread, "Stack size").
const RUST_STACK_BYTES: u64 = 2 * 1024 * 1024;

/// How long the access log's destination may take to write its last lines.
const LOG_PATIENCE: Duration = Duration::from_secs(2);
