//! `quintain sweep`.

use std::process::ExitCode;

use super::{FAILED, USAGE, fail, print, say};
use crate::cli::SweepArgs;
use crate::config::Mistakes;
use crate::sweep::written::{self, Surroundings, Text, Understood, Wishes};

mod dry_run;
mod obstacles;
mod ours;

/// Says what a plan would measure.
#[must_use]
pub fn run(args: &SweepArgs) -> ExitCode {
    let around = match Surroundings::of_this_process() {
        Ok(around) => around,
        Err(error) => return fail(FAILED, &format_args!("the working directory is gone: {error}")),
    };
    match understand(args, &around) {
        Ok(understood) => dry_run(&understood, &around),
        Err(mistakes) => {
            for mistake in &mistakes.0 {
                say(mistake);
            }
            ExitCode::from(USAGE)
        }
    }
}

/// From what was typed to a plan of which everybody who has to obey it has said that they can.
fn understand(args: &SweepArgs, around: &Surroundings) -> Result<Understood, Mistakes> {
    let SweepArgs { plan, dry_run: _, repeats, targets } = args;
    let text = Text::find(plan, &around.working)?;
    let wishes = Wishes { repeats: *repeats, targets: targets.clone() };
    let understood = written::read(&text, around, &wishes)?;
    let mistakes: Vec<_> =
        ours::mistakes(&understood).into_iter().chain(obstacles::wrong_source(&understood)).collect();
    if mistakes.is_empty() { Ok(understood) } else { Err(Mistakes(mistakes)) }
}

fn dry_run(understood: &Understood, around: &Surroundings) -> ExitCode {
    print(&dry_run::render(&understood.plan, &obstacles::of(&understood.plan, around)))
}
