//! What goes out: small answers in one `send`, larger ones in one `writev`, slices of open files by `sendfile`.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rustix::net::SendFlags;

use super::link::{Link, Mode};
use super::sendfile;
use super::transfer::Way;
use super::wire::Wire;
use crate::site::{Content, Document, OpenFile};

/// Bytes that one connection may send before it lets others have their turn: as nginx's `sendfile_max_chunk`.
const TURN: usize = 2 * 1024 * 1024;

/// Head and body up to this length together are copied side by side and sent as one buffer: `send` is cheaper than
/// `writev` by more than the copy costs (7 % of all CPU per request for documents of 1 KiB and of 10 KiB).
const COALESCE: usize = 16 * 1024;

/// Bytes that one blocking call may send.
const BLOCKING_CALL: usize = 256 * 1024;

/// The writing side of a connection.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// The answer has filled the socket before: there is no room until epoll says so.
    full: bool,
    sent_this_turn: usize,
}

impl Outgoing {
    /// The next answer finds an empty socket, as a rule.
    pub fn begin(&mut self) {
        self.full = false;
        self.sent_this_turn = 0;
    }

    /// Tries `attempt` at once, and waits for room only if there is none.
    pub fn poll_attempt(
        &mut self,
        link: &mut Link,
        cx: &mut Context<'_>,
        attempt: impl Fn(&Wire) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        if self.sent_this_turn >= TURN && link.mode == Mode::Readiness {
            self.sent_this_turn = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            let result = if self.full {
                let mut ready = ready!(self.poll_room(link, cx))?;
                let result = attempt(ready.get_inner());
                if would_block(&result) {
                    ready.clear_ready();
                }
                result
            } else {
                attempt(&link.wire)
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.full = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(sent) => {
                    self.sent_this_turn += sent;
                    link.worker.note_sent(&link.wire, sent);
                    return Poll::Ready(Ok(sent));
                }
            }
        }
    }

    fn poll_room<'a>(
        &mut self,
        link: &'a mut Link,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<tokio::io::unix::AsyncFdReadyGuard<'a, std::sync::Arc<Wire>>>> {
        let room = ready!(link.poll_registered(cx))?.poll_write_ready(cx);
        if room.is_pending() {
            // Whoever waits has had its turn.
            self.sent_this_turn = 0;
        }
        room
    }

    /// Sends slices of this process's memory.
    pub fn poll_memory(
        &mut self,
        link: &mut Link,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match slices {
            [one] => self.poll_bytes(link, cx, one),
            many if many.iter().map(|slice| slice.len()).sum::<usize>() <= COALESCE => {
                coalesced(many, |bytes| self.poll_bytes(link, cx, bytes))
            }
            // SIGPIPE is ignored by the Rust runtime, so `writev` needs no flag.
            many if link.mode == Mode::Readiness => {
                self.poll_attempt(link, cx, |wire| Ok(rustix::io::writev(&wire.socket, many)?))
            }
            // The first slices as far as a blocking call may go; hyper calls again for the rest.
            [first, ..] => self.poll_bytes(link, cx, first),
            [] => Poll::Ready(Ok(0)),
        }
    }

    /// Sends one run of bytes.
    pub fn poll_bytes(&mut self, link: &mut Link, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let bytes = &bytes[..bytes.len().min(most_a_call(link))];
        self.poll_attempt(link, cx, |wire| Ok(rustix::net::send(&wire.socket, bytes, SendFlags::NOSIGNAL)?))
    }

    /// Sends what stands before the first slice of the document's file with MSG_MORE (so that head and body share
    /// segments), or the file slice itself if it stands first.
    pub fn poll_file(
        &mut self,
        link: &mut Link,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
        document: &Document,
    ) -> Poll<io::Result<usize>> {
        let Content::Open(OpenFile { file, .. }) = &document.content else {
            return self.poll_memory(link, cx, slices);
        };
        let slices = skip_empty(slices);
        let located = slices.iter().enumerate();
        match located.filter_map(|(at, slice)| Some((at, sendfile::locate(document, slice)?))).next() {
            None => self.poll_memory(link, cx, slices),
            Some((0, (offset, length))) => self.poll_from(link, cx, file, offset, length),
            Some((first, _)) => {
                let before = &slices[..first];
                let flags = SendFlags::NOSIGNAL | SendFlags::MORE;
                self.poll_attempt(link, cx, |wire| {
                    Ok(rustix::net::sendmsg(&wire.socket, before, &mut Default::default(), flags)?)
                })
            }
        }
    }

    fn poll_from(
        &mut self,
        link: &mut Link,
        cx: &mut Context<'_>,
        file: &OwnedFd,
        offset: u64,
        length: usize,
    ) -> Poll<io::Result<usize>> {
        let length = length.min(most_a_call(link));
        if link.wire.way() == Way::Sendfile {
            match ready!(self.poll_attempt(link, cx, |wire| sendfile::send(&wire.socket, file, offset, length))) {
                Err(error) if sendfile::refused(&error) => {
                    link.worker.transfer.give_up_sendfile(&error);
                    link.wire.copy_instead();
                }
                result => return Poll::Ready(result),
            }
        }
        self.poll_attempt(link, cx, |wire| sendfile::copy(&wire.socket, file, offset, length))
    }
}

/// A blocking call returns only when all of it is taken, and until then nobody sees that the client makes progress.
fn most_a_call(link: &Link) -> usize {
    match link.mode {
        Mode::Readiness => usize::MAX,
        Mode::Blocking => BLOCKING_CALL,
    }
}

fn would_block(result: &io::Result<usize>) -> bool {
    matches!(result, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}

fn skip_empty<'a, 'b>(slices: &'a [IoSlice<'b>]) -> &'a [IoSlice<'b>] {
    let first = slices.iter().position(|slice| !slice.is_empty()).unwrap_or(slices.len());
    &slices[first..]
}

/// Lays slices side by side in a buffer of the thread.
fn coalesced<T>(slices: &[IoSlice<'_>], send: impl FnOnce(&[u8]) -> T) -> T {
    thread_local! {
        static BUFFER: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(COALESCE));
    }
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        slices.iter().for_each(|slice| buffer.extend_from_slice(slice));
        send(buffer)
    })
}
