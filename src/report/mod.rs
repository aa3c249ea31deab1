//! Renders what the load tool recorded: for people, for programs, and as the reports of ab and webbench. It measures nothing,
//! opens no socket, and prints nothing: text is returned, files are written to whatever the caller opened. Only the progress bar
//! draws on stderr itself.

pub mod ab;
pub mod ab_chatter;
pub mod ab_html;
mod ab_times;
pub mod json;
pub mod percentiles_csv;
pub mod rows_tsv;
mod sorted;
mod units;
