//! Flags that contradict one another, each pair with a sentence. Values on their own are checked where they are read.

use super::refusal::Refusal;
use super::requests::method;
use crate::cli::LoadArgs;
use crate::cli::values::{Arrivals, Connections, Http, Rate};

/// Whether all flags can be meant together.
pub fn check(args: &LoadArgs) -> Result<(), Refusal> {
    let found = pace(args).or_else(|| search(args)).or_else(|| exchange(args)).or_else(|| place(args));
    found.or_else(|| outputs(args)).map_or(Ok(()), |sentence| Err(Refusal::usage(sentence)))
}

/// The first of these that is true.
fn first(rows: &[(bool, &'static str)]) -> Option<&'static str> {
    rows.iter().find(|(is_so, _)| *is_so).map(|(_, sentence)| *sentence)
}

fn is_ramp(args: &LoadArgs) -> bool {
    matches!(args.rate, Some(Rate::Ramp(..)))
}

fn is_open(args: &LoadArgs) -> bool {
    args.rate.is_some() || args.find_max
}

fn pace(args: &LoadArgs) -> Option<&'static str> {
    let poisson = args.arrivals == Some(Arrivals::Poisson);
    first(&[
        (args.steps.is_some() && !is_ramp(args), "--steps divides a ramp, and there is none; write --rate FROM:TO"),
        (
            args.arrivals.is_some() && !is_open(args),
            "--arrivals is about a rate, and there is none; add --rate or --find-max",
        ),
        (args.seed.is_some() && !poisson, "--seed is for random times; add --arrivals poisson"),
    ])
}

fn search(args: &LoadArgs) -> Option<&'static str> {
    if !args.find_max {
        return None;
    }
    first(&[
        (is_ramp(args), "--find-max chooses the rates itself; a ramp cannot be searched (--rate R is where it begins)"),
        (
            args.requests.is_some(),
            "--find-max cannot end by -n: so many requests take less time the higher the rate; say with -t how long a try lasts",
        ),
    ])
}

fn exchange(args: &LoadArgs) -> Option<&'static str> {
    let pipelined = args.pipeline > 1;
    let method = method(args);
    first(&[
        (
            pipelined && args.reuse == Connections::Short,
            "--pipeline needs connections that carry more than one request; leave out --connections short",
        ),
        (
            pipelined && args.http == Http::V10,
            "--pipeline needs HTTP/1.1: a server of 1.0 does not know of a second request before its answer is read",
        ),
        (
            pipelined && is_open(args),
            "--pipeline cannot be had with a rate: a request that is due would wait for the one before it on its connection",
        ),
        (args.body.is_some() && method == "TRACE", "TRACE has no content (RFC 9110 section 9.3.8); leave out --body"),
        (args.verify.is_some() && method == "HEAD", "an answer to HEAD has no content that --verify could compare"),
        (
            args.verify_one_in.is_some() && args.verify.is_none(),
            "--verify-one-in says how often; add what with --verify",
        ),
        (
            args.verify.is_some() && args.any_length,
            "--verify expects one content and --any-length any; leave one of them out",
        ),
    ])
}

fn place(args: &LoadArgs) -> Option<&'static str> {
    let unix = args.unix_socket.is_some();
    first(&[
        (unix && args.connect_to.is_some(), "--unix-socket and --connect-to both say where to; leave one of them out"),
        (unix && args.source.is_some(), "a unix socket has no addresses; leave out --source"),
    ])
}

fn outputs(args: &LoadArgs) -> Option<&'static str> {
    let distribution = args.hdr.is_some() || args.percentiles.is_some();
    first(&[
        (
            is_ramp(args) && (distribution || args.rows.is_some()),
            "--hdr, -e and -g are about one run, and each step of a ramp is one; --output json has the histogram of each",
        ),
        (
            args.find_max && args.rows.is_some(),
            "-g is about one run, and --find-max makes several; measure the rate that it finds with --rate and -g",
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::tests::args;
    use super::*;

    #[test]
    fn what_contradicts() {
        let rows: &[(&[&str], &str)] = &[
            (&["--steps", "5"], "--steps divides a ramp"),
            (&["--steps", "5", "--rate", "10"], "--steps divides a ramp"),
            (&["--arrivals", "uniform"], "--arrivals is about a rate"),
            (&["--seed", "1", "--rate", "10"], "--seed is for random times"),
            (&["--seed", "1", "--rate", "10", "--arrivals", "uniform"], "--seed is for random times"),
            (&["--find-max", "--rate", "1:2"], "--find-max chooses the rates itself"),
            (&["--find-max", "-n", "10"], "--find-max cannot end by -n"),
            (&["--pipeline", "2", "--connections", "short"], "--pipeline needs connections"),
            (&["--pipeline", "2", "--http", "1.0"], "--pipeline needs HTTP/1.1"),
            (&["--pipeline", "2", "--rate", "10"], "--pipeline cannot be had with a rate"),
            (&["--pipeline", "2", "--find-max"], "--pipeline cannot be had with a rate"),
            (&["-m", "TRACE", "--body", "x"], "TRACE has no content"),
            (&["-m", "HEAD", "--verify", "x"], "an answer to HEAD has no content"),
            (&["--verify-one-in", "2"], "--verify-one-in says how often"),
            (&["--verify", "x", "--any-length"], "--verify expects one content"),
            (&["--unix-socket", "/x", "--connect-to", "h:1"], "--unix-socket and --connect-to"),
            (&["--unix-socket", "/x", "--source", "::1"], "a unix socket has no addresses"),
            (&["--rate", "1:2", "-e", "x"], "--hdr, -e and -g are about one run"),
            (&["--rate", "1:2", "-g", "x"], "--hdr, -e and -g are about one run"),
            (&["--find-max", "-g", "x"], "-g is about one run"),
        ];
        for (arguments, sentence) in rows {
            match check(&args(&[arguments, &["http://h/"][..]].concat())) {
                Err(Refusal::Usage(said)) => assert!(said.starts_with(sentence), "{arguments:?}: {said}"),
                other => panic!("{arguments:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_does_not() {
        let rows: &[&[&str]] = &[
            &[],
            &["-n", "10", "-t", "5"],
            &["--rate", "1:2", "--steps", "5", "-n", "10"],
            &["--find-max", "--rate", "100", "--arrivals", "poisson", "--seed", "3", "-e", "x"],
            &["--pipeline", "8"],
            &["-m", "GET", "--body", "x"],
            &["--verify", "x", "--verify-one-in", "10"],
            &["--connect-to", "h:1", "--source", "::1"],
        ];
        for arguments in rows {
            assert_eq!(check(&args(&[arguments, &["http://h/"][..]].concat())), Ok(()), "{arguments:?}");
        }
    }
}
