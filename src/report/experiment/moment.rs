//! A time of day, as files carry it: in UTC, so that two of them can be compared wherever they were written.

use jiff::Timestamp;

/// `2026-12-01 11:35 UTC`; nothing for a time that no calendar has.
pub(super) fn moment(unix_s: f64) -> String {
    // The cast ends at the limits, which are times that jiff refuses.
    let timestamp = Timestamp::from_second(unix_s as i64);
    timestamp.map(|timestamp| timestamp.strftime("%Y-%m-%d %H:%M UTC").to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        assert_eq!(moment(1_796_105_905.25), "2026-12-01 06:18 UTC");
        assert_eq!([moment(f64::INFINITY), moment(f64::NAN)], ["".to_owned(), "1970-01-01 00:00 UTC".to_owned()]);
    }
}
