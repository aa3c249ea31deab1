//! How far a run is, for whoever watches.

use std::time::Duration;

/// The state of a run while it goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Since the start.
    pub elapsed: Duration,
    /// Requests ended until now, failures included.
    pub ended: u64,
    /// Those that failed.
    pub failed: u64,
    /// Sum of the headline latencies until now.
    pub latency_sum_ns: u64,
    /// How many latencies that is the sum of.
    pub latencies: u64,
    /// The run ends after so many requests.
    pub requests: Option<u64>,
    /// The run ends after this time.
    pub duration: Option<Duration>,
}
