//! ApacheBench's report as an HTML table (`-w`), tag for tag. ab leaves out of it what came later: the class "Receive", waiting
//! times, and percentages.

use super::ab::{Failures, Options, complete, document_length, kbytes_per_s, non_2xx, server_software};
use super::ab_times::{ConnectionTimes, round_ms};
use crate::record::{HistogramError, Run};

/// The attributes of the table's tags, as they are typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributes {
    /// `-x`: of `<table>`.
    pub table: String,
    /// `-y`: of `<tr>`.
    pub row: String,
    /// `-z`: of `<td>` and `<th>`.
    pub cell: String,
}

impl Default for Attributes {
    fn default() -> Self {
        Self { table: String::new(), row: String::new(), cell: "bgcolor=white".to_owned() }
    }
}

/// The report, from the two empty lines before it to the end of the table.
///
/// # Errors
///
/// A histogram of the record cannot be read.
pub fn render(run: &Run, options: &Options, attributes: &Attributes) -> Result<String, HistogramError> {
    let mut table = Table { attributes, html: format!("\n\n<table {}>\n", attributes.table) };
    table.field("Server Software:", escaped(server_software(run)));
    table.field("Server Hostname:", escaped(&run.target.host));
    table.field("Server Port:", run.target.port);
    table.field("Document Path:", escaped(&run.target.path));
    table.field("Document Length:", document_length(run, options));
    counts(&mut table, run, options);
    rates(&mut table, run, options);
    if run.latency.total.count > 0 {
        times(&mut table, &ConnectionTimes::new(&run.latency)?);
    }
    Ok(table.html + "</table>\n")
}

struct Table<'a> {
    attributes: &'a Attributes,
    html: String,
}

impl Table<'_> {
    fn field(&mut self, label: &str, value: impl std::fmt::Display) {
        let cell = &self.attributes.cell;
        self.row(&format!("<th colspan=2 {cell}>{label}</th><td colspan=2 {cell}>{value}</td>"));
    }

    fn row(&mut self, cells: &str) {
        self.html.push_str(&format!("<tr {}>{cells}</tr>\n", self.attributes.row));
    }
}

fn counts(table: &mut Table, run: &Run, options: &Options) {
    let failures = Failures::of(&run.endings);
    table.field("Concurrency Level:", run.settings.connections);
    table.field("Time taken for tests:", format_args!("{:.3} seconds", run.elapsed_s));
    table.field("Complete requests:", complete(&run.endings));
    table.field("Failed requests:", failures.all());
    if failures.all() > 0 {
        let Failures { connect, receive: _, length, exceptions } = failures;
        let cell = &table.attributes.cell;
        table.row(&format!(
            "<td colspan=4 {cell} >   (Connect: {connect}, Length: {length}, Exceptions: {exceptions})</td>"
        ));
    }
    if non_2xx(run) > 0 {
        table.field("Non-2xx responses:", non_2xx(run));
    }
    if options.keep_alive {
        table.field("Keep-Alive requests:", run.connections.said_keep_alive);
    }
    table.field("Total transferred:", format_args!("{} bytes", run.transfer.received_bytes));
    if options.body_sent {
        table.field("Total body sent:", run.transfer.sent_bytes);
    }
    table.field("HTML transferred:", format_args!("{} bytes", run.transfer.received_body_bytes));
}

fn rates(table: &mut Table, run: &Run, options: &Options) {
    if run.elapsed_s == 0.0 {
        return;
    }
    let [received, sent, total] = kbytes_per_s(run);
    table.field("Requests per second:", format_args!("{:.2}", complete(&run.endings) as f64 / run.elapsed_s));
    table.field("Transfer rate:", format_args!("{received:.2} kb/s received"));
    if options.body_sent {
        for (rate, word) in [(sent, "sent"), (total, "total")] {
            let cell = &table.attributes.cell;
            table.row(&format!("<td colspan=2 {cell}>&nbsp;</td><td colspan=2 {cell}>{rate:.2} kb/s {word}</td>"));
        }
    }
}

fn times(table: &mut Table, times: &ConnectionTimes) {
    let cell = &table.attributes.cell;
    let (connect, total) = (&times.connect, &times.total);
    // Unlike the text, the table divides what it has rounded, and takes processing for the difference of the other two.
    let mean = |sum_us: u64, count: u64| round_ms(sum_us) / count.max(1);
    let connect = [round_ms(connect.min_us), mean(connect.sum_us, connect.count), round_ms(connect.max_us)];
    let total = [round_ms(total.min_us), mean(total.sum_us, total.count), round_ms(total.max_us)];
    let processing = [0, 1, 2].map(|at| total[at].saturating_sub(connect[at]));
    table.row(&format!("<th {cell} colspan=4>Connection Times (ms)</th>"));
    table.row(&format!("<th {cell}>&nbsp;</th> <th {cell}>min</th>   <th {cell}>avg</th>   <th {cell}>max</th>"));
    for (label, row) in [("Connect:", connect), ("Processing:", processing), ("Total:", total)] {
        let cells = row.map(|ms| format!("<td {cell}>{ms:>5}</td>")).concat();
        table.row(&format!("<th {cell}>{label}</th>{cells}"));
    }
}

/// What a server or a URL says is not to become a tag. (ab does not care.)
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
