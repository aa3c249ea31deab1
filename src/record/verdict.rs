//! What limited a run, as a value and in words.

use serde::{Deserialize, Serialize};

/// What limited the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Limit {
    /// The CPU of the server: a watched process, or its busiest thread, had no more to give.
    ServerCpu,
    /// The CPU of the client: the figure is a lower bound.
    ClientCpu,
    /// A closed loop over servers and clients that both had CPU to spare: as many connections as were asked for, times
    /// the server's answer time.
    Connections,
    /// The network: accept queues that overflowed, or connections that had to be tried again.
    Network,
    /// Nothing: the rate that was asked for was reached.
    Rate,
    /// Failures: too few requests were answered to speak of a limit.
    Failures,
    /// It cannot be told, for the reason that the words give.
    Unknown,
}

impl Limit {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::ServerCpu, Self::ClientCpu, Self::Connections, Self::Network, Self::Rate, Self::Failures, Self::Unknown];

    /// What it is, for a column that is headed "limited by".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ServerCpu => "server CPU",
            Self::ClientCpu => "client CPU",
            Self::Connections => "waiting",
            Self::Network => "network",
            Self::Rate => "nothing",
            Self::Failures => "failures",
            Self::Unknown => "unknown",
        }
    }
}

/// Reasons to doubt the figures, beside the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Doubt {
    /// A thread of the client was busy or runnable for more than 80 % of the time.
    ClientMayBeTheLimit,
    /// That for more than 95 %: the figures are a lower bound.
    ClientWasTheLimit,
    /// Achieved concurrency is below 0.9 of the asked one.
    ConcurrencyNotAchieved,
    /// Achieved rate is below 0.99 of the asked one.
    RateNotAchieved,
    /// Events waited more than 1 ms for the client, in 1 of 100 turns.
    LoopLag,
    /// Requests were sent later than due, by more than 1 ms in 1 of 100, although a connection was free.
    SentLate,
    /// SYNs were sent again, or accept queues overflowed, on this machine.
    ConnectionsRetried,
    /// Some requests failed.
    Failures,
    /// The run was too short to mean much (less than a second).
    Short,
}

/// The answer to "what limited this run?".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// As a value.
    pub limit: Limit,
    /// As a sentence with the figures that it stands on.
    pub words: String,
    /// Why the figures may not mean what they seem to.
    pub doubts: Vec<Doubt>,
    /// These doubts as sentences, in the same order.
    pub warnings: Vec<String>,
}
