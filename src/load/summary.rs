//! From what the threads have seen to the record of the run.

use std::time::Duration;

use super::plan::{Address, Arrivals, ExchangePlan, Pace, Plan};
use super::recorder::Recorder;
use super::worker::Seen;
use crate::record::{Client, Latency, Limit, Network, Run, Settings, Target, Verdict};

/// Everything but what is known only afterwards: watched processes, the verdict, and why it ended.
pub fn of(plan: &Plan, seen: &[Seen], started: Duration, network: Network) -> Run {
    let mut sum = Recorder::new(plan.pace != Pace::Closed);
    seen.iter().for_each(|seen| sum.add(&seen.recorder));
    let elapsed_ns = seen.iter().map(|seen| seen.ended_at).max().unwrap_or(0);
    let elapsed_s = Duration::from_nanos(elapsed_ns).as_secs_f64();
    let answered_per_s = per(sum.endings.answered() as f64, elapsed_s);
    let latency = latency(&sum);
    Run {
        started_unix_s: started.as_secs_f64(),
        elapsed_s,
        interrupted: false,
        aborted: false,
        settings: settings(plan),
        target: target(plan),
        endings: sum.endings,
        statuses: sum.statuses(),
        connections: sum.connections,
        transfer: sum.transfer,
        answered_per_s,
        client: client(plan, seen, &sum, elapsed_s),
        latency,
        intervals: sum.intervals.record(),
        first_answer: sum.first_answer,
        first_failure: sum.first_failure,
        network,
        watched: Vec::new(),
        verdict: Verdict { limit: Limit::Unknown, words: String::new(), doubts: Vec::new(), warnings: Vec::new() },
    }
}

fn latency(sum: &Recorder) -> Latency {
    let open = sum.open();
    Latency {
        service: sum.service().distribution(),
        total: sum.total().distribution(),
        connect: sum.connect().distribution(),
        first_byte: sum.first_byte().distribution(),
        response: open.map(|(response, _)| response.distribution()),
        timer_error: open.map(|(_, timer_error)| timer_error.distribution()),
    }
}

fn client(plan: &Plan, seen: &[Seen], sum: &Recorder, elapsed_s: f64) -> Client {
    let threads: Vec<_> = seen.iter().map(|seen| seen.thread).collect();
    let cpu_s: f64 = threads.iter().map(|thread| thread.cpu_s).sum();
    let total = sum.total();
    let achieved_rate = match plan.pace {
        Pace::Closed => None,
        Pace::Open { per_second, .. } => Some(achieved_rate(sum, per_second, elapsed_s)),
    };
    Client {
        cpu_per_request_us: per(cpu_s * 1e6, sum.endings.all() as f64),
        // Little's law with the sum of times instead of their mean: the count cancels out. With those that were cut off,
        // or a run of two thousand connections and few answers on each would look idle by what its end cost.
        achieved_concurrency: per((total.moments().sum_ns as f64 + sum.cut_off_ns as f64) / 1e9, elapsed_s),
        loop_lag_p99_ns: sum.lag.percentile(99.0),
        loop_lag_max_ns: sum.lag.moments().max_ns,
        achieved_rate,
        never_sent: sum.never_sent,
        threads,
    }
}

/// The part of the asked rate that was achieved.
///
/// Of the requests that fell due, those count that have ended, and as many of those on their way as a server that keeps
/// up has there: rate times answer time. A server that answers nothing has achieved nothing, although all was sent. A run
/// that ends with its last request may besides have taken longer than its schedule.
fn achieved_rate(sum: &Recorder, per_second: f64, elapsed_s: f64) -> f64 {
    let service_s = sum.service().moments().mean() / 1e9;
    let (ended, on_their_way) = (sum.endings.all() - sum.endings.aborted, sum.endings.aborted);
    let due = ended + on_their_way + sum.never_sent;
    let reached = per(ended as f64 + (on_their_way as f64).min(per_second * service_s), due as f64);
    let scheduled_s = sum.last_due as f64 / 1e9 + 1.0 / per_second;
    let has_ended_with_the_last = on_their_way == 0 && sum.never_sent == 0;
    let took_s = if has_ended_with_the_last { elapsed_s - service_s } else { 0.0 };
    if took_s > scheduled_s { reached * scheduled_s / took_s } else { reached }
}

fn settings(plan: &Plan) -> Settings {
    let ExchangePlan { keep_alive, pipeline, timeout, expected, same_length, verify } = &plan.exchange;
    let (rate_per_s, arrivals) = match plan.pace {
        Pace::Closed => (None, None),
        Pace::Open { per_second, arrivals: Arrivals::Uniform } => (Some(per_second), Some("uniform".to_owned())),
        Pace::Open { per_second, arrivals: Arrivals::Poisson { .. } } => (Some(per_second), Some("poisson".to_owned())),
    };
    let body_check = match (verify, same_length) {
        (Some(verify), _) => verify.to_string(),
        (None, true) => "length".to_owned(),
        (None, false) => "none".to_owned(),
    };
    Settings {
        connections: plan.connections as u64,
        threads: plan.threads as u64,
        requests: plan.end.requests,
        duration_s: plan.end.duration.map(|duration| duration.as_secs_f64()),
        rate_per_s,
        arrivals,
        keep_alive: *keep_alive,
        pipeline: *pipeline as u64,
        timeout_s: timeout.as_secs_f64(),
        warm_up_s: plan.warm_up.as_secs_f64(),
        sources: plan.sources.iter().map(ToString::to_string).collect(),
        body_check,
        expected_status: expected.to_string(),
    }
}

fn target(plan: &Plan) -> Target {
    let first = &plan.requests[0];
    Target {
        urls: plan.requests.iter().map(|request| request.url.clone()).collect(),
        host: plan.target.host.clone(),
        port: plan.target.port,
        path: first.path.clone(),
        address: match &plan.target.address {
            Address::Tcp(address) => address.to_string(),
            Address::Unix(path) => format!("unix:{}", path.display()),
        },
        method: first.method.clone(),
        http: first.http.to_owned(),
        request_bytes: first.bytes.len() as u64,
        request_body_bytes: first.body_bytes as u64,
    }
}

/// 0 of nothing: the record has no place for what is not a number.
fn per(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
