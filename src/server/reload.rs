//! What a configuration becomes in a running server, at the start and at each reload.
//!
//! In two steps: [`Stage::prepare`] opens all that has to be opened and may fail, without a trace in what serves;
//! [`Stage::apply`] puts it in place and cannot fail. A configuration is taken as a whole or not at all.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::ServerError;
use super::access_log::{self, Place, StartError};
use super::post::Post;
use super::transfer::Transfer;
use super::worker::Worker;
use crate::config::plan::{DeadlinesPlan, LivePlan, LogPlan, Model, Root};
use crate::fixtures;
use crate::process::user::User;
use crate::site::Site;

/// What serves now.
#[derive(Debug)]
pub struct Stage {
    pub posts: Vec<Arc<Post>>,
    pub log: Place,
    model: Model,
    /// Connections that there are descriptors and threads for.
    room: usize,
    generation: u32,
    folder: PathBuf,
    /// The bundled documents, once somebody needed them. Answers that are under way may still read from there, so they stay
    /// until the end.
    bundled: Option<TempDir>,
}

/// A configuration that can be put in place.
#[derive(Debug)]
pub struct Next {
    live: LivePlan,
    folder: PathBuf,
    bundled: Option<TempDir>,
    sites: Vec<Site>,
    shares: Vec<usize>,
    log: access_log::Next,
}

impl Stage {
    /// A stage without a configuration.
    pub fn new(posts: Vec<Arc<Post>>, model: Model, room: usize) -> Self {
        let folder = PathBuf::new();
        Self { posts, log: Place::none(), model, room, generation: 0, folder, bundled: None }
    }

    /// The folder that is served.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens the access log before anything else, while the process may still be root, and for whom it is about to become.
    pub fn open_log(&mut self, plan: &LogPlan, heir: Option<&User>) -> Result<(), ServerError> {
        let next = self.prepare_log(plan, heir)?;
        self.log.adopt(next);
        Ok(())
    }

    fn prepare_log(&self, plan: &LogPlan, heir: Option<&User>) -> Result<access_log::Next, ServerError> {
        let LogPlan { level: _, format: _, file: _, access, access_format } = plan;
        self.log.prepare(access, *access_format, heir).map_err(|error| match error {
            StartError::Destination(error) => ServerError::AccessLog(error),
            StartError::Thread(error) => ServerError::Thread(error),
        })
    }

    /// Opens the folder, anew even if it is the same one (its name may be a link that has moved), and the access log.
    pub fn prepare(&self, live: LivePlan) -> Result<Next, ServerError> {
        let (folder, bundled) = self.find_folder(&live.site.root)?;
        let open = |_: &Arc<Post>| Site::open(&folder, &live.site);
        let sites = self.posts.iter().map(open).collect::<Result<_, _>>()?;
        let shares = shares(self.posts.len(), live.max_connections, self.room);
        let log = self.prepare_log(&live.log, None)?;
        Ok(Next { live, folder, bundled, sites, shares, log })
    }

    /// Puts it in place, and returns how long each wait may last from now on.
    pub fn apply(&mut self, next: Next) -> DeadlinesPlan {
        let Next { live, folder, bundled, sites, shares, log } = next;
        let LivePlan { profile: _, max_connections: _, site: _, connection, transfer, head, deadlines, log: _ } = live;
        self.generation = self.generation.wrapping_add(1);
        let handle = log.handle(&self.log);
        for ((post, site), share) in self.posts.iter().zip(sites).zip(shares) {
            let (transfer, post_of) = (Transfer::new(transfer.clone(), self.model), Arc::clone(post));
            let (connection, head, handle) = (connection.clone(), head.clone(), handle.clone());
            post.admission.set_most(share);
            post.hand_over(Arc::new(Worker::new(post_of, self.generation, site, transfer, connection, head, handle)));
            // Those that are idle go over now: the worker that they hold keeps its cache and its log until then.
            post.watch.wake_all();
        }
        self.log.adopt(log);
        self.folder = folder;
        self.bundled = bundled.or(self.bundled.take());
        deadlines
    }

    fn find_folder(&self, root: &Root) -> Result<(PathBuf, Option<TempDir>), ServerError> {
        match (root, &self.bundled) {
            (Root::Folder(path), _) => Ok((path.clone(), None)),
            (Root::Bundled(path), _) if path.is_dir() => Ok((path.clone(), None)),
            // Others' documents in place of those that were served until now would be a surprise: opening says what is missing.
            (Root::Bundled(path), _) if *path == self.folder => Ok((path.clone(), None)),
            (Root::Bundled(_), Some(made)) => Ok((made.path().to_owned(), None)),
            (Root::Bundled(path), None) => {
                let made = fixtures::bundled().map_err(ServerError::Bundled)?;
                let shown = made.path().display();
                tracing::info!("there is no folder {}: serving the bundled documents from {shown}", path.display());
                Ok((made.path().to_owned(), Some(made)))
            }
        }
    }
}

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
