//! From ab's options to the plan of its run.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::request::request;
use crate::cli::ab::AbArgs;
use crate::load::plan::{Address, End, ExchangePlan, Keep, Pace, Plan, SocketPlan, Statuses, Target};
use crate::load::url::Url;
use crate::process::affinity::Pins;
use crate::record::Outcome;

/// What ends a run of ab without `-r`: what it takes for an error of the program and not of a request. A timeout belongs to
/// them because ab waits for all connections together, and is over when none of them moves.
pub const FATAL: &[Outcome] = &[Outcome::ConnectFailed, Outcome::ConnectTimedOut, Outcome::Reset, Outcome::TimedOut];

/// Bytes of answers' heads that `-v 2` keeps. ab prints them during the run, into the pipe of whoever reads it; here they are
/// shown after it, so that printing is not part of what is measured.
pub const HEAD_BYTES: usize = 1 << 20;

/// The run that was asked for, towards this address (of the proxy, if there is one).
pub fn plan(args: &AbArgs, url: &Url, body: &[u8], address: SocketAddr, sources: Vec<IpAddr>) -> Plan {
    Plan {
        target: Target { host: url.host.clone(), port: url.port, address: Address::Tcp(address) },
        requests: [request(args, url, body)].into(),
        exchange: ExchangePlan {
            keep_alive: args.keep_alive,
            pipeline: 1,
            timeout: args.timeout,
            // To ab no status is wrong; it counts those that are not 2xx beside.
            expected: Statuses(vec![(0, 999)]),
            same_length: !args.variable_length,
            verify: None,
        },
        connections: args.connections,
        threads: args.threads,
        end: End {
            requests: Some(args.requests),
            duration: args.time_limit,
            abort_after: None,
            fatal: if args.survives_errors { &[] } else { FATAL },
        },
        pace: Pace::Closed,
        sources,
        socket: SocketPlan { buffer_bytes: args.buffer_bytes },
        watch: Vec::new(),
        pins: Pins::none(),
        keep: Keep { rows: args.gnuplot.is_some(), head_bytes: if args.verbosity >= 2 { HEAD_BYTES } else { 0 } },
        warm_up: Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::super::request::url;
    use super::*;
    use crate::cli::ab::{AbCall, parse};

    fn plan_of(line: &str) -> Plan {
        let Ok(AbCall::Run(args)) = parse(line.split_whitespace().map(OsString::from)) else { panic!("{line}") };
        plan(&args, &url(&args.url).unwrap(), b"", "127.0.0.1:81".parse().unwrap(), Vec::new())
    }

    #[test]
    fn the_run_of_the_defaults() {
        let plan = plan_of("http://h:82/p");
        assert_eq!((plan.target.host.as_str(), plan.target.port), ("h", 82));
        assert_eq!(plan.target.address, Address::Tcp("127.0.0.1:81".parse().unwrap()));
        assert_eq!((plan.connections, plan.threads, plan.pace), (1, 1, Pace::Closed));
        assert_eq!((plan.end.requests, plan.end.duration, plan.end.abort_after), (Some(1), None, None));
        assert_eq!((plan.exchange.keep_alive, plan.exchange.pipeline), (false, 1));
        assert_eq!(plan.exchange.timeout, Duration::from_secs(30));
        assert!(plan.exchange.same_length && plan.exchange.expected.holds(404) && plan.exchange.expected.holds(999));
        assert_eq!((plan.end.fatal, plan.keep), (FATAL, Keep::default()));
        assert!(plan.watch.is_empty() && plan.sources.is_empty());
    }

    #[test]
    fn options_of_the_run() {
        let plan = plan_of("-t 3 -n 500 -c 20 -s 2 -k -l -r -b 4096 -v 2 -g rows --threads 2 h/");
        assert_eq!((plan.end.requests, plan.end.duration), (Some(500), Some(Duration::from_secs(3))));
        assert_eq!((plan.connections, plan.threads, plan.socket.buffer_bytes), (20, 2, Some(4096)));
        assert_eq!((plan.exchange.timeout, plan.exchange.keep_alive), (Duration::from_secs(2), true));
        assert!(!plan.exchange.same_length && plan.end.fatal.is_empty());
        assert_eq!(plan.keep, Keep { rows: true, head_bytes: HEAD_BYTES });
    }
}
