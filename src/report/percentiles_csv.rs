//! ab's `-e` file: a time for each per cent, 0 to 100.

use std::io::{self, Write};

use super::sorted::Sorted;
use crate::record::Distribution;

/// Writes 102 lines: the header, and the total time, in milliseconds, of each percentage; of nothing only the header. Where ab
/// reads past its array, with fewer than about 50 requests, the longest time stands.
///
/// # Errors
///
/// Those of the writer; a histogram that cannot be read is [`io::ErrorKind::InvalidData`].
pub fn write(out: &mut dyn Write, total: &Distribution) -> io::Result<()> {
    let sorted = Sorted::new(total, 0).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    writeln!(out, "Percentage served,Time in ms")?;
    let percentages = if sorted.len() == 0 { 0..0 } else { 0..101_u64 };
    for percentage in percentages {
        let index = match percentage {
            0 => 0,
            100 => sorted.len() - 1,
            _ => (0.5 + sorted.len() as f64 * percentage as f64 / 100.0) as u64,
        };
        // ab's clock has microseconds.
        let us = sorted.ns(index) / 1000;
        writeln!(out, "{percentage},{:.3}", us as f64 / 1000.0)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    fn lines(times_us: &[u64]) -> Vec<String> {
        let mut out = Vec::new();
        write(&mut out, &sample::distribution(times_us.iter().map(|us| us * 1000))).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    /// ab's file of these six times changed its value at 9, 25, 42, 59 and 75 per cent; at 92 ab read past its array.
    #[test]
    fn the_steps_are_where_ab_has_them() {
        let lines = lines(&[263, 20_366, 33_164, 40_404, 40_416, 60_398]);
        assert_eq!((lines.len(), lines[0].as_str()), (102, "Percentage served,Time in ms"));
        let row = |at: usize| lines[at + 1].split_once(',').unwrap();
        let changes: Vec<_> = (1..101).filter(|at| row(*at).1 != row(at - 1).1).collect();
        // 40.404 and 40.416 are one value to a histogram of three digits, unlike to ab.
        assert_eq!(changes, [9, 25, 42, 75]);
        assert_eq!([row(0), row(8), row(100)], [("0", "0.263"), ("8", "0.263"), ("100", "60.398")]);
        assert_eq!([row(92), row(99)], [("92", "60.398"), ("99", "60.398")]);
        let within = |text: &str, ms: f64| (text.parse::<f64>().unwrap() - ms).abs() <= ms / 1000.0;
        assert!(within(row(9).1, 20.366) && within(row(25).1, 33.164) && within(row(42).1, 40.404), "{lines:?}");
    }

    #[test]
    fn of_one_and_of_none() {
        let one = lines(&[1_500]);
        assert!(one.len() == 102 && one[1..].iter().all(|line| line.ends_with(",1.500")), "{one:?}");
        assert_eq!(lines(&[]), ["Percentage served,Time in ms"]);
    }
}
