//! Everything that touches the process itself.

pub mod affinity;
pub mod limits;
pub mod usage;
