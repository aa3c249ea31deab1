//! Whether our own server would take the arguments that a plan has for it: asked before anything is started, and of those who
//! will read them.

use std::path::Path;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::config::{self, Mistake, Surroundings};
use crate::process::affinity;
use crate::sweep::plan::{How, TargetPlan};
use crate::sweep::written::Understood;

/// What is wrong with the arguments of each target.
pub(super) fn mistakes(understood: &Understood) -> Vec<Mistake> {
    let of_target = |target: &TargetPlan| {
        let How::Ours { arguments } = &target.how else { return Vec::new() };
        let place = understood.place(&target.name).to_owned();
        let says = check(arguments).err().unwrap_or_default();
        says.into_iter().map(|says| Mistake { place: place.clone(), says: format!("target.serve: {says}") }).collect()
    };
    understood.plan.targets.iter().flat_map(of_target).collect()
}

fn check(arguments: &[String]) -> Result<(), Vec<String>> {
    let words = ["quintain", "serve"].into_iter().chain(arguments.iter().map(String::as_str));
    let cli = Cli::try_parse_from(words).map_err(|error| vec![said(&error)])?;
    let Command::Serve(args) = cli.command else { return Ok(()) };
    // What stands in the environment and in ./config.toml is no part of a plan.
    let nothing = args.config.as_deref().unwrap_or(Path::new("/dev/null"));
    let around =
        Surroundings { environment: Vec::new(), folder: "".into(), cpus: affinity::allowed(), memory_bytes: None };
    let loaded = config::load(Some(nothing), &args.flags(), &around);
    loaded.map(drop).map_err(|mistakes| mistakes.0.iter().map(ToString::to_string).collect())
}

/// clap's first sentence, and its tip.
fn said(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    let tip = tip.map_or(String::new(), |tip| format!("; {tip}"));
    format!("{}{tip}", first.strip_prefix("error: ").unwrap_or(first))
}
