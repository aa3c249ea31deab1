//! The descriptor limit: what there is, what is needed, and what that means for connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The process has too few descriptors even to begin.
#[derive(Debug, thiserror::Error)]
#[error(
    "too few descriptors: {available} are allowed (RLIMIT_NOFILE) and {needed} are needed to start; \
     raise the limit with `ulimit -n {needed}` or more"
)]
pub struct TooFewDescriptors {
    available: u64,
    needed: u64,
}

/// Descriptors that are no connections, for that many event loops and that many listening sockets in all.
#[must_use]
pub fn reserve(event_loops: usize, listeners: usize) -> u64 {
    /// Standard streams, pid file, logs, signals, the main thread's own loop, the service manager, the admin listener; and
    /// what a reload opens before it closes anything: the configuration and two logs.
    const PROCESS: u64 = 20;
    /// Two for an epoll set, a wake-up, an end of the signals' pipe; the root folder, that of the next configuration, and
    /// the file that a request opens.
    const EACH_LOOP: u64 = 7;
    /// Its worker's, and the one by which the admin listener asks how long its queue is.
    const EACH_LISTENER: u64 = 2;
    PROCESS + event_loops as u64 * EACH_LOOP + listeners as u64 * EACH_LISTENER
}

/// Raises the soft limit to the hard one, and returns how many descriptors there are now.
///
/// A server that answers 10,000 clients under a soft limit of 1,024 is the usual surprise of a benchmark; the soft
/// limit exists for programs that use `select(2)`, which this one does not.
#[must_use]
pub fn raise() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let now = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    now.unwrap_or(u64::MAX)
}

/// How many connections fit beside `reserve`, or that not even one does.
pub fn room_for_connections(available: u64, reserve: u64) -> Result<usize, TooFewDescriptors> {
    match available.checked_sub(reserve) {
        Some(room) if room > 0 => Ok(usize::try_from(room).unwrap_or(usize::MAX)),
        _ => Err(TooFewDescriptors { available, needed: reserve + 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room() {
        assert_eq!(room_for_connections(100, 30).ok(), Some(70));
        let error = room_for_connections(30, 30).map_err(|error| error.to_string());
        let expected = "too few descriptors: 30 are allowed (RLIMIT_NOFILE) and 31 are needed to start; \
                        raise the limit with `ulimit -n 31` or more";
        assert_eq!(error, Err(expected.to_owned()));
    }
}
