//! What will be done: plans, validated, with nothing optional left to guess.
//!
//! Each plan is destructured without `..` at the one place that consumes it, so that a field nobody reads does not
//! compile. Units stand in the types ([`std::time::Duration`]) or in the name (`_bytes`).

use std::num::NonZeroUsize;

mod live;
mod start;

pub use live::{
    AccessFormat, AccessLog, CachePlan, ConnectionPlan, DeadlinesPlan, EtagForm, FilesMode, HeadPlan, HeadStyle,
    LabelsPlan, LogFile, LogFormat, LogPlan, Root, SitePlan, TransferPath, TransferPlan,
};
pub use start::{Address, AdminPlan, Affinity, ListenPlan, Model, ProcessPlan, ThreadsPlan, UserName};

/// Everything that `quintain serve` needs to know.
#[derive(Debug, Clone)]
pub struct ServePlan {
    /// Where to listen.
    pub listen: ListenPlan,
    /// Who serves.
    pub threads: ThreadsPlan,
    /// What the process says and does about itself.
    pub process: ProcessPlan,
    /// Where the server is watched.
    pub admin: AdminPlan,
    /// What a reload may change.
    pub live: LivePlan,
}

/// The part of a plan that may change while the server runs. The rest is used up at the start: sockets, threads, and what the
/// process itself is.
#[derive(Debug, Clone)]
pub struct LivePlan {
    /// The server that is stood in for.
    pub profile: Profile,
    /// Connections open at once, over all workers; the others wait in the accept queue. `None` is "auto": as many as
    /// the process has descriptors for.
    pub max_connections: Option<NonZeroUsize>,
    /// What is served.
    pub site: SitePlan,
    /// What one connection may do.
    pub connection: ConnectionPlan,
    /// The ways of contents to sockets.
    pub transfer: TransferPlan,
    /// What stands in the head of an answer.
    pub head: HeadPlan,
    /// How long each wait may last.
    pub deadlines: DeadlinesPlan,
    /// What is written.
    pub log: LogPlan,
}

/// The servers that can be stood in for. Their settings are in the plan already: the name is only to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// None: the server is itself.
    None,
    /// nginx as Debian ships it.
    Nginx,
    /// The Netty program of `peers/netty` with Netty's defaults.
    Netty,
    /// Tomcat 10 with its shipped server.xml, and so its NIO connector.
    Tomcat,
    /// Tomcat with the blocking connector that it had up to 8.0.
    TomcatBio,
    /// Jetty 9.4 with its shipped modules.
    Jetty,
}

impl Profile {
    /// The word for it in config.toml.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Nginx => "nginx",
            Self::Netty => "netty",
            Self::Tomcat => "tomcat",
            Self::TomcatBio => "tomcat-bio",
            Self::Jetty => "jetty",
        }
    }
}
