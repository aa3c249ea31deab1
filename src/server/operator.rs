//! What surrounds the server, as far as the server has to ask for it: whoever started it owns the configuration's files, the
//! server's own log and the shell that waits.

use std::io;

use crate::config::plan::{LogPlan, ServePlan};

/// Says how many lines of the server's own log are lost.
pub type LogLost = Box<dyn Fn() -> u64 + Send + Sync>;

/// The world outside of a running server.
pub trait Operator {
    /// Every address is listened on, and the workers accept.
    fn serving(&mut self);

    /// Reads the configuration again. An error is a sentence for the log: what is wrong with it, or what of it cannot
    /// change while the server runs.
    fn read_again(&mut self) -> Result<ServePlan, String>;

    /// Takes over how the server's own log is written. The last step that may fail.
    fn change_log(&mut self, plan: &LogPlan) -> io::Result<()>;

    /// How to ask for the lines of the server's own log that are lost.
    fn log_lost(&self) -> LogLost;

    /// Opens the server's own log again, after somebody has renamed the file.
    fn reopen_log(&mut self) -> io::Result<()>;
}
