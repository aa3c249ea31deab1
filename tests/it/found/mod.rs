//! What somebody who meant harm found, each fault once: its story, and the test that would have told it.
//!
//! Where a fault did not depend on the I/O model, its test does not either: it runs in all four.

mod admission;
mod clocks;
mod ends;
mod framing;

use std::thread;

use crate::harness::{Launch, Site};

const MODELS: [&str; 4] = ["event-loop", "boss-worker", "work-stealing", "thread-per-connection"];

/// More than the socket buffers hold.
const LARGE: usize = 32 << 20;

/// One worker and its admin listener, in that I/O model. The kernel hands every connection over at once, so that what
/// is counted does not depend on who has sent something.
fn in_model(site: &Site, model: &str) -> Launch {
    let launch = Launch::over(site.root()).set("server.model", model).set("socket.defer_accept", "off");
    launch.with_admin()
}

/// Runs a test in every model, side by side because most of them wait for a clock.
fn in_every_model(site: &Site, test: impl Fn(&str, Launch) + Sync) {
    thread::scope(|scope| {
        for model in MODELS {
            let test = &test;
            scope.spawn(move || test(model, in_model(site, model)));
        }
    });
}
