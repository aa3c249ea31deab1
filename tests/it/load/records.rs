//! Records as others read them: real ones, held against the schema that is published.

use std::fs;
use std::path::Path;

use quintain::record::{Kind, Record, VERSION};
use serde_json::Value;

use super::{Load, Ran};
use crate::harness::{Answer, Launch, RefusedPort, Site, TruthServer};

#[track_caller]
fn is_valid(ran: &Ran) -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/load-record.json");
    let schema = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let instance: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:#?}"));
    let errors: Vec<_> = validator.iter_errors(&instance).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{}", ran.stdout);
    let record = ran.record();
    assert_eq!(record.version, VERSION);
    for run in &record.runs {
        let latency = &run.latency;
        let times = [&latency.service, &latency.total, &latency.connect, &latency.first_byte];
        for times in times.into_iter().chain(&latency.response).chain(&latency.timer_error) {
            let histogram = times.histogram().expect("a histogram that can be read");
            assert_eq!(histogram.len(), times.count, "the histogram has as many times as are counted");
        }
        let seconds: u64 = run.intervals.rows.iter().map(|row| row.ok + row.failed).sum();
        assert_eq!(seconds, run.endings.ok + run.endings.failed(), "the intervals have every request once");
        let received: u64 = run.intervals.rows.iter().map(|row| row.received_bytes).sum();
        assert_eq!(received, run.transfer.received_bytes, "the intervals have every byte once");
    }
    record
}

#[test]
fn single_runs() {
    let site = Site::small();
    let server = Launch::over(site.root()).start();
    let id = server.id().to_string();
    for words in ["-n 100", "-t 1500ms", "-n 50 --rate 100", "-n 50 --connections short --http 1.0"] {
        let ran = Load::of(server.url("/ten.txt")).with("-c 4 --watch").word(&id).with(words).run();
        let record = is_valid(&ran);
        assert_eq!((record.kind, record.runs.len()), (Kind::Single, 1), "{words}");
        let run = &record.runs[0];
        assert_eq!((run.watched.len(), run.watched[0].pid), (1, server.id()), "{words}");
        let first = run.first_answer.as_ref().expect("an answer");
        assert_eq!((first.status, first.body_bytes), (200, 10), "{words}");
        assert_eq!(record.command[1], "load");
    }
}

#[test]
fn runs_without_one_answer() {
    let port = RefusedPort::new();
    let record = is_valid(&Load::of(port.url()).with("-n 10 -c 2").run());
    assert_eq!((record.runs[0].endings.connect_failed, &record.runs[0].first_answer), (10, &None));
    let server = TruthServer::answering(|_| Answer::silence());
    let record = is_valid(&Load::of(server.url("/")).with("-t 200ms -c 2").run());
    assert_eq!(record.runs[0].endings.all(), record.runs[0].endings.aborted);
}

#[test]
fn steps() {
    let server = TruthServer::answering(|_| Answer::ok("0123456789"));
    let ran = Load::of(server.url("/")).with("--rate 40:160 --steps 4 -t 500ms -c 8").run();
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let record = is_valid(&ran);
    assert_eq!(record.kind, Kind::Steps);
    let rates: Vec<_> = record.runs.iter().filter_map(|run| run.settings.rate_per_s).collect();
    assert_eq!(rates, [40.0, 80.0, 120.0, 160.0]);
    let requests: u64 = record.runs.iter().map(|run| run.endings.all() - run.endings.aborted).sum();
    assert!(requests <= server.ledger().requests);
    assert!(record.runs.iter().all(|run| run.endings.ok > 0 && run.endings.failed() == 0));
}

/// The server refuses what exceeds 150 requests a second, so the rate to be found does not depend on the machine.
#[test]
fn a_search_for_the_highest_rate() {
    let window = std::sync::Mutex::new((std::time::Instant::now(), 0u32));
    let server = TruthServer::answering(move |_| {
        let mut window = window.lock().expect("no holder panics");
        if window.0.elapsed() >= std::time::Duration::from_millis(500) {
            *window = (std::time::Instant::now(), 0);
        }
        window.1 += 1;
        if window.1 > 75 { Answer::status("503 Service Unavailable", "") } else { Answer::ok("") }
    });
    let ran = Load::of(server.url("/")).with("--find-max --rate 50 -t 1s -c 16 --any-length --fail-if failed>0").run();
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let record = is_valid(&ran);
    assert_eq!(record.kind, Kind::FindMax);
    assert!(record.runs.len() > 2, "{} runs", record.runs.len());
    let found = record.found_rate_per_s.expect("a rate that passes");
    assert!((50.0..=160.0).contains(&found), "{found} requests a second were found");
    // The last run confirms what was found.
    let last = record.runs.last().expect("runs");
    assert_eq!((last.settings.rate_per_s, last.endings.failed()), (Some(found), 0));
}
