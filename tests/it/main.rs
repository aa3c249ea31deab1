//! The target, tested from outside: the real binary, real sockets, real files.
//!
//! What `tests/tables/*.toml` can say as data is said there and driven by [`tables`]; what needs time, faults or other
//! programs has a module here.
#![allow(clippy::disallowed_methods, reason = "the bans are for the server: a test may wait, and own its threads")]

mod ab;
mod connections;
mod counters;
mod daemon;
mod doctor;
mod drain;
mod files;
mod found;
mod harness;
mod healthcheck;
mod knobs;
mod large_files;
mod limits;
mod listeners;
mod load;
mod logs;
mod peers;
mod profiles;
mod report;
mod scale;
mod settings;
mod startup;
mod sweep;
mod tables;
mod tidy;
mod transfers;
mod truth;
mod webbench;
