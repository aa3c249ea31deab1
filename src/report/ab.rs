//! ApacheBench 2.4's report, line for line: the same labels, widths, order and conditions.
//!
//! Where the figures differ from ab's it is on purpose: each failed request is in one class (ab counts a reset up to three times),
//! and a kept-alive connection that the server closed while it was idle is no failure.

use super::ab_times::{ConnectionTimes, Times, round_ms};
use super::sorted::Sorted;
use crate::record::{Endings, HistogramError, Run};

/// The percentages that ab lists.
const PERCENTAGES: [u64; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// What of ab's command line shows in its report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// `-k`: the line `Keep-Alive requests` is there.
    pub keep_alive: bool,
    /// `-l`: the length of the document is `Variable`.
    pub variable_length: bool,
    /// `-d`: no percentages.
    pub no_percentages: bool,
    /// `-S`: neither medians nor deviations nor notes on them.
    pub no_medians: bool,
    /// `-p` or `-u`: a body was sent.
    pub body_sent: bool,
}

/// The report, from the two empty lines before it to its end.
///
/// # Errors
///
/// A histogram of the record cannot be read.
pub fn render(run: &Run, options: &Options) -> Result<String, HistogramError> {
    let mut lines = Lines("\n\n".to_owned());
    server(&mut lines, run, options);
    counts(&mut lines, run, options);
    rates(&mut lines, run, options);
    // ab lists times of refused connections as zeros; a table of nothing would show figures that nobody measured.
    if run.latency.total.count > 0 {
        connection_times(&mut lines, &ConnectionTimes::new(&run.latency)?, options);
        if !options.no_percentages && run.latency.total.count > 1 {
            percentages(&mut lines, run)?;
        }
    }
    Ok(lines.0)
}

/// Text that grows by lines.
struct Lines(String);

impl Lines {
    /// A label and its value, which begins in column 24.
    fn field(&mut self, label: &str, value: impl std::fmt::Display) {
        self.text(&format!("{label:<24}{value}"));
    }

    fn text(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }
}

fn server(lines: &mut Lines, run: &Run, options: &Options) {
    lines.field("Server Software:", server_software(run));
    lines.field("Server Hostname:", &run.target.host);
    lines.field("Server Port:", run.target.port);
    lines.text("");
    lines.field("Document Path:", &run.target.path);
    lines.field("Document Length:", document_length(run, options));
    lines.text("");
}

fn counts(lines: &mut Lines, run: &Run, options: &Options) {
    let failures = Failures::of(&run.endings);
    lines.field("Concurrency Level:", run.settings.connections);
    lines.field("Time taken for tests:", format_args!("{:.3} seconds", run.elapsed_s));
    lines.field("Complete requests:", complete(&run.endings));
    lines.field("Failed requests:", failures.all());
    if failures.all() > 0 {
        let Failures { connect, receive, length, exceptions } = failures;
        lines.text(&format!("   (Connect: {connect}, Receive: {receive}, Length: {length}, Exceptions: {exceptions})"));
    }
    if non_2xx(run) > 0 {
        lines.field("Non-2xx responses:", non_2xx(run));
    }
    if options.keep_alive {
        lines.field("Keep-Alive requests:", run.connections.said_keep_alive);
    }
    lines.field("Total transferred:", format_args!("{} bytes", run.transfer.received_bytes));
    if options.body_sent {
        lines.field("Total body sent:", run.transfer.sent_bytes);
    }
    lines.field("HTML transferred:", format_args!("{} bytes", run.transfer.received_body_bytes));
}

fn rates(lines: &mut Lines, run: &Run, options: &Options) {
    let (done, seconds) = (complete(&run.endings) as f64, run.elapsed_s);
    if done == 0.0 || seconds == 0.0 {
        return;
    }
    let slot_ms = run.settings.connections as f64 * seconds * 1000.0 / done;
    let all_ms = seconds * 1000.0 / done;
    let [received, sent, total] = kbytes_per_s(run);
    lines.field("Requests per second:", format_args!("{:.2} [#/sec] (mean)", done / seconds));
    lines.field("Time per request:", format_args!("{slot_ms:.3} [ms] (mean)"));
    lines.field("Time per request:", format_args!("{all_ms:.3} [ms] (mean, across all concurrent requests)"));
    lines.field("Transfer rate:", format_args!("{received:.2} [Kbytes/sec] received"));
    if options.body_sent {
        lines.field("", format_args!("{sent:.2} kb/s sent"));
        lines.field("", format_args!("{total:.2} kb/s total"));
    }
}

fn connection_times(lines: &mut Lines, times: &ConnectionTimes, options: &Options) {
    let ConnectionTimes { connect, processing, waiting, total } = times;
    let rows = [("Connect:", connect), ("Processing:", processing), ("Waiting:", waiting), ("Total:", total)];
    lines.text("\nConnection Times (ms)");
    if options.no_medians {
        lines.text("              min   avg   max");
        rows.iter().for_each(|(label, times)| lines.text(&short_row(label, times)));
        return;
    }
    lines.text("              min  mean[+/-sd] median   max");
    rows.iter().for_each(|(label, times)| lines.text(&full_row(label, times)));
    let names = ["the initial connection time", "the processing time", "the waiting time", "the total time"];
    for (name, (_, times)) in names.iter().zip(rows) {
        note(lines, name, times);
    }
}

fn full_row(label: &str, times: &Times) -> String {
    let [min, mean, median, max] = [times.min_us, times.mean_us, times.median_us, times.max_us].map(round_ms);
    format!("{label:<12}{min:>5} {mean:>4} {:>5.1} {median:>6} {max:>7}", times.deviation_ms)
}

fn short_row(label: &str, times: &Times) -> String {
    let [min, mean, max] = [times.min_us, times.mean_us, times.max_us].map(round_ms);
    format!("{label:<12}{min:>5} {mean:>5}{max:>5}")
}

/// ab compares what it has rounded, so that it doubts any service of less than a millisecond; scripts look for these words.
fn note(lines: &mut Lines, name: &str, times: &Times) {
    let distance = round_ms(times.mean_us).abs_diff(round_ms(times.median_us)) as f64;
    if distance > 2.0 * times.deviation_ms {
        lines.text(&format!("ERROR: The median and mean for {name} are more than twice the standard"));
        lines.text("       deviation apart. These results are NOT reliable.");
    } else if distance > times.deviation_ms {
        lines.text(&format!("WARNING: The median and mean for {name} are not within a normal deviation"));
        lines.text("        These results are probably not that reliable.");
    }
}

fn percentages(lines: &mut Lines, run: &Run) -> Result<(), HistogramError> {
    let sorted = Sorted::new(&run.latency.total, 0)?;
    lines.text("\nPercentage of the requests served within a certain time (ms)");
    for percentage in PERCENTAGES {
        let index = (u128::from(sorted.len()) * u128::from(percentage) / 100) as u64;
        let ms = round_ms(sorted.ns(index) / 1000);
        let remark = if percentage == 100 { " (longest request)" } else { "" };
        lines.text(&format!("{percentage:>4}%  {ms:>5}{remark}"));
    }
    Ok(())
}

/// The `Server` line's value up to the first blank: `Apache/2.4.6 (Unix)` is `Apache/2.4.6`.
pub(super) fn server_software(run: &Run) -> &str {
    let server = run.first_answer.as_ref().map_or("", |answer| answer.server.as_str());
    server.split(|c: char| c <= ' ').next().unwrap_or_default()
}

pub(super) fn document_length(run: &Run, options: &Options) -> String {
    match &run.first_answer {
        _ if options.variable_length => "Variable".to_owned(),
        answer => format!("{} bytes", answer.as_ref().map_or(0, |answer| answer.body_bytes)),
    }
}

/// ab's "complete" is "over", failed requests included (seen with `-r` on a port that refuses), so that complete less failed is
/// good. What the end of the run cut off is not over.
pub(super) fn complete(endings: &Endings) -> u64 {
    endings.all() - endings.aborted
}

pub(super) fn non_2xx(run: &Run) -> u64 {
    run.statuses.iter().filter(|(status, _)| !(200..300).contains(*status)).map(|(_, count)| count).sum()
}

/// Received, sent, and both.
pub(super) fn kbytes_per_s(run: &Run) -> [f64; 3] {
    let [received, sent] = [run.transfer.received_bytes, run.transfer.sent_bytes].map(|bytes| bytes as f64);
    [received, sent, received + sent].map(|bytes| bytes / 1024.0 / run.elapsed_s)
}

/// Failed requests in ab's classes. A status is no failure to ab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failures {
    pub(super) connect: u64,
    pub(super) receive: u64,
    pub(super) length: u64,
    pub(super) exceptions: u64,
}

impl Failures {
    pub(super) const fn of(endings: &Endings) -> Self {
        let Endings {
            ok: _,
            connect_failed,
            connect_timed_out,
            sent_nothing,
            reset,
            closed_early,
            malformed,
            length_differs,
            content_differs,
            timed_out,
            status_refused: _,
            aborted: _,
        } = *endings;
        Self {
            connect: connect_failed + connect_timed_out,
            receive: sent_nothing + reset + closed_early + timed_out,
            length: length_differs + content_differs,
            exceptions: malformed,
        }
    }

    pub(super) const fn all(self) -> u64 {
        self.connect + self.receive + self.length + self.exceptions
    }
}

#[cfg(test)]
pub(super) mod tests;
