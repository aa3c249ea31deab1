//! A row for each answered request (`-g`). Rows are too many for memory: beyond a bound they go, sorted, to a file without a
//! name, and come back merged in the order of [`Row`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::vec;

use crate::record::Row;

/// Rows that a thread holds in memory: 2 MiB.
const IN_MEMORY: usize = 1 << 16;
/// Sorted parts of one thread's file: 134 million rows, 4 GiB.
const MOST_PARTS: usize = 2048;
/// Rows that are read at once, of each part.
const READ_ROWS: usize = 256;

const BYTES: u64 = Row::BYTES as u64;

/// What one thread writes. Writing costs the run some time now and then: 2 MiB into the page cache for each 65,536 rows.
#[derive(Debug)]
pub struct RowLog {
    in_memory: usize,
    /// With starts that count from the start of the run.
    rows: Vec<Row>,
    file: Option<File>,
    /// Where in the file each part stands, in bytes.
    parts: Vec<Range<u64>>,
    /// Why no more rows are kept.
    error: Option<io::Error>,
}

impl Default for RowLog {
    fn default() -> Self {
        Self::with_memory(IN_MEMORY)
    }
}

impl RowLog {
    fn with_memory(in_memory: usize) -> Self {
        Self { in_memory, rows: Vec::new(), file: None, parts: Vec::new(), error: None }
    }

    /// Adds a row, whose start counts from the start of the run.
    #[inline]
    pub fn push(&mut self, row: Row) {
        if self.error.is_some() {
            return;
        }
        self.rows.push(row);
        if self.rows.len() == self.in_memory {
            self.error = self.spill().err();
        }
    }

    #[cold]
    fn spill(&mut self) -> io::Result<()> {
        if self.parts.len() == MOST_PARTS {
            let most = self.in_memory * MOST_PARTS;
            return Err(io::Error::other(format!("more than {most} requests of a thread have no rows")));
        }
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile()?);
        }
        let Some(file) = &self.file else { return Ok(()) };
        self.rows.sort_unstable();
        let bytes: Vec<u8> = self.rows.iter().flat_map(|row| row.to_bytes()).collect();
        let start = self.parts.last().map_or(0, |part| part.end);
        file.write_all_at(&bytes, start)?;
        self.parts.push(start..start + bytes.len() as u64);
        self.rows.clear();
        Ok(())
    }
}

/// All rows of a run, in the order of [`Row`]. If some could not be kept, the reason comes first.
#[derive(Debug)]
pub struct Rows {
    parts: Vec<Part>,
    /// The next row of each part that has one.
    next: BinaryHeap<Reverse<(Row, usize)>>,
    started_unix_us: u64,
    error: Option<io::Error>,
}

impl Rows {
    /// Merges what the threads of a run wrote that began at this time.
    #[must_use]
    pub fn merge(logs: impl IntoIterator<Item = RowLog>, started_unix_us: u64) -> Self {
        let mut merged = Self { parts: Vec::new(), next: BinaryHeap::new(), started_unix_us, error: None };
        for mut log in logs {
            log.rows.sort_unstable();
            merged.parts.push(Part { rows: log.rows.into_iter(), rest: None });
            if let Some(file) = log.file.map(Arc::new) {
                let spilled = |range| Part { rows: Vec::new().into_iter(), rest: Some((Arc::clone(&file), range)) };
                merged.parts.extend(log.parts.into_iter().map(spilled));
            }
            merged.error = merged.error.or(log.error);
        }
        (0..merged.parts.len()).for_each(|part| merged.advance(part));
        merged
    }

    fn advance(&mut self, part: usize) {
        match self.parts[part].next() {
            Ok(Some(row)) => self.next.push(Reverse((row, part))),
            Ok(None) => {}
            Err(error) => self.error = Some(error),
        }
    }
}

impl Iterator for Rows {
    type Item = io::Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.error.take() {
            return Some(Err(error));
        }
        let Reverse((row, part)) = self.next.pop()?;
        self.advance(part);
        Some(Ok(Row { start_unix_us: self.started_unix_us + row.start_unix_us, ..row }))
    }
}

/// Sorted rows: in memory, and behind them what is left in a file.
#[derive(Debug)]
struct Part {
    rows: vec::IntoIter<Row>,
    rest: Option<(Arc<File>, Range<u64>)>,
}

impl Part {
    fn next(&mut self) -> io::Result<Option<Row>> {
        if self.rows.len() == 0 {
            self.read()?;
        }
        Ok(self.rows.next())
    }

    fn read(&mut self) -> io::Result<()> {
        let Some((file, range)) = &mut self.rest else { return Ok(()) };
        let length = (range.end - range.start).min(READ_ROWS as u64 * BYTES);
        let mut bytes = vec![0; length as usize];
        file.read_exact_at(&mut bytes, range.start)?;
        range.start += length;
        let rows: Vec<Row> = bytes.as_chunks().0.iter().map(Row::from_bytes).collect();
        self.rows = rows.into_iter();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as make several parts of several reads each, in an order that is none.
    #[test]
    fn rows_come_back_sorted_from_memory_and_file() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut expected = Vec::new();
        let mut logs = [2000, 700, 10, 0].map(|count| {
            let mut log = RowLog::with_memory(600);
            for _ in 0..count {
                let row = Row { total_ns: random.u64(..100), start_unix_us: random.u64(..1 << 30), ..Row::default() };
                log.push(row);
                expected.push(Row { start_unix_us: row.start_unix_us + 5_000_000, ..row });
            }
            log
        });
        assert_eq!(logs.each_ref().map(|log| log.parts.len()), [3, 1, 0, 0]);
        logs.reverse();
        expected.sort_unstable();
        let rows: Vec<Row> = Rows::merge(logs, 5_000_000).map(Result::unwrap).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn what_could_not_be_kept_is_said() {
        let mut log = RowLog::with_memory(1);
        (0..MOST_PARTS + 2).for_each(|_| log.push(Row::default()));
        let mut rows = Rows::merge([log], 0);
        let error = rows.next().unwrap().unwrap_err().to_string();
        assert_eq!(error, "more than 2048 requests of a thread have no rows");
        assert!(rows.all(|row| row.is_ok()));
    }
}
