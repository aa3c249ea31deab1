//! The verdict and the doubts as sentences, each with the figures that it stands on.

use super::{CLIENT_DOUBT, CLIENT_LIMIT, Figures, SYN_RETRY_S, process_load_of, thread_load_of};
use crate::record::{Doubt, Limit, Outcome, Watched};

/// From this part of its time on, a thread's wait for a CPU is worth a word.
const DELAY_WORTH_A_WORD: f64 = 0.05;

pub(super) fn of_limit(limit: Limit, figures: &Figures<'_>) -> String {
    match limit {
        Limit::Failures => format!("failures: {}: of the server's limits nothing can be told", failures(figures)),
        Limit::Rate => rate(figures),
        Limit::ClientCpu => client_cpu(figures),
        Limit::ServerCpu => figures.busiest_server().map(server_cpu).unwrap_or_default(),
        Limit::Network => format!(
            "network: {}; a connection that is tried again waits for the server for {SYN_RETRY_S} s or more",
            retries(figures)
        ),
        Limit::Connections => connections(figures),
        Limit::Unknown => unknown(figures),
    }
}

pub(super) fn of_doubt(doubt: Doubt, limit: Limit, figures: &Figures<'_>) -> String {
    match doubt {
        Doubt::ClientMayBeTheLimit => format!("the client may be the limit: {}", client_time(figures)),
        Doubt::ClientWasTheLimit => client_was_busy(limit, figures),
        Doubt::ConcurrencyNotAchieved => format!(
            "on average only {:.1} of {} connections had a request on its way: the others waited for the client, had \
             failed, or had no request left",
            figures.client.achieved_concurrency, figures.connections
        ),
        Doubt::RateNotAchieved => {
            format!("{} went out, and {} that were due were never sent", rates(figures), figures.client.never_sent)
        }
        Doubt::LoopLag => format!(
            "in 1 of 100 turns events waited {} or more for the client, and at most {}: latencies are too long by that",
            time(figures.client.loop_lag_p99_ns as f64),
            time(figures.client.loop_lag_max_ns as f64)
        ),
        Doubt::SentLate => format!(
            "1 in 100 requests was sent {} or more after it was due although a connection was free: response times are too \
             long by the client's own delay",
            time(figures.timer_error_p99_ns as f64)
        ),
        Doubt::ConnectionsRetried => format!("connections were tried again: {}", retries(figures)),
        Doubt::Failures => failures(figures),
        Doubt::Short => format!("the run took {}: too short to mean much", time(figures.elapsed_s * 1e9)),
    }
}

fn rate(figures: &Figures<'_>) -> String {
    let asked = number(figures.rate_per_s.unwrap_or(0.0));
    let reached = format!("rate: {asked} requests/s were asked for and reached");
    if figures.client_load() > CLIENT_LIMIT {
        format!("{reached}, by a client that could not do more: {}", client_time(figures))
    } else if let Some(server) = figures.saturated_server() {
        format!("{reached}, but the server has hardly more to give: {}", server_time(server))
    } else if figures.is_late() {
        format!("{reached}, though the client did not always send on time")
    } else {
        format!("{reached}: neither client nor server was the limit")
    }
}

/// A server that waits for a CPU for longer than it has one is short of CPUs, not slow.
fn server_cpu(server: &Watched) -> String {
    let what = server_time(server);
    if server.busiest_thread_delay > server.busiest_thread {
        format!("too few CPUs: {what}; give server and load tool CPUs of their own (--cpus, taskset)")
    } else {
        format!("server CPU: {what}")
    }
}

fn client_cpu(figures: &Figures<'_>) -> String {
    let client = client_time(figures);
    let Some(server) = figures.saturated_server() else {
        return format!("client CPU: {client}; the client was the limit: the figure is a lower bound");
    };
    let both_wait = figures.busiest_client_thread().run_delay_s >= DELAY_WORTH_A_WORD * figures.elapsed_s
        && server.busiest_thread_delay >= DELAY_WORTH_A_WORD;
    let shared = if both_wait { " (they may share it: pin them apart)" } else { "" };
    format!(
        "client CPU and server CPU{shared}: {client}, and {}; neither had any left: the figure is a lower bound",
        server_time(server)
    )
}

fn connections(figures: &Figures<'_>) -> String {
    let wait = time(figures.mean_ns);
    let server = server_note(figures);
    if !figures.is_closed() {
        let all = figures.connections;
        return format!(
            "connections: all {all} were in use, for {wait} by each request, so that {} went out; {server}",
            rates(figures)
        );
    }
    match figures.connections {
        1 => format!("connections: 1 connection, waiting {wait} for the server (closed loop); {server}"),
        many => format!("connections: {many} connections, each waiting {wait} for the server (closed loop); {server}"),
    }
}

fn unknown(figures: &Figures<'_>) -> String {
    if figures.finished() == 0 {
        format!("unknown: no request ended within {}", time(figures.elapsed_s * 1e9))
    } else if figures.client_load() > CLIENT_DOUBT {
        format!("unknown: the client may be the limit, {}; {}", client_time(figures), server_note(figures))
    } else {
        format!("unknown: {} went out, although connections were free; {}", rates(figures), server_note(figures))
    }
}

fn client_was_busy(limit: Limit, figures: &Figures<'_>) -> String {
    let meaning = match limit {
        Limit::Rate => "latencies are upper bounds",
        _ => "the figures are a lower bound",
    };
    format!("the client had no CPU left: {}; {meaning}", client_time(figures))
}

/// What the client's busiest thread did.
fn client_time(figures: &Figures<'_>) -> String {
    let thread = figures.busiest_client_thread();
    let whose = match figures.client.threads.len() {
        0 | 1 => "its thread".to_owned(),
        many => format!("the busiest of its {many} threads"),
    };
    let of_wall = |time: f64| if thread.wall_s > 0.0 { time / thread.wall_s } else { 0.0 };
    thread_time(&whose, of_wall(thread.cpu_s), of_wall(thread.run_delay_s))
}

/// What a watched process did: its busiest thread, or all of it where that is nearer to having nothing left.
fn server_time(server: &Watched) -> String {
    let Watched { name, pid, threads_max, .. } = server;
    let gone = if server.gone { ", which ended during the run" } else { "" };
    if process_load_of(server) > thread_load_of(server) {
        let (used, allowed) = (server.cpus_used, server.cpus_allowed);
        let cpus = if allowed == 1 { "CPU" } else { "CPUs" };
        return format!("the server {name} (pid {pid}{gone}) used {used:.2} of its {allowed} {cpus}");
    }
    let whose = match threads_max {
        0 | 1 => format!("the thread of the server {name} (pid {pid}{gone})"),
        many => format!("the busiest of {many} threads of the server {name} (pid {pid}{gone})"),
    };
    thread_time(&whose, server.busiest_thread, server.busiest_thread_delay)
}

/// A thread that works all the time and one that others keep from working need different remedies, so the words differ.
fn thread_time(whose: &str, cpu: f64, run_delay: f64) -> String {
    if run_delay >= DELAY_WORTH_A_WORD {
        let (cpu, run_delay) = (percent(cpu), percent(run_delay));
        format!("{whose} ran for {cpu} of the time and waited for a CPU that others had for {run_delay}")
    } else {
        format!("{whose} was busy for {} of the time", percent(cpu + run_delay))
    }
}

fn server_note(figures: &Figures<'_>) -> String {
    match figures.busiest_server() {
        Some(server) => format!("it was not the server's CPU as far as watched: {}", server_time(server)),
        None => "the server was not watched: --watch PID tells whether its CPU was the limit".to_owned(),
    }
}

fn failures(figures: &Figures<'_>) -> String {
    let (failed, all) = (figures.endings.failed(), figures.finished());
    let failures = Outcome::ALL.into_iter().filter(|outcome| outcome.is_failure());
    let Some(commonest) = failures.max_by_key(|outcome| figures.endings.of(*outcome)) else { return String::new() };
    let count = figures.endings.of(commonest);
    format!("{failed} of {all} requests failed, {count} of them with '{}'", commonest.name())
}

fn retries(figures: &Figures<'_>) -> String {
    let network = figures.network;
    format!(
        "{} SYNs were sent again, {} were dropped by listeners and {} accept queues were found full on this machine",
        network.syn_retransmits, network.listen_drops, network.listen_overflows
    )
}

fn rates(figures: &Figures<'_>) -> String {
    let asked = figures.rate_per_s.unwrap_or(0.0);
    let achieved = figures.client.achieved_rate.unwrap_or(0.0);
    format!("{} of {} requests/s", number(asked * achieved), number(asked))
}

fn number(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// With three digits or so.
fn time(ns: f64) -> String {
    const US: f64 = 1e3;
    const MS: f64 = 1e6;
    const S: f64 = 1e9;
    match ns {
        ns if ns < MS => format!("{:.0} us", ns / US),
        ns if ns < 100.0 * MS => format!("{:.1} ms", ns / MS),
        ns if ns < S => format!("{:.0} ms", ns / MS),
        ns => format!("{:.2} s", ns / S),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let cases =
            [(0.0, "0 us"), (850_400.0, "850 us"), (20_100_000.0, "20.1 ms"), (312e6, "312 ms"), (2e9, "2.00 s")];
        for (ns, expected) in cases {
            assert_eq!(time(ns), expected);
        }
    }

    #[test]
    fn numbers() {
        for (value, expected) in [(1000.0, "1000"), (812.34, "812"), (12.34, "12.3"), (5.0, "5")] {
            assert_eq!(number(value), expected);
        }
    }
}
