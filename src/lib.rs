//! Quintain: a static-file HTTP/1 server made to be hit.
//!
//! # Layout
//!
//! - [`cli`]: what may be typed; no decisions.
//! - [`config`]: defaults, `config.toml`, environment and flags, merged into plans in which nothing is optional.
//! - [`site`]: what a request to a folder of files means; no sockets, no hyper, no tokio.
//! - [`server`]: bytes on sockets, around hyper.
//! - [`fixtures`]: the documents that are served, made from a seed.
//! - [`process`]: what touches the process itself: descriptor limits, CPU sets.
//! - [`telemetry`]: tracing set-up.
//!
//! A module uses only what stands below it: `cli` and `server` use `site`, `config`, `fixtures`, `process` and
//! `telemetry`, never the other way round. `tests/it/tidy.rs` holds the code to that.

pub mod cli;
pub mod config;
pub mod fixtures;
pub mod process;
pub mod server;
pub mod site;
pub mod telemetry;
