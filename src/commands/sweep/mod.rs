//! `quintain sweep`.

use std::process::ExitCode;

use super::{FAILED, USAGE, fail, print, say, signals};
use crate::cli::SweepArgs;
use crate::config::Mistakes;
use crate::sweep::plan::Plan;
use crate::sweep::written::{self, Judges, Surroundings, Text, Wishes};

mod ab_texts;
mod cpus;
mod dry_run;
mod installed;
mod obstacles;
mod ours;
mod run;
mod running;
mod watcher;

/// Our own server and the load tool, of which the sweep itself knows nothing.
const JUDGES: Judges = Judges { serve: ours::mistakes, source: obstacles::wrong_source };

/// Measures what a plan asks for, goes on with it, or only says what it would measure.
#[must_use]
pub fn run(args: &SweepArgs) -> ExitCode {
    let around = match Surroundings::of_this_process(JUDGES) {
        Ok(around) => around,
        Err(error) => return fail(FAILED, &format_args!("the working directory is gone: {error}")),
    };
    if let Err(error) = signals::survive_full_files() {
        return fail(FAILED, &format_args!("cannot listen to signals: {error}"));
    }
    if let Some(folder) = &args.resume {
        return run::resume(folder, &around, args.quiet);
    }
    match understand(args, &around) {
        Ok((_, plan)) if args.dry_run => dry_run(&plan, &around),
        Ok((text, plan)) => run::begin(plan, &text.content, args.out.as_deref(), &around, args.quiet),
        Err(mistakes) => {
            for mistake in &mistakes.0 {
                say(mistake);
            }
            ExitCode::from(USAGE)
        }
    }
}

/// From what was typed to a plan of which everybody who has to obey it has said that they can.
fn understand(args: &SweepArgs, around: &Surroundings) -> Result<(Text, Plan), Mistakes> {
    let SweepArgs { plan, repeats, targets, .. } = args;
    let text = Text::find(plan, &around.working)?;
    let wishes = Wishes { repeats: *repeats, targets: targets.clone() };
    let plan = written::read(&text, around, &wishes)?;
    Ok((text, plan))
}

fn dry_run(plan: &Plan, around: &Surroundings) -> ExitCode {
    // A sweep that measures asks for the versions itself, and knocks, and would say it twice.
    let groups = [installed::doubtful(plan), running::absent(plan), obstacles::of(plan, around)];
    print(&dry_run::render(plan, &groups.concat()))
}
