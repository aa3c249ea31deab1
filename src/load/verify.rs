//! Whether a body is the one that was expected, looked at as it passes.

use std::sync::Arc;

/// What bodies are compared with, and which of them.
#[derive(Debug, Clone)]
pub struct Verify {
    /// The expected body.
    pub expected: Expected,
    /// Of so many answers one is looked at; 1 is all.
    pub one_in: u64,
}

/// The expected body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// Bytes with this SHA-256.
    Sha256([u8; 32]),
}
