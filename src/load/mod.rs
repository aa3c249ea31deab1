//! The load tool's engine: connections, requests, times. It measures and prints nothing.
//!
//! A [`plan::Plan`] says what to do, [`run`] does it, a [`crate::record::Run`] is what is left. In between:
//!
//! ```text
//!   campaign      the runs of one call: warm-up, steps, search
//!     engine      starts the threads, watches them, sums up; saturation gives the verdict
//!       worker    one thread: its share of everything
//!       reactor     the loop: epoll, the slots and sockets of connections, and when what must be looked at
//!         schedule      when the next request is due          no I/O
//!         exchange      one connection's requests and answers no I/O
//!           response    where an answer ends                  no I/O
//!         recorder      counts and histograms
//! ```

pub mod campaign;
mod clock;
mod engine;
mod exchange;
mod heads;
mod intervals;
pub mod plan;
mod poller;
pub mod preflight;
mod reactor;
mod recorder;
pub mod request;
pub mod response;
mod rows;
mod saturation;
mod schedule;
pub mod search;
mod slot;
mod socket;
pub mod sources;
pub mod statuses;
pub mod steps;
mod summary;
pub mod target;
pub mod url;
pub mod verify;
pub mod watch;
mod worker;

pub use engine::{Measured, RunError, run};
pub use rows::Rows;
