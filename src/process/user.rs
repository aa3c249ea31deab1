//! Becoming another user after what only root may do is done: a port below 1024, a log file in /var/log.

use std::fmt;
use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::unistd::{self, Gid, Group, Uid};
use rustix::fs::{AtFlags, chownat};
use rustix::process::{parent_process_death_signal, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, capabilities};

/// A user of this machine.
#[derive(Debug, Clone)]
pub struct User {
    uid: Uid,
    gid: Gid,
    /// Name by which the supplementary groups are found; `None` for a bare number, which has no others.
    name: Option<String>,
}

/// Why the server cannot become that user.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    /// Nobody has that name.
    #[error("there is no {0} {1:?} on this machine; see `getent passwd` and `getent group`, or give numbers")]
    Unknown(&'static str, String),
    /// A number alone says nothing of a group.
    #[error("the user {0} has no entry in the password file, so its group must be said: {0}:GROUP")]
    NoGroup(String),
    /// The kernel left rights of root behind.
    #[error(
        "as the user {0} the process would still have capabilities, because securebits or ambient capabilities keep them; start \
         it without these (setpriv --securebits, --ambient-caps), or leave --user away"
    )]
    StillPrivileged(String),
    /// The kernel refuses.
    #[error("cannot become the user {0}: {1}; only root can: start as root, or leave --user away")]
    Refused(String, Errno),
    /// The name service does not answer.
    #[error("cannot look up the user {0}: {1}")]
    Lookup(String, Errno),
}

impl User {
    /// Finds a user, and the group that is said or else the user's own. Numbers may stand in the place of names, and need not
    /// be known here: a container has no password file.
    pub fn find(user: &str, group: Option<&str>) -> Result<Self, UserError> {
        let lookup = |error| UserError::Lookup(user.to_owned(), error);
        let number = user.parse().ok().map(Uid::from_raw);
        let known = match number {
            Some(uid) => unistd::User::from_uid(uid).map_err(lookup)?,
            None => unistd::User::from_name(user).map_err(lookup)?,
        };
        let gid = match group {
            Some(group) => Some(find_group(group).map_err(lookup)?.ok_or_else(|| UserError::unknown("group", group))?),
            None => known.as_ref().map(|known| known.gid),
        };
        let uid = known.as_ref().map(|known| known.uid).or(number).ok_or_else(|| UserError::unknown("user", user))?;
        let gid = gid.ok_or_else(|| UserError::NoGroup(user.to_owned()))?;
        Ok(Self { uid, gid, name: known.map(|known| known.name) })
    }
}

impl UserError {
    fn unknown(what: &'static str, name: &str) -> Self {
        Self::Unknown(what, name.to_owned())
    }
}

fn find_group(name: &str) -> Result<Option<Gid>, Errno> {
    match name.parse() {
        Ok(number) => Ok(Some(Gid::from_raw(number))),
        Err(_) => Ok(Group::from_name(name)?.map(|group| group.gid)),
    }
}

impl User {
    /// Becomes this user, for good and in all threads: the C library sees to the latter, where the system calls of
    /// rustix would change the calling thread alone. Groups go first, because nobody but root may change them. Whoever is that user
    /// already stays as he is.
    pub fn become_this(&self) -> Result<(), UserError> {
        if self.is_this_process() {
            return Ok(());
        }
        self.change().map_err(|error| UserError::Refused(self.to_string(), error))?;
        let keeps_any = capabilities(None).is_ok_and(|sets| !(sets.effective | sets.permitted).is_empty());
        if keeps_any && !self.uid.is_root() { Err(UserError::StillPrivileged(self.to_string())) } else { Ok(()) }
    }

    /// Whether the process is this user already, with no way back to another one. Root that is to become root still has groups
    /// to leave.
    #[must_use]
    pub fn is_this_process(&self) -> bool {
        let uids = unistd::getresuid().map(|ids| [ids.real, ids.effective, ids.saved]);
        let gids = unistd::getresgid().map(|ids| [ids.real, ids.effective, ids.saved]);
        uids == Ok([self.uid; 3]) && gids == Ok([self.gid; 3]) && !self.uid.is_root()
    }

    /// Says whether the process could become this user, before anything is opened for him.
    pub fn is_within_reach(&self) -> Result<(), UserError> {
        let needed = CapabilitySet::SETUID | CapabilitySet::SETGID;
        // Where nobody says what the process may do, becoming the user will.
        let may = capabilities(None).map_or(true, |sets| sets.effective.contains(needed));
        if may || self.is_this_process() { Ok(()) } else { Err(UserError::Refused(self.to_string(), Errno::EPERM)) }
    }

    /// Whether a file of that user's is this one's.
    #[must_use]
    pub fn has_id(&self, uid: u32) -> bool {
        self.uid.as_raw() == uid
    }

    fn change(&self) -> Result<(), Errno> {
        // With another user the kernel forgets whose end is this process's end (prctl(2)).
        let at_parents_end = parent_process_death_signal();
        match self.name.as_deref().map(std::ffi::CString::new) {
            Some(Ok(name)) => unistd::initgroups(&name, self.gid)?,
            _ => unistd::setgroups(&[self.gid])?,
        }
        unistd::setgid(self.gid)?;
        unistd::setuid(self.uid)?;
        if let Ok(Some(signal)) = at_parents_end {
            // It fails for no signal that there is.
            let _ = set_parent_process_death_signal(Some(signal));
        }
        Ok(())
    }

    /// Makes this user the owner of a file, so that the file can be opened again later. It may be open as a place only
    /// (O_PATH), which fchown(2) does not take.
    pub fn own(&self, file: impl AsFd) -> io::Result<()> {
        let (uid, gid) = (rustix::fs::Uid::from_raw(self.uid.as_raw()), rustix::fs::Gid::from_raw(self.gid.as_raw()));
        Ok(chownat(file, "", Some(uid), Some(gid), AtFlags::EMPTY_PATH)?)
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "{}:{}", self.uid, self.gid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_and_by_number() {
        let root = User::find("root", None).unwrap();
        assert!(root.uid.is_root() && root.gid.as_raw() == 0 && root.name.as_deref() == Some("root"));
        assert!(User::find("0", None).unwrap().uid.is_root());
        let numbers = User::find("4294900000", Some("4294900001")).unwrap();
        assert_eq!((numbers.uid.as_raw(), numbers.gid.as_raw(), numbers.name), (4_294_900_000, 4_294_900_001, None));
    }

    #[test]
    fn who_does_not_exist_is_named() {
        for (user, group, words) in [
            ("no-such-user", None, "no user \"no-such-user\""),
            ("root", Some("no-such-group"), "no group \"no-such-group\""),
            ("4294900000", None, "4294900000:GROUP"),
        ] {
            let error = User::find(user, group).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
