//! Days and times of UTC in the two forms that logs use.
//!
//! `httpdate`, which this package uses for headers, writes neither of them, and the crates that do bring time zones and
//! parsers along for what is one function.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const SECONDS_A_DAY: u64 = 86_400;

/// A moment in UTC, by the parts that people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Utc {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    millisecond: u32,
}

impl From<SystemTime> for Utc {
    /// A clock that is set before 1970 is wrong, and its log says 1970.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (days, seconds) = (since.as_secs() / SECONDS_A_DAY, since.as_secs() % SECONDS_A_DAY);
        let (year, month, day) = civil(days);
        Self {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            millisecond: since.subsec_millis(),
        }
    }
}

/// Year, month and day of a day counted from 1970-01-01.
///
/// The year is taken to begin in March, so that the leap day is its last day; then months repeat in groups of five with
/// 153 days, and centuries and leap years are plain divisions. Time is counted from March of the year 0.
fn civil(days_since_1970: u64) -> (u64, u64, u64) {
    const DAYS_IN_400_YEARS: u64 = 146_097;
    const DAYS_FROM_YEAR_0_TO_1970: u64 = 719_468;

    let days = days_since_1970 + DAYS_FROM_YEAR_0_TO_1970;
    let (era, day_of_era) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    // Each leap day before this one is taken out; what is left has 365 days a year.
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / (DAYS_IN_400_YEARS - 1);
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let month = (months_since_march + 2) % 12 + 1;
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

impl Utc {
    /// `10/Oct/2000:13:55:36 +0000`
    pub(super) fn common(self) -> impl fmt::Display {
        let Self { year, month, day, hour, minute, second, millisecond: _ } = self;
        let month = MONTHS[month as usize - 1];
        fmt::from_fn(move |f| write!(f, "{day:02}/{month}/{year:04}:{hour:02}:{minute:02}:{second:02} +0000"))
    }

    /// `2000-10-10T13:55:36.123Z`, which is RFC 3339.
    pub(super) fn rfc3339(self) -> impl fmt::Display {
        let Self { year, month, day, hour, minute, second, millisecond } = self;
        fmt::from_fn(move |f| {
            write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64, milliseconds: u64) -> Utc {
        Utc::from(UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(milliseconds))
    }

    #[test]
    fn the_example_of_the_apache_manual() {
        assert_eq!(at(971_186_136, 7).common().to_string(), "10/Oct/2000:13:55:36 +0000");
        assert_eq!(at(971_186_136, 7).rfc3339().to_string(), "2000-10-10T13:55:36.007Z");
    }

    #[test]
    fn before_1970_is_1970() {
        let early = Utc::from(UNIX_EPOCH - Duration::from_secs(1));
        assert_eq!(early.rfc3339().to_string(), "1970-01-01T00:00:00.000Z");
    }

    /// `httpdate` is the second opinion: on every day of 400 years, after which the calendar repeats itself, and on
    /// some until the last that it knows.
    #[test]
    fn every_day_is_the_one_that_httpdate_says() {
        const DAYS_UNTIL_10000: u64 = 2_932_897;
        for day in (0..146_097).chain((146_097..DAYS_UNTIL_10000).step_by(61)).chain([DAYS_UNTIL_10000 - 1]) {
            let seconds = day * SECONDS_A_DAY + day % SECONDS_A_DAY;
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            let Utc { year, month, day, hour, minute, second, millisecond } = Utc::from(time);
            let ours = (year, month, day, hour, minute, second, millisecond);
            assert_eq!(ours, by_httpdate(time), "{seconds}");
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the days are those of its range")]
    fn by_httpdate(time: SystemTime) -> (u64, u64, u64, u64, u64, u64, u32) {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let text = httpdate::fmt_http_date(time);
        let number = |range: std::ops::Range<usize>| text[range].parse::<u64>().unwrap();
        let month = 1 + MONTHS.iter().position(|month| *month == &text[8..11]).unwrap() as u64;
        (number(12..16), month, number(5..7), number(17..19), number(20..22), number(23..25), 0)
    }
}
