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
            return Err(io::Error::other(format!("a thread keeps {most} rows; the requests after them have none")));
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

/// All rows of a run, in the order of [`Row`]. If some could not be kept, the reason comes last: whoever writes a file has
/// what there is in it before giving up.
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
        let Some(Reverse((row, part))) = self.next.pop() else { return self.error.take().map(Err) };
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
    use std::fs::OpenOptions;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A row with these times, of which there are so few values that many rows are equal in one.
    fn row() -> impl Strategy<Value = Row> {
        (0..9_u64, 0..9_u64, 0..9_u64, 0..9_u64).prop_map(|(total_ns, start_unix_us, connect_ns, first_byte_ns)| Row {
            total_ns,
            start_unix_us,
            connect_ns,
            first_byte_ns,
        })
    }

    fn log(in_memory: usize, rows: &[Row]) -> RowLog {
        let mut log = RowLog::with_memory(in_memory);
        rows.iter().for_each(|row| log.push(*row));
        log
    }

    fn sorted(rows: impl Iterator<Item = Row>) -> Vec<Row> {
        let mut rows: Vec<Row> = rows.collect();
        rows.sort_unstable();
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn rows_of_all_threads_come_back_sorted(threads in vec(vec(row(), 0..40), 0..4), in_memory in 1..20_usize) {
            let logs: Vec<RowLog> = threads.iter().map(|rows| log(in_memory, rows)).collect();
            for (log, rows) in logs.iter().zip(&threads) {
                prop_assert_eq!(log.parts.len(), rows.len() / in_memory);
            }
            let merged: Vec<Row> = Rows::merge(logs, 0).map(Result::unwrap).collect();
            prop_assert_eq!(merged, sorted(threads.into_iter().flatten()));
        }
    }

    #[test]
    fn parts_of_several_reads() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut random = || Row { total_ns: random.u64(..100), start_unix_us: random.u64(..1 << 30), ..Row::default() };
        let rows: Vec<Row> = (0..4000).map(|_| random()).collect();
        let (one, other) = rows.split_at(2900);
        let logs = [log(2 * READ_ROWS + 7, one), log(READ_ROWS, other)];
        assert_eq!(logs.each_ref().map(|log| log.parts.len()), [5, 4]);
        let merged: Vec<Row> = Rows::merge(logs, 5_000_000).map(Result::unwrap).collect();
        let since_1970 = |row: &Row| Row { start_unix_us: row.start_unix_us + 5_000_000, ..*row };
        assert_eq!(merged, sorted(rows.iter().map(since_1970)));
    }

    /// All rows that come, and the error after them.
    fn rows_and_error(logs: impl IntoIterator<Item = RowLog>) -> (usize, String) {
        let items: Vec<io::Result<Row>> = Rows::merge(logs, 0).collect();
        let (last, rows) = items.split_last().expect("an error");
        assert!(rows.iter().all(Result::is_ok));
        (rows.len(), last.as_ref().unwrap_err().to_string())
    }

    #[test]
    fn rows_beyond_the_bound_are_not_kept_and_that_is_said_behind_the_others() {
        let full = log(1, &[Row::default(); MOST_PARTS + 9]);
        let other = log(1, &[Row::default(); 3]);
        // The row that found no room in the file is still in memory.
        let expected = "a thread keeps 2048 rows; the requests after them have none".to_owned();
        assert_eq!(rows_and_error([full, other]), (MOST_PARTS + 1 + 3, expected));
    }

    #[test]
    fn a_full_disk_loses_no_row_that_was_kept() {
        let mut log = RowLog::with_memory(4);
        log.file = Some(OpenOptions::new().read(true).write(true).open("/dev/full").expect("Linux has it"));
        (0..20).for_each(|_| log.push(Row::default()));
        assert!(log.rows.len() == 4 && log.parts.is_empty(), "it does not go on collecting in memory");
        let (rows, error) = rows_and_error([log]);
        assert_eq!(rows, 4);
        assert!(error.starts_with("No space left on device"), "{error}");
    }
}
