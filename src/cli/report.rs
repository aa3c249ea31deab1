//! What may be typed after `quintain report`.

use std::path::PathBuf;

use clap::Args;

const REPORT_HELP: &str = "\
One folder is reported: report.html for people, summary.md for documents, summary.csv and summary.json for programs, and the
short form on stdout. A sweep that did not end is reported as far as it came.

Two folders are compared, the first one being what was before: a kernel, a version, a setting. comparison.html is
written into the second one.

Examples:
  quintain report results/quick-20261201-114400
  quintain report --charts --out docs/result results/quick-20261201-114400
  quintain report results/before results/after";

/// What may be typed after `quintain report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub struct ReportArgs {
    /// Folder of a sweep
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Folder of a later one: the two are compared
    #[arg(value_name = "DIR2")]
    pub other: Option<PathBuf>,

    /// Write into this folder, which is made if it is not there [default: the last folder]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Write charts as pictures of their own, too: charts/*.svg, which summary.md shows
    #[arg(long)]
    pub charts: bool,
}
