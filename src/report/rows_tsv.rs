//! ab's `-g` file: a row for each request, which gnuplot one-liners plot by column 9, the total time.

use std::io::{self, Write};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::ab_times::round_ms;
use crate::record::Row;

/// Writes the header and a row for each request, in the order in which they come: ab's is that of [`Row`], by total time. The start
/// is in local time, as ab has it: people lay the file beside their server's log.
///
/// # Errors
///
/// Those of the rows' source, and those of the writer, which should have a buffer.
pub fn write(out: &mut dyn Write, rows: impl IntoIterator<Item = io::Result<Row>>) -> io::Result<()> {
    write_in(out, rows, &TimeZone::system())
}

fn write_in(out: &mut dyn Write, rows: impl IntoIterator<Item = io::Result<Row>>, zone: &TimeZone) -> io::Result<()> {
    out.write_all(b"starttime\tseconds\tctime\tdtime\tttime\twait\n")?;
    for row in rows {
        let Row { total_ns, start_unix_us, connect_ns, first_byte_ns } = row?;
        let seconds = start_unix_us / 1_000_000;
        let [ctime, dtime, ttime, wait] =
            [connect_ns, total_ns.saturating_sub(connect_ns), total_ns, first_byte_ns].map(|ns| round_ms(ns / 1000));
        writeln!(out, "{}\t{seconds}\t{ctime}\t{dtime}\t{ttime}\t{wait}", local_time(seconds, zone))?;
    }
    out.flush()
}

/// As C's ctime: `Tue Dec 01 00:01:45 2026`.
fn local_time(unix_s: u64, zone: &TimeZone) -> String {
    let time = i64::try_from(unix_s).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    // Past the year 9999 there is no time to be named; such a row was not measured.
    let time = time.unwrap_or(Timestamp::MAX);
    time.to_zoned(zone.clone()).strftime("%a %b %d %H:%M:%S %Y").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// New York's winter and summer, without a need for the machine's time zones.
    fn new_york() -> TimeZone {
        TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap()
    }

    fn row(start_unix_us: u64, [connect, total, first_byte]: [u64; 3]) -> Row {
        Row { start_unix_us, connect_ns: connect * 1000, total_ns: total * 1000, first_byte_ns: first_byte * 1000 }
    }

    /// `TZ=America/New_York ab -g` wrote these lines.
    #[test]
    fn rows_are_those_of_ab() {
        let rows = [row(1_796_105_913_000_000, [0, 454, 441]), row(1_796_105_913_999_999, [560, 62_091, 61_480])];
        let mut out = Vec::new();
        write_in(&mut out, rows.map(Ok), &new_york()).unwrap();
        let expected = "starttime\tseconds\tctime\tdtime\tttime\twait
Tue Dec 01 01:18:33 2026\t1796105913\t0\t0\t0\t0
Tue Dec 01 01:18:33 2026\t1796105913\t1\t62\t62\t61\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let last = expected.lines().last().unwrap();
        assert_eq!(last.split_whitespace().nth(8), Some("62"), "gnuplot's `using 9`");
    }

    #[test]
    fn summer_time_is_an_hour_ahead() {
        assert_eq!(local_time(1_782_864_000, &new_york()), "Tue Jun 30 20:00:00 2026");
        assert_eq!(local_time(1_782_864_000, &TimeZone::UTC), "Wed Jul 01 00:00:00 2026");
        assert_eq!(local_time(u64::MAX, &TimeZone::UTC), local_time(1 << 60, &TimeZone::UTC));
    }

    #[test]
    fn a_source_that_breaks_is_not_hidden() {
        let rows = [Ok(Row::default()), Err(io::Error::other("spilled file gone"))];
        let mut out = Vec::new();
        let error = write_in(&mut out, rows, &TimeZone::UTC).unwrap_err();
        assert_eq!(error.to_string(), "spilled file gone");
    }
}
