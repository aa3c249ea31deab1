//! What may change while the server runs, and what cannot.

use super::Configuration;
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
pub struct NeedsRestart(pub Vec<&'static str>);

fn listed(keys: &[&str]) -> String {
    match keys {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

impl Configuration {
    /// Whether a running server can go over from this configuration to `newer`.
    pub fn may_become(&self, newer: &Self) -> Result<(), NeedsRestart> {
        let (old, new) = (self.merged.settings.values(), newer.merged.settings.values());
        let changed = Settings::KEYS.iter().zip(old.iter().zip(&new)).filter(|(_, (old, new))| old != new);
        let fixed: Vec<_> = changed.map(|(key, _)| *key).filter(|key| AT_START.contains(key)).collect();
        if fixed.is_empty() { Ok(()) } else { Err(NeedsRestart(fixed)) }
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
            "server.workers cannot change while the server runs; restart it, or set back what it had"
        );
        assert!(
            says(&[("server.workers", "2"), ("socket.nodelay", "false"), ("admin.listen", "0")])
                .starts_with("server.workers, socket.nodelay and admin.listen cannot change")
        );
        // A profile brings an I/O model along.
        assert_eq!(old.may_become(&with(&[("server.profile", "netty")])).unwrap_err().0[0], "server.model");
    }
}
