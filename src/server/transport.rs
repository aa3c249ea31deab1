//! hyper's `Read` and `Write` over a socket, with nothing between them and the system calls.
//!
//! The socket is tried first and registered with epoll only when it would block: a short connection whose request
//! arrived with it costs `accept4, recvfrom, writev, close`. tokio's own `TcpStream` registers at accept.
//!
//! Rejected: `hyper_util::rt::TokioIo` (an epoll registration for every connection, no way to see file slices).

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use hyper::rt::{Read, ReadBufCursor, Write};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::unix::AsyncFd;

use super::deadlines::Phase;
use super::head_scan::HeadScan;
use super::sendfile;
use super::transfer::Way;
use super::wire::Wire;
use super::worker::Worker;
use crate::site::{Content, Document, OpenFile};

/// Bytes that one connection may send before it lets others have their turn: as nginx's `sendfile_max_chunk`.
const TURN: usize = 2 * 1024 * 1024;

/// One connection's socket under hyper.
#[derive(Debug)]
pub struct Transport {
    wire: Arc<Wire>,
    worker: Arc<Worker>,
    registration: Option<Registration>,
    mode: Mode,
    /// The last read did not fill its buffer: there is nothing more until epoll says so.
    drained: bool,
    /// The client has ended its side.
    ended: bool,
    /// The last write was not taken whole: there is no room until epoll says so.
    full: bool,
    sent_this_turn: usize,
    /// Bytes that an earlier hyper connection had read and not used.
    replay: Bytes,
    scan: HeadScan,
    refusing: bool,
}

/// What a system call does that cannot be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// It says so, and epoll says when it can.
    Readiness,
    /// It waits: the thread belongs to the connection.
    Blocking,
}

/// Where a socket is known: to the sweep, and to epoll unless it blocks.
#[derive(Debug)]
struct Registration {
    readiness: Option<AsyncFd<Arc<Wire>>>,
    key: usize,
    worker: Arc<Worker>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.worker.watch.remove(self.key);
    }
}

impl Transport {
    /// Takes an accepted, non-blocking socket.
    pub fn new(wire: Arc<Wire>, worker: Arc<Worker>) -> Self {
        Self::over(wire, worker, Mode::Readiness, None)
    }

    /// Takes an accepted, blocking socket. The sweep knows it from the start: there will be no other moment.
    pub fn blocking(wire: Arc<Wire>, worker: Arc<Worker>) -> Self {
        let key = worker.watch.add(Arc::clone(&wire), Waker::noop().clone());
        let registration = Registration { readiness: None, key, worker: Arc::clone(&worker) };
        Self::over(wire, worker, Mode::Blocking, Some(registration))
    }

    fn over(wire: Arc<Wire>, worker: Arc<Worker>, mode: Mode, registration: Option<Registration>) -> Self {
        let scan = HeadScan::new(worker.limits.target_bytes);
        Self {
            wire,
            worker,
            registration,
            mode,
            drained: false,
            ended: false,
            full: false,
            sent_this_turn: 0,
            replay: Bytes::new(),
            scan,
            refusing: false,
        }
    }

    /// Gives `bytes` to the next reads, before anything from the socket.
    pub fn replay(&mut self, bytes: Bytes) {
        self.replay = bytes;
    }

    /// Nothing is owed in either direction: the last answer is out, and no byte of a next request has come.
    pub fn is_idle(&self) -> bool {
        self.wire.pulse.phase() == Phase::Idle && self.replay.is_empty()
    }

    /// Whether hyper found the head unacceptable and tried to answer by itself: its answer was swallowed, and the
    /// caller writes a better one.
    pub fn is_refusing(&self) -> bool {
        self.refusing
    }

    /// Whether the request line passed its limit before it ended.
    pub fn line_is_too_long(&self) -> bool {
        self.scan.line_is_too_long()
    }

    /// Whether the head that is being read asks for nothing but a head.
    pub fn is_head_request(&self) -> bool {
        self.scan.is_head_request()
    }

    /// The kernel may hold bytes that nobody has read.
    pub fn may_hold_input(&self) -> bool {
        !self.drained && !self.ended
    }

    /// Ready when a read would not block.
    pub fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.drained {
            ready!(ready!(self.poll_registered(cx))?.poll_read_ready(cx))?.retain_ready();
        }
        Poll::Ready(Ok(()))
    }

    /// Reads and throws away; `Ok(0)` is the end of input.
    pub fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.replay.clear();
        let mut scratch = [MaybeUninit::uninit(); 16 * 1024];
        self.poll_recv(cx, &mut scratch)
    }

    /// Writes bytes that hyper knows nothing of.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_attempt(cx, |wire| Ok(rustix::net::send(&wire.socket, bytes, SendFlags::NOSIGNAL)?))
    }

    /// Registers with epoll and with the sweep, once.
    ///
    /// A connection is polled a first time before it has a task; the task polls again at once, so that first poll
    /// must not register: its waker is a no-op and would be the one that the sweep keeps.
    fn poll_registered(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<&AsyncFd<Arc<Wire>>>> {
        if self.registration.is_none() {
            if cx.waker().will_wake(Waker::noop()) {
                return Poll::Pending;
            }
            // SAFETY: the descriptor that `Wire` hands out is that of its `OwnedFd`, which nobody can replace or close
            // while the `AsyncFd` holds its `Arc`.
            let readiness = unsafe { AsyncFd::register(Arc::clone(&self.wire)) }?;
            let key = self.worker.watch.add(Arc::clone(&self.wire), cx.waker().clone());
            self.registration =
                Some(Registration { readiness: Some(readiness), key, worker: Arc::clone(&self.worker) });
        }
        match &self.registration {
            Some(Registration { readiness: Some(readiness), .. }) => Poll::Ready(Ok(readiness)),
            // A blocking socket never says that it would block.
            _ => Poll::Ready(Err(io::ErrorKind::WouldBlock.into())),
        }
    }

    // === Reading ===

    fn poll_recv(&mut self, cx: &mut Context<'_>, buffer: &mut [MaybeUninit<u8>]) -> Poll<io::Result<usize>> {
        if self.mode == Mode::Blocking && self.owes_early_answer() {
            return self.poll_recv_at_once(buffer);
        }
        loop {
            if self.drained {
                let mut ready = ready!(ready!(self.poll_registered(cx))?.poll_read_ready(cx))?;
                match recv(ready.get_inner(), buffer, RecvFlags::empty())? {
                    // Readiness that arrives between `recv` and here has a newer tick and stays.
                    Received::Last(count) => {
                        ready.clear_ready();
                        return Poll::Ready(Ok(count));
                    }
                    Received::Nothing => ready.clear_ready(),
                    Received::Full(count) => {
                        self.drained = false;
                        return Poll::Ready(Ok(count));
                    }
                    Received::End => return Poll::Ready(Ok(self.end_input())),
                }
            } else {
                match recv(&self.wire, buffer, RecvFlags::empty())? {
                    Received::Last(count) => {
                        self.drained = self.mode == Mode::Readiness;
                        return Poll::Ready(Ok(count));
                    }
                    Received::Nothing => self.drained = true,
                    Received::Full(count) => return Poll::Ready(Ok(count)),
                    Received::End => return Poll::Ready(Ok(self.end_input())),
                }
            }
        }
    }

    /// hyper looks for more of a body that nobody wants before it writes the answer. The client may be waiting for that
    /// answer (RFC 9110 section 10.1.1), so a read must not wait for the client.
    fn owes_early_answer(&self) -> bool {
        self.wire.has_unread_body() && self.wire.pulse.phase() == Phase::Answer
    }

    fn poll_recv_at_once(&mut self, buffer: &mut [MaybeUninit<u8>]) -> Poll<io::Result<usize>> {
        match recv(&self.wire, buffer, RecvFlags::DONTWAIT)? {
            Received::Last(count) | Received::Full(count) => Poll::Ready(Ok(count)),
            Received::Nothing => Poll::Pending,
            Received::End => Poll::Ready(Ok(self.end_input())),
        }
    }

    fn end_input(&mut self) -> usize {
        self.ended = true;
        0
    }

    /// hyper reads the next head only when the last answer has left its buffers (`Conn::poll_flush`, then
    /// `try_keep_alive`), so a read is the end of an answer of several frames.
    fn begin_read(&mut self) {
        self.sent_this_turn = 0;
        if self.wire.pulse.phase() == Phase::Answer && !self.wire.has_unread_body() {
            self.worker.end_answer(&self.wire);
        }
    }

    /// Something came in; the end of input is not something.
    fn note_input(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let pulse = &self.wire.pulse;
        if matches!(pulse.phase(), Phase::New | Phase::Idle) {
            pulse.enter(Phase::Head, self.worker.tick());
            self.scan.begin();
        }
        self.scan.pass(bytes);
        if self.scan.is_ambiguous() {
            self.wire.mark_ambiguous();
        }
    }

    // === Writing ===

    /// Tries `attempt` at once, and waits for room only if there is none.
    fn poll_attempt(
        &mut self,
        cx: &mut Context<'_>,
        attempt: impl Fn(&Wire) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        if self.sent_this_turn >= TURN && self.mode == Mode::Readiness {
            self.sent_this_turn = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            if self.full {
                self.sent_this_turn = 0;
                let mut ready = ready!(ready!(self.poll_registered(cx))?.poll_write_ready(cx))?;
                match attempt(ready.get_inner()) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => ready.retain_ready(),
                    result => {
                        ready.retain_ready();
                        self.full = false;
                        return Poll::Ready(result.map(|sent| self.note_sent(sent)));
                    }
                }
            } else {
                match attempt(&self.wire) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.full = true,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => return Poll::Ready(result.map(|sent| self.note_sent(sent))),
                }
            }
        }
    }

    fn note_sent(&mut self, sent: usize) -> usize {
        self.sent_this_turn += sent;
        self.worker.counters.sent(sent as u64);
        self.wire.pulse.beat(self.worker.tick());
        if self.worker.log.is_some()
            && let Some(pending) = self.wire.log().as_mut()
        {
            pending.sent += sent as u64;
        }
        sent
    }

    fn poll_write_memory(&mut self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.poll_attempt(cx, |wire| match slices {
            [one] => Ok(rustix::net::send(&wire.socket, one, SendFlags::NOSIGNAL)?),
            // SIGPIPE is ignored by the Rust runtime, so `writev` needs no flag.
            many => Ok(rustix::io::writev(&wire.socket, many)?),
        })
    }

    fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &OwnedFd,
        offset: u64,
        length: usize,
    ) -> Poll<io::Result<usize>> {
        if self.wire.way() == Way::Sendfile {
            match ready!(self.poll_attempt(cx, |wire| sendfile::send(&wire.socket, file, offset, length))) {
                Err(error) if sendfile::refused(&error) => {
                    self.worker.transfer.give_up_sendfile(&error);
                    self.wire.copy_instead();
                }
                result => return Poll::Ready(result),
            }
        }
        self.poll_attempt(cx, |wire| sendfile::copy(&wire.socket, file, offset, length))
    }

    /// Sends what stands before the first file slice with MSG_MORE (so that head and body share segments), or the
    /// file slice itself if it stands first.
    fn poll_write_file(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
        document: &Document,
    ) -> Poll<io::Result<usize>> {
        let Content::Open(OpenFile { file, .. }) = &document.content else {
            return self.poll_write_memory(cx, slices);
        };
        let slices = skip_empty(slices);
        let first_file = slices.iter().position(|slice| sendfile::locate(document, slice).is_some());
        match first_file {
            None => self.poll_write_memory(cx, slices),
            Some(0) => match sendfile::locate(document, &slices[0]) {
                Some((offset, length)) => self.poll_send_file(cx, file, offset, length),
                None => self.poll_write_memory(cx, slices),
            },
            Some(position) => {
                let before = &slices[..position];
                self.poll_attempt(cx, |wire| {
                    let flags = SendFlags::NOSIGNAL | SendFlags::MORE;
                    Ok(rustix::net::sendmsg(&wire.socket, before, &mut Default::default(), flags)?)
                })
            }
        }
    }
}

/// What one `recv` found.
enum Received {
    /// Less than there was room for: the queue is empty now (epoll(7) on edge-triggered reading).
    Last(usize),
    /// As much as there was room for: there may be more.
    Full(usize),
    Nothing,
    End,
}

fn recv(wire: &Wire, buffer: &mut [MaybeUninit<u8>], flags: RecvFlags) -> io::Result<Received> {
    loop {
        return match rustix::net::recv(&wire.socket, &mut *buffer, flags) {
            Ok(((filled, rest), _)) => Ok(match (filled.len(), rest.is_empty()) {
                (0, _) => Received::End,
                (count, true) => Received::Full(count),
                (count, false) => Received::Last(count),
            }),
            Err(Errno::AGAIN) => Ok(Received::Nothing),
            Err(Errno::INTR) => continue,
            Err(error) => Err(error.into()),
        };
    }
}

fn skip_empty<'a, 'b>(slices: &'a [IoSlice<'b>]) -> &'a [IoSlice<'b>] {
    let first = slices.iter().position(|slice| !slice.is_empty()).unwrap_or(slices.len());
    &slices[first..]
}

// === impl hyper::rt for Transport ===

impl Read for Transport {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut cursor: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.begin_read();
        if !this.replay.is_empty() {
            let take = this.replay.len().min(cursor.remaining());
            let bytes = this.replay.split_to(take);
            this.note_input(&bytes);
            cursor.put_slice(&bytes);
            return Poll::Ready(Ok(()));
        }
        // SAFETY: the buffer is only passed to `recv`, which never makes initialised bytes uninitialised.
        let buffer = unsafe { cursor.as_mut() };
        let received = ready!(this.poll_recv(cx, buffer))?;
        // SAFETY: `recv` has initialised the first `received` bytes.
        this.note_input(unsafe { buffer[..received].assume_init_ref() });
        if this.scan.line_is_too_long() {
            return Poll::Ready(Ok(()));
        }
        // SAFETY: as above; `received` is at most the buffer's length.
        unsafe { cursor.advance(received) };
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
        let this = self.get_mut();
        // A write before the service was asked is hyper's own answer to a head that it could not parse.
        if matches!(this.wire.pulse.phase(), Phase::New | Phase::Head | Phase::Idle) {
            this.refusing = true;
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        match this.wire.file() {
            None => this.poll_write_memory(cx, slices),
            Some(document) => this.poll_write_file(cx, slices, &document),
        }
    }

    /// hyper asks for this when it has handed over all that it holds. If the answer was one frame, it is out.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.wire.pulse.phase() == Phase::Answer && this.wire.ends_with_flush() {
            this.worker.end_answer(&this.wire);
        }
        Poll::Ready(Ok(()))
    }

    /// `close(2)` sends the FIN; a `shutdown(2)` before it would be one more system call. Where input may be unread,
    /// the connection lingers by itself.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
