//! Quintain: a static-file HTTP/1 server made to be hit.
//!
//! # Layout
//!
//! - [`cli`]: what may be typed; no decisions.
//! - [`commands`]: from what was typed to an exit code; what is printed is printed here.
//! - [`config`]: defaults, `config.toml`, environment and flags, merged into plans in which nothing is optional.
//! - [`site`]: what a request to a folder of files means; no sockets, no hyper, no tokio.
//! - [`server`]: bytes on sockets, around hyper.
//! - [`load`]: the load tool's engine: measures and prints nothing.
//! - [`analysis`]: what the records of an experiment mean: medians, comparisons, words; pure.
//! - [`statistics`]: spreads, intervals and tests; pure.
//! - [`record`]: what a run, and an experiment, leave, as a versioned schema.
//! - [`report`]: renders records: for people, as JSON, and as ab's and webbench's reports; prints nothing.
//! - [`sweep`]: experiments, as child processes.
//! - [`fixtures`]: the documents that are served, made from a seed.
//! - [`process`]: what touches the process itself: descriptor limits, CPU sets.
//! - [`telemetry`]: tracing set-up.
//!
//! A module uses only what stands below it: `commands` use `server` and `load`, `server` uses `site` and `config`, never the
//! other way round. `tests/it/tidy.rs` holds the code to that.

pub mod analysis;
pub mod cli;
pub mod commands;
pub mod config;
pub mod fixtures;
pub mod load;
pub mod process;
pub mod record;
pub mod report;
pub mod server;
pub mod site;
pub mod statistics;
pub mod sweep;
pub mod telemetry;
