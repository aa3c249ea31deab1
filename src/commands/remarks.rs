//! What a server may do and whoever starts it should know: one WARN each in the log. What is a mistake is refused (`apart.rs`).

use std::fs;
use std::path::{Component, Path};

use crate::config::Configuration;
use crate::config::plan::{ProcessPlan, Root, SitePlan};

/// When it serves: a start that fails has something else to say.
pub(super) fn of_process(configuration: &Configuration) {
    let ProcessPlan { pid_file: _, user } = &configuration.plan.process;
    if user.is_none() && rustix::process::geteuid().is_root() {
        tracing::warn!("the server stays root, and opens documents as root may; name another user with --user NAME");
    }
}

/// At the start and at each reload.
pub(super) fn of_configuration(configuration: &Configuration) {
    // The caches may be smaller than somebody wrote.
    if let Some(bounded) = configuration.bounded {
        tracing::warn!("{bounded}");
    }
    if let Some(file) = &configuration.file
        && is_document(file, &configuration.plan.live.site)
    {
        tracing::warn!(
            "the configuration {} is in the folder that is served, and given to whoever asks for it; \
             put it elsewhere and name it with --config",
            file.display()
        );
    }
}

/// Whether a file is served, by its real name: no link leads out of the root.
fn is_document(file: &Path, site: &SitePlan) -> bool {
    let (Root::Folder(root) | Root::Bundled(root)) = &site.root;
    let (Ok(file), Ok(root)) = (fs::canonicalize(file), fs::canonicalize(root)) else { return false };
    file.strip_prefix(root).is_ok_and(|below| site.hidden || !below.components().any(is_hidden))
}

fn is_hidden(component: Component<'_>) -> bool {
    component.as_os_str().as_encoded_bytes().starts_with(b".")
}
