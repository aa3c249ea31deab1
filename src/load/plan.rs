//! What a run will do: validated, with nothing optional left to guess.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::request::Request;
use super::verify::Verify;
use crate::process::affinity::Pins;
use crate::record::Outcome;

/// Everything that one run needs to know.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Whom to ask.
    pub target: Target,
    /// What to ask, in turn; at least one.
    pub requests: Arc<[Request]>,
    /// How one connection is used and judged.
    pub exchange: ExchangePlan,
    /// Connections at once, over all threads; at least one for each thread.
    pub connections: usize,
    /// Threads; at least one.
    pub threads: usize,
    /// When the run is over.
    pub end: End,
    /// When requests are due.
    pub pace: Pace,
    /// Source addresses, over which connections are spread in turn; empty leaves it to the system.
    pub sources: Vec<IpAddr>,
    /// Options of sockets.
    pub socket: SocketPlan,
    /// Processes to watch.
    pub watch: Vec<u32>,
    /// CPUs of the threads.
    pub pins: Pins,
    /// What to keep beside counts and histograms.
    pub keep: Keep,
    /// How long the run before the measured one was; only to be shown.
    pub warm_up: Duration,
}

/// Where connections go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Host of the URL, without brackets.
    pub host: String,
    /// Port of the URL.
    pub port: u16,
    /// Where connections go, which `--connect-to`, `--unix-socket` and a proxy change.
    pub address: Address,
}

/// An address that can be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Over TCP.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

/// How one connection is used, and when an answer is right.
#[derive(Debug, Clone)]
pub struct ExchangePlan {
    /// Whether another request may follow on the same connection.
    pub keep_alive: bool,
    /// Requests that may be on their way on one connection; 1 without pipelining.
    pub pipeline: usize,
    /// Longest time of a connect, and from the send of a request to the end of its answer.
    pub timeout: Duration,
    /// Statuses that are right.
    pub expected: Statuses,
    /// Whether the lengths of answers to one URL must be equal.
    pub same_length: bool,
    /// What bodies are compared with.
    pub verify: Option<Verify>,
}

/// A set of status codes, as ranges; both ends belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statuses(pub Vec<(u16, u16)>);

impl Statuses {
    /// Whether a status is in the set.
    #[inline]
    pub fn holds(&self, status: u16) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&status))
    }
}

/// When the run is over: at whichever comes first. At least one is there.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// After so many requests.
    pub requests: Option<u64>,
    /// After this time.
    pub duration: Option<Duration>,
    /// After so many failed requests in a row without one that was answered.
    pub abort_after: Option<u64>,
    /// After the first request that ended as one of these: ab's way with errors of the system.
    pub fatal: &'static [Outcome],
}

/// When requests are due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// When the answer before it has come: as many at once as there are connections.
    Closed,
    /// At times that do not depend on the server.
    Open {
        /// Requests per second, over all threads.
        per_second: f64,
        /// How the times lie.
        arrivals: Arrivals,
    },
}

/// How the times of an open loop lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Equally far apart.
    Uniform,
    /// Independent of one another: exponential gaps.
    Poisson {
        /// The same seed gives the same times.
        seed: u64,
    },
}

/// Options of sockets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SocketPlan {
    /// Size of send and receive buffers (ab's `-b`); the system's choice without it.
    pub buffer_bytes: Option<usize>,
}

/// What to keep beside counts and histograms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// A row for each answered request (`-g`).
    pub rows: bool,
    /// So many bytes of answers' heads (`-v 2`).
    pub head_bytes: usize,
}
