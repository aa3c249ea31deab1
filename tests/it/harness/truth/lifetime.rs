//! The end of a scripted server, which wakes whatever waits, and the time for which all of it stands still.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Threads at work, and what they wait for.
pub(super) struct Lifetime {
    state: Mutex<State>,
    changed: Condvar,
    places: usize,
}

struct State {
    over: bool,
    frozen_until: Option<Instant>,
    streams: HashMap<u64, Arc<TcpStream>>,
    at_work: usize,
}

impl Lifetime {
    /// For so many threads at once.
    pub fn new(places: usize) -> Self {
        let state = State { over: false, frozen_until: None, streams: HashMap::new(), at_work: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new(), places }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a thread that serves this stream; `None` if all are taken.
    pub fn take_place(&self, number: u64, stream: &Arc<TcpStream>) -> Option<Place> {
        let mut state = self.lock();
        if state.over || state.at_work >= self.places {
            return None;
        }
        state.at_work += 1;
        state.streams.insert(number, Arc::clone(stream));
        Some(Place)
    }

    /// Forgets the stream, so that dropping the last use of it elsewhere closes it.
    pub fn forget_stream(&self, number: u64) {
        self.lock().streams.remove(&number);
    }

    /// The thread has nothing more to do.
    pub fn leave_place(&self, Place: Place) {
        self.lock().at_work -= 1;
        self.changed.notify_all();
    }

    pub fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Ends every wait, and every read and write.
    pub fn end(&self) {
        let mut state = self.lock();
        state.over = true;
        for stream in state.streams.values() {
            // It may have been closed by the client.
            let _ = stream.shutdown(Shutdown::Both);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for all threads to leave; whether they did.
    pub fn wait_for_all(&self, patience: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), patience, |state| state.at_work > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.at_work == 0
    }

    /// Waits for that time, or for the end.
    pub fn wait(&self, time: Duration) {
        if !time.is_zero() {
            drop(self.changed.wait_timeout_while(self.lock(), time, |state| !state.over));
        }
    }

    /// Waits for the end.
    pub fn wait_for_end(&self) {
        drop(self.changed.wait_while(self.lock(), |state| !state.over));
    }

    /// Lets everything stand still until then.
    pub fn freeze(&self, until: Instant) {
        self.lock().frozen_until = Some(until);
    }

    pub fn wait_while_frozen(&self) {
        loop {
            let Some(until) = self.lock().frozen_until else { return };
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() || self.is_over() {
                return;
            }
            self.wait(rest);
        }
    }
}

/// The right to be one of the threads.
#[derive(Debug)]
pub(super) struct Place;
