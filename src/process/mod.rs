//! Everything that touches the process itself, and what the kernel says of it and its neighbours.

pub mod activation;
pub mod affinity;
pub mod cgroup;
pub mod daemon;
pub mod file_place;
pub mod limits;
pub mod log_file;
pub mod machine;
pub mod manager;
pub mod netstat;
pub mod pid_file;
mod pid_lock;
pub mod schedule;
pub mod signalled;
pub mod usage;
pub mod user;
pub mod watch;
