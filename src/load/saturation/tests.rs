use super::*;
use hdrhistogram::Histogram;

use crate::record::{Moments, Network};
// Of a limit and a doubt with the same name, the doubt goes by another one here.
use crate::record::Doubt::Failures as SomeFailed;
use crate::record::{Doubt::*, Limit::*};

/// A run as the rules see it. [`Case::default`] is one of a closed loop over a client and a server that are both idle.
#[derive(Clone)]
struct Case {
    elapsed_s: f64,
    connections: u64,
    opened: u64,
    rate_per_s: Option<f64>,
    achieved_rate: Option<f64>,
    /// CPU and run delay over wall time, of each thread.
    client: Vec<(f64, f64)>,
    /// Busiest thread's CPU and delay over wall time, and the process's CPUs used and allowed.
    server: Option<(f64, f64, f64, u64)>,
    concurrency: f64,
    lag_ns: u64,
    ok: u64,
    connect_failed: u64,
    timed_out: u64,
    aborted: u64,
    syn_retransmits: u64,
    overflows: u64,
    drops: u64,
    /// These were connections of somebody else on the machine.
    of_others: bool,
    late_ns: u64,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            elapsed_s: 10.0,
            connections: 50,
            opened: 50,
            rate_per_s: None,
            achieved_rate: None,
            client: vec![(0.2, 0.01)],
            server: Some((0.3, 0.01, 0.3, 2)),
            concurrency: 49.9,
            lag_ns: 20_000,
            ok: 25_000,
            connect_failed: 0,
            timed_out: 0,
            aborted: 0,
            syn_retransmits: 0,
            overflows: 0,
            drops: 0,
            of_others: false,
            late_ns: 0,
        }
    }
}

impl Case {
    fn verdict(&self) -> Verdict {
        let endings = Endings {
            ok: self.ok,
            connect_failed: self.connect_failed,
            timed_out: self.timed_out,
            aborted: self.aborted,
            ..Endings::default()
        };
        let network = Network {
            syn_retransmits: self.syn_retransmits,
            listen_overflows: self.overflows,
            listen_drops: self.drops,
            congestion_control: "cubic".to_owned(),
        };
        verdict(&Figures {
            elapsed_s: self.elapsed_s,
            connections: self.connections,
            opened: self.opened,
            rate_per_s: self.rate_per_s,
            mean_ns: 20_100_000.0,
            endings: &endings,
            client: &self.client(),
            watched: &self.server.map(|figures| watched(self.elapsed_s, figures)).into_iter().collect::<Vec<_>>(),
            network: &network,
            connect: &self.connects(),
            timer_error_p99_ns: self.late_ns,
        })
    }

    /// A second for each connection that was tried again, and no time for the others.
    fn connects(&self) -> Distribution {
        let retried = self.syn_retransmits.max(self.overflows).max(self.drops);
        let retried = if self.of_others { 0 } else { retried };
        let mean_ns = if self.opened == 0 { 0.0 } else { retried as f64 * 1e9 / self.opened as f64 };
        let max_ns = if retried == 0 { 0 } else { 1_000_000_000 };
        Distribution {
            count: self.opened,
            mean_ns,
            max_ns,
            ..Distribution::new(&Histogram::new(3).unwrap(), &Moments::default())
        }
    }

    fn client(&self) -> Client {
        let wall_s = self.elapsed_s;
        let thread = |(cpu, delay)| ClientThread { cpu_s: cpu * wall_s, run_delay_s: delay * wall_s, wall_s };
        Client {
            threads: self.client.iter().copied().map(thread).collect(),
            cpu_per_request_us: 5.0,
            achieved_concurrency: self.concurrency,
            loop_lag_p99_ns: self.lag_ns,
            loop_lag_max_ns: 2 * self.lag_ns,
            achieved_rate: self.achieved_rate,
            never_sent: 7,
        }
    }
}

fn watched(wall_s: f64, (cpu, delay, cpus_used, cpus_allowed): (f64, f64, f64, u64)) -> Watched {
    Watched {
        pid: 77,
        name: "nginx".to_owned(),
        cpu_s: cpus_used * wall_s,
        cpu_per_request_us: 9.0,
        cpus_used,
        cpus_allowed,
        busiest_thread: cpu,
        busiest_thread_delay: delay,
        threads_max: 4,
        resident_max_bytes: 1,
        descriptors_max: 1,
        voluntary_switches: 1,
        involuntary_switches: 1,
        gone: false,
    }
}

/// Limit and doubts of a case, with what is said on failure.
#[track_caller]
fn is(name: &str, case: &Case, limit: Limit, doubts: &[Doubt]) {
    let verdict = case.verdict();
    assert_eq!((verdict.limit, verdict.doubts.as_slice()), (limit, doubts), "{name}: {}", verdict.words);
    assert_eq!(verdict.warnings.len(), doubts.len(), "{name}");
    for words in verdict.warnings.iter().chain([&verdict.words]) {
        assert!(!words.is_empty() && !words.contains('\n') && !words.contains("NaN"), "{name}: {words:?}");
    }
}

fn closed() -> Case {
    Case::default()
}

fn open(achieved: f64) -> Case {
    Case { rate_per_s: Some(1000.0), achieved_rate: Some(achieved), concurrency: 10.0, ..closed() }
}

fn short() -> Case {
    Case { opened: 25_000, ..closed() }
}

#[test]
fn each_rule_and_its_edge() {
    let busy = [ClientWasTheLimit];
    let maybe = [ClientMayBeTheLimit];
    let client = |cpu, delay| Case { client: vec![(cpu, delay)], ..closed() };
    let server = |cpu, delay, used, allowed| Case { server: Some((cpu, delay, used, allowed)), ..closed() };
    is("both idle", &closed(), Connections, &[]);
    is("nobody watched", &Case { server: None, ..closed() }, Connections, &[]);

    is("client at 97 %", &client(0.97, 0.0), ClientCpu, &busy);
    is("client kept from its CPU", &client(0.60, 0.37), ClientCpu, &busy);
    is("client at 96 %", &client(0.96, 0.0), ClientCpu, &busy);
    is("client at 94 %", &client(0.90, 0.04), Unknown, &maybe);
    is("client at 81 %", &client(0.50, 0.31), Unknown, &maybe);
    is("client at 79 %", &client(0.79, 0.0), Connections, &[]);
    is(
        "one thread of three",
        &Case { client: vec![(0.1, 0.0), (0.97, 0.0), (0.2, 0.0)], ..closed() },
        ClientCpu,
        &busy,
    );

    is("server thread at 90 %", &server(0.90, 0.0, 0.9, 2), ServerCpu, &[]);
    is("server thread at 89 %", &server(0.89, 0.0, 0.89, 2), Connections, &[]);
    is("server thread kept from its CPU", &server(0.50, 0.45, 0.5, 2), ServerCpu, &[]);
    is("server process at 95 % of two CPUs", &server(0.4, 0.1, 1.9, 2), ServerCpu, &[]);
    is("server process at 85 % of two CPUs", &server(0.4, 0.1, 1.7, 2), Connections, &[]);
    is("server process without CPUs", &server(0.4, 0.1, 1.7, 0), Connections, &[]);

    is("rate reached", &open(1.0), Rate, &[]);
    is("rate reached at 99 %", &open(0.99), Rate, &[]);
    is("rate at 98 %, connections free", &open(0.98), Unknown, &[RateNotAchieved]);
    is("rate at 98 %, connections in use", &Case { concurrency: 45.0, ..open(0.98) }, Connections, &[RateNotAchieved]);
    is("rate unknown", &Case { achieved_rate: None, ..open(1.0) }, Unknown, &[RateNotAchieved]);

    let failed = |ok, connect_failed| Case { ok, connect_failed, ..closed() };
    is("more than half failed", &failed(49, 51), Limit::Failures, &[SomeFailed]);
    is("half failed", &failed(50, 50), Connections, &[SomeFailed]);
    is("one failed", &failed(25_000, 1), Connections, &[SomeFailed]);

    is("nothing ended", &Case { ok: 0, aborted: 50, concurrency: 0.0, ..closed() }, Unknown, &[]);
}

#[test]
fn the_network_limits_where_retries_hold_a_tenth_of_the_slots() {
    // 50 slots for 10 s are 500 slot-seconds, and a retry holds one for at least a second.
    let retried = [ConnectionsRetried];
    is("49 SYNs again", &Case { syn_retransmits: 49, ..short() }, Connections, &retried);
    is("50 SYNs again", &Case { syn_retransmits: 50, ..short() }, Network, &retried);
    is("50 overflows", &Case { overflows: 50, drops: 50, ..short() }, Network, &retried);
    is(
        "30 of each are not 90",
        &Case { syn_retransmits: 30, overflows: 30, drops: 30, ..short() },
        Connections,
        &retried,
    );
    is("50 drops", &Case { drops: 50, ..short() }, Network, &retried);
    is("50 SYNs of others", &Case { syn_retransmits: 50, of_others: true, ..short() }, Connections, &[]);
    is("over kept connections", &Case { syn_retransmits: 500, ..closed() }, Connections, &retried);
    is(
        "half of the requests need a connection",
        &Case { syn_retransmits: 50, opened: 12_500, ..closed() },
        Network,
        &retried,
    );
    is("fewer need one", &Case { syn_retransmits: 50, opened: 12_499, ..closed() }, Connections, &retried);
    is("no time and no retry", &Case { elapsed_s: 0.0, client: vec![], ..short() }, Connections, &[Short]);
}

#[test]
fn the_first_rule_that_applies_decides() {
    let all = Case {
        client: vec![(0.97, 0.0)],
        server: Some((0.97, 0.0, 0.97, 1)),
        syn_retransmits: 500,
        connect_failed: 30_000,
        opened: 55_000,
        ..open(1.0)
    };
    let retried = [ClientWasTheLimit, ConnectionsRetried];
    is("failures", &all, Limit::Failures, &[ClientWasTheLimit, ConnectionsRetried, SomeFailed]);
    let no_failures = Case { connect_failed: 0, ..all };
    is("rate", &no_failures, Rate, &retried);
    let closed = Case { rate_per_s: None, achieved_rate: None, concurrency: 50.0, ..no_failures };
    is("client", &closed, ClientCpu, &retried);
    let doubtful_client = Case { client: vec![(0.9, 0.0)], ..closed };
    is("server", &doubtful_client, ServerCpu, &[ClientMayBeTheLimit, ConnectionsRetried]);
    let idle_server = Case { server: None, ..doubtful_client };
    is("network", &idle_server, Network, &[ClientMayBeTheLimit, ConnectionsRetried]);
    let no_retries = Case { syn_retransmits: 0, ..idle_server };
    is("unknown", &no_retries, Unknown, &[ClientMayBeTheLimit]);
    is("connections", &Case { client: vec![(0.1, 0.0)], ..no_retries }, Connections, &[]);
}

#[test]
fn doubts_beside_the_limit() {
    is("concurrency of 45", &Case { concurrency: 45.0, ..closed() }, Connections, &[]);
    is("concurrency of 44", &Case { concurrency: 44.0, ..closed() }, Connections, &[ConcurrencyNotAchieved]);
    is("lag of 1 ms", &Case { lag_ns: 1_000_000, ..closed() }, Connections, &[]);
    is("lag above 1 ms", &Case { lag_ns: 1_000_001, ..closed() }, Connections, &[LoopLag]);
    is("a second", &Case { elapsed_s: 1.0, ..closed() }, Connections, &[]);
    is("less than a second", &Case { elapsed_s: 0.99, ..closed() }, Connections, &[Short]);
    let worst = Case {
        elapsed_s: 0.5,
        lag_ns: 2_000_000,
        timed_out: 9,
        drops: 1,
        client: vec![(0.99, 0.0)],
        concurrency: 1.0,
        ..closed()
    };
    let doubts = [ClientWasTheLimit, ConcurrencyNotAchieved, LoopLag, ConnectionsRetried, SomeFailed, Short];
    is("in the order of the enum", &worst, ClientCpu, &doubts);
}

#[test]
fn words() {
    let words = |case: Case| case.verdict().words;
    let server = |cpu, delay, used, allowed| Some((cpu, delay, used, allowed));
    for (case, expected) in [
        (
            closed(),
            "connections: 50 connections, each waiting 20.1 ms for the server (closed loop); it was not the server's CPU as \
             far as watched: the busiest of 4 threads of the server nginx (pid 77) was busy for 31 % of the time",
        ),
        (
            Case { server: None, connections: 1, concurrency: 1.0, ..closed() },
            "connections: 1 connection, waiting 20.1 ms for the server (closed loop); the server was not watched: --watch \
             PID tells whether its CPU was the limit",
        ),
        (
            Case { concurrency: 50.0, server: None, ..open(0.812) },
            "connections: all 50 were in use, for 20.1 ms by each request, so that 812 of 1000 requests/s went out; the \
             server was not watched: --watch PID tells whether its CPU was the limit",
        ),
        (
            Case { client: vec![(0.97, 0.01)], ..closed() },
            "client CPU: its thread was busy for 98 % of the time; the client was the limit: the figure is a lower bound",
        ),
        (
            Case { client: vec![(0.2, 0.0), (0.6, 0.38)], ..closed() },
            "client CPU: the busiest of its 2 threads ran for 60 % of the time and waited for a CPU that others had for \
             38 %; the client was the limit: the figure is a lower bound",
        ),
        (
            Case { client: vec![(0.97, 0.01)], server: server(0.4, 0.0, 1.9, 2), ..closed() },
            "client CPU and server CPU: its thread was busy for 98 % of the time, and the server nginx (pid 77) used 1.90 of \
             its 2 CPUs; neither had any left: the figure is a lower bound",
        ),
        (
            Case { client: vec![(0.5, 0.48)], server: server(0.48, 0.5, 0.48, 1), ..closed() },
            "client CPU and server CPU (they may share it: pin them apart): its thread ran for 50 % of the time and waited for \
             a CPU that others had for 48 %, and the busiest of 4 threads of the server nginx (pid 77) ran for 48 % of the \
             time and waited for a CPU that others had for 50 %; neither had any left: the figure is a lower bound",
        ),
        (
            Case { server: server(0.93, 0.01, 0.93, 2), ..closed() },
            "server CPU: the busiest of 4 threads of the server nginx (pid 77) was busy for 94 % of the time",
        ),
        (open(1.0), "rate: 1000 requests/s were asked for and reached: neither client nor server was the limit"),
        (
            Case { client: vec![(0.97, 0.0)], ..open(1.0) },
            "rate: 1000 requests/s were asked for and reached, by a client that could not do more: its thread was busy for \
             97 % of the time",
        ),
        (
            Case { server: server(0.93, 0.0, 0.93, 1), ..open(1.0) },
            "rate: 1000 requests/s were asked for and reached, but the server has hardly more to give: the busiest of 4 threads \
             of the server nginx (pid 77) was busy for 93 % of the time",
        ),
        (
            Case { ok: 5, connect_failed: 70, timed_out: 25, ..closed() },
            "failures: 95 of 100 requests failed, 70 of them with 'connect failed': of the server's limits nothing can be told",
        ),
        (
            Case { syn_retransmits: 60, overflows: 40, drops: 41, ..short() },
            "network: 60 SYNs were sent again, 41 were dropped by listeners and 40 accept queues were found full on this \
             machine; a connection that is tried again waits for the server for 1 s or more",
        ),
        (Case { ok: 0, aborted: 50, ..closed() }, "unknown: no request ended within 10.00 s"),
        (
            Case { ok: 0, aborted: 50, client: vec![(0.05, 0.94)], ..closed() },
            "client CPU: its thread ran for 5 % of the time and waited for a CPU that others had for 94 %; the client was the \
             limit: the figure is a lower bound",
        ),
        (
            Case { client: vec![(0.85, 0.0)], server: None, ..closed() },
            "unknown: the client may be the limit, its thread was busy for 85 % of the time; the server was not watched: \
             --watch PID tells whether its CPU was the limit",
        ),
    ] {
        assert_eq!(words(case), expected);
    }
}

#[test]
fn a_client_that_is_late_at_a_rate_does_not_acquit_itself() {
    let on_time = Case { rate_per_s: Some(100.0), achieved_rate: Some(1.0), late_ns: 1_000_000, ..closed() };
    is("1 ms", &on_time, Rate, &[]);
    let late = Case { late_ns: 7_750_000, ..on_time };
    is("8 ms", &late, Rate, &[SentLate]);
    let verdict = late.verdict();
    assert_eq!(
        verdict.words,
        "rate: 100 requests/s were asked for and reached, though the client did not always send on time"
    );
    assert!(
        verdict.warnings[0].starts_with("1 in 100 requests was sent 7.8 ms or more after it was due"),
        "{verdict:?}"
    );
}

#[test]
fn a_server_without_a_cpu_is_not_called_slow() {
    let starved = Case { server: Some((0.22, 0.70, 0.41, 2)), ..closed() }.verdict();
    assert_eq!(starved.limit, ServerCpu);
    assert!(starved.words.starts_with("too few CPUs: ") && starved.words.contains("--cpus"), "{}", starved.words);
}

#[test]
fn a_server_that_ended_is_said_to_have() {
    let mut server = watched(10.0, (0.95, 0.0, 0.95, 1));
    server.gone = true;
    let (client, network) = (closed().client(), Network::default());
    let endings = Endings { ok: 10, ..Endings::default() };
    let verdict = verdict(&Figures {
        elapsed_s: 10.0,
        connections: 50,
        opened: 50,
        rate_per_s: None,
        mean_ns: 1.0,
        endings: &endings,
        client: &client,
        watched: &[watched(10.0, (0.1, 0.0, 0.1, 1)), server],
        network: &network,
        connect: &closed().connects(),
        timer_error_p99_ns: 0,
    });
    assert_eq!(verdict.limit, ServerCpu, "the busiest of several processes decides");
    assert!(verdict.words.contains("(pid 77, which ended during the run)"), "{}", verdict.words);
}

#[test]
fn warnings_name_their_figures() {
    let warnings = |case: Case| case.verdict().warnings;
    for (case, expected) in [
        (
            Case { client: vec![(0.85, 0.0)], ..closed() },
            "the client may be the limit: its thread was busy for 85 % of the time",
        ),
        (
            Case { client: vec![(0.97, 0.0)], ..closed() },
            "the client had no CPU left: its thread was busy for 97 % of the time; the figures are a lower bound",
        ),
        (
            Case { client: vec![(0.97, 0.0)], ..open(1.0) },
            "the client had no CPU left: its thread was busy for 97 % of the time; latencies are upper bounds",
        ),
        (
            Case { concurrency: 12.34, ..closed() },
            "on average only 12.3 of 50 connections had a request on its way: the others waited for the client, had failed, or \
             had no request left",
        ),
        (open(0.5), "500 of 1000 requests/s went out, and 7 that were due were never sent"),
        (
            Case { lag_ns: 2_500_000, ..closed() },
            "in 1 of 100 turns events waited 2.5 ms or more for the client, and at most 5.0 ms: latencies are too long by that",
        ),
        (
            Case { syn_retransmits: 1, ..closed() },
            "connections were tried again: 1 SYNs were sent again, 0 were dropped by listeners and 0 accept queues were found \
             full on this machine",
        ),
        (Case { timed_out: 3, ..closed() }, "3 of 25003 requests failed, 3 of them with 'timed out'"),
        (Case { elapsed_s: 0.25, ..closed() }, "the run took 250 ms: too short to mean much"),
    ] {
        assert_eq!(warnings(case), [expected]);
    }
}
