//! The report for people: what limited the run before what was measured, and beside every figure what it stands on. At most some
//! 35 lines of 100 columns. Without colours: it is read in files and chats as often as on terminals.

mod honesty;
mod latency;
mod single;
mod steps;

use crate::record::{Kind, Record, Run, Settings};

use super::units::{counted, rate};

/// Most columns of a line; only a word that is longer, as a URL may be, exceeds it.
pub(super) const WIDTH: usize = 100;
/// Column in which text begins that has a label before it.
const INDENT: usize = 12;

/// The report of a record. Several runs are a table, never one figure: no mean of a curve says anything.
#[must_use]
pub fn render(record: &Record) -> String {
    match (record.kind, record.runs.as_slice()) {
        (_, []) => "Nothing was measured.\n".to_owned(),
        (Kind::Single, [run]) => single::render(run),
        (_, runs) => steps::render(runs, record.finding.as_ref()),
    }
}

/// What was asked of whom, in two lines.
fn heading(run: &Run, with_rate: bool) -> String {
    let target = &run.target;
    let url = target.urls.first().map_or(target.path.as_str(), String::as_str);
    let more = match target.urls.len() {
        0 | 1 => String::new(),
        all => format!(" and {} in turn", counted(all as u64 - 1, "more URL")),
    };
    let elsewhere = if is_elsewhere(run) { format!(" at {}", target.address) } else { String::new() };
    let asked = asked(&run.settings, &target.http, with_rate).join(", ");
    format!("{} {url}{more}{elsewhere}\n{}", target.method, wrapped("", &asked, 0))
}

/// Connections went to something that the URL does not spell out: what its name resolved to, a proxy, a unix socket.
fn is_elsewhere(run: &Run) -> bool {
    let (host, port) = (&run.target.host, run.target.port);
    ![format!("{host}:{port}"), format!("[{host}]:{port}")].contains(&run.target.address)
}

/// The settings that are not as everybody would guess.
fn asked(settings: &Settings, http: &str, with_rate: bool) -> Vec<String> {
    let reuse = if settings.keep_alive { "keep-alive" } else { "a connection for each request" };
    let mut words = vec![
        counted(settings.connections, "connection"),
        counted(settings.threads, "thread"),
        format!("HTTP/{http}"),
        reuse.to_owned(),
    ];
    if settings.pipeline > 1 {
        words.push(format!("{} pipelined", settings.pipeline));
    }
    if let (true, Some(per_s)) = (with_rate, settings.rate_per_s) {
        let arrivals = settings.arrivals.as_deref().unwrap_or("uniform");
        words.push(format!("{} requests/s ({arrivals})", rate(per_s)));
    }
    words.extend(settings.requests.map(|all| counted(all, "request")));
    words.extend(settings.duration_s.map(|all| format!("for {all} s")));
    if settings.warm_up_s > 0.0 {
        words.push(format!("after {} s of warm-up", settings.warm_up_s));
    }
    if !settings.sources.is_empty() {
        words.push(format!("from {}", counted_addresses(settings.sources.len())));
    }
    if settings.body_check.starts_with("content") {
        words.push(format!("bodies checked: {}", settings.body_check));
    }
    words
}

fn counted_addresses(count: usize) -> String {
    if count == 1 { "1 address".to_owned() } else { format!("{count} addresses") }
}

/// A label and words after it; what does not fit goes on below.
pub(super) fn labelled(label: &str, words: &str) -> String {
    wrapped(label, words, INDENT)
}

pub(super) fn wrapped(label: &str, words: &str, indent: usize) -> String {
    let mut text = format!("{label:<indent$}");
    let mut column = text.chars().count();
    let mut at_start = true;
    for word in unbreakable(words) {
        let width = word.chars().count();
        if !at_start && column + 1 + width > WIDTH {
            text.push_str(&format!("\n{:indent$}", ""));
            (column, at_start) = (indent, true);
        }
        if !at_start {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word);
        (column, at_start) = (column + width, false);
    }
    text.push('\n');
    text
}

/// Words, a figure with its unit being one.
fn unbreakable(text: &str) -> Vec<String> {
    const UNITS: [&str; 10] = ["ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB", "%"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', ';', '.', ':', ')']));
        match words.last_mut() {
            Some(figure) if is_unit => figure.extend([" ", word]),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests;
