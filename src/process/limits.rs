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

/// Descriptors that are no connections: standard streams, logs, the root folder, an epoll set and wake-up per worker,
/// listeners, and the files that a request opens.
#[must_use]
pub fn reserve(workers: usize, listeners: usize) -> u64 {
    const PROCESS: u64 = 16;
    const EACH_WORKER: u64 = 6;
    PROCESS + workers as u64 * (EACH_WORKER + listeners as u64)
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
