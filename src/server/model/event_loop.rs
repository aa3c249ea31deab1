//! `event-loop`: N threads, each with one single-threaded runtime and its own listeners. Stands in for nginx.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::net::SocketFlags;

use super::Thread;
use super::accept::{self, Crew};
use crate::process::affinity::Pins;
use crate::server::admission::Permit;
use crate::server::post::Post;
use crate::server::stop::Stop;

/// Starts a thread for each worker, with its own set of listeners.
pub fn start(
    team: &[Arc<Post>],
    listeners: Vec<Vec<OwnedFd>>,
    stack_bytes: Option<NonZeroUsize>,
    pins: &Pins,
    stop: &Stop,
) -> io::Result<Vec<Thread>> {
    let each = team.iter().zip(listeners).enumerate();
    each.map(|(index, (post, listeners))| {
        let (post, pin, stop) = (Arc::clone(post), pins.of(index), stop.clone());
        super::spawn(format!("worker-{index}"), stack_bytes, move || {
            pin.apply();
            accept::runtime()?.block_on(run(post, listeners, stop))
        })
    })
    .collect()
}

async fn run(post: Arc<Post>, listeners: Vec<OwnedFd>, stop: Stop) -> io::Result<()> {
    let accept =
        |listener| tokio::task::spawn_local(accept::accept_until(listener, Alone(Arc::clone(&post)), stop.clone()));
    let accepting: Vec<_> = accept::register(listeners)?.into_iter().map(accept).collect();
    tokio::task::spawn_local(post.vitals.clone().keep_beating());
    // From here on only those who accept hold it.
    drop(stop);
    for task in accepting {
        task.await.map_err(io::Error::other)?;
    }
    post.admission.empty().await;
    Ok(())
}

/// A worker that accepts for itself.
struct Alone(Arc<Post>);

impl Crew for Alone {
    const FLAGS: SocketFlags = SocketFlags::NONBLOCK;

    fn next(&mut self) -> Option<&Arc<Post>> {
        (!self.0.admission.is_full()).then_some(&self.0)
    }

    fn take(&mut self, socket: OwnedFd, permit: Permit) {
        accept::begin(socket, permit, |connection| {
            tokio::task::spawn_local(connection);
        });
    }

    async fn room(&mut self) {
        self.0.admission.room().await;
    }

    fn any(&self) -> &Post {
        &self.0
    }
}
