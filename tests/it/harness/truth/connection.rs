//! One connection of the scripted server: requests in, and out whatever the script says.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::answer::Then;
use super::lifetime::Place;
use super::{Answer, Shared, Turn, Welcome};

/// A request that is longer than this is a mistake of the test.
const LONGEST: usize = 64 << 20;

pub(super) struct Connection<'a> {
    shared: &'a Shared,
    stream: Arc<TcpStream>,
    number: u64,
    unread: Vec<u8>,
    counts_as_open: bool,
}

impl<'a> Connection<'a> {
    pub fn new(shared: &'a Shared, stream: Arc<TcpStream>, number: u64) -> Self {
        Self { shared, stream, number, unread: Vec::new(), counts_as_open: true }
    }

    /// Serves it to its end.
    pub fn serve(self, place: Place) {
        let _leave = Leave { shared: self.shared, place: Some(place) };
        // Dropped before that, also by a panic of the script.
        let mut connection = self;
        let then = match (connection.shared.script.greet)(connection.number) {
            Welcome::Serve => connection.exchange().unwrap_or(Then::Close),
            Welcome::Close => Then::Close,
            Welcome::Reset => Then::Reset,
            Welcome::Ignore => {
                connection.shared.lifetime.wait_for_end();
                Then::Close
            }
        };
        connection.end(then);
    }

    fn end(&mut self, then: Then) {
        match then {
            Then::Next | Then::Close => {}
            Then::Reset => SockRef::from(&*self.stream).set_linger(Some(Duration::ZERO)).expect("SO_LINGER"),
            Then::Linger => {
                // It may be gone already.
                let _ = self.stream.shutdown(Shutdown::Write);
                self.swallow();
            }
            Then::Silence => self.swallow(),
        }
    }

    /// Answers requests until the connection is to end.
    fn exchange(&mut self) -> io::Result<Then> {
        self.stream.set_nodelay(true)?;
        let mut on_connection = 0;
        while let Some(bytes) = self.next_request()? {
            self.shared.lifetime.wait_while_frozen();
            let request = self.shared.ledger.asked(self.number, &bytes);
            let turn = Turn { connection: self.number, on_connection, request, bytes: &bytes };
            let answer = (self.shared.script.reply)(&turn);
            self.perform(&answer)?;
            if answer.whole {
                self.shared.ledger.answered(request);
            }
            if answer.then != Then::Next {
                return Ok(answer.then);
            }
            on_connection += 1;
        }
        Ok(Then::Close)
    }

    fn perform(&mut self, answer: &Answer) -> io::Result<()> {
        let lifetime = &self.shared.lifetime;
        if let Some(stall) = answer.stall {
            let from = Instant::now();
            lifetime.freeze(from + stall);
            self.shared.ledger.stall_begins(from, from + stall);
            lifetime.wait_while_frozen();
            self.shared.ledger.stall_ends();
        }
        lifetime.wait(answer.delay);
        if matches!(answer.then, Then::Close | Then::Reset) {
            self.count_as_closed();
        }
        for piece in answer.bytes.chunks(answer.piece) {
            lifetime.wait_while_frozen();
            self.write(piece)?;
            lifetime.wait(answer.pause);
        }
        Ok(())
    }

    /// Counts what went out before an error, too.
    fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = (&*self.stream).write(bytes)?;
            self.shared.ledger.sent(count);
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// The bytes of the next request, its body included; `None` at the end of the connection.
    fn next_request(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(length) = request_length(&self.unread).filter(|length| *length <= self.unread.len()) {
                let rest = self.unread.split_off(length);
                return Ok(Some(std::mem::replace(&mut self.unread, rest)));
            }
            if self.unread.len() > LONGEST || !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Reads once; whether anything came.
    fn fill(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 16 * 1024];
        let count = (&*self.stream).read(&mut buffer)?;
        self.shared.ledger.received(count);
        self.unread.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }

    /// Before the last bytes, so that a client that opens the next connection because of them is never seen with both.
    fn count_as_closed(&mut self) {
        if self.counts_as_open {
            self.counts_as_open = false;
            self.shared.ledger.closed();
        }
    }

    /// Reads on to the end of the connection without keeping what comes.
    fn swallow(&mut self) {
        while self.fill().unwrap_or(false) {
            self.unread.clear();
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.count_as_closed();
        // Dropping the last use of the stream, which is now this one, closes it.
        self.shared.lifetime.forget_stream(self.number);
    }
}

/// Where the first request of these bytes ends, if its head is whole.
fn request_length(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&bytes[..head]).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let length = lines
        .filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .find_map(|(_, value)| value.trim().parse::<usize>().ok());
    Some(head + length.unwrap_or(0))
}

/// Gives the thread's place back however it ends.
struct Leave<'a> {
    shared: &'a Shared,
    place: Option<Place>,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.ledger.failed();
        }
        if let Some(place) = self.place.take() {
            self.shared.lifetime.leave_place(place);
        }
    }
}
