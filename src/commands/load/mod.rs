//! `quintain load`.

use std::env;
use std::process::ExitCode;

use super::{fail, say};
use crate::cli::LoadArgs;
use crate::load::campaign::{Campaign, Failed};
use crate::load::target;

mod contradictions;
mod outputs;
mod plan;
mod ready;
mod refusal;
mod requests;
mod results;
mod session;
mod typed;

use super::signals::{self, INTERRUPTED};
use outputs::Outputs;
use plan::Planned;
use refusal::Refusal;

/// Measures, reports, and judges.
#[must_use]
pub fn run(args: &LoadArgs) -> ExitCode {
    measured(args).unwrap_or_else(|refusal| refusal.exit())
}

fn measured(args: &LoadArgs) -> Result<ExitCode, Refusal> {
    contradictions::check(args)?;
    let campaign = campaign(args)?;
    let outputs = Outputs::open(args)?;
    let stop = signals::listen().map_err(|error| Refusal::failed(format_args!("cannot listen to signals: {error}")))?;
    let (made, rows) = session::measure(&campaign, &stop, args.quiet);
    match made {
        Ok(Some(record)) => {
            results::write(&record, rows, args.output, outputs)?;
            let (sentences, code) = results::judge(&record, &campaign.gates);
            sentences.iter().for_each(|sentence| say(sentence));
            Ok(ExitCode::from(code))
        }
        Ok(None) => Ok(fail(INTERRUPTED, &"interrupted before anything was measured")),
        Err(Failed { error, measured }) => {
            // What was measured before it is no less true.
            measured.map_or(Ok(()), |record| results::write(&record, rows, args.output, outputs))?;
            Err(Refusal::failed(error))
        }
    }
}

/// What will be done, checked against what this machine can do.
fn campaign(args: &LoadArgs) -> Result<Campaign, Refusal> {
    let requests = requests::requests(args)?;
    let address = ready::address(args, &requests.host)?;
    let mut planned = plan::plan(args, requests, address, target::cpus())?;
    ready::check(args, &mut planned)?;
    let Planned { plan, sequence, remarks } = planned;
    let campaign = Campaign { plan, sequence, gates: args.fail_if.clone(), command: typed::command(env::args_os()) };
    campaign.check().map_err(Refusal::usage)?;
    if !args.quiet {
        remarks.iter().for_each(|remark| say(remark));
    }
    Ok(campaign)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::cli::{Cli, Command, LoadArgs};

    /// The arguments of `quintain load` from words that can be typed.
    pub fn args(words: &[&str]) -> LoadArgs {
        let cli = Cli::try_parse_from(["quintain", "load"].iter().chain(words)).unwrap();
        let Command::Load(args) = cli.command else { panic!("not load") };
        *args
    }
}
