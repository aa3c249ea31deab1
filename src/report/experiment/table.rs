//! The end of a sweep on the terminal: a row for each point, the answer, the warnings. It is no wider than
//! the report of a run; what does not fit a terminal is in the files.

use super::super::text::{labelled, wrapped};
use super::super::units::{bytes, counted, rate, time};
use super::{invalid, reach};
use crate::analysis::{Analysis, Comparison, Group, Metric, Point, Series, Word};

/// Most concurrencies of one document: a curve of forty is for a chart.
const LEVELS: usize = 7;
/// Most reasons below a document's rows.
const REASONS: usize = 4;
/// Most sentences of the answer: the rows above say the same of each document.
const ANSWERS: usize = 6;
/// Most warnings.
const WARNINGS: usize = 10;
/// Width of the name of a target; a longer one makes all rows wider.
const NAME: usize = 15;
/// Width of a verdict.
const VERDICT: usize = 15;

/// The whole text.
#[must_use]
pub fn render(analysis: &Analysis) -> String {
    let mut text = heading(analysis);
    for group in &analysis.groups {
        text += &format!("\n{}", of_group(analysis, group));
    }
    text.push('\n');
    text + &sentences("Answer", &analysis.answer, ANSWERS) + &sentences("Warnings", &analysis.warnings, WARNINGS)
}

/// The first ones, and how many there are more.
fn sentences(label: &str, all: &[String], most: usize) -> String {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let mut text: String = labels.zip(all).take(most).map(|(label, words)| labelled(label, words)).collect();
    if all.len() > most {
        text += &labelled("", &format!("({} in summary.md.)", counted((all.len() - most) as u64, "more sentence")));
    }
    text
}

fn heading(analysis: &Analysis) -> String {
    let experiment = &analysis.experiment;
    let planned = counted(experiment.cells.len() as u64, "measurement");
    let repeats = counted(experiment.repeats, "repeat");
    let plan = format!("Plan {}: {} of {planned}, {repeats}", experiment.plan, analysis.measured);
    wrapped("", &experiment.question, 0) + &wrapped("", &plan, 0)
}

fn of_group(analysis: &Analysis, group: &Group) -> String {
    let Group { document, connections, baseline, levels, series, .. } = group;
    let mut text =
        format!("{} ({}), {} connections\n", document.name, bytes(document.bytes as f64), connections.name());
    let shown = spaced(levels);
    let mut rows = vec![head(baseline, series.len() > 1)];
    for level in &shown {
        let points = series.iter().filter_map(|series| Some((series, series.at(*level)?)));
        rows.extend(points.enumerate().map(|(at, (series, point))| row(analysis, group, series, point, at == 0)));
    }
    if levels.len() > 1 {
        rows.extend(series.iter().filter_map(|series| curve(analysis, group, series)));
    }
    let name = rows.iter().map(|row| row.target.len()).chain([NAME]).max().unwrap_or(NAME);
    text.extend(rows.iter().map(|row| row.render(name)));
    if shown.len() < levels.len() {
        text += &wrapped("", &format!("{} of {} concurrencies are shown.", shown.len(), levels.len()), 0);
    }
    text + &reasons(group)
}

/// At most so many of them, evenly, the first and the last among them.
fn spaced(levels: &[u64]) -> Vec<u64> {
    if levels.len() <= LEVELS {
        return levels.to_vec();
    }
    (0..LEVELS).filter_map(|at| levels.get(at * (levels.len() - 1) / (LEVELS - 1)).copied()).collect()
}

/// The cells of a row, without what follows the last one.
struct Row<'a> {
    concurrency: String,
    target: &'a str,
    rate: String,
    reach: String,
    rate_verdict: String,
    cpu: String,
    cpu_verdict: String,
    p99: String,
    failed: String,
}

impl Row<'_> {
    fn render(&self, name: usize) -> String {
        let Self { concurrency, target, rate, reach, rate_verdict, cpu, cpu_verdict, p99, failed } = self;
        let line = format!(
            "{concurrency:>6}  {target:<name$} {rate:>10} {reach:>6} {rate_verdict:<VERDICT$} {cpu:>9} \
             {cpu_verdict:<VERDICT$} {p99:>8} {failed:>6}"
        );
        line.trim_end().to_owned() + "\n"
    }
}

/// The one that others are compared with stands in the first row: a name that is too long for the head need not be in it.
fn head(baseline: &str, is_compared: bool) -> Row<'static> {
    let against = match format!("to {baseline}") {
        _ if !is_compared => String::new(),
        words if words.len() <= VERDICT => words,
        _ => "to the first".to_owned(),
    };
    Row {
        concurrency: "conc.".to_owned(),
        target: "target",
        rate: "requests/s".to_owned(),
        reach: "range".to_owned(),
        rate_verdict: against.clone(),
        cpu: "CPU/req. ".to_owned(),
        cpu_verdict: against,
        p99: "p99".to_owned(),
        failed: "failed".to_owned(),
    }
}

/// The concurrency stands at the first of its rows.
fn row<'a>(analysis: &Analysis, group: &Group, series: &'a Series, point: &Point, is_first: bool) -> Row<'a> {
    let level = if is_first { point.concurrency.to_string() } else { String::new() };
    let verdict = |metric| analysis.comparison(group, &series.target, metric, Some(point.concurrency)).map(short);
    let [rate_star, cpu_star] = Metric::ALL.map(|metric| if point.is_valid(metric) { " " } else { "*" });
    Row {
        concurrency: level,
        target: &series.target,
        rate: format!("{}{rate_star}", rate(point.requests_per_s.median)),
        reach: reach(&point.requests_per_s).map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
        rate_verdict: verdict(Metric::RequestsPerSecond).unwrap_or_default(),
        cpu: point
            .server_cpu_us
            .as_ref()
            .map_or_else(|| "- ".to_owned(), |us| format!("{}{cpu_star}", time(us.median * 1e3))),
        cpu_verdict: verdict(Metric::ServerCpu).unwrap_or_default(),
        p99: point.latency_ms.p99.as_ref().map_or_else(|| "-".to_owned(), |ms| time(ms.median * 1e6)),
        failed: point.endings.failed().to_string(),
    }
}

/// What the whole curve says, if anything; the baseline has nothing to say of itself.
fn curve<'a>(analysis: &Analysis, group: &Group, series: &'a Series) -> Option<Row<'a>> {
    let [rates, cpu] = Metric::ALL.map(|metric| analysis.headline(group, &series.target, metric));
    if [rates, cpu].iter().flatten().all(|comparison| comparison.estimate().is_none()) {
        return None;
    }
    Some(Row {
        concurrency: "all".to_owned(),
        target: &series.target,
        rate: String::new(),
        reach: String::new(),
        rate_verdict: rates.map(short).unwrap_or_default(),
        cpu: String::new(),
        cpu_verdict: cpu.map(short).unwrap_or_default(),
        p99: String::new(),
        failed: String::new(),
    })
}

/// `1.31 better`. "Not shown" is short for "no difference shown".
fn short(comparison: &Comparison) -> String {
    let Some(estimate) = comparison.estimate() else { return "-".to_owned() };
    let word = match estimate.word {
        Word::Better => "better",
        Word::Worse => "worse",
        Word::Borderline => "borderline",
        Word::NoDifferenceShown => "not shown",
    };
    format!("{} {word}", estimate.shown_ratio())
}

/// Why points are hollow: a line for each reason, up to a bound.
fn reasons(group: &Group) -> String {
    let mut all = invalid(group, Metric::RequestsPerSecond);
    let of_cpu = invalid(group, Metric::ServerCpu).into_iter().filter(|reason| !all.contains(reason));
    let of_cpu: Vec<_> = of_cpu.map(|reason| format!("only CPU/req.: {reason}")).collect();
    all.extend(of_cpu);
    let mut text: String = all.iter().take(REASONS).map(|reason| wrapped("*", reason, 2)).collect();
    if all.len() > REASONS {
        text += &format!("* and {}, in summary.md\n", counted((all.len() - REASONS) as u64, "more reason"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::super::text::WIDTH;
    use super::*;
    use crate::analysis::sample;

    #[track_caller]
    fn assert_fits(text: &str) {
        let wide = text.lines().find(|line| line.chars().count() > WIDTH || line.trim_end() != *line);
        assert_eq!(wide, None);
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
    }

    const SHORT: &str = "\
1k.html (1.00 KiB), short connections
 conc.  target          requests/s  range to tomcat       CPU/req.  to tomcat            p99 failed
    50  tomcat              19055    12 %                  42.2 us                   5.19 ms      0
        nginx               24679    13 % 1.29 better      25.1 us  0.601 better     4.01 ms      0
        jetty               19155    16 % 0.998 not shown  50.7 us  1.21 worse       5.16 ms      0
   500  tomcat              18910    14 %                  42.3 us                   52.3 ms      0
        nginx               24730    12 % 1.30 better      25.1 us  0.595 better     40.0 ms      0
        jetty               18925    10 % 1.007 not shown  50.4 us  1.20 worse       52.3 ms      0
  1000  tomcat              18781    10 %                  42.8 us                    105 ms      0
        nginx               24171    11 % 1.30 better      25.6 us  0.600 better     81.9 ms      0
        jetty               18835*   11 % -                50.9 us* -                 105 ms     20
   all  nginx                             1.29 better               0.598 better
   all  jetty                             1.003 not shown           1.20 worse
* 20 of 20000 requests failed, in 2 of 12 repeats: jetty at 1000
";

    #[test]
    fn several_targets() {
        let text = render(&sample::analysis());
        let beginning =
            "Which of these servers answers more requests?\nPlan imagined: 359 of 432 measurements, 12 repeats\n\n";
        assert!(text.starts_with(&format!("{beginning}{SHORT}")), "{text}");
        assert!(text.contains(
            "\n* the client had no CPU left, in all 12 repeats: tomcat at 50, 500, 1000; nginx at 50, 500, 1000\n"
        ));
        assert!(text.contains("\nAnswer      nginx against tomcat, in 4 cases"), "{text}");
        assert!(
            text.contains("\n            (2 more sentences in summary.md.)\nWarnings    Only 359 of 360"),
            "{text}"
        );
        assert_fits(&text);
    }

    #[test]
    fn cpu_that_takes_no_part_has_a_star_too() {
        let text = render(&sample::lost_process());
        assert!(text.contains(" 1.30 better      24.0 us* -  "), "{text}");
        assert!(text.contains("\n* only CPU/req.: a process of the server ended"), "{text}");
        assert_fits(&text);
    }

    #[test]
    fn one_target_has_nothing_to_be_compared_with() {
        let text = render(&sample::portrait());
        let head =
            " conc.  target          requests/s  range                 CPU/req.                       p99 failed\n";
        assert!(text.contains(head), "{text}");
        assert!(!text.contains("\n   all  "), "{text}");
        assert_fits(&text);
    }

    #[test]
    fn nothing() {
        let text = render(&sample::nothing());
        assert!(text.contains("\n\nAnswer      Nothing was measured, so nothing is answered.\n"), "{text}");
        assert_fits(&text);
    }

    #[test]
    fn a_long_curve_is_thinned() {
        let levels: Vec<u64> = (1..=40).map(|at| at * 50).collect();
        assert_eq!(spaced(&levels), [50, 350, 700, 1000, 1350, 1650, 2000]);
        assert_eq!(spaced(&levels[..7]), levels[..7]);
        let mut analysis = sample::portrait();
        analysis.groups[0].levels = levels;
        assert!(render(&analysis).contains("\n7 of 40 concurrencies are shown.\n"));
    }
}
