//! Configuration: from what was written to what will be done.
pub mod plan;
