//! What came of the reloads. SIGHUP has no answer: whoever sends it looks here.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// Label values, in the order of [`Reloads::counts`].
pub const RESULTS: [&str; 2] = ["applied", "refused"];

/// The reloads since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reloads {
    applied: u64,
    refused: u64,
    last: Option<Last>,
}

/// The last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Last {
    result: &'static str,
    unix_seconds: u64,
    /// Why it was refused.
    reason: Option<String>,
}

impl Reloads {
    /// One was applied, or was refused for this reason, at that time.
    pub fn note(&mut self, refusal: Option<&str>, now: SystemTime) {
        let [applied, refused] = RESULTS;
        let (result, count) = match refusal {
            None => (applied, &mut self.applied),
            Some(_) => (refused, &mut self.refused),
        };
        *count += 1;
        let since = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        self.last = Some(Last { result, unix_seconds: since.as_secs(), reason: refusal.map(str::to_owned) });
    }

    /// How many came to what, in the order of `RESULTS`.
    pub fn counts(&self) -> [u64; 2] {
        [self.applied, self.refused]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_one_is_told_and_all_are_counted() {
        let mut reloads = Reloads::default();
        assert_eq!(json!(reloads), json!({"applied": 0, "refused": 0, "last": null}));
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        reloads.note(Some("no"), at(5));
        reloads.note(Some("config.toml:4: no"), at(7));
        let last = json!({"result": "refused", "unix_seconds": 7, "reason": "config.toml:4: no"});
        assert_eq!(json!(reloads), json!({"applied": 0, "refused": 2, "last": last}));
        reloads.note(None, at(9));
        let last = json!({"result": "applied", "unix_seconds": 9, "reason": null});
        assert_eq!(json!(reloads), json!({"applied": 1, "refused": 2, "last": last}));
        assert_eq!(reloads.counts(), [1, 2]);
    }
}
