//! Whether those targets that should run already are there, as far as a connect and their pid files tell. A sweep that measures
//! finds out by asking for a document.

use std::path::Path;
use std::time::Duration;

use crate::commands::question;
use crate::load::url::Url;
use crate::sweep::plan::{How, Plan};
use crate::sweep::target::running_process;

/// Longest wait for each of them.
const WITHIN: Duration = Duration::from_secs(1);

/// Who does not answer, and whose processes nobody will see.
pub(super) fn absent(plan: &Plan) -> Vec<String> {
    let mut says = Vec::new();
    for target in &plan.targets {
        let How::Running { url, pid_file } = &target.how else { continue };
        let found = silent(url).into_iter().chain(pid_file.as_deref().and_then(unwatched));
        says.extend(found.map(|found| format!("target {}: {found}", target.name)));
    }
    says
}

fn silent(url: &str) -> Option<String> {
    let error = match Url::parse(url) {
        Ok(url) => question::connect(&url, WITHIN).err()?.to_string(),
        Err(error) => error.to_string(),
    };
    Some(format!("{url} cannot be connected to ({error}). If it does not run by then, the target will be left out."))
}

fn unwatched(file: &Path) -> Option<String> {
    let shown = file.display();
    let what = match (file.exists(), running_process(file)) {
        (_, Some(_)) => return None,
        (false, None) => format!("there is no pid_file {shown}"),
        (true, None) => format!("its pid_file {shown} names no process that can be watched"),
    };
    Some(format!("{what}, and what it takes of the machine will not be known."))
}
