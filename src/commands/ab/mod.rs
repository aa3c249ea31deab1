//! `quintain ab`, and this program called as `ab`: ApacheBench 2.4's face on the load tool's engine.
//!
//! What is on stdout is ab's to the letter; stderr has ab's lines, and ours behind `quintain:`. What differs on purpose:
//! a failed request is in one class, and `-r` goes on after timeouts too; a kept connection that the server closed between
//! two requests is no failure; `-s` is for each request; files that cannot be written are found out before the run; the
//! heads of `-v 2` are shown after the run, without the first bytes of the body; and numbers are numbers, where ab takes
//! `-n 10k` for 10.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use self::failure::Failure;
use self::heartbeat::Heartbeat;
use self::request::WrongUrl;
use super::console::{put, tell};
use super::signals;
use crate::cli::ab::{self as typed, AbArgs, AbCall, TableAttributes};
use crate::load::plan::Plan;
use crate::load::target::HostPort;
use crate::load::url::Url;
use crate::load::{self, Measured};
use crate::record::Run;
use crate::report::{Proxy, ab, ab_chatter, ab_html, percentiles_csv, rows_tsv};

mod failure;
mod heartbeat;
mod plan;
mod ready;
mod request;
mod said;

/// Exit code of a run that was interrupted.
const INTERRUPTED: u8 = 1;

/// Does what the words after the program's name ask for.
#[must_use]
pub fn run(program: &str, words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let ended = match typed::parse(words) {
        Ok(AbCall::Version { html }) => banner(html).map(|()| ExitCode::SUCCESS),
        Ok(AbCall::Run(args)) => Call::prepare(program, *args).and_then(Call::run),
        Err(mistake) => Err(Failure::of_typing(program, &mistake)),
    };
    ended.unwrap_or_else(|Failure { code, said }| {
        tell(&said);
        ExitCode::from(code)
    })
}

fn banner(html: bool) -> Result<(), Failure> {
    Ok(put(&if html { ab_chatter::html_banner() } else { ab_chatter::banner() })?)
}

/// A call of which everything is at hand that can be found out without the network.
struct Call {
    args: AbArgs,
    url: Url,
    proxy: Option<HostPort>,
    body: Vec<u8>,
    csv: Option<File>,
    gnuplot: Option<File>,
}

impl Call {
    fn prepare(program: &str, args: AbArgs) -> Result<Self, Failure> {
        let url = request::url(&args.url).map_err(|wrong| match wrong {
            WrongUrl::Invalid => Failure::usage(program, "invalid URL"),
            WrongUrl::Tls(error) => Failure::sentence(failure::ERROR, format_args!("{program}: {error}")),
        })?;
        let proxy = args.proxy.as_deref().map(str::parse).transpose();
        let proxy = proxy.map_err(|error| Failure::usage(program, &format!("-X: {error}")))?;
        let body = args.body.as_ref().map(|path| fs::read(path).map_err(|error| Failure::body(path, &error)));
        let body = body.transpose()?.unwrap_or_default();
        let csv = args.csv.as_deref().map(|path| open("CSV", path)).transpose()?;
        let gnuplot = args.gnuplot.as_deref().map(|path| open("gnuplot", path)).transpose()?;
        Ok(Self { args, url, proxy, body, csv, gnuplot })
    }

    fn run(self) -> Result<ExitCode, Failure> {
        let mut heartbeat = Heartbeat::new(self.args.requests, self.args.quiet);
        self.announce(&heartbeat)?;
        let plan = self.plan()?;
        if self.args.verbosity >= 2 {
            put(&said::request(&plan.requests[0]))?;
        }
        let stop = signals::listen().map_err(|error| Failure::sentence(failure::ERROR, error))?;
        let measured = load::run(&plan, &stop, &mut |progress| tell(&heartbeat.due(progress.ended)));
        let measured = measured.map_err(|error| Failure::sentence(failure::ERROR, error))?;
        self.report(measured, heartbeat, &plan)
    }

    fn announce(&self, heartbeat: &Heartbeat) -> Result<(), Failure> {
        banner(self.args.html.is_some())?;
        if self.args.html.is_none() {
            let proxy = self.proxy.clone().map(|HostPort { host, port }| Proxy { host, port });
            put(&ab_chatter::benchmarking(&self.url.host, proxy.as_ref(), heartbeat.every))?;
        }
        Ok(())
    }

    fn plan(&self) -> Result<Plan, Failure> {
        let sources = Vec::from_iter(self.args.source.as_deref().map(ready::source).transpose()?);
        let host = HostPort { host: self.url.host.clone(), port: self.url.port };
        let address = ready::address(self.proxy.as_ref().unwrap_or(&host), &sources)?;
        let plan = plan::plan(&self.args, &self.url, &self.body, address, sources);
        ready::check(&plan, address)?;
        Ok(plan)
    }

    fn report(self, measured: Measured, mut heartbeat: Heartbeat, plan: &Plan) -> Result<ExitCode, Failure> {
        let Measured { run, rows, heads } = measured;
        let over = run.endings.all() - run.endings.aborted;
        tell(&heartbeat.due(over));
        put(&said::heads(&heads, self.args.verbosity))?;
        if let Some(Failure { code, said }) = Failure::of_run(&run, plan.end.fatal) {
            tell(&said);
            let fatal: u64 = plan.end.fatal.iter().map(|outcome| run.endings.of(*outcome)).sum();
            if over > fatal {
                put(&ab_chatter::total_completed(over - fatal))?;
            }
            return Ok(ExitCode::from(code));
        }
        match heartbeat.every {
            _ if run.interrupted => {}
            Some(_) => tell(&ab_chatter::finished(over)),
            None => put(ab_chatter::DONE)?,
        }
        put(&self.text(&run)?)?;
        if let Some(file) = &self.csv {
            write("CSV", file, |out| percentiles_csv::write(out, &run.latency.total))?;
        }
        if let Some((file, rows)) = self.gnuplot.as_ref().zip(rows) {
            write("gnuplot", file, |out| rows_tsv::write(out, rows))?;
        }
        if !self.args.quiet {
            tell(&said::doubts(&run.verdict));
        }
        Ok(if run.interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
    }

    fn text(&self, run: &Run) -> Result<String, Failure> {
        let AbArgs { keep_alive, variable_length, percentiles, confidence, body, html, .. } = &self.args;
        let options = ab::Options {
            keep_alive: *keep_alive,
            variable_length: *variable_length,
            no_percentages: !percentiles,
            no_medians: !confidence,
            body_sent: body.is_some(),
        };
        // ab answers an interrupt as text whatever was asked for.
        let text = match html.clone().filter(|_| !run.interrupted) {
            None => ab::render(run, &options),
            Some(TableAttributes { table, row, cell }) => {
                ab_html::render(run, &options, &ab_html::Attributes { table, row, cell })
            }
        };
        text.map_err(|error| Failure::sentence(failure::ERROR, error))
    }
}

/// What stands in the file stays until there is something new.
fn open(what: &str, path: &Path) -> Result<File, Failure> {
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
    opened.map_err(|error| Failure::output("open", what, &error))
}

fn write(what: &str, file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    replace(file, write).map_err(|error| Failure::output("write", what, &error))
}

fn replace(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A pipe or a terminal has no length to cut.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()
}
