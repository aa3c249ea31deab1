//! The target: bytes on sockets. Bind, serve, drain.
//!
//! A worker is one thread with its own listeners, site, counters and connections; nothing on the path of a request is
//! shared between two of them. The main thread keeps the clock, the deadlines, the signals and the admin listener.

pub mod access_log;
mod admin;
mod admission;
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
mod outgoing;
mod refusal;
pub mod request;
mod sendfile;
mod service;
mod stop;
mod transfer;
mod transport;
mod wire;
mod worker;

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use self::admin::Overview;
use self::admission::Admission;
use self::control::Control;
use self::listen::{Bound, ListenError};
use self::metrics::{About, Counters};
use self::stop::Stop;
use self::transfer::Transfer;
use self::worker::Worker;
use crate::config::plan::{AdminPlan, LogPlan, Root, ServePlan};
use crate::fixtures;
use crate::process::limits::{self, TooFewDescriptors};
use crate::site::{Site, SiteError};

/// Why the server did not start, or ended badly. Each message names the way out.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Not one connection would fit.
    #[error(transparent)]
    Descriptors(#[from] TooFewDescriptors),
    /// An address cannot be had.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The folder cannot be served.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// There is no folder, and no place for the bundled documents.
    #[error("cannot make the bundled documents in a temporary folder: {0}; name a folder with --root")]
    Bundled(io::Error),
    /// The access log's destination cannot be opened.
    #[error("cannot write the access log: {0}; choose another place with --access-log")]
    AccessLog(io::Error),
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

/// Serves until SIGTERM or SIGINT, then drains.
pub fn run(plan: ServePlan) -> Result<(), ServerError> {
    let ServePlan {
        profile,
        listen,
        threads,
        max_connections,
        site,
        connection,
        transfer,
        head,
        deadlines,
        log,
        admin,
    } = plan;
    let shape = model::shape(&threads);
    let available = limits::raise();
    let reserve = limits::reserve(shape.event_loops, listen.addresses.len());
    let room = limits::room_for_connections(available, reserve)?.min(shape.most_connections);
    let shares = shares(shape.workers, max_connections, room);

    let folder = Folder::find(&site.root)?;
    let LogPlan { level: _, format: _, access, access_format } = log;
    let (log_handle, log_writer) = access_log::start(&access, access_format).map_err(ServerError::AccessLog)?.unzip();
    let mut bound = listen::bind(&listen, shape.listeners)?;
    let admin = bind_admin(&admin)?;

    let mut team = Vec::with_capacity(shares.len());
    for share in shares {
        let site = Site::open(folder.path(), &site)?;
        let transfer = Transfer::new(transfer.clone(), threads.model);
        let (admission, log) = (Admission::new(share), log_handle.clone());
        let counters = Counters::new(shape.writers);
        team.push(Arc::new(Worker::new(site, counters, admission, transfer, connection.clone(), head.clone(), log)));
    }
    let about = About {
        version: env!("CARGO_PKG_VERSION"),
        uptime: Duration::ZERO,
        workers: threads.workers.get(),
        listen: bound.iter().map(|address| address.url.clone()).collect(),
        profile: profile.name(),
        model: threads.model.name(),
        files_mode: site.cache.mode.name(),
        transfer_path: transfer.path.name(),
        stack_bytes: threads.stack_bytes.map_or(RUST_STACK_BYTES, |bytes| bytes.get() as u64),
    };
    let stop = Stop::default();
    let overview = Overview::new(team.clone(), &bound, about).map_err(ServerError::Runtime)?;
    let control = Control::new(team.clone(), &deadlines, overview, admin).map_err(ServerError::Runtime)?;
    let listeners = deal(&mut bound, shape.listeners);
    let running = model::start(&threads, &team, listeners, &stop).map_err(ServerError::Thread)?;
    for address in &bound {
        tracing::info!(profile = profile.name(), model = threads.model.name(), workers = threads.workers, root = %folder.path().display(), "listening on {}", address.url);
    }
    let outcome = control.run(running, stop);
    if let Some(writer) = log_writer
        && !writer.stop(LOG_PATIENCE)
    {
        tracing::warn!("the access log does not take its last lines; they are lost");
    }
    outcome
}

/// One set of listening sockets for each that the model wants, with one socket for each address.
fn deal(bound: &mut [Bound], sets: usize) -> Vec<Vec<OwnedFd>> {
    (0..sets).map(|_| bound.iter_mut().filter_map(|address| address.sockets.pop()).collect()).collect()
}

/// Stack of a thread whose builder names no size (std::thread, "Stack size").
const RUST_STACK_BYTES: u64 = 2 * 1024 * 1024;

/// How long the access log's destination may take to write its last lines.
const LOG_PATIENCE: Duration = Duration::from_secs(2);

/// Splits `max_connections` over the workers, as exactly as whole numbers allow. More than there is room for would end in
/// accept errors, or in more threads than there may be.
fn shares(workers: usize, max_connections: Option<NonZeroUsize>, room: usize) -> Vec<usize> {
    let room = room.max(workers);
    let wanted = max_connections.map_or(room, NonZeroUsize::get);
    if wanted > room {
        tracing::warn!(
            "max_connections is {wanted}, but descriptors and threads leave room for {room}; the others will wait. \
             Raise the limits with `ulimit -n` or server.max_threads"
        );
    }
    let most = wanted.min(room);
    (0..workers).map(|index| most / workers + usize::from(index < most % workers)).collect()
}

fn bind_admin(plan: &AdminPlan) -> Result<Option<Bound>, ServerError> {
    let AdminPlan { listen } = plan;
    const BACKLOG: u32 = 64;
    match listen {
        None => Ok(None),
        Some(address) => {
            let bound = listen::bind_single(address, BACKLOG)?;
            tracing::info!("admin on {}", bound.url);
            Ok(Some(bound))
        }
    }
}

/// The folder that is served; a temporary one ends with the server.
enum Folder {
    Named(PathBuf),
    Temporary(TempDir),
}

impl Folder {
    fn find(root: &Root) -> Result<Self, ServerError> {
        match root {
            Root::Folder(path) => Ok(Self::Named(path.clone())),
            Root::Bundled(path) if path.is_dir() => Ok(Self::Named(path.clone())),
            Root::Bundled(path) => {
                let folder = fixtures::bundled().map_err(ServerError::Bundled)?;
                tracing::info!(
                    "there is no folder {}: serving the bundled documents from {}",
                    path.display(),
                    folder.path().display()
                );
                Ok(Self::Temporary(folder))
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Named(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}
