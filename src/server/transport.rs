//! hyper's `Read` and `Write` over a socket, with nothing between them and the system calls.
//!
//! The socket is tried first and registered with epoll only when it would block: a short connection whose request
//! arrived with it costs `accept4, recvfrom, sendto, close`. tokio's own `TcpStream` registers at accept.
//!
//! Rejected: `hyper_util::rt::TokioIo` (an epoll registration for every connection, no way to see file slices).

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::rt::{Read, ReadBufCursor, Write};

use super::deadlines::Phase;
use super::incoming::{self, Incoming};
use super::link::Link;
use super::outgoing::Outgoing;
use super::wire::Wire;
use super::worker::Worker;

/// One connection's socket under hyper.
#[derive(Debug)]
pub struct Transport {
    link: Link,
    incoming: Incoming,
    outgoing: Outgoing,
    refusing: bool,
}

impl Transport {
    /// Takes an accepted, non-blocking socket.
    pub fn new(wire: Arc<Wire>, worker: Arc<Worker>) -> Self {
        Self::over(Link::new(wire, worker))
    }

    /// Takes an accepted, blocking socket.
    pub fn blocking(wire: Arc<Wire>, worker: Arc<Worker>) -> Self {
        Self::over(Link::blocking(wire, worker))
    }

    /// What has to be kept of an idle connection: no more than its registrations.
    pub fn into_idle(self) -> Link {
        self.link
    }

    /// Wakes an idle connection, whose socket is ready to be read.
    pub fn from_idle(link: Link) -> Self {
        let mut transport = Self::over(link);
        transport.incoming.expect_readiness();
        transport
    }

    fn over(link: Link) -> Self {
        let incoming = Incoming::new(link.worker.limits.target_bytes);
        Self { link, incoming, outgoing: Outgoing::default(), refusing: false }
    }

    /// Goes over to another worker at the same post. Bytes that the scan of heads has seen before count by the old limit.
    pub fn serve_for(&mut self, worker: &Arc<Worker>) {
        if !Arc::ptr_eq(&self.link.worker, worker) {
            self.link.worker = Arc::clone(worker);
            self.incoming.scan.set_limit(worker.limits.target_bytes);
        }
    }

    /// Gives `bytes` to the next reads, before anything from the socket.
    pub fn replay(&mut self, bytes: Bytes) {
        self.incoming.replay_first(bytes);
    }

    /// Nothing is owed in either direction: the last answer is out, and no byte of a next request has come.
    pub fn is_idle(&self) -> bool {
        self.link.phase() == Phase::Idle && self.incoming.is_drained()
    }

    /// Whether hyper found the head unacceptable and tried to answer by itself: its answer was swallowed, and the
    /// caller writes a better one.
    pub fn is_refusing(&self) -> bool {
        self.refusing
    }

    /// Whether the request line passed its limit before it ended.
    pub fn line_is_too_long(&self) -> bool {
        self.incoming.scan.line_is_too_long()
    }

    /// Whether a head that was refused asks for nothing but a head. `unread` is what hyper holds of it, if anything.
    pub fn is_head_request(&self, unread: &[u8]) -> bool {
        match unread.iter().position(|byte| !matches!(byte, b'\r' | b'\n')) {
            Some(start) => unread[start..].starts_with(b"HEAD "),
            None => self.incoming.scan.is_head_request(),
        }
    }

    /// The kernel may hold bytes that nobody has read.
    pub fn may_hold_input(&self) -> bool {
        self.incoming.may_hold_more()
    }

    /// Reads and throws away; `Ok(0)` is the end of input.
    pub fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut scratch = [MaybeUninit::uninit(); 16 * 1024];
        self.incoming.poll_recv(&mut self.link, cx, &mut scratch)
    }

    /// Writes bytes that hyper knows nothing of.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.outgoing.poll_bytes(&mut self.link, cx, bytes)
    }

    /// hyper reads the next head only when the last answer has left its buffers (`Conn::poll_flush`, then
    /// `try_keep_alive`), so a read is the end of an answer of several frames.
    fn begin_read(&mut self) {
        self.outgoing.begin();
        if self.link.phase() == Phase::Answer && !self.link.wire.has_unread_body() {
            self.end_answer();
        }
    }

    /// An answer is out. If hyper already holds the beginning of the next head, its time runs from now on.
    fn end_answer(&self) {
        let Self { link, incoming, .. } = self;
        link.worker.end_answer(&link.wire);
        if incoming.scan.is_within_head() {
            link.wire.pulse.enter(Phase::Head, link.worker.tick());
        }
    }
}

// === impl hyper::rt for Transport ===

impl Read for Transport {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut cursor: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.begin_read();
        let Self { link, incoming, .. } = this;
        if !incoming.replay.is_empty() {
            let take = incoming.replay.len().min(cursor.remaining());
            let bytes = incoming.replay.split_to(take);
            // The scan has seen them before.
            incoming::begin_head(link);
            cursor.put_slice(&bytes);
            return Poll::Ready(Ok(()));
        }
        // SAFETY: the buffer is only passed to `recv` and copied into, which never makes initialised bytes uninitialised.
        let buffer = unsafe { cursor.as_mut() };
        let kept = incoming.take_early(buffer);
        let received = kept.map_or_else(|| incoming.poll_recv(link, cx, buffer), |count| Poll::Ready(Ok(count)));
        let received = ready!(received)?;
        // SAFETY: `recv`, or a copy of what it had received before, has initialised the first `received` bytes.
        let bytes = unsafe { buffer[..received].assume_init_ref() };
        if kept.is_none() && incoming.is_overtaken(link, bytes) {
            return Poll::Pending;
        }
        incoming.pass(link, bytes);
        if !incoming.scan.line_is_too_long() {
            // SAFETY: as above; `received` is at most the buffer's length.
            unsafe { cursor.advance(received) };
        }
        Poll::Ready(Ok(()))
    }
}

impl Write for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    /// Always true: it makes hyper queue head and body side by side instead of copying the body behind the head.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Self { link, outgoing, refusing, .. } = self.get_mut();
        // A write before the service was asked is hyper's own answer to a head that it could not parse.
        if matches!(link.phase(), Phase::New | Phase::Head | Phase::Idle | Phase::Parked) {
            *refusing = true;
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        match link.wire.file() {
            None => outgoing.poll_memory(link, cx, slices),
            Some(document) => outgoing.poll_file(link, cx, slices, &document),
        }
    }

    /// hyper asks for this when it has handed over all that it holds. If the answer was one frame, it is out.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let link = &self.link;
        if link.phase() == Phase::Answer && link.wire.ends_with_flush() {
            self.end_answer();
        }
        Poll::Ready(Ok(()))
    }

    /// `close(2)` sends the FIN; a `shutdown(2)` before it would be one more system call. Where input may be unread,
    /// the connection lingers by itself.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
