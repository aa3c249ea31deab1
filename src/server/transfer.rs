//! Which way a document's content goes to the socket.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

use crate::config::plan::{Model, TransferPath, TransferPlan};
use crate::site::{Content, Document};

/// The way of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Way {
    /// `writev` from memory, beside the head.
    Memory,
    /// `sendfile(2)`.
    Sendfile,
    /// `pread` into a buffer of the thread and `send` from it.
    Copy,
    /// Chunks, each allocated and read for this answer.
    Stream,
}

/// Decides about ways, for one worker.
#[derive(Debug)]
pub struct Transfer {
    plan: TransferPlan,
    model: Model,
    refused: AtomicBool,
}

impl Transfer {
    /// Ways for documents under this plan and model.
    pub fn new(plan: TransferPlan, model: Model) -> Self {
        Self { plan, model, refused: AtomicBool::new(false) }
    }

    /// The way that this document goes.
    pub fn way(&self, document: &Document) -> Way {
        let TransferPlan { path, sendfile_min_bytes, chunk_bytes: _ } = &self.plan;
        match (&document.content, path) {
            (Content::Memory(_), _) => Way::Memory,
            (Content::Open(_), TransferPath::Stream) => Way::Stream,
            (Content::Open(_), TransferPath::Memory) => Way::Copy,
            (Content::Open(_), _) if self.refused.load(Relaxed) => Way::Copy,
            (Content::Open(_), TransferPath::Sendfile) => Way::Sendfile,
            (Content::Open(_), TransferPath::Auto) if document.length >= *sendfile_min_bytes => Way::Sendfile,
            (Content::Open(_), TransferPath::Auto) => Way::Copy,
        }
    }

    /// The file system (or a sandbox) refuses `sendfile`: copy from now on, and say so once.
    pub fn give_up_sendfile(&self, error: &io::Error) {
        if !self.refused.swap(true, Relaxed) {
            tracing::warn!("sendfile is refused here ({error}); copying instead");
        }
    }

    /// Opens a stream of a part of an open document.
    pub fn stream(&self, document: &Document, range: Range<u64>) -> io::Result<Chunks> {
        let part = reopen(document, &range)?;
        let chunk = self.plan.chunk_bytes;
        Ok(match self.model {
            Model::ThreadPerConnection => Chunks::Blocking { part, chunk },
            Model::EventLoop | Model::BossWorker | Model::WorkStealing => {
                let (file, length) = (part.into_inner(), range.end - range.start);
                let file = asynchronous(file).take(length);
                Chunks::Pool(Box::new(ReaderStream::with_capacity(file, chunk)))
            }
        })
    }
}

#[expect(
    clippy::disallowed_types,
    reason = "this way exists to show what a hop to the blocking pool for each chunk costs"
)]
fn asynchronous(file: File) -> tokio::fs::File {
    tokio::fs::File::from_std(file)
}

/// The same file with an offset of its own, as a server that opens files for each request has it. The name may mean
/// another file by now; the descriptor does not.
fn reopen(document: &Document, range: &Range<u64>) -> io::Result<Take<File>> {
    let Content::Open(open) = &document.content else { return Err(io::ErrorKind::Unsupported.into()) };
    let mut file = File::open(format!("/proc/self/fd/{}", open.file.as_fd().as_raw_fd()))?;
    file.seek(SeekFrom::Start(range.start))?;
    Ok(file.take(range.end - range.start))
}

/// A file, a chunk at a time.
#[derive(Debug)]
#[expect(clippy::disallowed_types, reason = "see `asynchronous`")]
pub enum Chunks {
    /// The thread belongs to the connection and may wait for the disk.
    Blocking { part: Take<File>, chunk: usize },
    /// Each read is a job for the runtime's pool of blocking threads.
    Pool(Box<ReaderStream<tokio::io::Take<tokio::fs::File>>>),
}

impl Chunks {
    /// The next chunk; an end before the announced length is an error, because the connection has to break.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        let chunk = match self {
            Self::Blocking { part, chunk } => {
                let mut buffer = Vec::with_capacity(*chunk);
                part.by_ref().take(*chunk as u64).read_to_end(&mut buffer)?;
                Bytes::from(buffer)
            }
            Self::Pool(stream) => ready!(Pin::new(stream).poll_next(cx)).transpose()?.unwrap_or_default(),
        };
        if chunk.is_empty() { Poll::Ready(Err(super::sendfile::truncated())) } else { Poll::Ready(Ok(chunk)) }
    }
}
