//! What a run of the load tool leaves: the result schema, versioned, with a unit in every field's name.
//!
//! A record is all that passes between measuring and reporting: `load` makes it and prints nothing, `report` renders it
//! and measures nothing. It is also what `--output json` writes; `schema/load-record.json` describes it to others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

mod distribution;
pub mod experiment;
mod finding;
mod gate;
mod outcome;
#[cfg(test)]
pub(crate) mod plain;
mod progress;
mod row;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
mod verdict;

pub use distribution::{Distribution, HistogramError, Moments, PERCENTILES};
pub use finding::{Finding, Purpose, Stage};
pub use gate::{Broken, Gate, GateError, Metric, Need};
pub use outcome::{Endings, Outcome};
pub use progress::Progress;
pub use row::Row;
pub use verdict::{Doubt, Limit, Verdict};

/// The version of this schema. It grows when a field changes its meaning or goes; a new field alone does not change it.
pub const VERSION: u32 = 1;

/// The result of one call of the load tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Record {
    /// [`VERSION`].
    pub version: u32,
    /// Name and version of the program that measured.
    pub tool: String,
    /// The command line, from the program's name on.
    pub command: Vec<String>,
    /// What `runs` are of one another.
    pub kind: Kind,
    /// One, or one for each step.
    pub runs: Vec<Run>,
    /// The highest rate that passed the gates, of a search that found one.
    pub found_rate_per_s: Option<f64>,
    /// How the search ended, of a search.
    pub finding: Option<Finding>,
}

/// How the runs of a record belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Kind {
    /// One run.
    Single,
    /// Steps of rising or falling rate: a curve, of which no mean is taken.
    Steps,
    /// The runs of a search for the highest rate; the last one held what was found.
    FindMax,
}

/// One measured run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// When the first connection was begun, in seconds since 1970.
    pub started_unix_s: f64,
    /// From the first connection begun to the last request ended.
    pub elapsed_s: f64,
    /// Ended by a signal before its time; what was measured until then stands here.
    pub interrupted: bool,
    /// Given up because of `--abort-after`.
    pub aborted: bool,
    /// What was asked for.
    pub settings: Settings,
    /// Whom it was asked of.
    pub target: Target,
    /// How each request ended. Their sum is the number of requests.
    pub endings: Endings,
    /// Requests that were answered whole, for each status code, whatever their ending.
    pub statuses: BTreeMap<u16, u64>,
    /// Connections, and what became of them.
    pub connections: Connections,
    /// Bytes on the connections, without TCP's and IP's headers.
    pub transfer: Transfer,
    /// Answered requests (whole, whatever their ending) per second of `elapsed_s`.
    pub answered_per_s: f64,
    /// How long requests took.
    pub latency: Latency,
    /// Equal intervals from the start on.
    pub intervals: Intervals,
    /// What the first whole answer looked like.
    pub first_answer: Option<FirstAnswer>,
    /// The first failure.
    pub first_failure: Option<FirstFailure>,
    /// Whether the client kept up.
    pub client: Client,
    /// What the kernel said about this machine's network meanwhile.
    pub network: Network,
    /// The processes of `--watch`.
    pub watched: Vec<Watched>,
    /// What limited this run.
    pub verdict: Verdict,
}

/// What was asked for, as it was resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Settings {
    /// Most connections at once.
    pub connections: u64,
    /// Threads of the client.
    pub threads: u64,
    /// End after so many requests.
    pub requests: Option<u64>,
    /// End after so many seconds.
    pub duration_s: Option<f64>,
    /// Requests per second, over all threads, of an open loop; without it the loop is closed.
    pub rate_per_s: Option<f64>,
    /// `uniform` or `poisson`, of an open loop.
    pub arrivals: Option<String>,
    /// Whether connections carry more than one request.
    pub keep_alive: bool,
    /// Requests that may be on their way on one connection.
    pub pipeline: u64,
    /// Longest time from the send of a request to the last byte of its answer, and of a connect.
    pub timeout_s: f64,
    /// Seconds of load before the run whose figures were thrown away.
    pub warm_up_s: f64,
    /// Source addresses over which connections were spread; empty is the system's choice.
    pub sources: Vec<String>,
    /// How bodies were checked: `none`, `length`, `content`, or `content 1 in N`.
    pub body_check: String,
    /// Statuses that count as success.
    pub expected_status: String,
}

/// Whom requests went to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Target {
    /// The URLs, asked in turn.
    pub urls: Vec<String>,
    /// Host of the URL, without brackets.
    pub host: String,
    /// Port of the URL.
    pub port: u16,
    /// Path and query of the first URL.
    pub path: String,
    /// Where connections went: `127.0.0.1:8080`, or `unix:/run/x.sock`.
    pub address: String,
    /// Method of the requests.
    pub method: String,
    /// `1.0` or `1.1`, of the requests.
    pub http: String,
    /// Length of a request with its body, of the first URL.
    pub request_bytes: u64,
    /// Length of the body that each request sends.
    pub request_body_bytes: u64,
}

/// Connections, and what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Connections {
    /// Connects that succeeded.
    pub opened: u64,
    /// Most connections that were open at once, over all threads (a sum of each thread's own peak).
    pub open_max: u64,
    /// Answered requests that the server let the connection live after.
    pub kept_alive: u64,
    /// Requests whose answer's head said `Keep-Alive` in any line: ab's count.
    pub said_keep_alive: u64,
    /// Connections that were to be kept, and that the server closed between two requests. If the next request had been sent
    /// already it went again on a new connection; none of this is a failure.
    pub stale_keep_alive: u64,
    /// Connections that were given up because more came on them than was asked for.
    pub surplus: u64,
}

impl Connections {
    /// Adds another thread's.
    pub fn add(&mut self, other: &Self) {
        self.opened += other.opened;
        self.open_max += other.open_max;
        self.kept_alive += other.kept_alive;
        self.said_keep_alive += other.said_keep_alive;
        self.stale_keep_alive += other.stale_keep_alive;
        self.surplus += other.surplus;
    }
}

/// Bytes on the connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Transfer {
    /// Heads and bodies received, with those of answers that did not come whole.
    pub received_bytes: u64,
    /// Bodies received, without chunk framing.
    pub received_body_bytes: u64,
    /// Requests sent, with what was sent in vain.
    pub sent_bytes: u64,
}

impl Transfer {
    /// Adds another thread's.
    pub fn add(&mut self, other: &Self) {
        self.received_bytes += other.received_bytes;
        self.received_body_bytes += other.received_body_bytes;
        self.sent_bytes += other.sent_bytes;
    }
}

/// How long requests took. A request that timed out counts with the time after which it was given up, so that the tail
/// is not cut off; one that failed otherwise, or was cut off by the end of the run, does not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Latency {
    /// From the send of the request to the last byte of the answer, without the connect: service time.
    pub service: Distribution,
    /// From the begin of the connect, or the send on a connection that was there, to the last byte: what a slot of a
    /// closed loop sees.
    pub total: Distribution,
    /// From the begin of a connect to the first send that succeeds; only of requests that needed one.
    pub connect: Distribution,
    /// From the request's last byte sent to the answer's first byte received.
    pub first_byte: Distribution,
    /// From the time at which the request was due to the last byte: response time, of an open loop.
    pub response: Option<Distribution>,
    /// How much later than due a request was sent although a connection was free: the client's own error.
    pub timer_error: Option<Distribution>,
}

impl Latency {
    /// The distribution that stands for the run: response time of an open loop, the whole of a slot's cycle else.
    pub fn headline(&self) -> &Distribution {
        self.response.as_ref().unwrap_or(&self.total)
    }
}

/// The run in equal intervals. A long run has wider ones, never more than some thousand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Intervals {
    /// Width of each; the last one may have been cut short.
    pub width_s: f64,
    /// In their order.
    pub rows: Vec<Interval>,
}

/// What ended within one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    /// Requests that ended well.
    pub ok: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Sum of the headline latencies, for a mean.
    pub latency_sum_ns: u64,
    /// The longest headline latency.
    pub latency_max_ns: u64,
}

/// What the first whole answer looked like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FirstAnswer {
    /// Its status code.
    pub status: u16,
    /// Its `Server` line's value; empty without one.
    pub server: String,
    /// Length of its body.
    pub body_bytes: u64,
    /// Its head, as received (bytes that are not UTF-8 replaced).
    pub head: String,
}

/// The first failure of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FirstFailure {
    /// Its name: [`Outcome::name`].
    pub outcome: String,
    /// What the system said, of a failure that came from it: `errno(3)`.
    pub errno: Option<i32>,
    /// That in words.
    pub reason: String,
}

impl FirstFailure {
    /// A failure, and what the system said.
    pub fn new(outcome: Outcome, errno: Option<i32>) -> Self {
        let reason = errno.map(|errno| std::io::Error::from_raw_os_error(errno).to_string()).unwrap_or_default();
        Self { outcome: outcome.name().to_owned(), errno, reason }
    }
}

/// Whether the client kept up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Client {
    /// One for each thread.
    pub threads: Vec<ClientThread>,
    /// CPU of all threads for each ended request.
    pub cpu_per_request_us: f64,
    /// Little's law: requests per second times mean time of a slot's cycle, with what the end of the run cut off.
    pub achieved_concurrency: f64,
    /// How long events waited in user space for their turn: from the return of `epoll_wait` to the last event of the
    /// batch handled.
    pub loop_lag_p99_ns: u64,
    /// The longest of these.
    pub loop_lag_max_ns: u64,
    /// Achieved rate over the asked one, of an open loop.
    pub achieved_rate: Option<f64>,
    /// Requests that were due and not yet sent when the run ended, of an open loop.
    pub never_sent: u64,
}

/// What the scheduler says of one thread of the client, over the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClientThread {
    /// Time on a CPU.
    pub cpu_s: f64,
    /// Time runnable but not running: a busy neighbour (`/proc/PID/task/TID/schedstat`, second field).
    pub run_delay_s: f64,
    /// Wall time.
    pub wall_s: f64,
}

/// What the kernel said about this machine's network meanwhile; of everybody on the machine, not of this run alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Network {
    /// SYN and SYN-ACK segments sent again (`TCPSynRetrans`).
    pub syn_retransmits: u64,
    /// Connections that found an accept queue full (`ListenOverflows`).
    pub listen_overflows: u64,
    /// SYNs dropped by a listener (`ListenDrops`).
    pub listen_drops: u64,
    /// Congestion control of the connections; empty for a unix socket.
    pub congestion_control: String,
}

/// A process that was watched during the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Watched {
    /// Its id.
    pub pid: u32,
    /// Its name, as `comm` has it.
    pub name: String,
    /// CPU time, user and system, of all threads between start and end of the run.
    pub cpu_s: f64,
    /// That for each ended request.
    pub cpu_per_request_us: f64,
    /// That over the run's wall time: 1 is one CPU.
    pub cpus_used: f64,
    /// CPUs that it may run on.
    pub cpus_allowed: u64,
    /// CPU time of its busiest thread over the run's wall time.
    pub busiest_thread: f64,
    /// Run delay of that thread over the run's wall time.
    pub busiest_thread_delay: f64,
    /// Most threads seen.
    pub threads_max: u64,
    /// Peak of resident memory seen.
    pub resident_max_bytes: u64,
    /// Most descriptors seen.
    pub descriptors_max: u64,
    /// Switches because it waited.
    pub voluntary_switches: u64,
    /// Switches because its time was up.
    pub involuntary_switches: u64,
    /// It ended during the run.
    pub gone: bool,
}
