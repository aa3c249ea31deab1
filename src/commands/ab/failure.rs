//! What ends a call of ab's face with another code than 0: which one, and in which words.
//!
//! The words are those of ab and of the Apache Portable Runtime that it stands on, which numbers what it says; the exit code is
//! the lower byte of that number.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::cli::ab::{AbMistake, usage};
use crate::record::{Outcome, Run};

/// Exit code of ab's `usage`.
const USAGE: u8 = 22;
/// Exit code of ab's `err`.
pub const ERROR: u8 = 1;

/// APR's numbers for a time that is over, and for a name without an address (`EAI_NONAME`).
const TIME_IS_UP: i32 = 70_007;
const NO_SUCH_NAME: i32 = 670_002;

/// An end before the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Exit code.
    pub code: u8,
    /// For stderr, with its line ends.
    pub said: String,
}

impl Failure {
    /// A command line that cannot be meant.
    pub fn of_typing(program: &str, mistake: &AbMistake) -> Self {
        match mistake {
            AbMistake::Usage(mistake) => Self::usage(program, mistake),
            AbMistake::Help => Self { code: USAGE, said: usage(program) },
            AbMistake::Refused(why) => Self { code: USAGE, said: format!("{program}: {why}\n") },
            AbMistake::Plain(mistake) => Self { code: ERROR, said: format!("{mistake}\n\n") },
        }
    }

    /// A mistake that is followed by the usage text.
    pub fn usage(program: &str, mistake: &str) -> Self {
        Self { code: USAGE, said: format!("{program}: {mistake}\n{}", usage(program)) }
    }

    /// Something that cannot be done here and now, as a sentence.
    pub fn sentence(code: u8, said: impl Display) -> Self {
        Self { code, said: format!("{said}\n") }
    }

    /// An output file that cannot be written, as `perror` says it.
    pub fn output(verb: &str, what: &str, error: &io::Error) -> Self {
        Self::sentence(ERROR, format_args!("Cannot {verb} {what} output file: {}", without_number(error)))
    }

    /// The file of `-p` or `-u`.
    pub fn body(path: &Path, error: &io::Error) -> Self {
        let (path, error) = (path.display(), without_number(error));
        Self::sentence(ERROR, format_args!("ab: Could not open POST data file ({path}): {error}"))
    }

    /// A host without an address.
    pub fn unknown_host(host: &str) -> Self {
        Self::numbered(&format!("apr_sockaddr_info_get() for {host}"), "Name or service not known", NO_SUCH_NAME)
    }

    /// A call of the system that failed.
    pub fn system(call: &str, errno: i32) -> Self {
        Self::numbered(call, &without_number(&io::Error::from_raw_os_error(errno)), errno)
    }

    /// A run that one of its requests ended, if one did.
    pub fn of_run(run: &Run, fatal: &[Outcome]) -> Option<Self> {
        let outcome = fatal.iter().find(|outcome| run.aborted && run.endings.of(**outcome) > 0)?;
        let first = run.first_failure.as_ref().filter(|first| first.outcome == outcome.name());
        let errno = first.and_then(|first| first.errno);
        Some(match outcome {
            Outcome::TimedOut => Self::numbered("apr_pollset_poll", "The timeout specified has expired", TIME_IS_UP),
            Outcome::ConnectTimedOut => Self::system("apr_socket_recv", errno.unwrap_or(libc::ETIMEDOUT)),
            Outcome::ConnectFailed => Self::system("apr_socket_recv", errno.unwrap_or(libc::ECONNREFUSED)),
            _ => Self::system("apr_socket_recv", errno.unwrap_or(libc::ECONNRESET)),
        })
    }

    fn numbered(call: &str, words: &str, number: i32) -> Self {
        // As exit(3) takes it.
        Self { code: number as u8, said: format!("{call}: {words} ({number})\n") }
    }
}

/// stdout that cannot be written: nobody reads what would be said about it.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { code: ERROR, said: format!("ab: cannot write to stdout: {}\n", without_number(&error)) }
    }
}

/// What the C library says of an error: without Rust's number behind it.
fn without_number(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::plan::FATAL;
    use super::*;
    use crate::record::{Endings, FirstFailure, sample};

    #[test]
    fn of_a_run_that_a_request_ended() {
        let mut run = sample::run();
        run.aborted = true;
        for (outcome, errno, code, said) in [
            (Outcome::Reset, Some(libc::ECONNRESET), 104, "apr_socket_recv: Connection reset by peer (104)\n"),
            (Outcome::ConnectFailed, Some(libc::EHOSTUNREACH), 113, "apr_socket_recv: No route to host (113)\n"),
            (Outcome::ConnectFailed, None, 111, "apr_socket_recv: Connection refused (111)\n"),
            (Outcome::ConnectTimedOut, None, 110, "apr_socket_recv: Connection timed out (110)\n"),
            (Outcome::TimedOut, None, 119, "apr_pollset_poll: The timeout specified has expired (70007)\n"),
        ] {
            run.endings = Endings { ok: 5, length_differs: 1, ..Endings::default() };
            *run.endings.of_mut(outcome) = 1;
            run.first_failure = Some(FirstFailure::new(outcome, errno));
            assert_eq!(Failure::of_run(&run, FATAL), Some(Failure { code, said: said.to_owned() }));
            assert_eq!(Failure::of_run(&run, &[]), None, "with -r");
        }
        // What failed first need not be what ended it.
        run.first_failure = Some(FirstFailure::new(Outcome::LengthDiffers, None));
        run.endings = Endings { length_differs: 1, reset: 1, ..Endings::default() };
        assert_eq!(Failure::of_run(&run, FATAL).map(|failure| failure.code), Some(104));
        run.aborted = false;
        assert_eq!(Failure::of_run(&run, FATAL), None);
    }

    #[test]
    fn in_the_words_of_ab() {
        let rows = [
            (Failure::system("apr_socket_recv", 104), 104, "apr_socket_recv: Connection reset by peer (104)\n"),
            (Failure::system("bind", 99), 99, "bind: Cannot assign requested address (99)\n"),
            (
                Failure::unknown_host("h.invalid"),
                50,
                "apr_sockaddr_info_get() for h.invalid: Name or service not known (670002)\n",
            ),
            (
                Failure::output("open", "CSV", &io::Error::from_raw_os_error(2)),
                1,
                "Cannot open CSV output file: No such file or directory\n",
            ),
            (
                Failure::body("/f".as_ref(), &io::Error::from_raw_os_error(2)),
                1,
                "ab: Could not open POST data file (/f): No such file or directory\n",
            ),
            (
                Failure::of_typing("ab", &AbMistake::Plain("Invalid number of requests")),
                1,
                "Invalid number of requests\n\n",
            ),
            (Failure::of_typing("x/ab", &AbMistake::Refused("no".to_owned())), 22, "x/ab: no\n"),
        ];
        for (failure, code, said) in rows {
            assert_eq!((failure.code, failure.said.as_str()), (code, said));
        }
        let usage = Failure::of_typing("ab", &AbMistake::Usage("invalid URL".to_owned()));
        assert_eq!(usage.code, 22);
        assert!(usage.said.starts_with("ab: invalid URL\nUsage: ab [options] "), "{}", usage.said);
    }
}
