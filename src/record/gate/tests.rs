use proptest::prelude::*;

use super::*;
use crate::record::{Client, ClientThread, Endings, Latency, Watched, sample};

/// 1,000 requests in a second, all answered with 200, with latencies of 1, 2, ... 1,000 us.
fn plain() -> Run {
    let run = sample::run();
    Run {
        endings: Endings { ok: 1000, ..Endings::default() },
        statuses: [(200, 1000)].into(),
        answered_per_s: 1000.0,
        latency: Latency { total: sample::distribution((1..=1000).map(|us| us * 1000)), response: None, ..run.latency },
        client: Client {
            threads: vec![ClientThread { cpu_s: 0.4, run_delay_s: 0.1, wall_s: 1.0 }],
            achieved_rate: None,
            ..run.client
        },
        watched: Vec::new(),
        ..run
    }
}

/// A server with this CPU time for each request.
fn watched(cpu_per_request_us: f64) -> Watched {
    let watched = sample::run().watched.remove(0);
    Watched { cpu_per_request_us, ..watched }
}

fn gate(text: &str) -> Gate {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// What the gate says of the sample after this change of it; empty where it holds.
fn verdict(text: &str, change: fn(&mut Run)) -> String {
    let mut run = plain();
    change(&mut run);
    gate(text).broken(&run).map_or(String::new(), |broken| broken.to_string())
}

#[test]
fn texts_are_read_and_written() {
    let rows = [
        ("p99>5ms", "p99>5ms"),
        (" p99.9  >= 20 ms ", "p99.9>=20ms"),
        ("mean>1.5ms", "mean>1.5ms"),
        ("min<10us", "min<10us"),
        ("max>1s", "max>1s"),
        ("p0<=100ns", "p0<=100ns"),
        ("failed>0", "failed>0"),
        ("failed>0.1%", "failed>0.1%"),
        ("non2xx>5 %", "non2xx>5%"),
        ("rate<10000", "rate<10000"),
        ("rate<10000/s", "rate<10000/s"),
        ("achieved_rate<0.99", "achieved_rate<0.99"),
        ("client>80%", "client>80%"),
        ("cpu_per_request>50us", "cpu_per_request>50us"),
    ];
    for (typed, written) in rows {
        assert_eq!(gate(typed).to_string(), written, "{typed:?}");
        assert_eq!(gate(written), gate(typed));
    }
}

#[test]
fn what_is_no_gate() {
    let rows = [
        ("", "'' has no < or >; write what breaks the run as METRIC>BOUND or METRIC<BOUND, such as 'p99>5ms'"),
        ("p99=5ms", "'p99=5ms' has no < or >; write what breaks the run as"),
        ("p101>5ms", "'p101' is not a percentile; they go from p0 to p100, such as 'p99.9'"),
        ("p99,9>5ms", "'p99,9' is not a percentile"),
        ("latency>5ms", "there is no metric 'latency'; did you mean '"),
        (
            "achieved-rate<0.9",
            "there is no metric 'achieved-rate'; did you mean 'achieved_rate'? Known are percentiles",
        ),
        ("fail>0", "there is no metric 'fail'; did you mean 'failed'?"),
        (">5ms", "there is no metric ''; did you mean '"),
        ("p99>5", "'5' is no bound for p99, which is a time with its unit (ns, us, ms, s), such as 5ms"),
        ("p99>5%", "'5%' is no bound for p99, which is a time"),
        ("p99>-5ms", "'-5ms' is no bound for p99"),
        ("p99>ms", "'ms' is no bound for p99"),
        ("p99>5ms 3", "'5ms 3' is no bound for p99"),
        ("p99>>5ms", "'>5ms' is no bound for p99"),
        (
            "failed>1ms",
            "'1ms' is no bound for failed, which is a number of requests or their share, such as 10 or 0.1%",
        ),
        ("failed>1e3", "'1e3' is no bound for failed"),
        ("rate<inf", "'inf' is no bound for rate, which is a number of answers per second, such as 10000"),
        ("client>0.5.1", "'0.5.1' is no bound for client, which is a share, such as 0.99 or 99%"),
    ];
    for (typed, sentence) in rows {
        let error = typed.parse::<Gate>().expect_err(typed).to_string();
        assert!(error.starts_with(sentence), "{typed:?}: {error}");
    }
}

#[test]
fn latencies_break_gates() {
    let rows = [
        ("p99>5ms", ""),
        ("p99>500us", "p99 was 990 us: --fail-if 'p99>500us'"),
        ("p50<1ms", "p50 was 500 us: --fail-if 'p50<1ms'"),
        ("p33.3>300us", "p33.3 was 333 us: --fail-if 'p33.3>300us'"),
        ("p33.3>340us", ""),
        ("mean>500us", "mean was 500.5 us: --fail-if 'mean>500us'"),
        ("mean>501us", ""),
        ("min>=1us", "min was 1 us: --fail-if 'min>=1us'"),
        ("min>1us", ""),
        // The largest is exact, and equal is not above.
        ("max>1ms", ""),
        ("p100>1ms", ""),
        ("max>=1ms", "max was 1 ms: --fail-if 'max>=1ms'"),
    ];
    for (text, sentence) in rows {
        assert_eq!(verdict(text, |_| {}), sentence, "{text}");
    }
}

#[test]
fn an_open_loop_is_judged_by_its_response_time() {
    let sentence = verdict("p50>1s", |run| run.latency.response = Some(sample::distribution([3_000_000_000])));
    assert_eq!(sentence, "p50 was 3 s: --fail-if 'p50>1s'");
}

#[test]
fn what_is_shown_breaks_the_gate_too() {
    let slower = |run: &mut Run| run.latency.total = sample::distribution([5_000_030]);
    assert_eq!(verdict("max>5ms", slower), "max was 5.00003 ms: --fail-if 'max>5ms'");
    assert_eq!(verdict("max>4ms", slower), "max was 5.00 ms: --fail-if 'max>4ms'");
}

#[test]
fn counts_and_shares() {
    let three_failed = |run: &mut Run| {
        run.endings = Endings { ok: 2997, reset: 2, timed_out: 1, aborted: 1000, ..Endings::default() };
        run.statuses = [(200, 2400), (301, 500), (404, 100)].into();
    };
    let rows = [
        ("failed>0", "failed was 3: --fail-if 'failed>0'"),
        ("failed>3", ""),
        // Of those that ended: 3 of 3,000 is not more than 0.1 %.
        ("failed>0.1%", ""),
        ("failed>=0.1%", "failed was 0.100 %: --fail-if 'failed>=0.1%'"),
        ("non2xx>0", "non2xx was 600: --fail-if 'non2xx>0'"),
        ("non2xx>19.9%", "non2xx was 20 %: --fail-if 'non2xx>19.9%'"),
    ];
    for (text, sentence) in rows {
        assert_eq!(verdict(text, three_failed), sentence, "{text}");
    }
}

#[test]
fn rates_and_the_client() {
    let change = |run: &mut Run| {
        run.answered_per_s = 9_876.54;
        run.client.achieved_rate = Some(0.9876);
        // The second thread is the busiest: 0.3 on a CPU and 0.6 waiting for one.
        run.client.threads.push(ClientThread { cpu_s: 0.6, run_delay_s: 1.2, wall_s: 2.0 });
        run.watched = vec![watched(40.0), watched(20.5)];
    };
    let rows = [
        ("rate<10000", "rate was 9877: --fail-if 'rate<10000'"),
        ("rate<9876/s", ""),
        ("achieved_rate<0.99", "achieved_rate was 0.988: --fail-if 'achieved_rate<0.99'"),
        ("achieved_rate<98%", ""),
        ("client>80%", "client was 90.0 %: --fail-if 'client>80%'"),
        ("client>0.91", ""),
        ("cpu_per_request>50us", "cpu_per_request was 60.5 us: --fail-if 'cpu_per_request>50us'"),
    ];
    for (text, sentence) in rows {
        assert_eq!(verdict(text, change), sentence, "{text}");
    }
}

#[test]
fn what_a_run_does_not_have_breaks_its_gate() {
    let nothing = |run: &mut Run| {
        run.latency.total = sample::distribution([]);
        run.endings = Endings::default();
        run.statuses.clear();
        run.client.threads.clear();
    };
    let rows = [
        ("p99>1s", "there is no p99, because no request was answered: --fail-if 'p99>1s'"),
        ("p12.5>1s", "there is no p12.5, because no request was answered: --fail-if 'p12.5>1s'"),
        ("mean>1s", "there is no mean, because no request was answered: --fail-if 'mean>1s'"),
        ("failed>1%", "there is no failed, because no request ended: --fail-if 'failed>1%'"),
        ("failed>0", ""),
        ("client>99%", "there is no client, because the client's threads were not measured: --fail-if 'client>99%'"),
        (
            "achieved_rate<0.9",
            "there is no achieved_rate, because the run had no rate to keep: --fail-if 'achieved_rate<0.9'",
        ),
        (
            "cpu_per_request>1s",
            "there is no cpu_per_request, because no process was watched: --fail-if 'cpu_per_request>1s'",
        ),
    ];
    for (text, sentence) in rows {
        assert_eq!(verdict(text, nothing), sentence, "{text}");
    }
}

#[test]
fn what_must_have_been_asked_for() {
    let needs = ["p99>1s", "achieved_rate<1", "cpu_per_request>1s"].map(|text| gate(text).needs());
    assert_eq!(needs, [None, Some(Need::Rate), Some(Need::Watch)]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text: String) {
        let _ = text.parse::<Gate>();
    }

    #[test]
    fn what_is_written_reads_back(
        name in "p(0|[1-9][0-9]?)(\\.[0-9]{1,3})?|mean|max",
        sign in "<=?|>=?",
        number in "[0-9]{1,6}(\\.[0-9]{1,6})?",
        unit in "ns|us|ms|s",
    ) {
        let gate: Gate = format!("{name}{sign}{number}{unit}").parse().unwrap();
        prop_assert_eq!(gate.to_string().parse(), Ok(gate));
    }

    /// The sentence never shows a figure that would have passed.
    #[test]
    fn sentences_explain_themselves(bound_ns in 0_u64..2_000_000, measured_ns in 0_u64..2_000_000) {
        let mut run = plain();
        run.latency.total = sample::distribution([measured_ns]);
        let broken = gate(&format!("max>{bound_ns}ns")).broken(&run);
        prop_assert_eq!(broken.is_some(), measured_ns > bound_ns);
        let Some(fact) = broken.map(|broken| broken.fact()) else { return Ok(()) };
        let (number, unit) = fact.strip_prefix("max was ").unwrap().split_once(' ').unwrap();
        let unit_ns = match unit { "ns" => 1.0, "us" => 1e3, "ms" => 1e6, other => panic!("{other}") };
        prop_assert!(number.parse::<f64>().unwrap() * unit_ns > bound_ns as f64, "{fact} over {bound_ns}");
    }
}
