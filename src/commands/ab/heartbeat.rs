//! ab's progress: a line on stderr for each tenth of the requests.

use crate::report::ab_chatter;

/// The lines of a run, of which each is due once.
#[derive(Debug)]
pub struct Heartbeat {
    /// Requests between two lines, if there are lines.
    pub every: Option<u64>,
    said: u64,
}

impl Heartbeat {
    /// None with `-q`, nor with few requests.
    pub fn new(requests: u64, quiet: bool) -> Self {
        Self { every: ab_chatter::heartbeat(requests, quiet), said: 0 }
    }

    /// The lines that are due after so many requests. Whoever asks less often gets several at once.
    pub fn due(&mut self, ended: u64) -> String {
        let mut lines = String::new();
        while let Some(next) = self.every.map(|every| self.said + every).filter(|next| *next <= ended) {
            self.said = next;
            lines.push_str(&ab_chatter::completed(next));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_lost_or_said_twice() {
        let mut heartbeat = Heartbeat::new(350, false);
        assert_eq!(heartbeat.due(99), "");
        assert_eq!(heartbeat.due(100), "Completed 100 requests\n");
        assert_eq!(heartbeat.due(100), "");
        assert_eq!(heartbeat.due(350), "Completed 200 requests\nCompleted 300 requests\n");
        assert_eq!(Heartbeat::new(350, true).due(350), "");
    }
}
