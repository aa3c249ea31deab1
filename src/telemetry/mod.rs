//! The server's own log: `tracing` events to stderr or to a file, one line each.
//!
//! What happens once in a server's life or goes wrong is an event. A request never is: that is what the access log and
//! the counters are for, which do not cost a lock and a system call on the thread that serves.

mod destination;

use std::env;
use std::io::{self, IsTerminal};

use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::time::SystemTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry, reload};

use self::destination::Destination;
use crate::config::plan::{LogFile, LogFormat, LogPlan};
use crate::process::user::User;

type Lines = Box<dyn Layer<Registry> + Send + Sync>;

/// The server's own log. Dropping it writes what waits, for a second at most.
pub struct Log {
    destination: Destination,
    lines: reload::Handle<Lines, Registry>,
    level: reload::Handle<LevelFilter, tracing_subscriber::layer::Layered<reload::Layer<Lines, Registry>, Registry>>,
}

/// Sends all events of the process to where the plan wants them. It works once: a process has one such log.
///
/// Lines go through a thread of their own: a pipe that nobody reads would otherwise stop whoever has something to say, and
/// that is the main thread with its clock and its signals. Own code, because that of tracing-appender panics where it gets no
/// thread, and has one for all destinations: a log that takes nothing could not be left.
///
/// A file becomes that of `heir`, whom the process is about to become.
pub fn init(plan: &LogPlan, heir: Option<&User>) -> io::Result<Log> {
    let LogPlan { level, format, file, access: _, access_format: _ } = plan;
    let destination = Destination::open(file, heir)?;
    let (lines_layer, lines) = reload::Layer::new(lines(*format, has_colour(file), destination.writer()));
    let (level_layer, level) = reload::Layer::new(*level);
    let subscriber = Registry::default().with(lines_layer).with(level_layer);
    tracing::subscriber::set_global_default(subscriber).map_err(io::Error::other)?;
    log_panics(destination.clone());
    Ok(Log { destination, lines, level })
}

/// Whether [`init`] could open the destination, as far as a look can tell. Nothing is made.
pub fn look(plan: &LogPlan, heir: Option<&User>) -> io::Result<()> {
    destination::look(&plan.file, heir)
}

impl Log {
    /// Writes as another plan wants it from now on; what cannot be opened leaves everything as it was.
    pub fn change(&self, plan: &LogPlan) -> io::Result<()> {
        let LogPlan { level, format, file, access: _, access_format: _ } = plan;
        self.destination.change(file)?;
        self.lines.reload(lines(*format, has_colour(file), self.destination.writer())).map_err(io::Error::other)?;
        self.level.reload(*level).map_err(io::Error::other)
    }

    /// How to ask for the lines that are lost: their queue was full, or the destination took none.
    pub fn lost(&self) -> impl Fn() -> u64 + Send + Sync + use<> {
        let destination = self.destination.clone();
        move || destination.lost()
    }

    /// Opens the file by its name again, after somebody has renamed it. If that fails, all goes on to the old one.
    pub fn reopen(&self) -> io::Result<()> {
        self.destination.reopen()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.destination.close();
    }
}

/// A panic speaks to stderr, which leads nowhere in the background: where there is a file, it stands there as well.
fn log_panics(destination: Destination) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if destination.is_a_file() {
            tracing::error!("{panic}");
        }
        usual(panic);
    }));
}

/// Colours are for those who see them.
fn has_colour(file: &LogFile) -> bool {
    let is_seen = *file == LogFile::Stderr && io::stderr().is_terminal();
    is_seen && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn lines<W>(format: LogFormat, colour: bool, out: W) -> Lines
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    match format {
        LogFormat::Text => Box::new(text(colour, out)),
        LogFormat::Json => Box::new(json(out)),
    }
}

/// Lines for people. The target, a path of modules, tells them nothing that the message does not.
fn text<S, W>(colour: bool, out: W) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt::layer()
        .compact()
        .with_timer(SystemTime) // RFC 3339 in UTC: the same on every machine of a comparison.
        .with_ansi(colour)
        .with_target(false)
        .log_internal_errors(false) // They would go to the stderr that has just failed, and panic there.
        .with_writer(out)
}

/// Lines for programs: `{"timestamp": ..., "level": ..., "message": ..., <fields>, "target": ...}`.
fn json<S, W>(out: W) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_timer(SystemTime)
        .with_target(true)
        .log_internal_errors(false)
        .with_writer(out)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use tempfile::NamedTempFile;

    use super::*;

    /// What a subscriber writes about two events, the second of which is below its level.
    fn written(format: LogFormat, colour: bool, level: LevelFilter) -> String {
        let page = NamedTempFile::new().unwrap();
        let out = Arc::new(page.reopen().unwrap());
        let subscriber = Registry::default().with(lines(format, colour, out)).with(level);
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(port = 8080, "listening");
            tracing::debug!("not asked for");
        });
        fs::read_to_string(page.path()).unwrap()
    }

    #[test]
    fn text_is_one_plain_line_with_a_utc_time() {
        let line = written(LogFormat::Text, false, LevelFilter::INFO);
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.len() > "2026-12-01T03:04:05".len() && time.ends_with('Z'), "{time}");
        assert_eq!(rest.trim_start(), "INFO listening port=8080\n");
    }

    #[test]
    fn colour_only_where_it_was_asked_for() {
        for colour in [true, false] {
            let line = written(LogFormat::Text, colour, LevelFilter::INFO);
            assert_eq!(line.contains('\u{1b}'), colour);
        }
    }

    #[test]
    fn json_is_one_object_a_line_with_the_fields_beside_the_message() {
        let text = written(LogFormat::Json, false, LevelFilter::INFO);
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["message"], "listening");
        assert_eq!(line["port"], 8080);
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{text}");
    }

    #[test]
    fn off_is_silent() {
        assert_eq!(written(LogFormat::Text, false, LevelFilter::OFF), "");
        assert_eq!(written(LogFormat::Json, false, LevelFilter::OFF), "");
    }
}
