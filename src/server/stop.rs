//! The word to stop, and whether it has been heard.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

/// Held by everybody who accepts; dropped when the listener is closed.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Cancelled when the server stops.
    pub token: CancellationToken,
    holders: Arc<()>,
}

impl Stop {
    /// Whether nobody else holds this any more: every listener is closed.
    pub fn is_heard_by_all(&self) -> bool {
        Arc::strong_count(&self.holders) == 1
    }
}
