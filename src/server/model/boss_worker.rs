//! `boss-worker`: one thread accepts and hands the sockets round-robin to N threads with a single-threaded runtime each.
//! Stands in for Netty. Few connections are spread evenly, which SO_REUSEPORT does not promise; each new connection
//! costs a message between two threads.

use std::future::Future;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::Poll;

use rustix::net::SocketFlags;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::Thread;
use super::accept::{self, Crew};
use crate::process::affinity::Pins;
use crate::server::admission::Permit;
use crate::server::post::Post;
use crate::server::stop::Stop;

/// Sockets that may be on their way to one worker. A worker that is that far behind gets no more until it has caught
/// up: the kernel's queue is the better place to wait.
const ON_THE_WAY: usize = 1024;

type Handover = (OwnedFd, Permit);

/// Starts a thread for each worker and one that accepts.
pub fn start(
    team: &[Arc<Post>],
    listeners: Vec<Vec<OwnedFd>>,
    stack_bytes: Option<NonZeroUsize>,
    pins: &Pins,
    stop: &Stop,
) -> io::Result<Vec<Thread>> {
    let mut threads = Vec::with_capacity(team.len() + 1);
    let mut desks = Vec::with_capacity(team.len());
    for (index, post) in team.iter().enumerate() {
        let (sender, sockets) = channel(ON_THE_WAY);
        desks.push(Desk { post: Arc::clone(post), sender });
        let (post, pin) = (Arc::clone(post), pins.of(index));
        threads.push(super::spawn(format!("worker-{index}"), stack_bytes, move || {
            pin.apply();
            accept::runtime()?.block_on(work(post, sockets));
            Ok(())
        })?);
    }
    let (listeners, stop) = (listeners.into_iter().flatten().collect(), stop.clone());
    threads.push(super::spawn("boss".to_owned(), stack_bytes, move || {
        accept::runtime()?.block_on(boss(desks, listeners, stop))
    })?);
    Ok(threads)
}

async fn boss(desks: Vec<Desk>, listeners: Vec<OwnedFd>, stop: Stop) -> io::Result<()> {
    let accept = |listener| {
        let rota = Rota { desks: desks.clone(), turn: 0 };
        tokio::task::spawn_local(accept::accept_until(listener, rota, stop.clone()))
    };
    let accepting: Vec<_> = accept::register(listeners)?.into_iter().map(accept).collect();
    if let Some(desk) = desks.first() {
        tokio::task::spawn_local(desk.post.vitals.clone().keep_beating());
    }
    // From here on only those who accept hold it.
    drop(stop);
    for task in accepting {
        task.await.map_err(io::Error::other)?;
    }
    Ok(())
}

/// Serves what the boss hands over, until there is no boss any more.
async fn work(post: Arc<Post>, mut sockets: Receiver<Handover>) {
    tokio::task::spawn_local(post.vitals.clone().keep_beating());
    while let Some((socket, permit)) = sockets.recv().await {
        accept::begin(socket, permit, |connection| {
            tokio::task::spawn_local(connection);
        });
    }
    post.admission.empty().await;
}

/// A worker, and the way to it.
#[derive(Clone)]
struct Desk {
    post: Arc<Post>,
    sender: Sender<Handover>,
}

impl Desk {
    async fn room(&self) {
        self.post.admission.room().await;
        // An error means that the worker has ended; `next` will pass it over, and the main thread ends the server.
        let _ = self.sender.reserve().await;
    }

    fn has_room(&self) -> bool {
        !self.post.admission.is_full() && self.sender.capacity() > 0
    }
}

/// Whose turn it is.
struct Rota {
    desks: Vec<Desk>,
    turn: usize,
}

impl Crew for Rota {
    const FLAGS: SocketFlags = SocketFlags::NONBLOCK;

    /// The next in turn that has room.
    fn next(&mut self) -> Option<&Arc<Post>> {
        let count = self.desks.len();
        let turn = (1..=count).map(|step| (self.turn + step) % count).find(|turn| self.desks[*turn].has_room())?;
        self.turn = turn;
        Some(&self.desks[turn].post)
    }

    fn take(&mut self, socket: OwnedFd, permit: Permit) {
        // The queue had room when `next` looked, and only this thread fills it. A worker that has ended by itself
        // takes nothing: the socket closes, and the main thread ends the server.
        let _ = self.desks[self.turn].sender.try_send((socket, permit));
    }

    /// Waits for whichever worker has room first: a connection that ends on any of them is a place.
    async fn room(&mut self) {
        let mut waits: Vec<_> = self.desks.iter().map(|desk| Box::pin(desk.room())).collect();
        std::future::poll_fn(|cx| match waits.iter_mut().any(|wait| wait.as_mut().poll(cx).is_ready()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    fn any(&self) -> &Post {
        &self.desks[self.turn].post
    }
}
