//! The I/O models: who accepts, and which thread polls a connection. Site, service, transport and limits are the same
//! under each.

mod accept;
mod boss_worker;
mod event_loop;
mod thread_per_connection;
mod work_stealing;

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;

use super::metrics::Writers;
use super::post::Post;
use super::stop::Stop;
use crate::config::plan::{Affinity, Model, ThreadsPlan};
use crate::process::affinity::Pins;

/// A thread of the server; it ends when its connections have ended after `stop`.
pub type Thread = JoinHandle<io::Result<()>>;

/// How a model divides the work.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Workers with a site, counters and connections of their own.
    pub workers: usize,
    /// Listening sockets for each address.
    pub listeners: usize,
    /// Connections at once that the model itself allows.
    pub most_connections: usize,
    /// Threads with an epoll set of their own.
    pub event_loops: usize,
    /// Who adds to a worker's counters.
    pub writers: Writers,
}

/// What the plan means for the model that it names.
pub fn shape(plan: &ThreadsPlan) -> Shape {
    let (count, workers) = (plan.workers.get(), plan.caches().get());
    let each_alone = |listeners, event_loops| Shape {
        workers,
        listeners,
        most_connections: usize::MAX,
        event_loops,
        writers: Writers::One,
    };
    let together =
        |most_connections| Shape { workers, listeners: 1, most_connections, event_loops: 1, writers: Writers::Many };
    match plan.model {
        Model::EventLoop => each_alone(count, count),
        Model::BossWorker => each_alone(1, count + 1),
        Model::WorkStealing => together(usize::MAX),
        Model::ThreadPerConnection => together(plan.max_threads.get()),
    }
}

/// Starts the threads of the model. `listeners` has one set for each of the shape's `listeners`, each with one socket
/// for each address.
pub fn start(
    plan: &ThreadsPlan,
    team: &[Arc<Post>],
    listeners: Vec<Vec<OwnedFd>>,
    stop: &Stop,
) -> io::Result<Vec<Thread>> {
    let ThreadsPlan { model, workers, max_threads: _, stack_bytes, affinity } = plan;
    let pins = match affinity {
        Affinity::None => Pins::none(),
        Affinity::Auto => Pins::allowed(),
        Affinity::Cpus(cpus) => Pins::to(cpus.clone()),
    };
    match model {
        Model::EventLoop => event_loop::start(team, listeners, *stack_bytes, &pins, stop),
        Model::BossWorker => boss_worker::start(team, listeners, *stack_bytes, &pins, stop),
        Model::WorkStealing => work_stealing::start(team, listeners, *workers, *stack_bytes, &pins, stop),
        Model::ThreadPerConnection => thread_per_connection::start(team, listeners, *stack_bytes, &pins, stop),
    }
}

/// A named thread with a stack of this size.
fn spawn(
    name: String,
    stack_bytes: Option<NonZeroUsize>,
    run: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> io::Result<Thread> {
    let mut builder = std::thread::Builder::new().name(name);
    if let Some(bytes) = stack_bytes {
        builder = builder.stack_size(bytes.get());
    }
    builder.spawn(run)
}
