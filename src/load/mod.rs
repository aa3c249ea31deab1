//! The load tool's engine: connections, requests, times. It measures and prints nothing.

pub mod campaign;
pub mod plan;
pub mod preflight;
pub mod request;
pub mod response;
pub mod search;
pub mod sources;
pub mod statuses;
pub mod steps;
pub mod target;
pub mod url;
pub mod verify;
pub mod watch;
