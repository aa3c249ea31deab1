//! From what was typed to a plan in which nothing is left to guess.

use std::time::Duration;

use super::refusal::{Refusal, content};
use super::requests::Requests;
use crate::cli::LoadArgs;
use crate::cli::values::{Arrivals, Connections, Expectation, Rate, Threads};
use crate::load::campaign::Sequence;
use crate::load::plan::{self, Address, End, ExchangePlan, Keep, Pace, Plan, SocketPlan, Target};
use crate::load::search;
use crate::load::steps::{self, steps};
use crate::load::target::{auto_threads, is_here};
use crate::load::verify::{Expected, Verify};
use crate::process::affinity::Pins;

/// How long a run lasts for which no end was typed.
const DURATION: Duration = Duration::from_secs(10);
/// Seed of random times for which none was typed: two runs of one command line ask at the same times.
const SEED: u64 = 1;
/// Largest file that answers are compared with; it is held in memory.
const VERIFY_MAX: u64 = 1 << 30;

/// What will be done, and what the user should know about it before.
#[derive(Debug)]
pub struct Planned {
    /// What all runs have in common.
    pub plan: Plan,
    /// Which runs there are.
    pub sequence: Sequence,
    /// Sentences for stderr.
    pub remarks: Vec<String>,
}

/// Makes the plan. `cpus` are those that this process may run on.
pub fn plan(args: &LoadArgs, requests: Requests, address: Address, cpus: usize) -> Result<Planned, Refusal> {
    let Requests { host, list } = requests;
    let mut remarks = Vec::new();
    let connections = connections(args, &mut remarks);
    let threads = threads(args, connections, cpus, is_here(&address))?;
    let sequence = sequence(args)?;
    let plan = Plan {
        target: Target { host: host.host, port: host.port, address },
        requests: list.into(),
        exchange: exchange(args)?,
        connections,
        threads,
        end: end(args),
        pace: pace(args),
        sources: args.sources().to_vec(),
        socket: SocketPlan::default(),
        watch: args.watch.iter().map(|pid| pid.get()).collect(),
        pins: args.cpus.as_ref().map_or_else(Pins::none, |cpus| Pins::to(cpus.0.clone())),
        keep: Keep { rows: args.rows.is_some(), head_bytes: 0 },
        warm_up: args.warm_up.unwrap_or_default(),
    };
    Ok(Planned { plan, sequence, remarks })
}

/// ab refuses fewer requests than connections; wrk and oha leave connections without work. What has no request needs no
/// connection, and the report should not claim it.
fn connections(args: &LoadArgs, remarks: &mut Vec<String>) -> usize {
    let asked = u64::from(args.connections);
    let connections = args.requests.map_or(asked, |requests| asked.min(requests.get()));
    if connections < asked {
        remarks.push(format!(
            "{connections} requests keep {connections} connections busy; the run has so many, not {asked}"
        ));
    }
    usize::try_from(connections).unwrap_or(usize::MAX)
}

fn threads(args: &LoadArgs, connections: usize, cpus: usize, here: bool) -> Result<usize, Refusal> {
    match (args.threads, &args.cpus) {
        (Threads::Exactly(threads), _) if threads.get() > connections => Err(Refusal::usage(format_args!(
            "each thread has connections of its own, and {connections} connections are too few for {threads} threads; \
             ask for more with -c, or for fewer --threads"
        ))),
        (Threads::Exactly(threads), _) => Ok(threads.get()),
        // Who names the client's CPUs has divided the machine already.
        (Threads::Auto, Some(cpus)) => Ok(auto_threads(cpus.0.len(), false, connections)),
        (Threads::Auto, None) => Ok(auto_threads(cpus, here, connections)),
    }
}

fn exchange(args: &LoadArgs) -> Result<ExchangePlan, Refusal> {
    Ok(ExchangePlan {
        keep_alive: args.reuse == Connections::KeepAlive,
        pipeline: args.pipeline as usize,
        timeout: args.timeout,
        expected: args.expect_status.clone(),
        same_length: !args.any_length,
        verify: verify(args)?,
    })
}

fn verify(args: &LoadArgs) -> Result<Option<Verify>, Refusal> {
    let Some(expectation) = &args.verify else { return Ok(None) };
    let expected = match expectation {
        Expectation::File(path) => Expected::Bytes(content("--verify", path, VERIFY_MAX)?.into()),
        Expectation::Sha256(digest) => Expected::Sha256(*digest),
    };
    Ok(Some(Verify { expected, one_in: args.verify_one_in.map_or(1, u64::from) }))
}

/// A number of requests that was typed is the whole end: nobody who asks for 100,000 means "unless 10 seconds are over".
fn end(args: &LoadArgs) -> End {
    let default = args.requests.is_none().then_some(DURATION);
    End {
        requests: args.requests.map(u64::from),
        duration: args.duration.or(default),
        abort_after: args.abort_after.map(u64::from),
        fatal: &[],
    }
}

/// The pace of the first run; steps and searches put their rates in its place.
fn pace(args: &LoadArgs) -> Pace {
    let per_second = match args.rate {
        Some(Rate::Fixed(rate) | Rate::Ramp(rate, _)) => rate,
        None if args.find_max => search::Options::default().start_per_s,
        None => return Pace::Closed,
    };
    let arrivals = match args.arrivals {
        Some(Arrivals::Poisson) => plan::Arrivals::Poisson { seed: args.seed.unwrap_or(SEED) },
        Some(Arrivals::Uniform) | None => plan::Arrivals::Uniform,
    };
    Pace::Open { per_second, arrivals }
}

fn sequence(args: &LoadArgs) -> Result<Sequence, Refusal> {
    let default = search::Options::default();
    match args.rate {
        Some(Rate::Ramp(from, to)) => {
            let count = args.steps.map_or(steps::DEFAULT, |count| count as usize);
            Ok(Sequence::Steps(steps(from, to, count).map_err(Refusal::usage)?))
        }
        Some(Rate::Fixed(rate)) if args.find_max => {
            Ok(Sequence::FindMax(search::Options::new(rate, args.duration.unwrap_or(default.stage))))
        }
        None if args.find_max => {
            Ok(Sequence::FindMax(search::Options::new(default.start_per_s, args.duration.unwrap_or(default.stage))))
        }
        _ => Ok(Sequence::Single),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::requests::requests;
    use super::super::tests::args;
    use super::*;

    fn planned(arguments: &[&str]) -> Result<Planned, Refusal> {
        let args = args(&[arguments, &["http://192.0.2.1:81/x"][..]].concat());
        let elsewhere = Address::Tcp("192.0.2.1:81".parse().unwrap());
        plan(&args, requests(&args)?, elsewhere, 4)
    }

    #[test]
    fn nothing_typed() {
        let Planned { plan, sequence, remarks } = planned(&[]).unwrap();
        assert_eq!((plan.target.host.as_str(), plan.target.port), ("192.0.2.1", 81));
        assert_eq!((plan.connections, plan.threads, plan.requests.len()), (50, 4, 1));
        assert_eq!((plan.end.requests, plan.end.duration, plan.end.abort_after), (None, Some(DURATION), None));
        assert_eq!((plan.pace, sequence), (Pace::Closed, Sequence::Single));
        let ExchangePlan { keep_alive, pipeline, timeout, same_length, verify, .. } = &plan.exchange;
        assert_eq!((*keep_alive, *pipeline, *timeout), (true, 1, Duration::from_secs(30)));
        assert!(*same_length && verify.is_none() && !plan.keep.rows && plan.warm_up.is_zero());
        assert!(remarks.is_empty() && plan.sources.is_empty() && plan.watch.is_empty());
    }

    #[test]
    fn ends() {
        let rows: &[(&[&str], Option<u64>, Option<u64>)] = &[
            (&["-n", "100"], Some(100), None),
            (&["-t", "5"], None, Some(5)),
            (&["-n", "100", "-t", "5"], Some(100), Some(5)),
        ];
        for (arguments, requests, seconds) in rows {
            let end = planned(arguments).unwrap().plan.end;
            assert_eq!((end.requests, end.duration), (*requests, seconds.map(Duration::from_secs)), "{arguments:?}");
        }
        assert_eq!(planned(&["--abort-after", "1k"]).unwrap().plan.end.abort_after, Some(1000));
    }

    #[test]
    fn fewer_requests_than_connections() {
        let Planned { plan, remarks, .. } = planned(&["-n", "3", "-c", "10"]).unwrap();
        assert_eq!((plan.connections, plan.threads), (3, 3));
        assert_eq!(remarks, ["3 requests keep 3 connections busy; the run has so many, not 10"]);
        assert!(planned(&["-n", "10", "-c", "10"]).unwrap().remarks.is_empty());
    }

    #[test]
    fn threads_have_connections() {
        let rows: &[(&[&str], usize)] = &[
            (&["-c", "2"], 2),
            (&["--threads", "7"], 7),
            (&["--threads", "auto", "--cpus", "0,1"], 2),
            (&["--threads", "3", "--cpus", "0,1"], 3),
        ];
        for (arguments, threads) in rows {
            assert_eq!(planned(arguments).unwrap().plan.threads, *threads, "{arguments:?}");
        }
        for arguments in [&["--threads", "3", "-c", "2"][..], &["--threads", "3", "-n", "2"]] {
            let Err(Refusal::Usage(sentence)) = planned(arguments) else { panic!("{arguments:?} was not refused") };
            assert!(sentence.contains("2 connections are too few for 3 threads"), "{sentence}");
        }
    }

    #[test]
    fn paces_and_sequences() {
        use plan::Arrivals::{Poisson, Uniform};
        let open = |per_second, arrivals| Pace::Open { per_second, arrivals };
        let seconds = Duration::from_secs;
        let rows: &[(&[&str], Pace, Sequence)] = &[
            (&["--rate", "5k"], open(5000.0, Uniform), Sequence::Single),
            (&["--rate", "5", "--arrivals", "poisson"], open(5.0, Poisson { seed: SEED }), Sequence::Single),
            (
                &["--rate", "5", "--arrivals", "poisson", "--seed", "9"],
                open(5.0, Poisson { seed: 9 }),
                Sequence::Single,
            ),
            (&["--rate", "10:30", "--steps", "3"], open(10.0, Uniform), Sequence::Steps(vec![10.0, 20.0, 30.0])),
            (&["--find-max"], open(1000.0, Uniform), Sequence::FindMax(search::Options::default())),
            (
                &["--find-max", "--rate", "70", "-t", "2"],
                open(70.0, Uniform),
                Sequence::FindMax(search::Options::new(70.0, seconds(2))),
            ),
        ];
        for (arguments, pace, sequence) in rows {
            let found = planned(arguments).unwrap();
            assert_eq!((&found.plan.pace, &found.sequence), (pace, sequence), "{arguments:?}");
        }
        let Sequence::Steps(rates) = planned(&["--rate", "1:2"]).unwrap().sequence else { panic!("no steps") };
        assert_eq!(rates.len(), steps::DEFAULT);
    }

    #[test]
    fn what_is_right() {
        let exchange =
            planned(&["--expect-status", "404", "--any-length", "--connections", "short"]).unwrap().plan.exchange;
        assert!(exchange.expected.holds(404) && !exchange.expected.holds(200));
        assert!(!exchange.same_length && !exchange.keep_alive);

        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"abc").unwrap();
        let path = file.path().to_str().unwrap();
        let verify = planned(&["--verify", path, "--verify-one-in", "10"]).unwrap().plan.exchange.verify.unwrap();
        assert_eq!((verify.expected, verify.one_in), (Expected::Bytes((*b"abc").into()), 10));
        let digest = format!("sha256:{}", "0f".repeat(32));
        let verify = planned(&["--verify", &digest]).unwrap().plan.exchange.verify.unwrap();
        assert_eq!((verify.expected, verify.one_in), (Expected::Sha256([15; 32]), 1));
        assert!(matches!(planned(&["--verify", "/nowhere/x"]), Err(Refusal::Failed(_))));
    }

    #[test]
    fn the_rest_reaches_the_plan() {
        let arguments = [
            "--source",
            "192.0.2.2-192.0.2.3",
            "--watch",
            "7",
            "--watch",
            "8",
            "--warm-up",
            "3",
            "-g",
            "x",
            "--pipeline",
            "4",
            "--timeout",
            "1s",
        ];
        let plan = planned(&arguments).unwrap().plan;
        assert_eq!((plan.sources.len(), plan.watch.as_slice()), (2, &[7, 8][..]));
        assert_eq!((plan.warm_up, plan.keep.rows), (Duration::from_secs(3), true));
        assert_eq!((plan.exchange.pipeline, plan.exchange.timeout), (4, Duration::from_secs(1)));
    }
}
