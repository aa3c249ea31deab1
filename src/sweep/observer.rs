//! What a sweep tells whoever watches it. It prints nothing itself.

use crate::record::experiment::{Cell, LeftOut, Measured, NotMeasured, Restarted};

/// Something that happens.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A target is started, or looked for.
    Starting(&'a str),
    /// It answers.
    Ready {
        /// Its name.
        target: &'a str,
        /// Where, without a path.
        url: &'a str,
        /// What it says of itself.
        version: &'a str,
    },
    /// A target takes no further part, or one of its documents does not.
    LeftOut(&'a LeftOut),
    /// It gets load whose figures nobody sees.
    WarmingUp(&'a str),
    /// It had died and was started again.
    Restarted(&'a Restarted),
    /// The next measurement waits for sockets to leave TIME_WAIT.
    CoolingDown {
        /// So many are there.
        time_wait: u64,
        /// And so many at most should be.
        below: u64,
    },
    /// A measurement begins.
    Began(&'a Cell),
    /// It has ended, and stands in the journal.
    Measured(&'a Measured),
    /// It has ended without a record, and that stands in the journal.
    NotMeasured(&'a NotMeasured),
    /// A measurement will not be made: its target or its document is left out.
    Skipped(&'a Cell),
    /// Whatever was started is ended, which may take as long as targets are given for it.
    Stopping,
    /// Something that people should know; it may be said more than once.
    Remark(&'a str),
}

/// Who watches.
pub trait Observer {
    /// Is told of everything.
    fn see(&mut self, event: Event<'_>);

    /// Gets a measurement before it stands in the journal: what else is written of it has to be there first, so that whatever
    /// the journal has is complete.
    ///
    /// # Errors
    ///
    /// A sentence that says what could not be written. The sweep ends, and measures this cell again when it is resumed.
    fn keep(&mut self, measured: &Measured) -> Result<(), String>;
}
