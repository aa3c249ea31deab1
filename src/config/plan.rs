//! What will be done: plans, validated, with nothing optional left to guess.
//!
//! Each plan is destructured without `..` at the one place that consumes it, so that a field nobody reads does not
//! compile. Units stand in the types ([`Duration`]) or in the name (`_bytes`).

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};

/// Everything that `quintain serve` needs to know.
#[derive(Debug, Clone)]
pub struct ServePlan {
    /// The server that is stood in for.
    pub profile: Profile,
    /// Where to listen.
    pub listen: ListenPlan,
    /// Who serves.
    pub threads: ThreadsPlan,
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
    /// What the process says and does about itself.
    pub process: ProcessPlan,
    /// Where the server is watched.
    pub admin: AdminPlan,
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

/// The folder and how it is presented.
#[derive(Debug, Clone)]
pub struct SitePlan {
    /// The folder.
    pub root: Root,
    /// Name of the file that answers for a folder.
    pub index: String,
    /// Serve names that begin with a dot (`.well-known` always is).
    pub hidden: bool,
    /// Answer a folder without an index with a list of its entries.
    pub listing: bool,
    /// Use `.br`, `.zst` and `.gz` neighbours.
    pub precompressed: bool,
    /// What is said about a document.
    pub labels: LabelsPlan,
    /// The document cache of each worker.
    pub cache: CachePlan,
}

/// What is said about a document; a consequence of [`HeadStyle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelsPlan {
    /// What its ETag is made of.
    pub etag: EtagForm,
    /// Whether the type of a text says that it is UTF-8.
    pub charset: bool,
}

/// What an ETag is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EtagForm {
    /// A strong one: a digest of all that tells one state of a file from another.
    Digest,
    /// nginx's, which calls itself strong: `"SECONDS-LENGTH"`, both hexadecimal.
    SecondsAndLength,
    /// Tomcat's weak one: `W/"LENGTH-MILLISECONDS"`, both decimal.
    WeakLengthAndMilliseconds,
    /// There is no ETag.
    None,
}

/// Where the documents come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// A folder that somebody named: it must exist.
    Folder(PathBuf),
    /// Nobody named one: this folder (`fixtures`) if it is there, else the bundled documents, made in a temporary folder.
    Bundled(PathBuf),
}

/// When the disk is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesMode {
    /// Once in [`CachePlan::revalidate`] for each document.
    Cached,
    /// For each request: open, look at, read.
    PerRequest,
}

impl FilesMode {
    /// The word for it in config.toml.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cached => "cached",
            Self::PerRequest => "per-request",
        }
    }
}

/// Bounds of the document cache that each worker keeps for itself.
#[derive(Debug, Clone)]
pub struct CachePlan {
    /// Whether there is a cache at all.
    pub mode: FilesMode,
    /// Memory for contents, names and remembered failures.
    pub capacity_bytes: u64,
    /// Largest file whose content is kept in memory; larger ones are kept open. Zero keeps none in memory.
    pub file_max_bytes: u64,
    /// Age after which a cached answer is compared with the disk again.
    pub revalidate: Duration,
}

/// What one connection may do.
#[derive(Debug, Clone)]
pub struct ConnectionPlan {
    /// Whether there may be a second request.
    pub keep_alive: bool,
    /// Requests on one connection before it is closed; `None` is no limit.
    pub max_requests: Option<NonZeroUsize>,
    /// Longest request head; beyond it 431.
    pub head_bytes: usize,
    /// Longest request target; beyond it 414.
    pub target_bytes: usize,
}

/// How the content of documents reaches the socket.
#[derive(Debug, Clone)]
pub struct TransferPlan {
    /// What is done with a document that is not in memory.
    pub path: TransferPath,
    /// In [`TransferPath::Auto`]: documents from this length on go by `sendfile(2)`.
    pub sendfile_min_bytes: u64,
    /// Bytes that [`TransferPath::Stream`] reads at a time.
    pub chunk_bytes: usize,
}

/// The ways from a file to a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferPath {
    /// From memory below [`TransferPlan::sendfile_min_bytes`], by `sendfile(2)` from there on.
    Auto,
    /// Always through memory of this process.
    Memory,
    /// Always by `sendfile(2)`.
    Sendfile,
    /// Read in chunks for each answer, as most frameworks do it.
    Stream,
}

impl TransferPath {
    /// The word for it in config.toml.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Memory => "memory",
            Self::Sendfile => "sendfile",
            Self::Stream => "stream",
        }
    }
}

/// Header lines that do not depend on the document.
#[derive(Debug, Clone)]
pub struct HeadPlan {
    /// Whose heads these are.
    pub style: HeadStyle,
    /// How long a connection may be idle; some styles say it. `None`: there is no second request.
    pub keep_alive: Option<Duration>,
    /// The `Server` line; `None` leaves it out.
    pub server: Option<HeaderValue>,
    /// The `Cache-Control` line of documents; `None` leaves it out.
    pub cache_control: Option<HeaderValue>,
    /// Further lines; none that the server writes itself.
    pub extra: Vec<(HeaderName, HeaderValue)>,
}

/// Whose heads the answers have: names, their order, and what is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadStyle {
    /// This server's own.
    Quintain,
    /// nginx's.
    Nginx,
    /// Tomcat's.
    Tomcat,
    /// Jetty's.
    Jetty,
    /// That of a plain program on Netty.
    Netty,
}

impl HeadStyle {
    /// The word for it in config.toml.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quintain => "quintain",
            Self::Nginx => "nginx",
            Self::Tomcat => "tomcat",
            Self::Jetty => "jetty",
            Self::Netty => "netty",
        }
    }

    /// What such heads say about a document.
    pub const fn labels(self) -> LabelsPlan {
        let etag = match self {
            Self::Quintain => EtagForm::Digest,
            Self::Nginx => EtagForm::SecondsAndLength,
            Self::Tomcat => EtagForm::WeakLengthAndMilliseconds,
            Self::Jetty | Self::Netty => EtagForm::None,
        };
        LabelsPlan { etag, charset: matches!(self, Self::Quintain) }
    }
}

/// How long each wait may last.
#[derive(Debug, Clone)]
pub struct DeadlinesPlan {
    /// From a head's first byte to its end; then 408.
    pub header: Duration,
    /// Between two requests.
    pub idle: Duration,
    /// Without one byte of an answer being taken.
    pub write_stall: Duration,
    /// From SIGTERM to the end.
    pub shutdown: Duration,
}

/// What is written about requests and about the server itself.
#[derive(Debug, Clone)]
pub struct LogPlan {
    /// The least severe of the server's own log lines that is written.
    pub level: tracing::level_filters::LevelFilter,
    /// Form of the server's own log lines.
    pub format: LogFormat,
    /// Where the server's own log lines go.
    pub file: LogFile,
    /// Where access log lines go.
    pub access: AccessLog,
    /// Form of an access log line.
    pub access_format: AccessFormat,
}

/// Where the server's own log lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogFile {
    /// To standard error.
    Stderr,
    /// Appended to this file.
    File(PathBuf),
}

/// Form of the server's own log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Where access log lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessLog {
    /// Nowhere.
    Off,
    /// To standard output.
    Stdout,
    /// To standard error, between the server's own lines.
    Stderr,
    /// Appended to this file.
    File(PathBuf),
}

/// Form of an access log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessFormat {
    /// Apache's and nginx's "combined".
    Combined,
    /// One JSON object a line.
    Json,
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
