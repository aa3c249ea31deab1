//! What comes in: `recv` tried at once, and epoll asked only after the socket was empty.

use std::io;
use std::mem::{self, MaybeUninit};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::deadlines::Phase;
use super::head_scan::HeadScan;
use super::link::{Link, Mode};
use super::wire::Wire;

/// The reading side of a connection.
#[derive(Debug)]
pub struct Incoming {
    /// The last read did not fill its buffer: there is nothing more until epoll says so.
    drained: bool,
    /// The client has ended its side.
    ended: bool,
    /// Bytes that an earlier hyper connection had read and not used.
    pub replay: Bytes,
    /// Bytes that came after a reload to a thread that had waited for them since before; not even the scan has seen them.
    early: Bytes,
    pub scan: HeadScan,
}

impl Incoming {
    /// Nothing has been read yet.
    pub fn new(target_bytes: usize) -> Self {
        Self {
            drained: false,
            ended: false,
            replay: Bytes::new(),
            early: Bytes::new(),
            scan: HeadScan::new(target_bytes),
        }
    }

    /// The kernel may hold bytes that nobody has read.
    pub fn may_hold_more(&self) -> bool {
        !self.drained && !self.ended
    }

    /// Nothing is there to be read: neither here nor, as far as is known, in the kernel.
    pub fn is_drained(&self) -> bool {
        self.drained && self.replay.is_empty() && self.early.is_empty()
    }

    /// The next read goes by what epoll says.
    pub fn expect_readiness(&mut self) {
        self.drained = true;
    }

    /// Gives `bytes` to the next reads, before anything that waits here already.
    pub fn replay_first(&mut self, bytes: Bytes) {
        self.replay = match (bytes.is_empty(), self.replay.is_empty()) {
            (true, _) => return,
            (false, true) => bytes,
            (false, false) => [bytes, mem::take(&mut self.replay)].concat().into(),
        };
    }

    /// Whether a thread was blocked in the `recv` of these bytes, and a reload went by meanwhile. The thread could not be told,
    /// so it looks when a next request has come, keeps its bytes for whoever goes over to the new configuration, and waits
    /// for nothing. One relaxed load for each request, and none where sockets do not block.
    pub fn is_overtaken(&mut self, link: &Link, bytes: &[u8]) -> bool {
        let overtaken = link.mode == Mode::Blocking
            && link.phase().is_between_requests()
            && link.worker.post.has_newer_than(&link.worker)
            && !bytes.is_empty();
        if overtaken {
            self.early = Bytes::copy_from_slice(bytes);
        }
        overtaken
    }

    /// Hands out what was kept, if anything was.
    pub fn take_early(&mut self, buffer: &mut [MaybeUninit<u8>]) -> Option<usize> {
        if self.early.is_empty() {
            return None;
        }
        let count = self.early.len().min(buffer.len());
        buffer[..count].write_copy_of_slice(&self.early.split_to(count));
        Some(count)
    }

    /// Reads from the socket; `Ok(0)` is the end of input.
    pub fn poll_recv(
        &mut self,
        link: &mut Link,
        cx: &mut Context<'_>,
        buffer: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        if link.mode == Mode::Blocking && owes_early_answer(link) {
            return self.poll_recv_at_once(link, buffer);
        }
        loop {
            if self.drained {
                let mut ready = ready!(ready!(link.poll_registered(cx))?.poll_read_ready(cx))?;
                let received = recv(ready.get_inner(), buffer, RecvFlags::empty())?;
                // Readiness that arrives between `recv` and here has a newer tick and stays.
                if matches!(received, Received::Last(_) | Received::Nothing) {
                    ready.clear_ready();
                }
                if let Some(count) = self.note(received) {
                    return Poll::Ready(Ok(count));
                }
            } else if let Some(count) = self.note(recv(&link.wire, buffer, RecvFlags::empty())?) {
                self.drained &= link.mode == Mode::Readiness;
                return Poll::Ready(Ok(count));
            }
        }
    }

    fn poll_recv_at_once(&mut self, link: &Link, buffer: &mut [MaybeUninit<u8>]) -> Poll<io::Result<usize>> {
        let received = recv(&link.wire, buffer, RecvFlags::DONTWAIT)?;
        let count = self.note(received);
        // Blocking reads, which come next, ask the kernel each time.
        self.drained = false;
        count.map_or(Poll::Pending, |count| Poll::Ready(Ok(count)))
    }

    /// Remembers what a read has told; `None` is "nothing yet".
    fn note(&mut self, received: Received) -> Option<usize> {
        self.drained = matches!(received, Received::Last(_) | Received::Nothing);
        match received {
            Received::Last(count) | Received::Full(count) => Some(count),
            Received::Nothing => None,
            Received::End => {
                self.ended = true;
                Some(0)
            }
        }
    }

    /// Looks at bytes on their way to hyper; the end of input is none.
    pub fn pass(&mut self, link: &Link, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        begin_head(link);
        self.scan.pass(bytes);
        if self.scan.is_ambiguous() {
            link.wire.mark_ambiguous();
        }
    }
}

/// A head is on its way, unless something else already is.
pub fn begin_head(link: &Link) {
    if matches!(link.phase(), Phase::New | Phase::Idle | Phase::Parked) {
        link.wire.pulse.enter(Phase::Head, link.worker.tick());
    }
}

/// hyper looks for more of a body that nobody wants before it writes the answer. The client may be waiting for that
/// answer (RFC 9110 section 10.1.1), so a read must not wait for the client.
fn owes_early_answer(link: &Link) -> bool {
    link.wire.has_unread_body() && link.phase() == Phase::Answer
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
