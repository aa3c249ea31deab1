//! One request to a target, and whether the answer is the document.

use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use super::super::error::{Cut, SweepError};
use super::super::measure::{Answer, Ask, measure};
use super::Ground;
use crate::record::experiment::{Client, ConnectionKind, Document};
use crate::record::{Record, Run};

/// How long a connect may take that only finds out whether somebody listens.
const KNOCK: Duration = Duration::from_secs(1);

/// The longest that one answer may take: the largest document, from a server that is still being compiled.
pub(super) const ANSWER: Duration = Duration::from_secs(20);

/// What came of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Probe {
    /// Status 200, and the document.
    Right {
        /// Its `Server` line's value.
        server: String,
    },
    /// Anything else.
    Wrong {
        /// The status, if there was an answer.
        status: Option<u16>,
        /// What was wrong, as a sentence.
        reason: String,
    },
    /// Nobody could be asked, which says nothing of the target: after many connections this machine may have no port left.
    Unasked {
        /// Why, as a sentence.
        reason: String,
    },
}

impl Probe {
    /// The `Server` line's value of an answer with status 200, whatever its content.
    pub(super) fn status_is_right(&self) -> Option<&str> {
        match self {
            Self::Right { server } => Some(server),
            Self::Wrong { status: Some(200), .. } => Some(""),
            Self::Wrong { .. } | Self::Unasked { .. } => None,
        }
    }

    /// What was wrong.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Right { .. } => "nothing",
            Self::Wrong { reason, .. } | Self::Unasked { reason } => reason,
        }
    }
}

/// Asks once. Nobody who does not listen costs a process: a Java server may need some seconds.
pub(super) fn ask(url: &str, document: &Document, within: Duration, ground: &Ground<'_>) -> Result<Probe, Cut> {
    if let Err(error) = knock(url) {
        let reason = format!("{url} cannot be connected to: {error}");
        return Ok(match error.kind() {
            ErrorKind::AddrNotAvailable => Probe::Unasked { reason },
            _ => Probe::Wrong { status: None, reason },
        });
    }
    let file = ground.root.join(&document.name);
    let ask = Ask {
        url: format!("{url}/{}", document.name),
        connections: ConnectionKind::KeepAlive,
        concurrency: 1,
        requests: Some(1),
        duration: None,
        warm_up: Duration::ZERO,
        abort_after: None,
        timeout: Some(within.clamp(KNOCK, ANSWER)),
        verify: Some(file.clone()),
        watch: Vec::new(),
        client: Client::default(),
    };
    match measure(ground.program, &ask, ground.stop).map_err(SweepError::Start)?.answer {
        Answer::Record(record) => Ok(judge(&record, document, &file)),
        Answer::Nothing(reason) => Ok(Probe::Wrong { status: None, reason }),
        Answer::Stopped => Err(Cut::Stopped),
    }
}

fn knock(url: &str) -> io::Result<()> {
    let host = url.strip_prefix("http://").unwrap_or(url);
    let mut last = ErrorKind::NotFound.into();
    for address in host.to_socket_addrs()?.take(8) {
        match TcpStream::connect_timeout(&address, KNOCK) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn judge(record: &Record, document: &Document, file: &Path) -> Probe {
    let Some(run) = record.runs.first() else {
        return Probe::Wrong { status: None, reason: "the load tool's record is empty".to_owned() };
    };
    let status = run.first_answer.as_ref().map(|answer| answer.status);
    if run.endings.ok == 1 && run.endings.all() == 1 {
        return Probe::Right {
            server: run.first_answer.as_ref().map_or(String::new(), |answer| answer.server.clone()),
        };
    }
    Probe::Wrong { status, reason: reason(run, document, file) }
}

fn reason(run: &Run, document: &Document, file: &Path) -> String {
    match &run.first_answer {
        Some(answer) if answer.status != 200 => format!("it answers {}", answer.status),
        Some(answer) if answer.body_bytes != document.bytes => {
            format!("it answers with {} bytes, and {} has {}", answer.body_bytes, file.display(), document.bytes)
        }
        Some(_) => format!("it answers with another content than that of {}", file.display()),
        None => {
            let failure = run.first_failure.as_ref();
            failure.map_or("nothing came".to_owned(), |failure| match failure.reason.as_str() {
                "" => failure.outcome.clone(),
                reason => format!("{} ({reason})", failure.outcome),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Endings, FirstAnswer, FirstFailure, Outcome, sample};

    fn judged(endings: Endings, answer: Option<(u16, u64)>, failure: Option<FirstFailure>) -> (Option<u16>, String) {
        let answer = answer.map(|(status, body_bytes)| {
            let server = "s".to_owned();
            FirstAnswer { status, server, body_bytes, head: String::new() }
        });
        let mut record = sample::record();
        record.runs[0].endings = endings;
        record.runs[0].first_answer = answer;
        record.runs[0].first_failure = failure;
        match judge(&record, &Document { name: "d".into(), bytes: 10 }, Path::new("/r/d")) {
            Probe::Right { server } => (Some(200), format!("right, from {server}")),
            Probe::Wrong { status, reason } => (status, reason),
            Probe::Unasked { reason } => panic!("{reason}"),
        }
    }

    #[test]
    fn what_is_the_document() {
        let ok = Endings { ok: 1, ..Endings::default() };
        let refused = Endings { status_refused: 1, ..Endings::default() };
        let differs = Endings { content_differs: 1, ..Endings::default() };
        let reset = Endings { reset: 1, ..Endings::default() };
        let failure = |outcome, errno| Some(FirstFailure::new(outcome, errno));
        let rows = [
            (judged(ok, Some((200, 10)), None), Some(200), "right, from s"),
            (judged(refused, Some((404, 9)), None), Some(404), "it answers 404"),
            (judged(differs, Some((200, 9)), None), Some(200), "it answers with 9 bytes, and /r/d has 10"),
            (judged(differs, Some((200, 10)), None), Some(200), "it answers with another content than that of /r/d"),
            (judged(reset, None, failure(Outcome::Reset, None)), None, "reset"),
            (
                judged(reset, None, failure(Outcome::Reset, Some(104))),
                None,
                "reset (Connection reset by peer (os error 104))",
            ),
            (judged(Endings::default(), None, None), None, "nothing came"),
        ];
        for ((status, reason), expected_status, expected) in rows {
            assert_eq!((status, reason.as_str()), (expected_status, expected));
        }
    }
}
