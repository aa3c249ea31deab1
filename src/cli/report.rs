//! What may be typed after `quintain report`.

use std::path::PathBuf;

use clap::Args;

const REPORT_HELP: &str = "\
One folder is reported: report.html for people, summary.md for documents, summary.csv and summary.json for programs, and the
short form on stdout. A sweep that did not end is reported as far as it came.

Examples:
  quintain report results/quick-20261201-114400
  quintain report --charts --out docs/result results/quick-20261201-114400";

/// What may be typed after `quintain report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub struct ReportArgs {
    /// Folder of a sweep
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Write into this folder, which is made if it is not there [default: DIR]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Write each chart as a picture of its own, too: charts/*.svg, and summary.md shows them
    #[arg(long)]
    pub charts: bool,
}
