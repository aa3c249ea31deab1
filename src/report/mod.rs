//! Renders what the load tool recorded: for people, for programs, and as the reports of ab and webbench. It measures nothing,
//! opens no socket, and prints nothing: text is returned, files are written to whatever the caller opened. Only the progress bar
//! draws on stderr itself.

use std::fmt;

pub mod ab;
pub mod ab_chatter;
pub mod ab_html;
mod ab_times;
pub mod across;
mod chart;
pub mod charts;
pub mod experiment;
pub mod harmless;
pub mod hdr;
pub mod json;
pub mod page;
pub mod percentiles_csv;
pub mod progress;
pub mod rows_tsv;
mod sorted;
pub mod sweep_progress;
pub mod text;

mod units;
pub mod webbench;

/// A proxy that requests go through, as ab and webbench name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its host, without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        write!(f, "{host}:{port}")
    }
}
