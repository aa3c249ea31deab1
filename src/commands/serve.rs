//! `quintain serve`.

use std::path::Path;
use std::process::ExitCode;

use super::{FAILED, USAGE, fail, print, say};
use crate::cli::ServeArgs;
use crate::config::plan::{Root, SitePlan};
use crate::config::{self, Configuration, Surroundings};
use crate::process::{affinity, cgroup};
use crate::site::{Site, SiteError};
use crate::{server, telemetry};

/// Serves until told to stop, or checks the configuration.
#[must_use]
pub fn run(args: &ServeArgs) -> ExitCode {
    match config::load(args.config.as_deref(), &args.flags(), &surroundings()) {
        Ok(configuration) if args.check => check(&configuration),
        Ok(Configuration { plan, bounded, .. }) => {
            let log = match telemetry::init(plan.log.level, plan.log.format) {
                Ok(log) => log,
                Err(error) => return fail(FAILED, &error),
            };
            if let Some(bounded) = bounded {
                tracing::warn!("{bounded}");
            }
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

/// What this process finds. Not `available_parallelism`: it rounds a quota of one CPU and a half down to one worker.
fn surroundings() -> Surroundings {
    let held = cgroup::Held::read(Path::new("/"));
    Surroundings::of_this_process(held.workers(affinity::allowed()), held.memory_bytes.map(|limit| limit.value))
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
