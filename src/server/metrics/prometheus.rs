//! The counters for Prometheus: its text exposition format, version 0.0.4.

use std::fmt::Write;

use super::reloads::RESULTS;
use super::{About, AcceptError, Elsewhere, STATUS_CLASSES, Snapshot, Timeout, Usage, WAYS, present};

/// The format's media type.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The body of `/metrics`.
pub fn to_prometheus(about: &About, snapshot: &Snapshot) -> String {
    let About {
        version,
        uptime: _,
        started_unix_s,
        workers,
        listen: _,
        profile,
        model,
        files_mode,
        transfer_path,
        stack_bytes,
        reloads,
    } = about;
    let Snapshot {
        requests,
        sent_bytes,
        accepted,
        closed,
        parked,
        woken,
        accept_errors,
        timeouts,
        transfers,
        threads_started,
        access_log_dropped,
        elsewhere: Elsewhere { connections_waiting, cache_hits, cache_misses, access_log_lost, log_lost, usage },
    } = snapshot;

    let mut text = Exposition::default();
    text.counters("http_requests_total", "Answers by status class.", "class", STATUS_CLASSES, requests);
    text.counter("sent_bytes_total", "Bytes handed to the kernel, heads included.", *sent_bytes);
    text.gauge("connections_open", "Connections accepted and not yet ended.", present(*accepted, *closed));
    text.counter("connections_accepted_total", "Connections accepted.", *accepted);
    text.gauge("connections_waiting", "Connections in the accept queues.", *connections_waiting);
    text.gauge("connections_parked", "Idle connections without buffers.", present(*parked, *woken));
    text.counter("parked_total", "Times an idle connection gave its buffers back.", *parked);
    text.counter("woken_total", "Times a parked connection became active or ended.", *woken);
    text.counters("accept_errors_total", "Failures of accept.", "class", AcceptError::NAMES, accept_errors);
    text.counters("timeouts_total", "Connections cut because of a deadline.", "kind", Timeout::NAMES, timeouts);
    text.counter("cache_hits_total", "Requests whose document was in the cache.", *cache_hits);
    text.counter("cache_misses_total", "Requests whose document had to be opened.", *cache_misses);
    text.counter("access_log_dropped_total", "Access log lines dropped, queue full.", *access_log_dropped);
    text.counter("access_log_lost_total", "Access log lines that could not be written.", *access_log_lost);
    text.counter("log_lost_total", "Lines of the server's own log, lost for want of room.", *log_lost);
    text.counters("transfers_total", "Answers by the way of their content.", "way", WAYS, transfers);
    text.counter("threads_started_total", "Threads made for connections.", *threads_started);
    text.counters("reloads_total", "Reloads of the configuration (SIGHUP).", "result", RESULTS, &reloads.counts());
    let Usage { threads, resident_bytes, virtual_bytes, descriptors } = *usage;
    text.gauge("process_threads", "Threads of the process.", threads);
    text.gauge("process_resident_bytes", "Memory of the process that is in use.", resident_bytes);
    text.gauge("process_virtual_bytes", "Address space of the process.", virtual_bytes);
    text.gauge("process_open_descriptors", "Open descriptors of the process.", descriptors);
    text.gauge("process_start_time_seconds", "When the server started, since 1970.", *started_unix_s);
    text.gauge("thread_stack_bytes", "Stack that each thread may use.", *stack_bytes);
    text.gauge("workers", "Workers that serve.", *workers as u64);
    text.labels(
        "info",
        "What this server is; the value is always 1.",
        &[
            ("version", version),
            ("profile", profile),
            ("model", model),
            ("files_mode", files_mode),
            ("transfer_path", transfer_path),
        ],
    );
    text.0
}

/// The text so far. Names and help texts are this file's own and need no escaping.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.describe(name, help, "counter");
        let _ = writeln!(self.0, "quintain_{name} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.describe(name, help, "gauge");
        let _ = writeln!(self.0, "quintain_{name} {value}");
    }

    /// One counter for each value of a label.
    fn counters<const N: usize>(&mut self, name: &str, help: &str, label: &str, names: [&str; N], values: &[u64; N]) {
        self.describe(name, help, "counter");
        for (of, value) in names.iter().zip(values) {
            let _ = writeln!(self.0, "quintain_{name}{{{label}=\"{of}\"}} {value}");
        }
    }

    /// A metric that tells texts.
    fn labels(&mut self, name: &str, help: &str, labels: &[(&str, &str)]) {
        self.describe(name, help, "gauge");
        let labels: Vec<_> = labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        let _ = writeln!(self.0, "quintain_{name}{{{}}} 1", labels.join(","));
    }

    fn describe(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP quintain_{name} {help}\n# TYPE quintain_{name} {kind}");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::{about, distinct};
    use super::*;

    /// Reads the format as its definition wants it: HELP and TYPE once, in this order and before the samples of their
    /// metric; samples of one metric together; each name and label pair once; a line feed at the end.
    fn parse(text: &str) -> BTreeMap<String, (String, u64)> {
        assert!(text.ends_with('\n'));
        let mut samples = BTreeMap::new();
        let mut described: Vec<&str> = Vec::new();
        let mut lines = text.lines().peekable();
        while let Some(help) = lines.next() {
            let (metric, help) = help.strip_prefix("# HELP ").unwrap().split_once(' ').unwrap();
            assert!(!help.is_empty() && !help.contains('\\'));
            assert!(!described.contains(&metric), "twice: {metric}");
            described.push(metric);
            let (again, kind) = lines.next().unwrap().strip_prefix("# TYPE ").unwrap().split_once(' ').unwrap();
            assert_eq!(again, metric);
            assert_eq!(kind == "counter", metric.ends_with("_total"), "{metric} is a {kind}");
            while let Some(sample) = lines.next_if(|line| !line.starts_with('#')) {
                let (series, value) = sample.rsplit_once(' ').unwrap();
                let (name, labels) = series.split_once('{').map_or((series, None), |(n, l)| (n, Some(l)));
                assert_eq!(name, metric);
                assert!(name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'), "{name}");
                if let Some(labels) = labels {
                    for pair in labels.strip_suffix("\"}").unwrap().split("\",") {
                        let (label, value) = pair.split_once("=\"").unwrap();
                        assert!(!label.is_empty() && !value.is_empty() && !value.contains(['"', '\\', '\n']));
                    }
                }
                let value = (kind.to_owned(), value.parse().unwrap());
                assert!(samples.insert(series.to_owned(), value).is_none(), "twice: {series}");
            }
        }
        samples
    }

    #[test]
    fn every_figure_has_its_name_and_kind() {
        let counter = |value| ("counter".to_owned(), value);
        let gauge = |value| ("gauge".to_owned(), value);
        let expected = [
            (r#"http_requests_total{class="1xx"}"#, counter(11)),
            (r#"http_requests_total{class="2xx"}"#, counter(12)),
            (r#"http_requests_total{class="3xx"}"#, counter(13)),
            (r#"http_requests_total{class="4xx"}"#, counter(14)),
            (r#"http_requests_total{class="5xx"}"#, counter(15)),
            ("sent_bytes_total", counter(1_000_001)),
            ("connections_open", gauge(700)),
            ("connections_accepted_total", counter(900)),
            ("connections_waiting", gauge(51)),
            ("connections_parked", gauge(500)),
            ("parked_total", counter(800)),
            ("woken_total", counter(300)),
            (r#"accept_errors_total{class="connection"}"#, counter(21)),
            (r#"accept_errors_total{class="descriptors"}"#, counter(22)),
            (r#"accept_errors_total{class="memory"}"#, counter(23)),
            (r#"accept_errors_total{class="other"}"#, counter(24)),
            (r#"timeouts_total{kind="header"}"#, counter(31)),
            (r#"timeouts_total{kind="idle"}"#, counter(32)),
            (r#"timeouts_total{kind="write_stall"}"#, counter(33)),
            (r#"timeouts_total{kind="linger"}"#, counter(34)),
            ("cache_hits_total", counter(52)),
            ("cache_misses_total", counter(53)),
            ("access_log_dropped_total", counter(41)),
            ("access_log_lost_total", counter(54)),
            ("log_lost_total", counter(55)),
            (r#"transfers_total{way="memory"}"#, counter(61)),
            (r#"transfers_total{way="sendfile"}"#, counter(62)),
            (r#"transfers_total{way="copy"}"#, counter(63)),
            (r#"transfers_total{way="stream"}"#, counter(64)),
            ("threads_started_total", counter(65)),
            (r#"reloads_total{result="applied"}"#, counter(81)),
            (r#"reloads_total{result="refused"}"#, counter(82)),
            ("process_threads", gauge(71)),
            ("process_resident_bytes", gauge(72)),
            ("process_virtual_bytes", gauge(73)),
            ("process_open_descriptors", gauge(74)),
            ("process_start_time_seconds", gauge(76)),
            ("thread_stack_bytes", gauge(75)),
            ("workers", gauge(2)),
            (
                r#"info{version="1.2.3",profile="none",model="event-loop",files_mode="cached",transfer_path="auto"}"#,
                gauge(1),
            ),
        ];
        let expected: BTreeMap<_, _> =
            expected.into_iter().map(|(series, value)| (format!("quintain_{series}"), value)).collect();
        assert_eq!(parse(&to_prometheus(&about(), &distinct())), expected);
    }

    /// A connection can be counted as ended in a snapshot that has not yet seen it accepted.
    #[test]
    fn a_gauge_is_never_below_zero() {
        let snapshot = Snapshot { closed: 1, woken: 1, ..Snapshot::default() };
        let samples = parse(&to_prometheus(&about(), &snapshot));
        assert_eq!(samples["quintain_connections_open"].1, 0);
        assert_eq!(samples["quintain_connections_parked"].1, 0);
    }
}
