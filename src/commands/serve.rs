//! `quintain serve`.

use std::fmt::Display;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::{self, ExitCode};
use std::time::Duration;

use super::{FAILED, USAGE, apart, beforehand, fail, remarks, say, signals};
use crate::cli::ServeArgs;
use crate::config::plan::{AccessLog, LogFile, LogPlan, ProcessPlan, ServePlan};
use crate::config::{self, Configuration, Mistakes, Surroundings};
use crate::process::activation::{self, Inherited};
use crate::process::daemon::{self, Outcome, Readiness, Side};
use crate::process::pid_file::PidFile;
use crate::process::user::User;
use crate::process::{affinity, cgroup, log_file};
use crate::server::operator::{LogLost, Operator};
use crate::{server, telemetry};

/// How long a start in the background may take. It opens some files and sockets: what takes longer hangs.
const START: Duration = Duration::from_secs(60);

/// Serves until told to stop, or checks the configuration.
#[must_use]
pub fn run(args: &ServeArgs) -> ExitCode {
    // First of all: what follows opens descriptors of its own.
    let inherited = match activation::inherited() {
        Ok(inherited) => inherited,
        Err(error) => return fail(FAILED, &error),
    };
    if args.daemon
        && let Err(error) = activation::close_the_rest(&inherited)
    {
        return fail(FAILED, &format_args!("cannot close the descriptors that the server was started with: {error}"));
    }
    let reader = match Reader::new(args) {
        Ok(reader) => reader,
        Err(error) => return fail(FAILED, &format_args!("the working directory is gone: {error}")),
    };
    let configuration = match reader.read() {
        Ok(configuration) => configuration,
        Err(mistakes) => {
            for mistake in &mistakes.0 {
                say(mistake);
            }
            return ExitCode::from(USAGE);
        }
    };
    match apart::check(&configuration) {
        // It says the same after its listing.
        _ if args.check => beforehand::check(&configuration, &inherited, args.daemon),
        Err(sentence) => fail(USAGE, &sentence),
        Ok(()) if args.daemon => in_background(reader, configuration, inherited),
        Ok(()) => serve(reader, configuration, inherited, None),
    }
}

/// Reads the configuration, now and at each reload from the same places.
struct Reader<'a> {
    args: &'a ServeArgs,
    around: Surroundings,
}

impl<'a> Reader<'a> {
    fn new(args: &'a ServeArgs) -> io::Result<Self> {
        let mut around = surroundings();
        if args.daemon {
            // It will be elsewhere when it reads again.
            around.folder = std::env::current_dir()?;
        }
        Ok(Self { args, around })
    }

    fn read(&self) -> Result<Configuration, Mistakes> {
        config::load(self.args.config.as_deref(), &self.args.flags(), &self.around)
    }
}

/// What this process finds. Not `available_parallelism`: it rounds a quota of one CPU and a half down to one worker.
fn surroundings() -> Surroundings {
    let held = cgroup::Held::read(Path::new("/"));
    Surroundings::of_this_process(held.workers(affinity::allowed()), held.memory_bytes.map(|limit| limit.value))
}

// === In the background ===

fn in_background(reader: Reader<'_>, configuration: Configuration, inherited: Vec<Inherited>) -> ExitCode {
    if let Err(sentence) = leaves_streams_alone(&configuration.plan.live.log) {
        return fail(USAGE, &sentence);
    }
    if process::id() == 1 {
        return fail(USAGE, &ALONE);
    }
    match daemon::detach(START) {
        Ok(Side::Parent(Outcome::Serving)) => ExitCode::SUCCESS,
        Ok(Side::Parent(Outcome::Failed(code, why))) => fail(code, &why),
        Ok(Side::Child(readiness)) => serve(reader, configuration, inherited, Some(readiness)),
        Err(error) => fail(FAILED, &format_args!("cannot go into the background: {error}")),
    }
}

/// In the background the standard streams lead nowhere, whatever they are called, and a log that nobody can read is no log.
pub(super) fn leaves_streams_alone(LogPlan { file, access, .. }: &LogPlan) -> Result<(), &'static str> {
    match (file, access) {
        (LogFile::File(path), _) if log_file::is_a_stream(path) => Err(NO_STDERR),
        (LogFile::Stderr, _) => Err(NO_STDERR),
        (_, AccessLog::File(path)) if log_file::is_a_stream(path) => Err(NO_STREAMS),
        (_, AccessLog::Stdout | AccessLog::Stderr) => Err(NO_STREAMS),
        (LogFile::File(_), AccessLog::Off | AccessLog::File(_)) => Ok(()),
    }
}

const ALONE: &str = "--daemon: this is process 1, and with its end the container ends; leave --daemon away";
const NO_STDERR: &str = "--daemon: nobody sees stderr in the background; name a file with --set log.file=/PATH/TO/LOG";
const NO_STREAMS: &str =
    "--daemon: nobody sees stdout or stderr in the background; name a file with --access-log /PATH/TO/LOG";

// === Serving ===

fn serve(
    reader: Reader<'_>,
    configuration: Configuration,
    inherited: Vec<Inherited>,
    readiness: Option<Readiness>,
) -> ExitCode {
    if let Err(error) = signals::survive() {
        return report(readiness, &format_args!("cannot listen to signals: {error}"));
    }
    let plan = configuration.plan.clone();
    let (pid_file, log) = match enter(&plan) {
        Ok(entered) => entered,
        Err(error) => return report(readiness, error.as_ref()),
    };
    remarks::of_configuration(&configuration);
    let is_daemon = readiness.is_some();
    let mut outside = Outside { reader, configuration, log, readiness };
    let outcome = server::run(plan, inherited, &mut outside);
    let Outside { log, readiness, .. } = outside;
    // Whoever waits for the start is told too, but where init or cron has started it, nobody reads that.
    if let (Err(error), true) = (&outcome, is_daemon) {
        tracing::error!("{error}");
    }
    // The log's last lines come before the sentence that explains the exit code, and the lock goes last.
    drop(log);
    let code = outcome.map_or_else(|error| report(readiness, &error), |()| ExitCode::SUCCESS);
    drop(pid_file);
    code
}

/// Claims the pid file and opens the log: what can be refused before anything else is done.
fn enter(plan: &ServePlan) -> Result<(Option<PidFile>, telemetry::Log), Box<dyn std::error::Error>> {
    let ProcessPlan { pid_file, user } = &plan.process;
    let user = user.as_ref().map(|name| User::find(&name.user, name.group.as_deref())).transpose()?;
    if let Some(user) = &user {
        user.is_within_reach()?;
    }
    let pid_file = pid_file.as_deref().map(PidFile::take).transpose()?;
    // Whom the server becomes has to be able to open it again.
    let log = telemetry::init(&plan.live.log, user.as_ref())?;
    Ok((pid_file, log))
}

/// Says why the start failed: to whoever waits for it.
fn report(readiness: Option<Readiness>, error: &dyn Display) -> ExitCode {
    match readiness {
        Some(readiness) => {
            readiness.failed(FAILED, &error.to_string());
            ExitCode::from(FAILED)
        }
        None => fail(FAILED, error),
    }
}

/// The world outside of the server.
struct Outside<'a> {
    reader: Reader<'a>,
    /// What the server was started with.
    configuration: Configuration,
    log: telemetry::Log,
    /// Until the server serves, where somebody waits for that.
    readiness: Option<Readiness>,
}

/// Without the file that the server was started with, the defaults would be in force. One that has become a pipe would be
/// waited for by the thread that hears the signals.
fn is_still_there(file: &Path) -> Result<(), String> {
    let refused = |why: &dyn Display| format!("{}, with which the server was started, {why}", file.display());
    match file.metadata().map(|facts| facts.file_type()) {
        _ if log_file::is_a_stream(file) => Err(refused(&"was a stream, which is read only once; start with a file")),
        Ok(kind) if kind.is_file() || kind.is_char_device() => Ok(()),
        Ok(_) => Err(refused(&"is not a file any more")),
        Err(error) => Err(refused(&format_args!("cannot be found: {error}"))),
    }
}

impl Operator for Outside<'_> {
    fn serving(&mut self) {
        if let Some(Err(error)) = self.readiness.take().map(Readiness::serving) {
            tracing::warn!("nobody waits for the server any more: {error}");
        }
        remarks::of_process(&self.configuration);
    }

    fn read_again(&mut self) -> Result<ServePlan, String> {
        if let Some(file) = &self.configuration.file {
            is_still_there(file)?;
        }
        let newer = self.reader.read().map_err(|mistakes| mistakes.to_string())?;
        self.configuration.may_become(&newer).map_err(|error| error.to_string())?;
        apart::check(&newer)?;
        if self.reader.args.daemon {
            leaves_streams_alone(&newer.plan.live.log)?;
        }
        remarks::of_configuration(&newer);
        Ok(newer.plan)
    }

    fn change_log(&mut self, plan: &LogPlan) -> io::Result<()> {
        self.log.change(plan)
    }

    fn log_lost(&self) -> LogLost {
        Box::new(self.log.lost())
    }

    fn reopen_log(&mut self) -> io::Result<()> {
        self.log.reopen()
    }
}
