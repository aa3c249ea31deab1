//! Load whose figures nobody sees.
//!
//! A just-in-time compiler compiles what has run often, some while after it has run: hence cycles, with pauses between them. Our
//! own server and nginx need it for their caches only.

use std::collections::BTreeSet;
use std::time::Duration;

use super::error::{Cut, SweepError};
use super::measure::{Answer, Ask, measure};
use super::plan::{Plan, WarmUp};
use super::target::{Ground, Target};
use crate::record::experiment::{Cell, ConnectionKind};

/// More connections than that make no compiler quicker.
const CONNECTIONS_MAX: u64 = 64;

/// Warms a target up with what it will be asked for.
///
/// # Errors
///
/// The sweep has to stop, or no process can be started. A target that does not survive it is looked at by others.
pub fn warm_up(target: &Target<'_>, plan: &Plan, ground: &Ground<'_>) -> Result<(), Cut> {
    let WarmUp { cycles, duration, pause } = plan.warm_up;
    let asks = asks(target.name(), &plan.cells, duration);
    for _ in 0..cycles {
        for ask in &asks {
            let Load { document, connections, concurrency, duration } = ask;
            let ask = Ask {
                url: format!("{}/{document}", target.url()),
                connections: *connections,
                concurrency: *concurrency,
                requests: None,
                duration: Some(*duration),
                warm_up: Duration::ZERO,
                abort_after: None,
                timeout: None,
                verify: None,
                watch: Vec::new(),
                client: plan.client.clone(),
            };
            let said = measure(ground.program, &ask, ground.stop).map_err(SweepError::Start)?;
            if matches!(said.answer, Answer::Stopped) {
                return Err(Cut::Stopped);
            }
        }
        if ground.stop.within(pause) {
            return Err(Cut::Stopped);
        }
    }
    Ok(())
}

/// One piece of it.
#[derive(Debug, PartialEq, Eq)]
struct Load<'a> {
    document: &'a str,
    connections: ConnectionKind,
    concurrency: u64,
    duration: Duration,
}

/// Each document in each kind of connections that the target is measured with; kinds share the time of their document.
fn asks<'a>(target: &str, cells: &'a [Cell], duration: Duration) -> Vec<Load<'a>> {
    let of_target = || cells.iter().filter(|cell| cell.target == target);
    let pairs: BTreeSet<_> = of_target().map(|cell| (cell.document.as_str(), cell.connections)).collect();
    let load = |(document, connections): &(&'a str, ConnectionKind)| {
        let same = of_target().filter(|cell| cell.document == *document && cell.connections == *connections);
        let most = same.map(|cell| cell.concurrency).max().unwrap_or(1);
        let kinds = pairs.iter().filter(|(other, _)| other == document).count();
        let share = duration / u32::try_from(kinds).unwrap_or(1).max(1);
        Load { document, connections: *connections, concurrency: most.min(CONNECTIONS_MAX), duration: share }
    };
    pairs.iter().map(load).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_in_each_kind() {
        let cell = |target: &str, document: &str, connections, concurrency| Cell {
            target: target.into(),
            document: document.into(),
            connections,
            concurrency,
            repeat: 1,
            requests: None,
            duration_ms: Some(1),
        };
        let (short, keep_alive) = (ConnectionKind::Short, ConnectionKind::KeepAlive);
        let cells = [
            cell("a", "x", short, 10),
            cell("a", "x", keep_alive, 10),
            cell("a", "x", keep_alive, 20),
            cell("a", "y", short, 1000),
            cell("b", "z", short, 1),
        ];
        let load = |document, connections, concurrency, seconds| Load {
            document,
            connections,
            concurrency,
            duration: Duration::from_secs(seconds),
        };
        let expected = [load("x", short, 10, 2), load("x", keep_alive, 20, 2), load("y", short, 64, 4)];
        assert_eq!(asks("a", &cells, Duration::from_secs(4)), expected);
        assert!(asks("c", &cells, Duration::from_secs(4)).is_empty());
    }
}
