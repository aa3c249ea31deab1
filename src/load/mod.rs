//! The load tool's engine: connections, requests, times. It measures and prints nothing.

pub mod campaign;
pub mod plan;
pub mod request;
pub mod response;
pub mod search;
pub mod steps;
pub mod url;
pub mod verify;
pub mod watch;
