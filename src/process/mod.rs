//! Everything that touches the process itself.

pub mod limits;
