//! One connection from its first byte to its last: hyper with every option stated, parking while idle, refusals, and
//! the lingering close.

use std::future::Future;
use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::server::conn::http1;

use super::access_log::Pending;
use super::admission::Permit;
use super::deadlines::{self, Cut, Phase};
use super::link::Link;
use super::refusal::Refusal;
use super::service::Service;
use super::transport::Transport;
use super::wire::Wire;
use super::worker::Worker;
use crate::config::plan::ConnectionPlan;

/// Input that is thrown away after the last answer before the connection is closed under the client.
const LINGER_BYTES: usize = 64 * 1024 * 1024;

/// Connections of one worker from which on an idle one gives its buffers back at once. Below, rebuilding hyper's state
/// for each request would cost more than the buffers do. What those connections hold until they have been idle for a
/// second stays with the allocator: with 500 it was 1.78 KiB for each of 5,000 idle connections, with 256 it is 1.25.
const PARK_AT_ONCE: usize = 256;

/// hyper's builder takes no smaller limit for its read buffer.
const HYPER_BUFFER_MIN: usize = 8192;

type Http = http1::Connection<Transport, Service>;

/// One connection, as a future that ends with it.
#[derive(Debug)]
pub struct Connection {
    state: State,
    wire: Arc<Wire>,
    worker: Arc<Worker>,
    _permit: Permit,
}

#[derive(Debug)]
enum State {
    /// hyper has it. Boxed, so that a parked connection is small.
    Serving(Box<Http>),
    /// Idle: only the socket and its registration are kept.
    Parked(Box<Link>),
    /// Writing the answer to a head that was not accepted.
    Refusing {
        transport: Box<Transport>,
        answer: Bytes,
    },
    /// All is said; what still comes in is thrown away, so that `close` does not reset the connection under the answer.
    Lingering {
        transport: Box<Transport>,
        left: usize,
    },
    Closed,
}

impl Connection {
    /// Takes an accepted, non-blocking socket.
    pub fn new(socket: OwnedFd, permit: Permit) -> Self {
        Self::over(socket, permit, Transport::new)
    }

    /// Takes an accepted, blocking socket: each poll blocks inside the system call instead of waiting for readiness.
    pub fn blocking(socket: OwnedFd, permit: Permit) -> Self {
        Self::over(socket, permit, Transport::blocking)
    }

    fn over(socket: OwnedFd, permit: Permit, transport: fn(Arc<Wire>, Arc<Worker>) -> Transport) -> Self {
        let worker = permit.post().present();
        let wire = Arc::new(Wire::new(socket, worker.tick()));
        let transport = transport(Arc::clone(&wire), Arc::clone(&worker));
        let state = State::Serving(serve(transport, &worker, &wire));
        Self { state, wire, worker, _permit: permit }
    }
}

/// Gives a socket to hyper. Each option is stated, also where it is hyper's default.
fn serve(transport: Transport, worker: &Arc<Worker>, wire: &Arc<Wire>) -> Box<Http> {
    let ConnectionPlan { keep_alive, max_requests: _, head_bytes, target_bytes: _ } = &worker.limits;
    let service = Service::new(Arc::clone(worker), Arc::clone(wire));
    let connection = http1::Builder::new()
        // False would probe for the client's end of input after each head: a `recv` that finds nothing, and for a
        // short connection the only reason to know epoll at all. A client may also close its side early and still
        // wants its answer.
        .half_close(true)
        .keep_alive(*keep_alive)
        // The sweep keeps all deadlines; hyper's timer boxes and re-arms once a request.
        .header_read_timeout(None)
        // True copies every body into the head's buffer, and without a bound.
        .pipeline_flush(false)
        // Head and body go out side by side in one `writev`.
        .writev(true)
        .auto_date_header(worker.heads.leave_date_to_hyper())
        .max_header_size(*head_bytes)
        .max_buf_size((*head_bytes).max(HYPER_BUFFER_MIN))
        .title_case_headers(worker.heads.have_title_case())
        .preserve_header_case(false)
        // Skipping what is not a header line, or guessing where a request line ends, is how requests are smuggled.
        .ignore_invalid_headers(false)
        .allow_multiple_spaces_in_request_line_delimiters(false)
        .serve_connection(transport, service);
    // `max_headers` stays unset: 100 is what it would be set to, and any value moves the table to the heap.
    Box::new(connection)
}

impl Future for Connection {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        loop {
            this.state = match mem::replace(&mut this.state, State::Closed) {
                State::Serving(http) if this.has_newer_worker() && this.wire.pulse.phase().is_between_requests() => {
                    this.give_back(http)
                }
                State::Serving(mut http) => match http.poll_without_shutdown(cx) {
                    Poll::Ready(result) => this.after_hyper(http, result),
                    Poll::Pending => match this.park(http) {
                        Ok(parked) => parked,
                        Err(http) => return this.wait(State::Serving(http)),
                    },
                },
                State::Parked(mut link) if this.has_newer_worker() => {
                    this.renew();
                    link.worker = Arc::clone(&this.worker);
                    State::Parked(link)
                }
                State::Parked(mut link) => match link.poll_readable(cx) {
                    Poll::Ready(Ok(())) => {
                        this.worker.post.counters.woken();
                        State::Serving(serve(Transport::from_idle(*link), &this.worker, &this.wire))
                    }
                    Poll::Ready(Err(_)) => State::Closed,
                    Poll::Pending => return this.wait(State::Parked(link)),
                },
                State::Refusing { mut transport, mut answer } => match poll_refuse(&mut transport, &mut answer, cx) {
                    Poll::Ready(Ok(())) => this.linger(transport),
                    Poll::Ready(Err(_)) => State::Closed,
                    Poll::Pending => return this.wait(State::Refusing { transport, answer }),
                },
                State::Lingering { mut transport, mut left } => match poll_drain(&mut transport, &mut left, cx) {
                    Poll::Ready(()) => State::Closed,
                    Poll::Pending => return this.wait(State::Lingering { transport, left }),
                },
                State::Closed => return Poll::Ready(()),
            };
        }
    }
}

impl Connection {
    fn wait(&mut self, state: State) -> Poll<()> {
        self.state = state;
        Poll::Pending
    }

    /// hyper is done with the connection. Is there something to say, or to wait for, before it closes?
    fn after_hyper(&mut self, http: Box<Http>, result: hyper::Result<()>) -> State {
        let parts = http.into_parts();
        let (transport, unused) = (Box::new(parts.io), parts.read_buf);
        if let Some(refusal) = self.refusal(&transport, result.as_ref().err(), &unused) {
            self.refuse(transport, refusal, &unused)
        } else if result.is_ok() && (self.wire.has_unread_body() || !unused.is_empty() || transport.may_hold_input()) {
            self.linger(transport)
        } else {
            State::Closed
        }
    }

    fn refusal(&self, transport: &Transport, error: Option<&hyper::Error>, head: &[u8]) -> Option<Refusal> {
        let pulse = &self.wire.pulse;
        let refusal = if transport.line_is_too_long() {
            Some(Refusal::UriTooLong)
        } else if transport.is_refusing() {
            error.map(|error| Refusal::of(error, head, self.worker.limits.target_bytes))
        } else if pulse.phase() == Phase::Head && pulse.cut() == Cut::Overdue {
            Some(Refusal::Timeout)
        } else {
            None
        };
        self.worker.heads.refuse(refusal?)
    }

    fn refuse(&self, transport: Box<Transport>, refusal: Refusal, unread: &[u8]) -> State {
        let (status, _) = refusal.status();
        let is_head = transport.is_head_request(unread);
        self.worker.post.counters.request(status);
        if self.worker.log.is_some() {
            let body_bytes = if is_head { 0 } else { refusal.body().len() as u64 };
            *self.wire.log() = Some(Box::new(Pending::refused(&self.wire.socket, status, body_bytes)));
        }
        // What follows is an answer, and a client that does not read it is as slow as any other.
        self.wire.pulse.enter(Phase::Answer, self.worker.tick());
        State::Refusing { transport, answer: self.worker.refusals.render(refusal, is_head).into() }
    }

    fn linger(&self, transport: Box<Transport>) -> State {
        self.worker.finish_log(&self.wire);
        self.wire.pulse.enter(Phase::Linger, self.worker.tick());
        // The client learns that the answer is complete while it may still be sending.
        match rustix::net::shutdown(&self.wire.socket, rustix::net::Shutdown::Write) {
            Ok(()) => State::Lingering { transport, left: LINGER_BYTES },
            Err(_) => State::Closed,
        }
    }

    /// Whether the configuration was loaded again since this connection last looked.
    fn has_newer_worker(&self) -> bool {
        self.worker.post.has_newer_than(&self.worker)
    }

    /// Goes over to the present worker. Only between two requests: an answer is of one configuration, and part of that
    /// configuration is what hyper was told when it got the socket.
    fn renew(&mut self) {
        if self.has_newer_worker() {
            self.worker = self.worker.post.present();
        }
    }

    /// Parks if nothing is owed in either direction and either the worker holds many connections or this one has been
    /// quiet for a while.
    fn park(&mut self, http: Box<Http>) -> Result<State, Box<Http>> {
        let pulse = &self.wire.pulse;
        let open = || self.worker.post.admission.open();
        let quiet = pulse.phase() == Phase::Idle
            && (open() >= PARK_AT_ONCE || deadlines::idle_long_enough(pulse, self.worker.tick()));
        if quiet { Ok(self.give_back(http)) } else { Err(http) }
    }

    /// Gives hyper's buffers back between two requests, which is also the moment to go over to a new configuration.
    fn give_back(&mut self, http: Box<Http>) -> State {
        self.renew();
        let parts = http.into_parts();
        let mut transport = parts.io;
        transport.serve_for(&self.worker);
        if !transport.is_idle() || !parts.read_buf.is_empty() {
            // A next request has begun: hyper gets back what it had read.
            transport.replay(parts.read_buf);
            return State::Serving(serve(transport, &self.worker, &self.wire));
        }
        self.wire.pulse.park();
        self.worker.post.counters.parked();
        State::Parked(Box::new(transport.into_idle()))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if matches!(self.state, State::Parked(_)) {
            self.worker.post.counters.woken();
        }
        self.worker.finish_log(&self.wire);
    }
}

fn poll_refuse(transport: &mut Transport, answer: &mut Bytes, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
    while !answer.is_empty() {
        let sent = ready!(transport.poll_send(cx, answer))?;
        let _ = answer.split_to(sent);
    }
    Poll::Ready(Ok(()))
}

fn poll_drain(transport: &mut Transport, left: &mut usize, cx: &mut Context<'_>) -> Poll<()> {
    while *left > 0 {
        match ready!(transport.poll_discard(cx)) {
            Ok(0) | Err(_) => break,
            Ok(count) => *left = left.saturating_sub(count),
        }
    }
    Poll::Ready(())
}
