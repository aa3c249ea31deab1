//! Everything that touches the process itself, and what the kernel says of it and its neighbours.

pub mod affinity;
pub mod cgroup;
pub mod limits;
pub mod machine;
pub mod netstat;
pub mod schedule;
pub mod usage;
pub mod watch;
