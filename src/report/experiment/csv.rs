//! `summary.csv`: a row for each point, with the comparison of the same point beside it. Every column's name has its unit.
//!
//! Names come from plans and reasons from servers, and programs that open such files take what begins like a formula for one.

use std::borrow::Cow;

use ::csv::{Error, Writer};
use serde::Serialize;

use crate::analysis::{Analysis, Estimate, Group, Metric, Percentiles, Point, Series, Spread};

/// A point. Fields are columns, in their order.
#[derive(Debug, Serialize)]
struct Row<'a> {
    plan: Cow<'a, str>,
    document: Cow<'a, str>,
    document_bytes: u64,
    connections: &'static str,
    concurrency: u64,
    target: Cow<'a, str>,
    repeats: usize,
    valid_for_requests_per_s: bool,
    valid_for_server_cpu: bool,
    limited_by: String,
    faults: Cow<'a, str>,
    requests_per_s_median: f64,
    requests_per_s_min: f64,
    requests_per_s_max: f64,
    server_cpu_us_per_request_median: Option<f64>,
    server_cpu_us_per_request_min: Option<f64>,
    server_cpu_us_per_request_max: Option<f64>,
    client_cpu_us_per_request_median: Option<f64>,
    latency_p50_ms_median: Option<f64>,
    latency_p90_ms_median: Option<f64>,
    latency_p99_ms_median: Option<f64>,
    latency_max_ms_median: Option<f64>,
    resident_bytes_median: Option<f64>,
    threads_median: Option<f64>,
    switches_per_request_median: Option<f64>,
    requests_ok: u64,
    requests_failed: u64,
    requests_aborted: u64,
    baseline: Cow<'a, str>,
    requests_per_s_ratio: Option<f64>,
    requests_per_s_ratio_low: Option<f64>,
    requests_per_s_ratio_high: Option<f64>,
    requests_per_s_p_holm: Option<f64>,
    requests_per_s_word: String,
    server_cpu_ratio: Option<f64>,
    server_cpu_ratio_low: Option<f64>,
    server_cpu_ratio_high: Option<f64>,
    server_cpu_p_holm: Option<f64>,
    server_cpu_word: String,
}

/// The table, with a line of names.
///
/// # Errors
///
/// None that an analysis can cause: rows have the same columns, and memory takes them all.
pub fn render(analysis: &Analysis) -> Result<String, Error> {
    let mut writer = Writer::from_writer(Vec::new());
    for group in &analysis.groups {
        for series in &group.series {
            for point in &series.points {
                writer.serialize(row(analysis, group, series, point))?;
            }
        }
    }
    let bytes = writer.into_inner().map_err(|error| Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn row<'a>(analysis: &'a Analysis, group: &'a Group, series: &'a Series, point: &Point) -> Row<'a> {
    let estimate = |metric| {
        analysis.comparison(group, &series.target, metric, Some(point.concurrency)).and_then(|one| one.estimate())
    };
    let [rates, cpu] = Metric::ALL.map(estimate);
    let of_cpu = |figure: fn(&Spread) -> f64| point.server_cpu_us.as_ref().map(|spread| rounded(figure(spread)));
    let median = |spread: &Option<Spread>| spread.as_ref().map(|spread| rounded(spread.median));
    let Percentiles { p50, p90, p99, max } = &point.latency_ms;
    let faults: Vec<&str> = point.faults.iter().map(|fault| fault.words.as_str()).collect();
    Row {
        plan: text(&analysis.experiment.plan),
        document: text(&group.document.name),
        document_bytes: group.document.bytes,
        connections: group.connections.name(),
        concurrency: point.concurrency,
        target: text(&series.target),
        repeats: point.repeats,
        valid_for_requests_per_s: point.is_valid(Metric::RequestsPerSecond),
        valid_for_server_cpu: point.is_valid(Metric::ServerCpu),
        limited_by: point.limited_by(),
        faults: text(&faults.join("; ")).into_owned().into(),
        requests_per_s_median: rounded(point.requests_per_s.median),
        requests_per_s_min: rounded(point.requests_per_s.min),
        requests_per_s_max: rounded(point.requests_per_s.max),
        server_cpu_us_per_request_median: of_cpu(|spread| spread.median),
        server_cpu_us_per_request_min: of_cpu(|spread| spread.min),
        server_cpu_us_per_request_max: of_cpu(|spread| spread.max),
        client_cpu_us_per_request_median: median(&point.client_cpu_us),
        latency_p50_ms_median: median(p50),
        latency_p90_ms_median: median(p90),
        latency_p99_ms_median: median(p99),
        latency_max_ms_median: median(max),
        resident_bytes_median: point.resident_bytes.as_ref().map(|spread| spread.median.round()),
        threads_median: median(&point.threads),
        switches_per_request_median: median(&point.switches),
        requests_ok: point.endings.ok,
        requests_failed: point.endings.failed(),
        requests_aborted: point.endings.aborted,
        baseline: if series.target == group.baseline { "".into() } else { text(&group.baseline) },
        requests_per_s_ratio: of(rates, |estimate| estimate.ratio),
        requests_per_s_ratio_low: of(rates, |estimate| estimate.low),
        requests_per_s_ratio_high: of(rates, |estimate| estimate.high),
        requests_per_s_p_holm: of(rates, |estimate| estimate.p_holm),
        requests_per_s_word: word(rates),
        server_cpu_ratio: of(cpu, |estimate| estimate.ratio),
        server_cpu_ratio_low: of(cpu, |estimate| estimate.low),
        server_cpu_ratio_high: of(cpu, |estimate| estimate.high),
        server_cpu_p_holm: of(cpu, |estimate| estimate.p_holm),
        server_cpu_word: word(cpu),
    }
}

/// An apostrophe before what would be a formula, as spreadsheets themselves write it.
fn text(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}").into() } else { text.into() }
}

fn of(estimate: Option<&Estimate>, figure: fn(&Estimate) -> f64) -> Option<f64> {
    estimate.map(|estimate| rounded(figure(estimate)))
}

fn word(estimate: Option<&Estimate>) -> String {
    estimate.map(|estimate| estimate.word.to_string()).unwrap_or_default()
}

/// To six digits: more than any repeat agrees to, and short enough to be read.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = 5 - value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(digits.clamp(-300, 300));
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::sample;

    #[test]
    fn a_row_for_each_point() {
        let analysis = sample::analysis();
        let text = render(&analysis).unwrap();
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let names = reader.headers().unwrap().clone();
        let at =
            |name: &str| names.iter().position(|known| known == name).unwrap_or_else(|| panic!("no column {name}"));
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        let points: usize =
            analysis.groups.iter().flat_map(|group| &group.series).map(|series| series.points.len()).sum();
        assert_eq!(rows.len(), points);
        let row = |document: &str, connections: &str, level: &str, target: &str| {
            let keys =
                [("document", document), ("connections", connections), ("concurrency", level), ("target", target)];
            rows.iter().find(|row| keys.iter().all(|(name, value)| &row[at(name)] == *value)).unwrap()
        };
        let nginx = row("1k.html", "short", "50", "nginx");
        assert_eq!((&nginx[at("baseline")], &nginx[at("requests_per_s_word")]), ("tomcat", "better"));
        let ratio: f64 = nginx[at("requests_per_s_ratio")].parse().unwrap();
        assert!((ratio - 1.3).abs() < 0.05, "{ratio}");
        let tomcat = row("1k.html", "keep-alive", "500", "tomcat");
        assert_eq!((&tomcat[at("baseline")], &tomcat[at("valid_for_server_cpu")]), ("", "false"));
        assert_eq!(&tomcat[at("faults")], "the server had died and was started again, in 1 of 12 repeats");
        let limited = row("100k.html", "keep-alive", "1000", "nginx");
        let valid = (&limited[at("valid_for_requests_per_s")], &limited[at("valid_for_server_cpu")]);
        assert_eq!(valid, ("false", "true"));
        assert_eq!((&limited[at("requests_per_s_ratio")], &limited[at("server_cpu_word")]), ("", "better"));
    }

    #[test]
    fn no_text_is_a_formula() {
        let mut analysis = sample::lost_process();
        analysis.experiment.plan = "=HYPERLINK(\"x\")".to_owned();
        let group = &mut analysis.groups[0];
        group.document.name = "@sum".to_owned();
        (group.baseline, group.series[1].target) = ("+1".to_owned(), "-2".to_owned());
        group.series[1].points[0].faults[0].words = "\tx".to_owned();
        let text = render(&analysis).unwrap();
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let row = reader.records().last().unwrap().unwrap();
        let texts: Vec<_> = row.iter().filter(|cell| cell.starts_with('\'')).collect();
        assert_eq!(texts, ["'=HYPERLINK(\"x\")", "'@sum", "'-2", "'\tx", "'+1"]);
    }

    #[test]
    fn figures_have_six_digits() {
        let figures = [15_661.503_4, 0.001_234_567_8, 123_456_789.0, 0.0, -2.5, 1e-310].map(rounded);
        assert_eq!(figures[..5], [15_661.5, 0.001_234_57, 123_457_000.0, 0.0, -2.5]);
        assert!(figures[5] >= 0.0);
    }
}
