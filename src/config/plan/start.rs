//! What the start uses up: sockets, threads, and what the process itself is.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Where to listen, and the options that are set on a listener before its first connection.
#[derive(Debug, Clone)]
pub struct ListenPlan {
    /// At least one; all different, but for port 0.
    pub addresses: Vec<Address>,
    /// Length of the accept queue, as `listen(2)` takes it; the kernel caps it at `net.core.somaxconn`.
    pub backlog: u32,
    /// Whether another server may listen on the same addresses at the same time.
    pub share_port: bool,
    /// `TCP_NODELAY`
    pub nodelay: bool,
    /// Seconds that the kernel may hold a connection back until its first byte arrives; `None` is off.
    pub defer_accept: Option<Duration>,
    /// `SO_SNDBUF`; `None` leaves the kernel's automatic tuning on.
    pub send_buffer_bytes: Option<u32>,
    /// TCP congestion control by name; `None` is the system's default.
    pub congestion: Option<String>,
}

/// One address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `127.0.0.1:8080`, `[::1]:8080`
    Tcp(SocketAddr),
    /// `unix:/path/to/socket`
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Which threads serve, and how they share the work.
#[derive(Debug, Clone)]
pub struct ThreadsPlan {
    /// Who accepts, and which thread serves a connection.
    pub model: Model,
    /// Threads that serve, in all models but `thread-per-connection`.
    pub workers: NonZeroUsize,
    /// Threads at the most in the model `thread-per-connection`.
    pub max_threads: NonZeroUsize,
    /// Stack of each thread; `None` is Rust's default of 2 MiB.
    pub stack_bytes: Option<NonZeroUsize>,
    /// CPUs that the threads are pinned to.
    pub affinity: Affinity,
}

impl ThreadsPlan {
    /// How many document caches there are: a worker that is a thread of its own has one of its own.
    pub fn caches(&self) -> NonZeroUsize {
        match self.model {
            Model::EventLoop | Model::BossWorker => self.workers,
            Model::WorkStealing | Model::ThreadPerConnection => NonZeroUsize::MIN,
        }
    }
}

/// The I/O models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Each worker is a thread that accepts and serves by itself; as nginx.
    EventLoop,
    /// One thread accepts and hands the connections to the workers in turn; as Netty.
    BossWorker,
    /// The workers are a pool, and any of them may serve any connection at any time; as Tomcat's NIO connector, and
    /// Jetty.
    WorkStealing,
    /// Each connection has a thread, whose reads and writes block; as Tomcat's BIO connector was.
    ThreadPerConnection,
}

impl Model {
    /// The word for it in config.toml.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EventLoop => "event-loop",
            Self::BossWorker => "boss-worker",
            Self::WorkStealing => "work-stealing",
            Self::ThreadPerConnection => "thread-per-connection",
        }
    }
}

/// Which CPUs threads are pinned to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Affinity {
    /// None in particular: the scheduler decides.
    None,
    /// In turn, those that the process may run on.
    Auto,
    /// In turn, these.
    Cpus(Vec<usize>),
}

/// What the process says and does about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessPlan {
    /// The file that holds its id, and a lock for as long as it lives.
    pub pid_file: Option<PathBuf>,
    /// Whom it becomes once the addresses are bound and the logs are open.
    pub user: Option<UserName>,
}

/// A user and a group, by name or by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserName {
    /// The user.
    pub user: String,
    /// The group; `None` is the user's own.
    pub group: Option<String>,
}

/// The admin listener.
#[derive(Debug, Clone)]
pub struct AdminPlan {
    /// `None` is off.
    pub listen: Option<Address>,
}
