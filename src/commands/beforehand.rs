//! `serve --check`: what would count, and what a start in this place, by this user, would refuse.
//!
//! A look makes nothing and takes nothing, so that it can be had beside the running server whose next start or reload it is
//! about. For that reason it does not see a port or a pid file that is taken.

use std::process::ExitCode;

use super::serve::leaves_streams_alone;
use super::{FAILED, USAGE, apart, fail, print, say};
use crate::config::Configuration;
use crate::config::plan::{ProcessPlan, Root, ServePlan, SitePlan, UserName};
use crate::process::activation::Inherited;
use crate::process::pid_file::PidFile;
use crate::process::user::{User, UserError};
use crate::server;
use crate::site::{Site, SiteError};
use crate::telemetry;

/// Prints the listing first: it says where the name of a missing folder comes from. Then all findings, a line each.
pub(super) fn check(configuration: &Configuration, inherited: &[Inherited], in_background: bool) -> ExitCode {
    let printed = print(&configuration.listing());
    if let Err(sentence) = apart::check(configuration) {
        return fail(USAGE, &sentence);
    }
    if in_background && let Err(sentence) = leaves_streams_alone(&configuration.plan.live.log) {
        return fail(USAGE, &sentence);
    }
    let findings = findings(&configuration.plan, inherited);
    findings.iter().for_each(|finding| say(finding));
    if findings.is_empty() { printed } else { ExitCode::from(FAILED) }
}

/// In the order in which a start would meet them.
fn findings(plan: &ServePlan, inherited: &[Inherited]) -> Vec<String> {
    let ProcessPlan { pid_file, user } = &plan.process;
    let mut findings = Vec::new();
    let heir = heard(user.as_ref().map(find).transpose(), &mut findings).flatten();
    let taken = pid_file.as_deref().map(PidFile::could_be_taken).transpose();
    heard(taken, &mut findings);
    heard(telemetry::look(&plan.live.log, heir.as_ref()), &mut findings);
    findings.extend(server::beforehand::look(plan, inherited, heir.as_ref()).iter().map(ToString::to_string));
    // Last of all, because there is no way back: the folder is opened by whom the server would become.
    if heard(heir.map_or(Ok(()), |user| user.become_this()), &mut findings).is_some() {
        heard(open_folder(&plan.live.site), &mut findings);
    }
    findings
}

/// What came of it, with the error among the findings.
fn heard<T, E: ToString>(outcome: Result<T, E>, findings: &mut Vec<String>) -> Option<T> {
    outcome.map_err(|error| findings.push(error.to_string())).ok()
}

fn find(name: &UserName) -> Result<User, UserError> {
    let user = User::find(&name.user, name.group.as_deref())?;
    user.is_within_reach().map(|()| user)
}

/// Opens the folder as serving would. The bundled documents need none.
fn open_folder(plan: &SitePlan) -> Result<(), SiteError> {
    match &plan.root {
        Root::Folder(folder) => Site::open(folder, plan).map(drop),
        Root::Bundled(folder) if folder.is_dir() => Site::open(folder, plan).map(drop),
        Root::Bundled(_) => Ok(()),
    }
}
