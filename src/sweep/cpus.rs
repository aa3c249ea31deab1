//! Sets of CPUs as plans write them: `0`, `0-1`, `0,2-3`.

use std::fmt;
use std::str::FromStr;

/// CPUs by number, ascending, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuSet(Vec<usize>);

impl CpuSet {
    /// Numbers are below this: what `sched_setaffinity(2)` takes without a larger set.
    pub const MOST: usize = 1024;

    /// These CPUs.
    #[must_use]
    pub fn of(mut numbers: Vec<usize>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers)
    }

    /// The numbers.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        &self.0
    }

    /// Who gets which, where nobody says: the servers the first half, the client the other, so that neither takes the
    /// other's time. A single CPU cannot be divided, and both sets are empty: everybody runs everywhere.
    #[must_use]
    pub fn halves(&self) -> (Self, Self) {
        if self.0.len() < 2 {
            return (Self::default(), Self::default());
        }
        let (servers, client) = self.0.split_at(self.0.len() / 2);
        (Self(servers.to_vec()), Self(client.to_vec()))
    }
}

/// Not a set of CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write numbers of CPUs below {}, such as 0,2 or 1-3", CpuSet::MOST)]
pub struct NotCpus;

impl FromStr for CpuSet {
    type Err = NotCpus;

    /// Reads what [`Display`](fmt::Display) writes; the empty text is the empty set.
    fn from_str(text: &str) -> Result<Self, NotCpus> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let mut numbers = Vec::new();
        for item in text.split(',') {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(NotCpus);
            }
            numbers.extend(first..=last);
        }
        Ok(Self::of(numbers))
    }
}

fn number(text: &str) -> Result<usize, NotCpus> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && *number < CpuSet::MOST).ok_or(NotCpus)
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, run) in self.0.chunk_by(|a, b| a + 1 == *b).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match run {
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                only => write!(f, "{comma}{}", only[0])?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let rows: &[(&str, &[usize], &str)] = &[
            ("", &[], ""),
            ("0", &[0], "0"),
            ("3,1", &[1, 3], "1,3"),
            ("0, 2-4 ,3", &[0, 2, 3, 4], "0,2-4"),
            ("0-1023", &(0..1024).collect::<Vec<_>>(), "0-1023"),
        ];
        for (text, numbers, shown) in rows {
            let set: CpuSet = text.parse().unwrap();
            assert_eq!((set.numbers(), set.to_string().as_str()), (*numbers, *shown), "{text}");
            assert_eq!(shown.parse(), Ok(set), "{text}");
        }
        for text in ["1,", "2-1", "-1", "1024", "a", "+1", "0-99999999999", "1-2-3"] {
            assert_eq!(text.parse::<CpuSet>(), Err(NotCpus), "{text}");
        }
    }

    #[test]
    fn servers_and_client_share_no_cpu() {
        let rows = [("", ("", "")), ("5", ("", "")), ("0-1", ("0", "1")), ("0-4", ("0-1", "2-4")), ("2,7", ("2", "7"))];
        for (all, (servers, client)) in rows {
            let halves = all.parse::<CpuSet>().unwrap().halves();
            assert_eq!((halves.0.to_string(), halves.1.to_string()), (servers.to_owned(), client.to_owned()), "{all}");
        }
    }
}
