//! `work-stealing`: one runtime of N threads, any of which may poll any connection. Stands in for Tomcat's NIO connector
//! and for Jetty: a pool of threads over one selector.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rustix::net::SocketFlags;
use tokio::runtime::{Builder, Runtime};

use super::Thread;
use super::accept::{self, Crew};
use crate::process::affinity::Pins;
use crate::server::admission::Permit;
use crate::server::post::Post;
use crate::server::stop::Stop;

/// Starts the runtime, and one thread that waits for its end.
pub fn start(
    team: &[Arc<Post>],
    listeners: Vec<Vec<OwnedFd>>,
    threads: NonZeroUsize,
    stack_bytes: Option<NonZeroUsize>,
    pins: &Pins,
    stop: &Stop,
) -> io::Result<Vec<Thread>> {
    let Some(post) = team.first().map(Arc::clone) else { return Ok(Vec::new()) };
    let runtime = runtime(threads, stack_bytes, pins)?;
    let (listeners, stop) = (listeners.into_iter().flatten().collect(), stop.clone());
    let host = super::spawn("host".to_owned(), None, move || runtime.block_on(run(post, listeners, stop)))?;
    Ok(vec![host])
}

fn runtime(threads: NonZeroUsize, stack_bytes: Option<NonZeroUsize>, pins: &Pins) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads.get()).thread_name("worker").enable_io().enable_time();
    if let Some(bytes) = stack_bytes {
        builder.thread_stack_size(bytes.get());
    }
    let (pins, started) = (pins.clone(), AtomicUsize::new(0));
    builder.on_thread_start(move || pins.of(started.fetch_add(1, Relaxed)).apply());
    builder.build()
}

async fn run(post: Arc<Post>, listeners: Vec<OwnedFd>, stop: Stop) -> io::Result<()> {
    let accept = |listener| tokio::spawn(accept::accept_until(listener, Pool(Arc::clone(&post)), stop.clone()));
    let accepting: Vec<_> = accept::register(listeners)?.into_iter().map(accept).collect();
    tokio::spawn(post.vitals.clone().keep_beating());
    // From here on only those who accept hold it.
    drop(stop);
    for task in accepting {
        task.await.map_err(io::Error::other)?;
    }
    post.admission.empty().await;
    Ok(())
}

/// The one worker that all threads share.
struct Pool(Arc<Post>);

impl Crew for Pool {
    const FLAGS: SocketFlags = SocketFlags::NONBLOCK;

    fn next(&mut self) -> Option<&Arc<Post>> {
        (!self.0.admission.is_full()).then_some(&self.0)
    }

    fn take(&mut self, socket: OwnedFd, permit: Permit) {
        accept::begin(socket, permit, |connection| {
            tokio::spawn(connection);
        });
    }

    async fn room(&mut self) {
        self.0.admission.room().await;
    }

    fn any(&self) -> &Post {
        &self.0
    }
}
