//! Whether this machine has what the plan needs, asked before the first packet.

use std::path::Path;
use std::time::Duration;

use super::plan::Planned;
use super::refusal::Refusal;
use crate::cli::LoadArgs;
use crate::load::campaign::Sequence;
use crate::load::plan::{Address, Pace};
use crate::load::preflight::{self, Facts, Needs};
use crate::load::target::{self, HostPort};

/// How long a closed connection keeps its port: TIME_WAIT on Linux.
const TIME_WAIT: Duration = Duration::from_secs(60);

/// Where connections go.
pub fn address(args: &LoadArgs, host: &HostPort) -> Result<Address, Refusal> {
    if let Some(path) = &args.unix_socket {
        return Ok(Address::Unix(path.clone()));
    }
    let to = args.connect_to.as_ref().unwrap_or(host);
    target::resolve(to, args.sources()).map(Address::Tcp).map_err(Refusal::failed)
}

/// Refuses what cannot work, and remarks on what may not.
pub fn check(args: &LoadArgs, planned: &mut Planned) -> Result<(), Refusal> {
    if let Some(sources) = &args.source {
        sources.check().map_err(Refusal::failed)?;
    }
    let plan = &planned.plan;
    if let Some(cpu) = plan.pins.not_allowed() {
        return Err(Refusal::failed(format_args!(
            "--cpus names CPU {cpu}, on which this process may not run (see `nproc` and taskset)"
        )));
    }
    if let Some(pid) = plan.watch.iter().find(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
        return Err(Refusal::failed(format_args!("there is no process {pid} that --watch could look at")));
    }
    let (facts, needs) = (Facts::of_this_machine(), needs(args, planned));
    preflight::check(&facts, &needs).map_err(Refusal::failed)?;
    planned.remarks.extend(preflight::doubt(&facts, &needs).map(|doubt| doubt.to_string()));
    Ok(())
}

fn needs(args: &LoadArgs, planned: &Planned) -> Needs {
    /// Files that reading one process of /proc takes at once.
    const EACH_WATCHED: usize = 2;
    /// Reports and, of `-g`, what spills to disk; the kernel's counters.
    const OUTPUTS: usize = 8;
    let plan = &planned.plan;
    let (sources, loopback) = match &plan.target.address {
        Address::Unix(_) => (0, true),
        Address::Tcp(address) => (plan.sources.len().max(1) as u64, address.ip().is_loopback()),
    };
    Needs {
        connections: plan.connections as u64,
        threads: plan.threads,
        files: (OUTPUTS + EACH_WATCHED * args.watch.len()) as u64,
        sources,
        loopback,
        connects_a_minute: connects_a_minute(planned),
    }
}

/// Connections that will be begun within the time for which a closed one keeps its port, as far as one can know before: at
/// most one for each request, and at most as many as the rate makes.
fn connects_a_minute(Planned { plan, sequence, .. }: &Planned) -> Option<u64> {
    if plan.exchange.keep_alive {
        return None;
    }
    let (runs, fastest) = match (sequence, plan.pace) {
        (Sequence::Steps(rates), _) => (rates.len() as u64, rates.iter().copied().reduce(f64::max)),
        (Sequence::FindMax(_), _) => return None,
        (Sequence::Single, Pace::Open { per_second, .. }) => (1, Some(per_second)),
        (Sequence::Single, Pace::Closed) => (1, None),
    };
    let all = plan.end.requests.map(|requests| requests.saturating_mul(runs));
    let longest = plan.end.duration.map_or(TIME_WAIT, |duration| TIME_WAIT.min(duration.saturating_mul(runs as u32)));
    let paced = fastest.map(|rate| (rate * longest.as_secs_f64()).ceil() as u64);
    [all, paced].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::super::plan::plan;
    use super::super::requests::requests;
    use super::super::tests::args;
    use super::*;

    fn planned(arguments: &[&str]) -> (LoadArgs, Planned) {
        let args = args(&[arguments, &["http://127.0.0.1:81/x"][..]].concat());
        let asked = requests(&args).unwrap();
        let address = address(&args, &asked.host).unwrap();
        let planned = plan(&args, asked, address, 4).unwrap();
        (args, planned)
    }

    #[test]
    fn where_connections_go() {
        let address = |arguments: &[&str]| planned(arguments).1.plan.target.address;
        assert_eq!(address(&[]), Address::Tcp("127.0.0.1:81".parse().unwrap()));
        assert_eq!(address(&["--connect-to", "[::1]:82"]), Address::Tcp("[::1]:82".parse().unwrap()));
        assert_eq!(address(&["--unix-socket", "/run/x"]), Address::Unix("/run/x".into()));
        // The name of the URL need not be known to anybody then.
        let args = args(&["--connect-to", "127.0.0.1:82", "http://quintain.invalid/"]);
        let host = requests(&args).unwrap().host;
        assert_eq!(super::address(&args, &host), Ok(Address::Tcp("127.0.0.1:82".parse().unwrap())));
    }

    #[test]
    fn connections_begun_within_a_minute() {
        let rows: &[(&[&str], Option<u64>)] = &[
            (&["-n", "100k"], None),
            (&["-n", "100k", "--connections", "short"], Some(100_000)),
            (&["-t", "10", "--connections", "short"], None),
            (&["-t", "10", "--connections", "short", "--rate", "500"], Some(5000)),
            (&["-t", "10m", "--connections", "short", "--rate", "500"], Some(30_000)),
            (&["-n", "100", "--connections", "short", "--rate", "500"], Some(100)),
            (&["-t", "5", "--connections", "short", "--rate", "1:100", "--steps", "3"], Some(1500)),
            (&["-n", "50", "--connections", "short", "--rate", "1:100", "--steps", "3"], Some(150)),
            (&["--connections", "short", "--find-max"], None),
        ];
        for (arguments, expected) in rows {
            assert_eq!(connects_a_minute(&planned(arguments).1), *expected, "{arguments:?}");
        }
    }

    #[test]
    fn what_this_machine_lacks() {
        let rows: &[(&[&str], &str)] = &[
            (&["--source", "127.0.0.1", "--cpus", "1023"], "--cpus names CPU 1023, on which this process may not run"),
            (&["--watch", "4194305"], "there is no process 4194305 that --watch could look at"),
        ];
        for (arguments, sentence) in rows {
            let (args, mut planned) = planned(arguments);
            match check(&args, &mut planned) {
                Err(Refusal::Failed(said)) => assert!(said.starts_with(sentence), "{arguments:?}: {said}"),
                other => panic!("{arguments:?}: {other:?}"),
            }
        }
        let (args, mut planned) = planned(&["--watch", &std::process::id().to_string(), "--source", "127.0.0.2"]);
        assert_eq!(check(&args, &mut planned), Ok(()));
        assert!(planned.remarks.is_empty(), "{:?}", planned.remarks);
    }
}
