//! What limited a run: the client, the server, the network, or nothing but what was asked for.
//!
//! The first rule that applies decides. The order is that of what would make all later rules meaningless: of failures no
//! rate can be told; a rate that was reached was limited by nobody; a client without CPU left cannot see past itself, so it
//! comes before the server.

use crate::record::{Client, ClientThread, Distribution, Doubt, Endings, Limit, Network, Verdict, Watched};

mod words;

/// A thread of the client that is busy for more of its time than this may be the limit. Wrk, h2load and oha show no
/// other sign of it: at 99 % CPU, they hold all their connections busy while the server has 3 of 50 requests in hand.
const CLIENT_DOUBT: f64 = 0.80;
/// That for sure: the rest goes to sampling and to the ends of the run.
const CLIENT_LIMIT: f64 = 0.95;
/// From this on a server, or one of its threads, has nothing more to give.
const SERVER_LIMIT: f64 = 0.90;
/// Below this part of the asked rate it was not reached.
const RATE_REACHED: f64 = 0.99;
/// Below this part of the asked connections they were not busy.
const CONCURRENCY_REACHED: f64 = 0.9;
/// Longest time that events may wait for the client, in 99 of 100 turns.
const LOOP_LAG_NS: u64 = 1_000_000;
/// Longest time by which 99 of 100 requests may be sent later than due.
const LATE_NS: u64 = 1_000_000;
/// Shorter runs are mostly beginning and end.
const SHORT_S: f64 = 1.0;
/// A connection whose SYN is lost tries again after this time (RFC 6298 section 2.1), and its slot does nothing meanwhile.
const SYN_RETRY_S: f64 = 1.0;
/// From this part of all slots' time on, waiting for such connections is what limits.
const RETRIES_LIMIT: f64 = 0.1;

/// What the verdict stands on: parts of the record of the same run.
#[derive(Debug, Clone, Copy)]
pub struct Figures<'a> {
    /// Length of the run.
    pub elapsed_s: f64,
    /// Most connections at once that were asked for.
    pub connections: u64,
    /// Connects that succeeded.
    pub opened: u64,
    /// Requests per second that were asked for, of an open loop.
    pub rate_per_s: Option<f64>,
    /// Mean time of a slot's cycle: [`crate::record::Latency::total`].
    pub mean_ns: f64,
    /// How requests ended.
    pub endings: &'a Endings,
    /// Whether the client kept up.
    pub client: &'a Client,
    /// The server, if it was watched.
    pub watched: &'a [Watched],
    /// What the kernel counted.
    pub network: &'a Network,
    /// Times of this run's own connects.
    pub connect: &'a Distribution,
    /// 99 of 100 requests were sent at most so much later than due although a connection was free; 0 of a closed loop.
    pub timer_error_p99_ns: u64,
}

/// What limited the run, and what else casts doubt on its figures.
#[must_use]
pub fn verdict(figures: &Figures<'_>) -> Verdict {
    let limit = limit(figures);
    let doubts = doubts(figures);
    Verdict {
        limit,
        words: words::of_limit(limit, figures),
        warnings: doubts.iter().map(|doubt| words::of_doubt(*doubt, limit, figures)).collect(),
        doubts,
    }
}

fn limit(figures: &Figures<'_>) -> Limit {
    if figures.finished() == 0 {
        // A client that came to nothing because it had no CPU says nothing about the server.
        if figures.client_load() > CLIENT_LIMIT { Limit::ClientCpu } else { Limit::Unknown }
    } else if figures.mostly_failed() {
        Limit::Failures
    } else if figures.rate_reached() == Some(true) {
        Limit::Rate
    } else if figures.client_load() > CLIENT_LIMIT {
        Limit::ClientCpu
    } else if figures.saturated_server().is_some() {
        Limit::ServerCpu
    } else if figures.waits_for_retries() {
        Limit::Network
    } else if figures.client_load() > CLIENT_DOUBT {
        Limit::Unknown
    } else if figures.is_closed() || figures.all_connections_busy() {
        Limit::Connections
    } else {
        Limit::Unknown
    }
}

fn doubts(figures: &Figures<'_>) -> Vec<Doubt> {
    let load = figures.client_load();
    let is_closed = figures.is_closed() && figures.finished() > 0;
    [
        (Doubt::ClientMayBeTheLimit, load > CLIENT_DOUBT && load <= CLIENT_LIMIT),
        (Doubt::ClientWasTheLimit, load > CLIENT_LIMIT),
        (Doubt::ConcurrencyNotAchieved, is_closed && !figures.all_connections_busy()),
        (Doubt::RateNotAchieved, figures.rate_reached() == Some(false)),
        (Doubt::LoopLag, figures.client.loop_lag_p99_ns > LOOP_LAG_NS),
        (Doubt::SentLate, figures.is_late()),
        (Doubt::ConnectionsRetried, figures.was_retried()),
        (Doubt::Failures, figures.endings.failed() > 0),
        (Doubt::Short, figures.elapsed_s < SHORT_S),
    ]
    .into_iter()
    .filter_map(|(doubt, applies)| applies.then_some(doubt))
    .collect()
}

impl<'a> Figures<'a> {
    /// Requests that ended by themselves.
    fn finished(&self) -> u64 {
        self.endings.ok + self.endings.failed()
    }

    fn is_closed(&self) -> bool {
        self.rate_per_s.is_none()
    }

    fn mostly_failed(&self) -> bool {
        self.endings.failed() > self.endings.ok
    }

    /// Of an open loop, whether requests went out as fast as they were due.
    fn rate_reached(&self) -> Option<bool> {
        self.rate_per_s?;
        Some(self.client.achieved_rate.unwrap_or(0.0) >= RATE_REACHED)
    }

    fn busiest_client_thread(&self) -> ClientThread {
        let threads = self.client.threads.iter().copied();
        threads.max_by(|one, other| load_of(one).total_cmp(&load_of(other))).unwrap_or_default()
    }

    fn client_load(&self) -> f64 {
        load_of(&self.busiest_client_thread())
    }

    /// The watched process with the least to give, if that is nothing.
    fn saturated_server(&self) -> Option<&'a Watched> {
        self.busiest_server().filter(|server| saturation_of(server) >= SERVER_LIMIT)
    }

    fn busiest_server(&self) -> Option<&'a Watched> {
        self.watched.iter().max_by(|one, other| saturation_of(one).total_cmp(&saturation_of(other)))
    }

    /// Connections that had to try again. The three counters are not disjoint: an overflow is a drop, and a drop of a SYN
    /// from this machine is followed by another SYN. So the largest is taken, not the sum.
    fn retries(&self) -> u64 {
        let Network { syn_retransmits, listen_overflows, listen_drops, .. } = self.network;
        *syn_retransmits.max(listen_overflows).max(listen_drops)
    }

    /// Whether connections of this run were among those. The kernel's counters are of the whole machine; only a connect that
    /// took as long as the first retry does shows that this run was hit.
    fn was_retried(&self) -> bool {
        self.retries() > 0 && self.connect.max_ns as f64 >= 0.9 * SYN_RETRY_S * 1e9
    }

    /// Whether a large part of the slots' time went to connections that were tried again. Only where most requests need a
    /// connection of their own: over kept connections, retries are over when the run has hardly begun.
    fn waits_for_retries(&self) -> bool {
        let slots_s = self.connections as f64 * self.elapsed_s;
        let connects_s = self.connect.mean_ns * self.connect.count as f64 / 1e9;
        let each_its_own = self.opened.saturating_mul(2) >= self.finished();
        each_its_own && self.was_retried() && connects_s >= RETRIES_LIMIT * slots_s
    }

    /// Whether the client was late by itself: that is in the response times, and not the server's.
    fn is_late(&self) -> bool {
        self.timer_error_p99_ns > LATE_NS
    }

    fn concurrency(&self) -> f64 {
        if self.connections == 0 { 0.0 } else { self.client.achieved_concurrency / self.connections as f64 }
    }

    fn all_connections_busy(&self) -> bool {
        self.concurrency() >= CONCURRENCY_REACHED
    }
}

/// Part of its time for which a thread had something to do.
fn load_of(thread: &ClientThread) -> f64 {
    if thread.wall_s > 0.0 { (thread.cpu_s + thread.run_delay_s) / thread.wall_s } else { 0.0 }
}

/// The larger of: part of its time for which the busiest thread had something to do; part of its CPUs' time that the process
/// used. Many threads that share few CPUs saturate the second without one that is busy by itself.
fn saturation_of(server: &Watched) -> f64 {
    thread_load_of(server).max(process_load_of(server))
}

fn thread_load_of(server: &Watched) -> f64 {
    server.busiest_thread + server.busiest_thread_delay
}

fn process_load_of(server: &Watched) -> f64 {
    if server.cpus_allowed > 0 { server.cpus_used / server.cpus_allowed as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests;
