//! Bytes on sockets, around hyper.

pub mod access_log;
pub mod metrics;
