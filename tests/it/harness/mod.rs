//! What every test here stands on: the real binary over a real folder, and a client that reads bytes.

mod client;
mod gate;
mod metrics;
mod peer;
mod response;
mod server;
mod site;
mod truth;

pub use client::{Broken, Client, Endpoint, PATIENCE};
pub use gate::{machine_to_myself, raise_descriptor_limit, say_skipped};
pub use metrics::Metrics;
pub use peer::Peer;
pub use response::{Response, printable};
pub use server::{Launch, Server};
pub use site::{SECRET, Site, TEN};
pub use truth::{Answer, Asked, FullBacklog, Ledger, RefusedPort, TruthServer, Turn, Welcome, chunked};
