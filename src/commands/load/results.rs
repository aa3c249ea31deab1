//! What comes of a record: the report, the other files, and the exit code.

use super::super::FAILED;
use super::super::console::put;
use super::super::signals::INTERRUPTED;
use super::outputs::{Output, Outputs};
use super::refusal::Refusal;
use crate::cli::values;
use crate::load::Rows;
use crate::record::{Gate, Kind, Record};
use crate::report;

/// Exit code of a run that broke a gate.
const GATE_BROKE: u8 = 3;

/// Writes everything that was asked for, all of it, whatever cannot be written: the first failure is told in the end.
pub fn write(
    record: &Record,
    measured_rows: Option<Rows>,
    format: values::Output,
    outputs: Outputs,
) -> Result<(), Refusal> {
    let Outputs { report, hdr, percentiles, rows } = outputs;
    let mut written = vec![write_report(record, format, report)];
    if let Some(last) = record.runs.last() {
        let times = last.latency.headline();
        written.extend(hdr.map(|file| file.write(|file| report::hdr::write(file, times))));
        written.extend(percentiles.map(|file| file.write(|file| report::percentiles_csv::write(file, times))));
    }
    let rows = rows.zip(measured_rows);
    written.extend(rows.map(|(file, measured)| file.write(|file| report::rows_tsv::write(file, measured))));
    written.into_iter().collect()
}

fn write_report(record: &Record, format: values::Output, file: Option<Output>) -> Result<(), Refusal> {
    let text = match format {
        values::Output::Text => report::text::render(record),
        values::Output::Json => report::json::render(record).map_err(Refusal::failed)?,
    };
    match file {
        Some(file) => file.write(|file| file.write_all(text.as_bytes())),
        None => put(&text).map_err(|error| Refusal::failed(format!("cannot write the report to stdout: {error}"))),
    }
}

/// What is wrong with the record, as sentences for stderr, and the exit code that says so.
pub fn judge(record: &Record, gates: &[Gate]) -> (Vec<String>, u8) {
    if record.runs.iter().any(|run| run.interrupted) {
        return (Vec::new(), INTERRUPTED);
    }
    if let Some(sentence) = nobody_there(record) {
        return (vec![sentence], FAILED);
    }
    if record.kind == Kind::FindMax {
        // The gates have guided the search; most of its runs broke one. What it found stands in the report.
        return (Vec::new(), if record.found_rate_per_s.is_some() { 0 } else { GATE_BROKE });
    }
    let broken = record.runs.iter().flat_map(|run| {
        // Each step has its own rate, which tells them apart.
        let rate = run.settings.rate_per_s.filter(|_| record.kind == Kind::Steps);
        let step = rate.map_or(String::new(), |rate| format!("at {rate:.0}/s: "));
        gates.iter().filter_map(|gate| gate.broken(run)).map(move |broken| format!("{step}{broken}"))
    });
    let broken: Vec<_> = broken.collect();
    let code = if broken.is_empty() { 0 } else { GATE_BROKE };
    (broken, code)
}

/// Where not one connection was made, nothing was measured, whatever the requests ended as.
fn nobody_there(record: &Record) -> Option<String> {
    let first = record.runs.iter().find_map(|run| run.first_failure.as_ref())?;
    let none = record.runs.iter().all(|run| run.connections.opened == 0);
    let reason = if first.reason.is_empty() { String::new() } else { format!(" ({})", first.reason) };
    let address = &record.runs[0].target.address;
    none.then(|| {
        format!("not one connection to {address} could be made: {}{reason}; does the server run?", first.outcome)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::args;
    use super::*;
    use crate::record::{Endings, FirstFailure, Outcome, Run, VERSION, sample};

    fn record(kind: Kind, runs: Vec<Run>) -> Record {
        let (tool, command) = ("quintain".to_owned(), vec!["quintain".to_owned()]);
        Record { version: VERSION, tool, command, kind, runs, found_rate_per_s: None, finding: None }
    }

    fn failing() -> Run {
        let run = sample::run();
        Run { endings: Endings { reset: 5, ..run.endings }, ..run }
    }

    fn gates(texts: &[&str]) -> Vec<Gate> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_broken_gate_is_exit_code_3() {
        let gates = gates(&["failed>4", "failed>1000000", "max>10000s"]);
        let (sentences, code) = judge(&record(Kind::Single, vec![failing()]), &gates);
        assert_eq!((sentences.len(), code), (1, 3), "{sentences:?}");
        assert!(sentences[0].starts_with("failed was "), "{sentences:?}");
        assert_eq!(judge(&record(Kind::Single, vec![failing()]), &gates[1..]), (Vec::new(), 0));
        assert_eq!(judge(&record(Kind::Single, vec![failing()]), &[]), (Vec::new(), 0));
    }

    #[test]
    fn each_step_is_judged_and_named_by_its_rate() {
        let at = |rate, mut run: Run| {
            run.settings.rate_per_s = Some(rate);
            run
        };
        let steps = vec![at(100.0, failing()), at(200.0, failing())];
        let (sentences, code) = judge(&record(Kind::Steps, steps), &gates(&["failed>4"]));
        assert_eq!(code, 3);
        assert!(
            sentences[0].starts_with("at 100/s: failed was ") && sentences[1].starts_with("at 200/s: "),
            "{sentences:?}"
        );
    }

    #[test]
    fn a_search_is_judged_by_what_it_found() {
        let searched = |found_rate_per_s| Record { found_rate_per_s, ..record(Kind::FindMax, vec![failing()]) };
        assert_eq!(judge(&searched(Some(5.0)), &gates(&["failed>4"])).1, 0);
        assert_eq!(judge(&searched(None), &gates(&["failed>4"])).1, 3);
    }

    #[test]
    fn without_a_connection_nothing_was_measured() {
        let mut run = failing();
        run.connections.opened = 0;
        run.first_failure = Some(FirstFailure::new(Outcome::ConnectFailed, Some(111)));
        let (sentences, code) = judge(&record(Kind::Single, vec![run]), &[]);
        let expected = "not one connection to 127.0.0.1:8080 could be made: connect failed (Connection refused (os error 111)); \
                        does the server run?";
        assert_eq!((sentences, code), (vec![expected.to_owned()], 1));
    }

    #[test]
    fn half_a_run_is_not_judged() {
        let interrupted = Run { interrupted: true, ..failing() };
        assert_eq!(judge(&record(Kind::Single, vec![interrupted]), &gates(&["failed>4"])), (Vec::new(), INTERRUPTED));
    }

    #[test]
    fn each_file_has_its_form() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let words = ["-o", &path("report"), "--hdr", &path("hdr"), "-e", &path("csv"), "http://h/"];
        let record = record(Kind::Single, vec![sample::run()]);
        write(&record, None, values::Output::Json, Outputs::open(&args(&words)).unwrap()).unwrap();
        let read = |name: &str| fs::read_to_string(path(name)).unwrap();
        assert_eq!(report::json::read(&read("report")).unwrap(), record);
        assert!(read("hdr").trim_start().starts_with("Value"), "{}", read("hdr"));
        assert!(read("csv").starts_with("Percentage served,Time in ms\n"), "{}", read("csv"));
        write(&record, None, values::Output::Text, Outputs::open(&args(&words)).unwrap()).unwrap();
        assert_eq!(read("report"), report::text::render(&record));
    }
}
