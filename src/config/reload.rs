//! What may change while the server runs, and what cannot.

use std::fmt;

use super::Configuration;
use super::layers::Origin;
use super::settings::Settings;

/// Settings that are used up when the server starts: sockets, threads, and what the process itself is.
const AT_START: &[&str] = &[
    "server.listen",
    "server.model",
    "server.workers",
    "server.max_threads",
    "server.stack_size",
    "server.affinity",
    "server.backlog",
    "server.share_port",
    "socket.nodelay",
    "socket.defer_accept",
    "socket.send_buffer",
    "socket.congestion",
    "process.pid_file",
    "process.user",
    "admin.listen",
];

/// Settings that were changed and cannot be while the server runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot change while the server runs; restart it, or set back what it had", listed(.0))]
pub struct NeedsRestart(pub Vec<Change>);

/// One of them: what it was and would be, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The setting, `server.backlog` for example.
    pub key: &'static str,
    new: String,
    old: String,
    /// Where the new value comes from.
    place: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, new, old, place } = self;
        write!(f, "{key} = {new} ({place}; it was {old})")
    }
}

fn listed(changes: &[Change]) -> String {
    let words: Vec<_> = changes.iter().map(Change::to_string).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

impl Configuration {
    /// Whether a running server can go over from this configuration to `newer`.
    pub fn may_become(&self, newer: &Self) -> Result<(), NeedsRestart> {
        let (old, new) = (self.merged.settings.values(), newer.merged.settings.values());
        let changed = Settings::KEYS.iter().zip(old.iter().zip(&new)).filter(|(_, (old, new))| old != new);
        let fixed = changed.filter(|(key, _)| AT_START.contains(key)).map(|(key, (old, new))| Change {
            key,
            new: new.to_string(),
            old: format!("{old}{}", self.by_profile(key)),
            place: newer.place(key),
        });
        let fixed: Vec<_> = fixed.collect();
        if fixed.is_empty() { Ok(()) } else { Err(NeedsRestart(fixed)) }
    }

    /// Nobody finds a setting in a file that only the name of a profile stands in.
    fn place(&self, key: &str) -> String {
        match self.merged.origin(key) {
            origin @ Origin::Profile(_) => format!("{origin}, from {}", self.merged.origin("server.profile")),
            origin => origin.to_string(),
        }
    }

    fn by_profile(&self, key: &str) -> String {
        match self.merged.origin(key) {
            origin @ Origin::Profile(_) => format!(", by {origin}"),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::super::{Flag, Surroundings, load};
    use super::*;

    fn with(changes: &[(&str, &str)]) -> Configuration {
        let folder = tempfile::tempdir().unwrap();
        let cpus = NonZeroUsize::new(2).unwrap();
        let around = Surroundings { environment: vec![], folder: folder.path().into(), cpus, memory_bytes: None };
        let flags: Vec<_> = changes.iter().map(|(key, text)| Flag::new("--set", key, text)).collect();
        load(None, &flags, &around).map_err(|mistakes| mistakes.to_string()).unwrap()
    }

    #[test]
    fn every_name_in_the_list_is_a_setting() {
        assert!(AT_START.iter().all(|key| Settings::KEYS.contains(key)));
    }

    #[test]
    fn what_the_start_used_up_cannot_change() {
        let old = with(&[]);
        assert_eq!(old.may_become(&with(&[("headers.server", "new"), ("limits.head_bytes", "32k")])), Ok(()));
        let says = |changes| old.may_become(&with(changes)).unwrap_err().to_string();
        assert_eq!(
            says(&[("server.workers", "2"), ("headers.server", "new")]),
            "server.workers = 2 (--set; it was \"auto\") cannot change while the server runs; restart it, or set back what it had"
        );
        let three = says(&[("server.workers", "2"), ("socket.nodelay", "false"), ("admin.listen", "0")]);
        assert!(three.contains("), socket.nodelay = false (--set; it was true) and admin.listen = "), "{three}");
    }

    /// The line said `server.model`, which stands in no file: the profile brings it along, and may be taken back.
    #[test]
    fn a_profile_is_named_with_its_place() {
        let (none, netty) = (with(&[]), with(&[("server.profile", "netty")]));
        let says = |old: &Configuration, new: &Configuration| old.may_become(new).unwrap_err().0[0].to_string();
        assert_eq!(
            says(&none, &netty),
            "server.model = \"boss-worker\" (profile netty, from --set; it was \"event-loop\")"
        );
        assert_eq!(
            says(&netty, &none),
            "server.model = \"event-loop\" (default; it was \"boss-worker\", by profile netty)"
        );
    }
}
