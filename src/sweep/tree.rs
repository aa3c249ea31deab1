//! The processes that came from another one. A server may be a master with workers, or a script that waits for one.

use std::collections::{HashMap, VecDeque};
use std::fs;

/// Children, grandchildren and so on of a process, nearest first, and at most so many; without those that have ended and are
/// not reaped yet.
///
/// It is a look at something that changes: one that is named may have ended by now.
#[must_use]
pub fn descendants(of: u32, at_most: usize) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, parent) in running() {
        children.entry(parent).or_default().push(pid);
    }
    let (mut found, mut waiting) = (Vec::new(), VecDeque::from([of]));
    while let Some(parent) = waiting.pop_front() {
        let mut born = children.remove(&parent).unwrap_or_default();
        born.sort_unstable();
        found.extend(&born);
        waiting.extend(born);
    }
    found.truncate(at_most);
    found
}

/// Every process that runs, with its parent. `/proc/PID/task/TID/children` would be shorter, but not every kernel has it.
fn running() -> impl Iterator<Item = (u32, u32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        Some((pid, parent(&stat)?))
    })
}

/// The name stands in parentheses and may itself hold some: only the last `)` is sure to end it.
fn parent(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_line_of_stat() {
        assert_eq!(parent("7 (a) S 12 7 7 0"), Some(12));
        assert_eq!(parent("7 (a) b (c)) R 12 7"), Some(12));
        assert_eq!(parent("7 (a) Z 12 7"), None);
        for text in ["", "7 (a", "7 (a) S", "7 (a) S x"] {
            assert_eq!(parent(text), None, "{text}");
        }
    }

    #[test]
    fn children_and_their_children() {
        // Not the shell's last command, which it would become. Both end when nothing more can be read.
        let mut command = Command::new("sh");
        let command = command.args(["-c", "cat; true"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().unwrap();
        shell.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();

        let (all, below) = (descendants(std::process::id(), usize::MAX), descendants(shell.id(), usize::MAX));
        assert!(below.len() == 1 && all.contains(&shell.id()) && all.contains(&below[0]), "{all:?} {below:?}");
        assert!(descendants(shell.id(), 0).is_empty());

        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert!(descendants(shell.id(), usize::MAX).is_empty());
    }
}
