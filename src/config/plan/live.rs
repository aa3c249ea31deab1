//! What a reload may change.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};

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
