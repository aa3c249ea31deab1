use std::sync::Arc;

use super::*;
use crate::load::plan::{Address, Arrivals, ExchangePlan, SocketPlan, Statuses, Target};
use crate::load::request::Request;
use crate::load::url::Url;
use crate::process::affinity::Pins;
use crate::record::{Doubt, Endings, Purpose, plain};

fn plan() -> Plan {
    let url = Url::parse("http://127.0.0.1:8080/").unwrap();
    Plan {
        target: Target {
            host: url.host.clone(),
            port: url.port,
            address: Address::Tcp("127.0.0.1:8080".parse().unwrap()),
        },
        requests: Arc::new([Request::new(&url, "GET", &url.path, "1.1", &[], b"")]),
        exchange: ExchangePlan {
            keep_alive: true,
            pipeline: 1,
            timeout: Duration::from_secs(10),
            expected: Statuses(vec![(200, 399)]),
            same_length: false,
            verify: None,
        },
        connections: 10,
        threads: 1,
        end: End { requests: Some(5000), duration: Some(Duration::from_secs(5)), abort_after: Some(50), fatal: &[] },
        pace: Pace::Closed,
        sources: Vec::new(),
        socket: SocketPlan::default(),
        watch: Vec::new(),
        pins: Pins::none(),
        keep: Keep { rows: true, head_bytes: 0 },
        warm_up: Duration::ZERO,
    }
}

fn campaign(sequence: Sequence, gates: &[&str]) -> Campaign {
    let gates = gates.iter().map(|text| text.parse().unwrap()).collect();
    Campaign { plan: plan(), sequence, gates, command: vec!["quintain".into(), "load".into()] }
}

fn find_max() -> Sequence {
    Sequence::FindMax(search::Options::default())
}

fn rate_of(plan: &Plan) -> f64 {
    match plan.pace {
        Pace::Open { per_second, .. } => per_second,
        Pace::Closed => panic!("a closed loop has no rate"),
    }
}

/// What a server with this capacity makes of a rate: beyond it, it answers as much as it can.
fn served(plan: &Plan, capacity: f64) -> Run {
    let rate = rate_of(plan);
    let mut run = plain::run();
    run.settings.rate_per_s = Some(rate);
    run.answered_per_s = rate.min(capacity);
    run.client.achieved_rate = Some(run.answered_per_s / rate);
    run
}

/// Runs all of it, and returns the record and the names of the parts.
fn record(campaign: &Campaign, mut measure: impl FnMut(&Plan) -> Run) -> (Record, Vec<String>) {
    let mut parts = Vec::new();
    let record = campaign.run(&AtomicBool::new(false), |plan, part| {
        parts.push(part.to_string());
        Ok::<_, ()>(measure(plan))
    });
    (record.unwrap().expect("something was measured"), parts)
}

#[test]
fn one_run_is_run_as_planned() {
    let (record, parts) = record(&campaign(Sequence::Single, &["p99>1ns"]), |plan| {
        assert_eq!((plan.pace, plan.end.requests, plan.keep.rows), (Pace::Closed, Some(5000), true));
        plain::run()
    });
    assert_eq!((record.kind, &record.runs[..], record.finding), (Kind::Single, &[plain::run()][..], None));
    assert_eq!((record.version, record.command.join(" ")), (VERSION, "quintain load".to_owned()));
    assert_eq!((record.tool.starts_with("quintain "), parts), (true, vec!["run".to_owned()]));
}

#[test]
fn the_warm_up_is_thrown_away_and_comes_once() {
    let mut campaign = campaign(Sequence::Steps(vec![100.0, 200.0]), &[]);
    campaign.plan.warm_up = Duration::from_secs(2);
    let mut asked = Vec::new();
    let (record, parts) = record(&campaign, |plan| {
        asked.push((rate_of(plan), plan.end.duration, plan.end.requests, plan.keep.rows, plan.warm_up));
        served(plan, 150.0)
    });
    let (two, five) = (Duration::from_secs(2), Duration::from_secs(5));
    assert_eq!(
        asked,
        [
            (100.0, Some(two), None, false, Duration::ZERO),
            (100.0, Some(five), Some(5000), true, two),
            (200.0, Some(five), Some(5000), true, Duration::ZERO),
        ]
    );
    assert_eq!(parts, ["warm-up", "step 1 of 2: 100/s", "step 2 of 2: 200/s"]);
    let rates: Vec<_> = record.runs.iter().map(|run| run.answered_per_s).collect();
    assert_eq!((record.kind, rates, record.found_rate_per_s), (Kind::Steps, vec![100.0, 150.0], None));
}

#[test]
fn steps_keep_the_kind_of_arrivals() {
    let mut campaign = campaign(Sequence::Steps(vec![1.0, 2.0]), &[]);
    let arrivals = Arrivals::Poisson { seed: 7 };
    campaign.plan.pace = Pace::Open { per_second: 9.0, arrivals };
    record(&campaign, |plan| {
        assert!(matches!(plan.pace, Pace::Open { arrivals: Arrivals::Poisson { seed: 7 }, .. }));
        served(plan, 9.0)
    });
}

#[test]
fn a_search_finds_what_the_server_can_do() {
    let mut durations = Vec::new();
    let (record, parts) = record(&campaign(find_max(), &[]), |plan| {
        assert_eq!(plan.end.requests, None);
        durations.push(plan.end.duration.unwrap().as_secs());
        served(plan, 5000.0)
    });
    // 99 % of the asked rate passes: 5,050.5/s.
    let found = record.found_rate_per_s.expect("found");
    assert!(found <= 5000.0 / 0.99 && found * 1.02 >= 5000.0 / 0.99, "{found}");
    let finding = record.finding.expect("a search");
    assert_eq!((finding.stages.len(), parts.len()), (record.runs.len(), record.runs.len()));
    assert_eq!(parts[..2], ["stage 1: trying 1000/s for 5s", "stage 2: trying 2000/s for 5s"]);
    assert_eq!(parts[4], "stage 5: trying 6000/s for 5s");
    assert_eq!(parts.last().unwrap(), "stage 11: holding 5000/s for 15s");
    assert_eq!(finding.stages[3].broke, ["achieved_rate was 0.625 (achieved_rate<0.99)"]);
    assert_eq!(finding.stages.last().unwrap().purpose, Purpose::Hold);
    assert_eq!((durations[0], durations.last()), (5, Some(&15)));
    assert_eq!(finding.words, "5000/s held for 15s; at 5062/s achieved_rate was 0.988 (achieved_rate<0.99)");
    assert!(!finding.lower_bound);
}

#[test]
fn where_the_client_was_the_limit_the_words_say_so() {
    let (record, _) = record(&campaign(find_max(), &[]), |plan| {
        let mut run = served(plan, 5000.0);
        run.verdict.doubts = vec![Doubt::ClientWasTheLimit];
        run
    });
    let finding = record.finding.expect("a search");
    let words = "5000/s held for 15s, which is a lower bound: at 5062/s achieved_rate was 0.988 (achieved_rate<0.99), \
                 and the client was the limit there";
    assert_eq!((finding.lower_bound, finding.words.as_str()), (true, words));
}

#[test]
fn a_gate_of_ones_own_replaces_the_default_for_its_metric() {
    let some_fail = |plan: &Plan| {
        let mut run = served(plan, 1e9);
        let failed = if rate_of(plan) > 3000.0 { 20 } else { 5 };
        run.endings = Endings { ok: 1000 - failed, reset: failed, ..Endings::default() };
        run
    };
    let (strict, _) = record(&campaign(find_max(), &[]), some_fail);
    let words = strict.finding.expect("a search").words;
    assert_eq!(
        (strict.found_rate_per_s, words.as_str()),
        (None, "no rate passed: even at 1/s failed was 5 (failed>0)")
    );
    let (lenient, _) = record(&campaign(find_max(), &["failed>1%"]), some_fail);
    let found = lenient.found_rate_per_s.expect("found");
    assert!(found <= 3000.0 && found * 1.02 >= 3000.0, "{found}");
}

#[test]
fn what_was_given_up_has_broken() {
    let (record, _) = record(&campaign(find_max(), &["failed>100%"]), |plan| {
        let mut run = served(plan, 1e9);
        run.aborted = rate_of(plan) > 1000.0;
        run
    });
    let stages = record.finding.expect("a search").stages;
    assert_eq!(stages[1].broke, ["too many requests failed in a row (--abort-after)"]);
}

#[test]
fn an_interrupted_run_is_the_last_and_is_not_judged() {
    let mut count = 0;
    let (record, parts) = record(&campaign(find_max(), &[]), |plan| {
        count += 1;
        let mut run = served(plan, 5000.0);
        run.interrupted = count == 4;
        run
    });
    let finding = record.finding.expect("a search");
    assert_eq!((parts.len(), record.runs.len(), finding.stages.len()), (4, 4, 4));
    assert_eq!((record.found_rate_per_s, &finding.stages[3].broke), (None, &Vec::new()));
    assert_eq!(finding.words, "the search was cut short; until then 4000/s had passed");
}

#[test]
fn the_stop_flag_is_honoured_between_runs() {
    let stop = AtomicBool::new(false);
    let campaign = campaign(Sequence::Steps(vec![1.0, 2.0, 3.0]), &[]);
    let record = campaign.run(&stop, |plan, _| {
        stop.store(rate_of(plan) == 2.0, Ordering::Relaxed);
        Ok::<_, ()>(served(plan, 9.0))
    });
    assert_eq!(record.unwrap().unwrap().runs.len(), 2);
    // It is still set: nothing is run at all.
    assert_eq!(campaign.run(&stop, |_, _| -> Result<Run, ()> { panic!("it was stopped") }), Ok(None));
}

#[test]
fn a_warm_up_that_was_interrupted_leaves_no_record() {
    let mut campaign = campaign(Sequence::Single, &[]);
    campaign.plan.warm_up = Duration::from_secs(1);
    let mut parts = Vec::new();
    let record = campaign.run(&AtomicBool::new(false), |_, part| {
        parts.push(part.clone());
        Ok::<_, ()>(Run { interrupted: true, ..plain::run() })
    });
    assert_eq!((record, parts), (Ok(None), vec![Part::WarmUp]));
}

#[test]
fn what_was_measured_before_a_run_that_could_not_be_made_is_kept() {
    let stop = AtomicBool::new(false);
    let fails_at = |limit: f64| {
        move |plan: &Plan, _: &Part| if rate_of(plan) < limit { Ok(served(plan, 1e9)) } else { Err("no ports left") }
    };
    let failed = campaign(find_max(), &[]).run(&stop, fails_at(4000.0)).unwrap_err();
    let record = failed.measured.expect("two runs");
    let finding = record.finding.expect("a search");
    assert_eq!((failed.error, record.runs.len(), finding.stages.len()), ("no ports left", 2, 2));
    assert_eq!(finding.words, "the search was cut short; until then 2000/s had passed");
    let failed = campaign(find_max(), &[]).run(&stop, fails_at(1.0)).unwrap_err();
    assert_eq!(failed, Failed { error: "no ports left", measured: None });
}

#[test]
fn gates_on_what_is_not_measured_are_refused_beforehand() {
    let refused = |sequence, change: fn(&mut Plan), gate| {
        let mut campaign = campaign(sequence, &["p99>1s", gate]);
        change(&mut campaign.plan);
        campaign.check().map_or_else(|unmet| unmet.to_string(), |()| String::new())
    };
    let open = |plan: &mut Plan| plan.pace = Pace::Open { per_second: 1.0, arrivals: Arrivals::Uniform };
    let as_it_is = |_: &mut Plan| {};
    let needs_rate = "--fail-if 'achieved_rate<0.9' needs an open loop: --rate R, or --find-max";
    assert_eq!(refused(Sequence::Single, as_it_is, "achieved_rate<0.9"), needs_rate);
    assert_eq!(refused(Sequence::Single, open, "achieved_rate<0.9"), "");
    assert_eq!(refused(find_max(), as_it_is, "achieved_rate<0.9"), "");
    let needs_watch = "--fail-if 'cpu_per_request>1s' needs the server's process: --watch PID";
    assert_eq!(refused(find_max(), as_it_is, "cpu_per_request>1s"), needs_watch);
    assert_eq!(refused(find_max(), |plan| plan.watch = vec![1], "cpu_per_request>1s"), "");
}
