//! Whether our own server would take the arguments that a plan has for it: asked before anything is started, and of those who
//! will read them.

use std::path::Path;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::config::{self, Configuration, Surroundings};
use crate::process::affinity;

/// What is wrong with them, as sentences.
pub(super) fn mistakes(arguments: &[String]) -> Vec<String> {
    configured(arguments).err().unwrap_or_default()
}

/// Connections that may wait on each listener of a server with these arguments, which have been found right.
pub(super) fn backlog(arguments: &[String]) -> Option<u32> {
    configured(arguments).ok().flatten().map(|configuration| configuration.plan.listen.backlog)
}

/// What a server with these arguments would do; nothing where they begin no server.
fn configured(arguments: &[String]) -> Result<Option<Configuration>, Vec<String>> {
    let words = ["quintain", "serve"].into_iter().chain(arguments.iter().map(String::as_str));
    let cli = Cli::try_parse_from(words).map_err(|error| vec![said(&error)])?;
    let Command::Serve(args) = cli.command else { return Ok(None) };
    // What stands in the environment and in ./config.toml is no part of a plan.
    let nothing = args.config.as_deref().unwrap_or(Path::new("/dev/null"));
    let around =
        Surroundings { environment: Vec::new(), folder: "".into(), cpus: affinity::allowed(), memory_bytes: None };
    let loaded = config::load(Some(nothing), &args.flags(), &around);
    loaded.map(Some).map_err(|mistakes| mistakes.0.iter().map(ToString::to_string).collect())
}

/// clap's first sentence, and its tip.
fn said(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    let tip = tip.map_or(String::new(), |tip| format!("; {tip}"));
    format!("{}{tip}", first.strip_prefix("error: ").unwrap_or(first))
}
