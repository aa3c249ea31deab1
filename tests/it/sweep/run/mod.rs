//! Sweeps that measure: small ones, with our own server, from begin to end and from one end to another.

mod bench;
mod disk;
mod ends;
mod launcher;
mod null;
mod targets;
mod whole;
