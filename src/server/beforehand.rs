//! What a start would refuse, found without starting: nothing is bound to the port that is meant, nothing is made.

use super::listen;
use super::{ADMIN_DOOR, ServerError, access_log, model, room};
use crate::config::plan::{AdminPlan, ServePlan};
use crate::process::activation::Inherited;
use crate::process::user::User;

/// All that a start with this plan and these sockets would refuse, as far as a look can tell. A log is looked at for `heir` too,
/// whom the server would become. The folder is left to whoever can look at it as that user.
#[must_use]
pub fn look(plan: &ServePlan, inherited: &[Inherited], heir: Option<&User>) -> Vec<ServerError> {
    let ServePlan { listen, threads, process: _, admin: AdminPlan { listen: admin }, live } = plan;
    let mut findings: Vec<ServerError> = Vec::new();
    findings.extend(room(&model::shape(threads), listen, inherited.len()).err().map(Into::into));
    let for_admin = inherited.iter().filter(|door| door.name == ADMIN_DOOR).count();
    if for_admin > 1 {
        findings.push(ServerError::AdminDoors(for_admin));
    }
    // Addresses that nobody will listen on may be anything.
    if inherited.len() == for_admin {
        findings.extend(listen::look(listen).into_iter().map(Into::into));
    }
    if let (Some(address), 0) = (admin, for_admin) {
        findings.extend(listen::look_at_admin(address).err().map(Into::into));
    }
    findings.extend(access_log::look(&live.log.access, heir).err().map(ServerError::AccessLog));
    findings
}
