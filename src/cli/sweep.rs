//! What may be typed after `quintain sweep`.

use std::path::PathBuf;

use clap::Args;

use crate::sweep::shipped;

const SWEEP_HELP: &str = "\
PLAN is a file (its name ends in .toml or has a slash in it), or one of the plans that are built in; docs/sweep.md says
how plans are written.

A sweep that was interrupted, or whose machine or disk gave up, has lost nothing that was measured: --resume goes on, with
the plan, the repeats and the targets that it was begun with. Other ones are another sweep, so that PLAN, --repeats, --targets,
--out and --dry-run cannot stand beside it.
Exit codes: 0 measured   1 could not, or nobody was left to measure   2 command line or plan   130 interrupted

Examples:
  quintain sweep                                      measures the usual plan
  quintain sweep plans/mine.toml --out results/mine
  quintain sweep --resume results/mine                goes on with it
  quintain sweep --dry-run                            what the usual plan would measure
  quintain sweep --dry-run plans/quick.toml";

/// What may be typed after `quintain sweep`.
#[derive(Debug, Args)]
#[command(
    after_help = SWEEP_HELP,
    override_usage = "quintain sweep [OPTIONS] [PLAN]\n       quintain sweep --resume <DIR> [--quiet]"
)]
pub struct SweepArgs {
    /// What is measured: a file, or the name of a plan that is built in
    #[arg(value_name = "PLAN", default_value = shipped::USUAL)]
    pub plan: String,

    /// Measure nothing: print the measurements, their number, the time that they will take, and what this machine cannot do
    #[arg(long)]
    pub dry_run: bool,

    /// Measure each cell so many times [default: as the plan has it]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub repeats: Option<u64>,

    /// Measure only these targets of the plan
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    pub targets: Vec<String>,

    /// Folder for the results, empty or not there yet [default: results/PLAN-TIME]
    #[arg(short = 'o', long, value_name = "DIR", conflicts_with = "dry_run")]
    pub out: Option<PathBuf>,

    /// Go on with the sweep that was begun in this folder, as it was begun: what is measured there stays
    #[arg(long, value_name = "DIR", conflicts_with_all = ["plan", "dry_run", "repeats", "targets", "out"])]
    pub resume: Option<PathBuf>,

    /// No progress and no remarks on stderr
    #[arg(short = 'q', long)]
    pub quiet: bool,
}
