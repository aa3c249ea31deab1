//! What a reader needs to judge the figures: whether the client kept up, what the network did, what the server used.

use super::super::units::{bytes, counted, percent, rate, time};
use super::labelled;
use crate::record::{ClientThread, Distribution, Run, Watched};

/// The block, a line for each subject.
pub(super) fn render(run: &Run) -> String {
    let mut text = client(run) + &threads(&run.client.threads) + &schedule(run) + &network(run);
    text.extend(run.watched.iter().map(watched));
    text
}

fn client(run: &Run) -> String {
    let client = &run.client;
    let words = format!(
        "{}, {} of CPU/request, loop lag p99 {}, max {}",
        in_flight(run),
        time(client.cpu_per_request_us * 1000.0),
        time(client.loop_lag_p99_ns as f64),
        time(client.loop_lag_max_ns as f64),
    );
    labelled("Client", &words)
}

/// A closed loop should keep all its slots busy; an open one uses what the rate needs.
fn in_flight(run: &Run) -> String {
    let achieved = rate(run.client.achieved_concurrency);
    let slots = run.settings.connections * run.settings.pipeline;
    match run.settings.rate_per_s {
        None => format!("{achieved} of {slots} requests in flight"),
        Some(_) => format!("{achieved} requests in flight (at most {slots})"),
    }
}

/// Of many threads the busiest one tells: it is the first to be a limit.
fn threads(threads: &[ClientThread]) -> String {
    let busiest = threads.iter().max_by(|a, b| busy(a).total_cmp(&busy(b)));
    let Some(thread) = busiest else { return String::new() };
    let [cpu, delay] = [thread.cpu_s, thread.run_delay_s].map(|s| percent(s / thread.wall_s.max(f64::MIN_POSITIVE)));
    let of =
        if threads.len() == 1 { "its thread".to_owned() } else { format!("the busiest of {} threads", threads.len()) };
    labelled("", &format!("{of}: on a CPU {cpu}, waiting for one {delay} of the time"))
}

fn busy(thread: &ClientThread) -> f64 {
    (thread.cpu_s + thread.run_delay_s) / thread.wall_s.max(f64::MIN_POSITIVE)
}

/// Of an open loop: whether requests went when they were due.
fn schedule(run: &Run) -> String {
    let (Some(asked), Some(achieved)) = (run.settings.rate_per_s, run.client.achieved_rate) else {
        return String::new();
    };
    let mut words = vec![format!("{} of {} requests/s achieved", percent(achieved), rate(asked))];
    words.extend(run.latency.timer_error.as_ref().and_then(timer_error));
    if run.client.never_sent > 0 {
        words.push(format!("{} due and never sent", run.client.never_sent));
    }
    labelled("Schedule", &words.join("; "))
}

/// How late the client itself was, which is in the response times without being the server's.
fn timer_error(late: &Distribution) -> Option<String> {
    let p99 = late.percentile_ns(99.0).filter(|_| late.count > 0)?;
    Some(format!("sent late (with a connection free) by p99 {}, max {}", time(p99 as f64), time(late.max_ns as f64)))
}

fn network(run: &Run) -> String {
    let network = &run.network;
    let congestion = match network.congestion_control.as_str() {
        "" => String::new(),
        name => format!("{name}; "),
    };
    let words = format!(
        "{congestion}on the whole machine {}, {}, {}",
        counted(network.syn_retransmits, "SYN retransmit"),
        counted(network.listen_overflows, "listen overflow"),
        counted(network.listen_drops, "listen drop"),
    );
    labelled("Network", &words)
}

fn watched(process: &Watched) -> String {
    let Watched { pid, name, cpus_used, cpus_allowed, cpu_per_request_us, .. } = process;
    let cpu = format!(
        "{name} ({pid}): {cpus_used:.2} of {}, {} of CPU/request; busiest thread {} on a CPU, {} waiting",
        counted(*cpus_allowed, "CPU"),
        time(cpu_per_request_us * 1000.0),
        percent(process.busiest_thread),
        percent(process.busiest_thread_delay),
    );
    let rest = format!(
        "{}, {} resident, {}, {} voluntary and {} forced switches{}",
        counted(process.threads_max, "thread"),
        bytes(process.resident_max_bytes as f64),
        counted(process.descriptors_max, "descriptor"),
        process.voluntary_switches,
        process.involuntary_switches,
        if process.gone { "; it ENDED during the run" } else { "" },
    );
    labelled("Watched", &cpu) + &labelled("", &rest)
}
