//! One of the connections that may be open at once, and what it is doing.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::exchange::Exchange;

/// Never: of [`Slot::wakes_at`].
pub const NEVER: u64 = u64::MAX;

/// What a slot is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Vacant,
    /// Nothing for a while: its last connect failed.
    BackingOff,
    /// Its connect is not known to have succeeded.
    Connecting,
    /// It is connected.
    Open,
    /// Its answer is whole, and the server has said that it will close: it is waited for.
    Lingering,
}

/// A place for a connection.
#[derive(Debug)]
pub struct Slot {
    /// What it is doing.
    pub state: State,
    /// Its socket, unless vacant or backing off.
    pub fd: Option<OwnedFd>,
    /// Which of the connections of this slot it is: an event of an earlier one is recognised.
    pub generation: u32,
    /// The requests on it.
    pub exchange: Exchange,
    /// When its connect began.
    pub connect_begun: u64,
    /// When somebody must look at it even if nothing happens.
    pub wakes_at: u64,
    /// Connects that failed in a row.
    pub failed_connects: u32,
    /// The peer has ended its side. No event tells that again, so reading goes on until the end.
    pub ended: bool,
    /// Why a send failed: the end of the connection, when it is read, may not tell any more.
    pub broken: Option<Errno>,
    /// It stands in the list of connections that have more to read.
    pub listed_unread: bool,
    /// It stands in the list of idle connections.
    pub listed_idle: bool,
    /// It stands in the list of vacant slots.
    pub listed_vacant: bool,
}

impl Default for Slot {
    fn default() -> Self {
        Self {
            state: State::Vacant,
            fd: None,
            generation: 0,
            exchange: Exchange::default(),
            connect_begun: 0,
            wakes_at: NEVER,
            failed_connects: 0,
            ended: false,
            broken: None,
            listed_unread: false,
            listed_idle: false,
            listed_vacant: false,
        }
    }
}

impl Slot {
    /// What the poller calls the connection that is open now.
    pub fn key(&self, at: usize) -> u64 {
        u64::from(self.generation) << 32 | at as u64
    }

    /// Whether it can take a request at once.
    pub fn is_idle(&self) -> bool {
        self.state == State::Open && self.exchange.in_flight() == 0
    }
}
