//! Experiments: servers x documents x concurrency x kind of connections x repeats, one cell at a time, as child processes.
//!
//! A sweep knows neither the server nor the load tool: it starts both, and reads the record that the second one leaves.

pub mod capture;
pub mod child;
pub mod cool_down;
pub mod cpus;
pub mod documents;
pub mod error;
pub mod estimate;
pub mod folder;
pub mod history;
pub mod journal;
pub mod launcher;
pub mod machine;
pub mod measure;
pub mod observer;
pub mod order;
pub mod plan;
pub mod ports;
pub mod run;
pub mod shipped;
pub mod target;
pub mod tree;
pub mod wait;
pub mod warm_up;
pub mod written;
