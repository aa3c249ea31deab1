//! What a request can end as: exactly one of these.

use serde::{Deserialize, Serialize};

/// The end of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Answered as expected.
    Ok,
    /// The connection was refused, or could not be made for another reason than time.
    ConnectFailed,
    /// The connection was not made within the timeout.
    ConnectTimedOut,
    /// The server closed without a byte of an answer, on a connection's first request.
    SentNothing,
    /// The connection was reset before the answer was whole.
    Reset,
    /// The server closed before the answer was whole.
    ClosedEarly,
    /// What came is not an HTTP/1 answer.
    Malformed,
    /// Answered whole, with another length than the first answer of its URL, or than the expected content.
    LengthDiffers,
    /// Answered whole and in the right length, with other bytes than expected.
    ContentDiffers,
    /// Not answered whole within the timeout.
    TimedOut,
    /// Answered whole, with a status that is not expected.
    StatusRefused,
    /// On its way when the run ended; no failure.
    Aborted,
}

impl Outcome {
    /// All of them, in the order in which reports list them.
    pub const ALL: [Self; 12] = [
        Self::Ok,
        Self::ConnectFailed,
        Self::ConnectTimedOut,
        Self::SentNothing,
        Self::Reset,
        Self::ClosedEarly,
        Self::Malformed,
        Self::LengthDiffers,
        Self::ContentDiffers,
        Self::TimedOut,
        Self::StatusRefused,
        Self::Aborted,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ConnectFailed => "connect failed",
            Self::ConnectTimedOut => "connect timed out",
            Self::SentNothing => "sent nothing",
            Self::Reset => "reset",
            Self::ClosedEarly => "closed early",
            Self::Malformed => "response malformed",
            Self::LengthDiffers => "length differs",
            Self::ContentDiffers => "content differs",
            Self::TimedOut => "timed out",
            Self::StatusRefused => "status refused",
            Self::Aborted => "aborted by the end of the run",
        }
    }

    /// Whether it counts against the server.
    pub const fn is_failure(self) -> bool {
        !matches!(self, Self::Ok | Self::Aborted)
    }

    /// Whether a whole answer came.
    pub const fn is_answered(self) -> bool {
        matches!(self, Self::Ok | Self::LengthDiffers | Self::ContentDiffers | Self::StatusRefused)
    }
}

/// How many requests ended in each way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Endings {
    /// [`Outcome::Ok`].
    pub ok: u64,
    /// [`Outcome::ConnectFailed`].
    pub connect_failed: u64,
    /// [`Outcome::ConnectTimedOut`].
    pub connect_timed_out: u64,
    /// [`Outcome::SentNothing`].
    pub sent_nothing: u64,
    /// [`Outcome::Reset`].
    pub reset: u64,
    /// [`Outcome::ClosedEarly`].
    pub closed_early: u64,
    /// [`Outcome::Malformed`].
    pub malformed: u64,
    /// [`Outcome::LengthDiffers`].
    pub length_differs: u64,
    /// [`Outcome::ContentDiffers`].
    pub content_differs: u64,
    /// [`Outcome::TimedOut`].
    pub timed_out: u64,
    /// [`Outcome::StatusRefused`].
    pub status_refused: u64,
    /// [`Outcome::Aborted`].
    pub aborted: u64,
}

impl Endings {
    /// The count of one outcome.
    pub const fn of(&self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Ok => self.ok,
            Outcome::ConnectFailed => self.connect_failed,
            Outcome::ConnectTimedOut => self.connect_timed_out,
            Outcome::SentNothing => self.sent_nothing,
            Outcome::Reset => self.reset,
            Outcome::ClosedEarly => self.closed_early,
            Outcome::Malformed => self.malformed,
            Outcome::LengthDiffers => self.length_differs,
            Outcome::ContentDiffers => self.content_differs,
            Outcome::TimedOut => self.timed_out,
            Outcome::StatusRefused => self.status_refused,
            Outcome::Aborted => self.aborted,
        }
    }

    /// The count of one outcome, to be changed.
    pub const fn of_mut(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Ok => &mut self.ok,
            Outcome::ConnectFailed => &mut self.connect_failed,
            Outcome::ConnectTimedOut => &mut self.connect_timed_out,
            Outcome::SentNothing => &mut self.sent_nothing,
            Outcome::Reset => &mut self.reset,
            Outcome::ClosedEarly => &mut self.closed_early,
            Outcome::Malformed => &mut self.malformed,
            Outcome::LengthDiffers => &mut self.length_differs,
            Outcome::ContentDiffers => &mut self.content_differs,
            Outcome::TimedOut => &mut self.timed_out,
            Outcome::StatusRefused => &mut self.status_refused,
            Outcome::Aborted => &mut self.aborted,
        }
    }

    /// All requests, those that the end of the run cut off included.
    pub fn all(&self) -> u64 {
        self.sum(|_| true)
    }

    /// Requests that failed.
    pub fn failed(&self) -> u64 {
        self.sum(Outcome::is_failure)
    }

    /// Requests with a whole answer.
    pub fn answered(&self) -> u64 {
        self.sum(Outcome::is_answered)
    }

    /// Adds another thread's. A record of a billion years' requests is nobody's, and is no reason to end.
    pub fn add(&mut self, other: &Self) {
        for outcome in Outcome::ALL {
            *self.of_mut(outcome) = self.of(outcome).saturating_add(other.of(outcome));
        }
    }

    fn sum(&self, counts: fn(Outcome) -> bool) -> u64 {
        let counted = Outcome::ALL.iter().filter(|outcome| counts(**outcome));
        counted.fold(0, |sum, outcome| sum.saturating_add(self.of(*outcome)))
    }
}
