//! Process 1 of a container inherits the children of those that end before them, and nobody else takes note of their end.

use rustix::process::{WaitOptions, wait};
use tokio::signal::unix::{SignalKind, signal};

/// Process 1 of its namespace.
const FIRST: u32 = 1;

/// Takes note of each, for as long as the server runs; of a process that is not the first one, of none. Not SIGCHLD ignored,
/// which the kernel would understand as well: programs that are started would inherit that.
pub async fn bury() {
    if std::process::id() != FIRST {
        return;
    }
    match signal(SignalKind::child()) {
        Ok(mut ended) => {
            while ended.recv().await.is_some() {
                // One signal may stand for several.
                while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            }
        }
        Err(error) => tracing::warn!("cannot listen to SIGCHLD, so orphans will stay as zombies: {error}"),
    }
}
