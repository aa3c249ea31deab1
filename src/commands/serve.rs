//! `quintain serve`.

use std::process::ExitCode;

use super::{FAILED, USAGE, fail, print, say};
use crate::cli::ServeArgs;
use crate::config::plan::{Root, SitePlan};
use crate::config::{self, Configuration, Surroundings};
use crate::site::{Site, SiteError};
use crate::{server, telemetry};

/// Serves until told to stop, or checks the configuration.
#[must_use]
pub fn run(args: &ServeArgs) -> ExitCode {
    match config::load(args.config.as_deref(), &args.flags(), &Surroundings::of_this_process()) {
        Ok(configuration) if args.check => check(&configuration),
        Ok(Configuration { plan, .. }) => {
            let log = match telemetry::init(plan.log.level, plan.log.format) {
                Ok(log) => log,
                Err(error) => return fail(FAILED, &error),
            };
            let outcome = server::run(plan);
            // The log's last lines come before the sentence that explains the exit code.
            drop(log);
            outcome.map_or_else(|error| fail(FAILED, &error), |()| ExitCode::SUCCESS)
        }
        Err(mistakes) => {
            for mistake in &mistakes.0 {
                say(mistake);
            }
            ExitCode::from(USAGE)
        }
    }
}

/// The listing comes first: it says where the name of a missing folder comes from.
fn check(configuration: &Configuration) -> ExitCode {
    let printed = print(&configuration.listing());
    open_folder(&configuration.plan.site).map_or_else(|error| fail(FAILED, &error), |()| printed)
}

/// Opens the folder as serving would. The bundled documents need none.
fn open_folder(plan: &SitePlan) -> Result<(), SiteError> {
    match &plan.root {
        Root::Folder(folder) => Site::open(folder, plan).map(drop),
        Root::Bundled(folder) if folder.is_dir() => Site::open(folder, plan).map(drop),
        Root::Bundled(_) => Ok(()),
    }
}
