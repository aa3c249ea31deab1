//! The order of the measurements: every block in every repeat, shuffled anew for each, with the targets of a block one after
//! the other, forwards and backwards in turn.
//!
//! What changes with time (a neighbour on the host, a CPU that grows warm, sockets in TIME_WAIT) then meets all targets alike.
//! A loop over the targets with everything else inside, as the published tests were run, gives all of it to one of them.

use crate::record::experiment::{Cell, ConnectionKind};

/// What is measured of all its targets, one directly after the other: cells that are equal but for the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Name of the document.
    pub document: String,
    /// One request each, or kept.
    pub connections: ConnectionKind,
    /// Connections at once.
    pub concurrency: u64,
    /// End after so many requests.
    pub requests: Option<u64>,
    /// End after so many milliseconds.
    pub duration_ms: Option<u64>,
    /// Names of the targets, in the order of the plan.
    pub targets: Vec<String>,
}

/// Every measurement, in its order. The same arguments give the same order; a resumed sweep reads it from its folder all the
/// same, so that a newer version may order otherwise.
#[must_use]
pub fn cells(blocks: &[Block], repeats: u64, seed: u64) -> Vec<Cell> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut blocks: Vec<_> = blocks.iter().collect();
    let mut cells = Vec::new();
    for repeat in 1..=repeats {
        random.shuffle(&mut blocks);
        cells.extend(blocks.iter().flat_map(|block| block.cells(repeat)));
    }
    cells
}

impl Block {
    /// A B in odd repeats and B A in even ones: over two of them every target has stood as early as late.
    fn cells(&self, repeat: u64) -> Vec<Cell> {
        let cell = |target: &String| Cell {
            target: target.clone(),
            document: self.document.clone(),
            connections: self.connections,
            concurrency: self.concurrency,
            repeat,
            requests: self.requests,
            duration_ms: self.duration_ms,
        };
        let forwards = self.targets.iter().map(cell);
        if repeat % 2 == 1 { forwards.collect() } else { forwards.rev().collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn blocks() -> Vec<Block> {
        let block = |concurrency| Block {
            document: "1k.html".into(),
            connections: ConnectionKind::Short,
            concurrency,
            requests: Some(10),
            duration_ms: None,
            targets: ["a", "b", "c"].map(String::from).to_vec(),
        };
        (1..=20).map(block).collect()
    }

    #[test]
    fn each_cell_is_there_exactly_once() {
        let cells = cells(&blocks(), 4, 1);
        assert_eq!(cells.len(), 20 * 3 * 4);
        assert_eq!(cells.iter().collect::<HashSet<_>>().len(), cells.len());
        assert!(cells.is_sorted_by_key(|cell| cell.repeat));
    }

    #[test]
    fn targets_of_a_block_stand_together_and_turn_round() {
        for block in cells(&blocks(), 4, 1).chunks(3) {
            let targets: Vec<_> = block.iter().map(|cell| cell.target.as_str()).collect();
            let expected = if block[0].repeat % 2 == 1 { ["a", "b", "c"] } else { ["c", "b", "a"] };
            assert_eq!(targets, expected);
            assert!(block.iter().all(|cell| cell.concurrency == block[0].concurrency));
        }
    }

    #[test]
    fn the_seed_is_the_order() {
        let order = |seed, repeats| -> Vec<_> {
            cells(&blocks(), repeats, seed).iter().map(|cell| (cell.concurrency, cell.target.clone())).collect()
        };
        assert_eq!(order(7, 4), order(7, 4));
        assert_ne!(order(7, 1), order(8, 1));
        let two = order(7, 2);
        let (first, second) = two.split_at(60);
        assert_ne!(first.iter().step_by(3).collect::<Vec<_>>(), second.iter().step_by(3).collect::<Vec<_>>());
        // More repeats only add to it.
        assert_eq!(order(7, 2)[..60], order(7, 1));
    }

    #[test]
    fn a_plan_of_nothing_is_nothing() {
        assert!(cells(&[], 9, 1).is_empty());
        assert!(cells(&blocks(), 0, 1).is_empty());
    }
}
