//! What the scripted server did: the truth that a client's report is compared with.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Requests and connections of which more than a number is kept. A test with more compares numbers.
const KEPT: usize = 20_000;

/// Bytes kept of one request.
const KEPT_BYTES: usize = 64 * 1024;

/// Counts, and the requests themselves, of one moment.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// Connections accepted.
    pub accepted: u64,
    /// Those that are open.
    pub open: u64,
    /// Most that were open at once. A connection that this server ends counts until just before the last bytes on it, one
    /// that the client closes until this server sees it.
    pub open_max: u64,
    /// Requests that were read whole.
    pub requests: u64,
    /// Bytes read, unfinished requests included.
    pub received_bytes: u64,
    /// Answers sent whole.
    pub answered: u64,
    /// Bytes written, of answers that were cut short too.
    pub sent_bytes: u64,
    /// Peers of connections in the order of accept.
    pub peers: Vec<SocketAddr>,
    /// Requests in the order in which they were read.
    pub asked: Vec<Asked>,
    /// Begin and end of each time for which everything stood still.
    pub stalls: Vec<(Instant, Instant)>,
    /// Connections for which there was no thread.
    pub refused: u64,
    /// Threads that panicked.
    pub failures: u64,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Number of its connection.
    pub connection: u64,
    /// Head and body, from the start.
    pub bytes: Vec<u8>,
    /// When its last byte was read.
    pub read_at: Instant,
    /// When the last byte of its answer had been written, if it was sent whole.
    pub answered_at: Option<Instant>,
}

impl Asked {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The ledger while it is written.
#[derive(Debug, Default)]
pub(super) struct Book(Mutex<Ledger>);

impl Book {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn read(&self) -> Ledger {
        self.lock().clone()
    }

    /// Returns the connection's number.
    pub fn accepted(&self, peer: SocketAddr) -> u64 {
        let mut ledger = self.lock();
        ledger.accepted += 1;
        ledger.open += 1;
        ledger.open_max = ledger.open_max.max(ledger.open);
        if ledger.peers.len() < KEPT {
            ledger.peers.push(peer);
        }
        ledger.accepted - 1
    }

    pub fn closed(&self) {
        self.lock().open -= 1;
    }

    pub fn refused(&self) {
        self.lock().refused += 1;
        self.closed();
    }

    pub fn received(&self, bytes: usize) {
        self.lock().received_bytes += bytes as u64;
    }

    /// Returns the request's number.
    pub fn asked(&self, connection: u64, bytes: &[u8]) -> u64 {
        let mut ledger = self.lock();
        ledger.requests += 1;
        if ledger.asked.len() < KEPT {
            let bytes = bytes[..bytes.len().min(KEPT_BYTES)].to_vec();
            ledger.asked.push(Asked { connection, bytes, read_at: Instant::now(), answered_at: None });
        }
        ledger.requests - 1
    }

    pub fn sent(&self, bytes: usize) {
        self.lock().sent_bytes += bytes as u64;
    }

    /// The answer to this request was sent whole.
    pub fn answered(&self, request: u64) {
        let mut ledger = self.lock();
        ledger.answered += 1;
        let at = usize::try_from(request).expect("a number of a request in memory");
        if let Some(asked) = ledger.asked.get_mut(at) {
            asked.answered_at = Some(Instant::now());
        }
    }

    /// Everything stands still from now on; until when, is what was asked for.
    pub fn stall_begins(&self, from: Instant, until: Instant) {
        self.lock().stalls.push((from, until));
    }

    /// The stall that began last is over.
    pub fn stall_ends(&self) {
        if let Some((_, until)) = self.lock().stalls.last_mut() {
            *until = Instant::now();
        }
    }

    pub fn failed(&self) {
        self.lock().failures += 1;
    }
}
