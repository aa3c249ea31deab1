//! The I/O models: who accepts, and which thread polls a connection.

pub mod event_loop;
