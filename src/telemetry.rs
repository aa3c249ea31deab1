//! The server's own log: `tracing` events to stderr, one line each.
//!
//! What happens once in a server's life or goes wrong is an event. A request never is: that is what the access log and
//! the counters are for, which do not cost a lock and a system call on the thread that serves.

use std::env;
use std::io::{self, IsTerminal};

use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::SetGlobalDefaultError;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::time::SystemTime;

use crate::config::plan::LogFormat;

/// Lines that may wait for a stderr that takes nothing; further ones are dropped.
const WAITING_LINES: usize = 1024;

/// Sends all events of the process from `level` upwards to stderr. It works once: a process has one such log.
///
/// Lines go through a thread of their own: a pipe that nobody reads would otherwise stop whoever has something to say, and
/// that is the main thread with its clock and its signals. Dropping the guard writes what waits, for a second at most.
pub fn init(level: LevelFilter, format: LogFormat) -> Result<WorkerGuard, SetGlobalDefaultError> {
    let colour = io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let lines = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(WAITING_LINES).thread_name("log");
    let (out, guard) = lines.finish(io::stderr());
    match format {
        LogFormat::Text => tracing::subscriber::set_global_default(text(level, colour, out))?,
        LogFormat::Json => tracing::subscriber::set_global_default(json(level, out))?,
    }
    Ok(guard)
}

/// Lines for people. The target, a path of modules, tells them nothing that the message does not.
fn text<W>(level: LevelFilter, colour: bool, out: W) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt()
        .compact()
        .with_max_level(level)
        .with_timer(SystemTime) // RFC 3339 in UTC: the same on every machine of a comparison.
        .with_ansi(colour)
        .with_target(false)
        .log_internal_errors(false) // They would go to the stderr that has just failed, and panic there.
        .with_writer(out)
        .finish()
}

/// Lines for programs: `{"timestamp": ..., "level": ..., "message": ..., <fields>, "target": ...}`.
fn json<W>(level: LevelFilter, out: W) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_max_level(level)
        .with_timer(SystemTime)
        .with_target(true)
        .log_internal_errors(false)
        .with_writer(out)
        .finish()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::sync::Arc;

    use tempfile::NamedTempFile;

    use super::*;

    /// What a subscriber writes about two events, the second of which is below its level.
    fn written<S: Subscriber + Send + Sync>(subscriber: impl FnOnce(Arc<File>) -> S) -> String {
        let page = NamedTempFile::new().unwrap();
        let out = Arc::new(page.reopen().unwrap());
        tracing::subscriber::with_default(subscriber(out), || {
            tracing::info!(port = 8080, "listening");
            tracing::debug!("not asked for");
        });
        fs::read_to_string(page.path()).unwrap()
    }

    #[test]
    fn text_is_one_plain_line_with_a_utc_time() {
        let line = written(|out| text(LevelFilter::INFO, false, out));
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.len() > "2026-12-01T03:04:05".len() && time.ends_with('Z'), "{time}");
        assert_eq!(rest.trim_start(), "INFO listening port=8080\n");
    }

    #[test]
    fn colour_only_where_it_was_asked_for() {
        for colour in [true, false] {
            let line = written(|out| text(LevelFilter::INFO, colour, out));
            assert_eq!(line.contains('\u{1b}'), colour);
        }
    }

    #[test]
    fn json_is_one_object_a_line_with_the_fields_beside_the_message() {
        let text = written(|out| json(LevelFilter::INFO, out));
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["message"], "listening");
        assert_eq!(line["port"], 8080);
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{text}");
    }

    #[test]
    fn off_is_silent() {
        assert_eq!(written(|out| text(LevelFilter::OFF, false, out)), "");
        assert_eq!(written(|out| json(LevelFilter::OFF, out)), "");
    }
}
