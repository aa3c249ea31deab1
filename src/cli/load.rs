//! What may be typed after `quintain load`.

use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::{self, Arrivals, Connections, Cpus, Expectation, Header, Http, Output, Rate, Threads};
use crate::load::plan::Statuses;
use crate::load::sources::Sources;
use crate::load::target::HostPort;
use crate::record::Gate;

const LOAD_HELP: &str = "\
Without --rate a connection sends its next request when it has its answer (a closed loop). With --rate requests are due
at times that do not depend on the server, and their latency counts from when they were due, so that a stall is seen by
all whom it would have kept waiting.

A request ends in exactly one way; see the report's endings. Failures do not change the exit code, --fail-if does:
  0 measured   1 could not run   2 command line   3 a --fail-if came true   130 interrupted

Examples:
  quintain load http://127.0.0.1:8080/1k.html                       10 seconds, 50 connections
  quintain load -n 100k -c 500 --connections short http://127.0.0.1:8080/1k.html
  quintain load -t 1m --rate 5000 --fail-if 'p99>5ms' --fail-if 'failed>0' http://127.0.0.1:8080/1k.html
  quintain load --rate 1k:20k --steps 20 -t 5s --output json -o ramp.json http://127.0.0.1:8080/1k.html
  quintain load --find-max --fail-if 'p99>5ms' http://127.0.0.1:8080/1k.html
  quintain load -c 60000 --source 127.0.0.2-127.0.0.4 --watch $(pidof -s quintain) http://127.0.0.1:8080/1k.html
  quintain load --verify fixtures/7.5m.html --verify-one-in 10 http://127.0.0.1:8080/7.5m.html
  quintain load -m POST --body form.txt -H 'Content-Type: application/x-www-form-urlencoded' http://127.0.0.1:8080/";

/// What may be typed after `quintain load`.
#[derive(Debug, Args)]
#[command(after_help = LOAD_HELP)]
pub struct LoadArgs {
    /// URLs, asked in turn; all of one host and port
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<String>,

    /// End after so many requests (100k, 2m) [default: no such end]
    #[arg(short = 'n', long, value_name = "N", value_parser = values::count, help_heading = "How much")]
    pub requests: Option<NonZeroU64>,

    /// End after this time (10s, 2m; a number alone is seconds), or after -n, whichever comes first [default: 10s without -n]
    #[arg(short = 't', long, value_name = "TIME", value_parser = values::duration, help_heading = "How much")]
    pub duration: Option<Duration>,

    /// Connections at once
    #[arg(
        short = 'c', long = "concurrency", value_name = "N", default_value_t = 50,
        value_parser = values::connections, help_heading = "How much"
    )]
    pub connections: u32,

    /// Load before the measured run, whose figures are thrown away [default: none]
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "How much")]
    pub warm_up: Option<Duration>,

    /// End after so many failures in a row [default: never]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "How much")]
    pub abort_after: Option<NonZeroU64>,

    /// Threads: a number or auto, as many CPUs as the server leaves
    #[arg(long, value_name = "N", default_value = "auto", help_heading = "How much")]
    pub threads: Threads,

    /// CPUs that the threads are pinned to, such as 0,2 or 1-3 [default: none]
    #[arg(long, value_name = "LIST", help_heading = "How much")]
    pub cpus: Option<Cpus>,

    /// Requests per second, over all connections; FROM:TO is a ramp in steps [default: as fast as answers come]
    #[arg(long, value_name = "RATE", help_heading = "How fast")]
    pub rate: Option<Rate>,

    /// Steps of a ramp, each of which is a run of its own and lasts -t [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000), help_heading = "How fast")]
    pub steps: Option<u32>,

    /// How the times lie at a rate [default: uniform]
    #[arg(long, value_name = "KIND", help_heading = "How fast")]
    pub arrivals: Option<Arrivals>,

    /// Seed of --arrivals poisson; the same seed gives the same times [default: 1]
    #[arg(long, value_name = "N", help_heading = "How fast")]
    pub seed: Option<u64>,

    /// Search for the highest rate at which no --fail-if comes true and none of 'failed>0' and 'achieved_rate<0.99'. The
    /// first try is at --rate [default: 1000], and each lasts -t [default: 5s]
    #[arg(long, help_heading = "How fast")]
    pub find_max: bool,

    /// Method [default: GET, or POST with --body]
    #[arg(short = 'm', long, value_name = "METHOD", value_parser = values::method, help_heading = "Requests")]
    pub method: Option<String>,

    /// A line of the head; may be repeated. It replaces a default line of its name, and without a value removes it
    #[arg(short = 'H', long = "header", value_name = "LINE", help_heading = "Requests")]
    pub headers: Vec<Header>,

    /// Send the content of this file
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    pub body: Option<PathBuf>,

    /// Basic authentication; http://USER:PASSWORD@HOST/ does the same
    #[arg(long, value_name = "USER:PASSWORD", help_heading = "Requests")]
    pub user: Option<String>,

    /// A cookie; may be repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Requests")]
    pub cookie: Vec<String>,

    /// Version of HTTP
    #[arg(long, value_name = "VERSION", default_value = "1.1", help_heading = "Requests")]
    pub http: Http,

    /// One request each, or as many as the server allows
    #[arg(long = "connections", value_name = "KIND", default_value = "keep-alive", help_heading = "Connections")]
    pub reuse: Connections,

    /// Requests on their way at once on one connection
    #[arg(
        long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024),
        help_heading = "Connections"
    )]
    pub pipeline: u32,

    /// Longest time of a connect, and of a request to its last byte
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::duration, help_heading = "Connections")]
    pub timeout: Duration,

    /// Source addresses, used in turn: an address, a range (127.0.0.2-127.0.0.17), a prefix (127.0.0.0/28), or a list of these
    #[arg(long, value_name = "LIST", help_heading = "Connections")]
    pub source: Option<Sources>,

    /// Connect to this address instead of the URL's
    #[arg(long, value_name = "HOST:PORT", help_heading = "Connections")]
    pub connect_to: Option<HostPort>,

    /// Connect to this unix socket instead of the URL's address
    #[arg(long, value_name = "PATH", help_heading = "Connections")]
    pub unix_socket: Option<PathBuf>,

    /// Statuses that are right, such as 2xx,404 or 200-299
    #[arg(long, value_name = "LIST", default_value_t, help_heading = "What is right")]
    pub expect_status: Statuses,

    /// Answers to one URL may differ in length [default: they must be equal, as those of a static file are]
    #[arg(long, help_heading = "What is right")]
    pub any_length: bool,

    /// Compare answers with this file, or with a SHA-256 of 64 hexadecimal digits
    #[arg(long, value_name = "FILE|sha256:HEX", help_heading = "What is right")]
    pub verify: Option<Expectation>,

    /// Compare one of so many answers [default: 1, all of them]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "What is right")]
    pub verify_one_in: Option<NonZeroU64>,

    /// Exit with 3 if this is true of the run, such as 'p99>5ms' or 'failed>0'; may be repeated
    #[arg(long, value_name = "CONDITION", help_heading = "What is right")]
    pub fail_if: Vec<Gate>,

    /// Watch this process, the server: its CPU, memory and threads; may be repeated
    #[arg(long, value_name = "PID", help_heading = "What is written")]
    pub watch: Vec<NonZeroU32>,

    /// Report for people (text) or the whole record (json)
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "What is written")]
    pub output: Output,

    /// Write the report to this file [default: stdout]
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "What is written")]
    pub output_file: Option<PathBuf>,

    /// Write the latencies as percentile text for HdrHistogram's plotter
    #[arg(long, value_name = "FILE", help_heading = "What is written")]
    pub hdr: Option<PathBuf>,

    /// Write the latency at each percentile, as ab -e does
    #[arg(short = 'e', long, value_name = "FILE", help_heading = "What is written")]
    pub percentiles: Option<PathBuf>,

    /// Write a row for each answered request, as ab -g does
    #[arg(short = 'g', long, value_name = "FILE", help_heading = "What is written")]
    pub rows: Option<PathBuf>,

    /// Neither progress nor remarks on stderr
    #[arg(short = 'q', long, help_heading = "What is written")]
    pub quiet: bool,
}

impl LoadArgs {
    /// The source addresses that were named.
    #[must_use]
    pub fn sources(&self) -> &[IpAddr] {
        self.source.as_ref().map_or(&[], Sources::addresses)
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::super::{Cli, Command};
    use super::*;

    fn parse(arguments: &[&str]) -> Result<LoadArgs, clap::Error> {
        let cli = Cli::try_parse_from(["quintain", "load"].iter().chain(arguments))?;
        let Command::Load(args) = cli.command else { panic!("not load") };
        Ok(*args)
    }

    #[test]
    fn what_is_not_typed() {
        let args = parse(&["http://h/"]).unwrap();
        assert_eq!((args.requests, args.duration, args.connections), (None, None, 50));
        assert_eq!((args.threads, args.reuse, args.http), (Threads::Auto, Connections::KeepAlive, Http::V11));
        assert_eq!((args.timeout, args.pipeline, args.output), (Duration::from_secs(30), 1, Output::Text));
        assert_eq!(args.expect_status, Statuses::default());
        assert!(args.sources().is_empty());
    }

    #[test]
    fn short_flags_cluster_and_attach() {
        let args = parse(&["-qn100k", "-c500", "-t2m", "-HA: b", "-H", "C:d", "http://h/a", "http://h/b"]).unwrap();
        assert_eq!((args.requests.unwrap().get(), args.connections), (100_000, 500));
        assert_eq!((args.duration, args.quiet), (Some(Duration::from_secs(120)), true));
        assert_eq!((args.headers.len(), args.urls.len()), (2, 2));
    }

    #[test]
    fn a_wrong_value_is_named_with_its_flag() {
        let rows: &[(&[&str], &str)] = &[
            (&["-n", "0"], "'--requests <N>': write a number from 1 on"),
            (&["-t", "x"], "'--duration <TIME>': write a duration above zero"),
            (&["-c", "0"], "'--concurrency <N>'"),
            (&["--threads", "0"], "'--threads <N>': write auto or a number"),
            (&["--rate", "0"], "'--rate <RATE>': write requests per second"),
            (&["--http", "2"], "[possible values: 1.0, 1.1]"),
            (&["--connections", "long"], "[possible values: short, keep-alive]"),
            (&["-H", "A"], "'--header <LINE>': there is no colon"),
            (&["-H", "A: b\r\nC: d"], "'--header <LINE>': a header line has no line break in it"),
            (&["-m", "CONNECT"], "'--method <METHOD>': CONNECT asks a proxy"),
            (&["--source", "lo"], "'--source <LIST>': 'lo' is no address"),
            (&["--connect-to", "h"], "'--connect-to <HOST:PORT>': 'h' is no host with a port"),
            (&["--expect-status", "ok"], "'--expect-status <LIST>': 'ok' names no status codes"),
            (&["--verify", "sha256:0"], "'--verify <FILE|sha256:HEX>': a SHA-256 has 64"),
            (&["--watch", "0"], "'--watch <PID>'"),
            (&["--cpus", "a"], "'--cpus <LIST>': write numbers of CPUs"),
            (&["--steps", "1"], "'--steps <N>'"),
        ];
        for (arguments, sentence) in rows {
            let error = parse(&[arguments, &["http://h/"][..]].concat()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{arguments:?}");
            assert!(error.to_string().contains(sentence), "{arguments:?}: {error}");
        }
        assert_eq!(parse(&[]).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn the_help_names_each_flag_below_a_heading() {
        let mut command = Cli::command();
        let load = command.find_subcommand_mut("load").unwrap();
        let help = load.render_long_help().to_string();
        for heading in ["How much", "How fast", "Requests", "Connections", "What is right", "What is written"] {
            assert!(help.contains(&format!("\n{heading}:\n")), "{heading}");
        }
        for option in load.get_opts().filter(|option| option.get_id() != "help") {
            let flag = option.get_long().expect("a long name");
            assert!(help.contains(&format!("--{flag}")), "{flag}");
            assert!(option.get_help_heading().is_some(), "{flag} stands below no heading");
        }
    }

    #[test]
    fn the_examples_of_the_help_can_be_typed() {
        let examples: Vec<_> =
            LOAD_HELP.lines().filter_map(|line| line.trim().strip_prefix("quintain load ")).collect();
        assert!(examples.len() > 5);
        for example in examples {
            let words = example.replace("$(pidof -s quintain)", "1");
            // What a shell makes of single quotes, for as much as the examples need.
            let mut arguments = Vec::new();
            for (at, part) in words.split('\'').enumerate() {
                match at % 2 {
                    0 => arguments.extend(part.split_whitespace().map(str::to_owned)),
                    _ => arguments.push(part.to_owned()),
                }
            }
            // A remark follows the URL of the first.
            let end = arguments.iter().position(|word| word.starts_with("http://")).unwrap();
            let arguments: Vec<_> = arguments[..=end].iter().map(String::as_str).collect();
            assert!(parse(&arguments).is_ok(), "{example}: {:?}", parse(&arguments));
        }
    }
}
