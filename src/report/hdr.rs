//! The percentile distribution as text, as the HdrHistogram plotter reads it: what HdrHistogram's Java original calls
//! `outputPercentileDistribution`, in milliseconds.

use std::io::{self, Write};

use hdrhistogram::Histogram;

use crate::record::Distribution;

/// Steps between two halvings of the distance to 100 %: that of the original.
const TICKS_PER_HALF_DISTANCE: u32 = 5;

/// Writes the distribution: a row for each step towards 100 %, and a footer of `#[...]` lines.
///
/// # Errors
///
/// Those of the writer; a histogram that cannot be read is [`io::ErrorKind::InvalidData`].
pub fn write(out: &mut dyn Write, times: &Distribution) -> io::Result<()> {
    let histogram = times.histogram().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    rows(out, &histogram, times)?;
    footer(out, &histogram, times)?;
    out.flush()
}

fn rows(out: &mut dyn Write, histogram: &Histogram<u64>, times: &Distribution) -> io::Result<()> {
    let mut count = 0;
    for step in histogram.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        count += step.count_since_last_iteration();
        // The upper end of a bucket may lie beyond the longest time there was.
        let value = ms(step.value_iterated_to().clamp(times.min_ns, times.max_ns) as f64);
        let quantile = step.quantile_iterated_to();
        write!(out, "{value:>12.3} {quantile:>2.12} {count:>10}")?;
        // The last row has no such figure, and the plotter expects none.
        if quantile < 1.0 {
            write!(out, " {:>14.2}", 1.0 / (1.0 - quantile))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn footer(out: &mut dyn Write, histogram: &Histogram<u64>, times: &Distribution) -> io::Result<()> {
    let [mean, deviation, max] = [times.mean_ns, times.deviation_ns, times.max_ns as f64].map(ms);
    let count = histogram.len();
    let buckets = histogram.buckets();
    // As many as tell twice the wanted number of digits apart, to the next power of two.
    let sub_buckets = (2 * 10_u64.pow(u32::from(histogram.sigfig()))).next_power_of_two();
    writeln!(out, "#[Mean    = {mean:>12.3}, StdDeviation   = {deviation:>12.3}]")?;
    writeln!(out, "#[Max     = {max:>12.3}, Total count    = {count:>12}]")?;
    writeln!(out, "#[Buckets = {buckets:>12}, SubBuckets     = {sub_buckets:>12}]")
}

fn ms(ns: f64) -> f64 {
    ns / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    fn text(times_ns: impl IntoIterator<Item = u64>) -> String {
        let mut out = Vec::new();
        write(&mut out, &sample::distribution(times_ns)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_form_is_that_of_the_original() {
        let text = text([1_000_000, 2_000_000, 3_000_000, 4_000_000]);
        let expected = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n       1.000 0.000000000000          1           1.00\n";
        assert!(text.starts_with(expected), "{text}");
        let last_rows = "       4.000 1.000000000000          4
#[Mean    =        2.500, StdDeviation   =        1.291]
#[Max     =        4.000, Total count    =            4]
#[Buckets =           12, SubBuckets     =         2048]\n";
        assert!(text.ends_with(last_rows), "{text}");
    }

    /// As the plotter reads it: four numbers a line (three in the last), everything else ignored.
    #[test]
    fn the_plotter_can_read_it() {
        let text = text((1..=10_000).map(|n| n * 10_000));
        let rows: Vec<Vec<f64>> = text
            .lines()
            .map(|line| line.split_whitespace().filter_map(|n| n.parse().ok()).collect())
            .filter(|row: &Vec<f64>| row.len() >= 3)
            .collect();
        assert!(rows.len() > 40, "{}", rows.len());
        assert!(
            rows.windows(2)
                .all(|pair| pair[0][0] <= pair[1][0] && pair[0][1] <= pair[1][1] && pair[0][2] <= pair[1][2])
        );
        let median = rows.iter().find(|row| row[1] >= 0.5).unwrap();
        assert!((median[0] - 50.0).abs() < 0.1 && (median[2] - 5_000.0).abs() < 10.0 && (median[3] - 2.0).abs() < 1e-9);
        assert_eq!(rows.last().unwrap(), &[100.0, 1.0, 10_000.0]);
    }

    #[test]
    fn of_nothing_and_of_what_is_no_histogram() {
        assert!(text([]).contains("Total count    =            0]"));
        let broken = Distribution { histogram: "?".to_owned(), ..sample::distribution([1]) };
        assert_eq!(write(&mut Vec::new(), &broken).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
