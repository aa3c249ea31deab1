//! `quintain webbench`, and this program called as `webbench`: WebBench 1.5's face on the load tool's engine.
//!
//! WebBench forks a process for each client; here they are connections of an event loop. The lines on stdout are its own. It
//! looks at no answer: what it would not have noticed is said on stderr. What differs on purpose: `-f` is accepted, but answers
//! are read all the same, because a connection that is closed without a look measures the kernel's accept queue;
//! an answer that was cut short has failed, and so has one of HTTP/0.9, which has no head; and the exit code is 0 after a
//! run, where WebBench's is a byte of its figures.

use std::ffi::OsString;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use self::request::Asked;
use super::console::{put, tell};
use super::signals;
use crate::cli::webbench::{HttpVersion, USAGE, WebbenchArgs, WebbenchCall, WebbenchMistake, parse};
use crate::load::plan::{Address, End, ExchangePlan, Keep, Pace, Plan, SocketPlan, Statuses, Target};
use crate::load::preflight::{self, Facts, Needs};
use crate::load::target::{self, HostPort};
use crate::load::{self, Measured};
use crate::process::affinity::Pins;
use crate::record::Run;
use crate::report::{Proxy, webbench};

mod request;

/// Exit codes of WebBench; the last one is a shell's for a program that an interrupt ended.
const UNREACHABLE: u8 = 1;
const USAGE_CODE: u8 = 2;
const SYSTEM: u8 = 3;
const INTERRUPTED: u8 = 130;

/// Longest time of the connect before the run.
const REACH: Duration = Duration::from_secs(30);

/// An end before the result: what stderr says, and the exit code.
struct Failure(u8, String);

fn unwritten(error: &io::Error) -> Failure {
    Failure(SYSTEM, format!("webbench: cannot write to stdout: {error}\n"))
}

/// Does what the words after the program's name ask for.
#[must_use]
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let ended = match parse(words) {
        Ok(WebbenchCall::Version) => put("1.5\n").map(|()| ExitCode::SUCCESS).map_err(|error| unwritten(&error)),
        Ok(WebbenchCall::Run(args)) => bench(&args),
        Err(WebbenchMistake::Usage) => Err(Failure(USAGE_CODE, USAGE.to_owned())),
        Err(WebbenchMistake::Said(what)) => Err(Failure(USAGE_CODE, format!("webbench: {what}\n{USAGE}"))),
    };
    ended.unwrap_or_else(|Failure(code, said)| {
        tell(&said);
        ExitCode::from(code)
    })
}

fn bench(args: &WebbenchArgs) -> Result<ExitCode, Failure> {
    let proxy = args.proxy.as_deref().map(proxy).transpose()?;
    tell(webbench::BANNER);
    let asked = request::asked(args).map_err(|sentence| Failure(USAGE_CODE, format!("\n{sentence}\n")))?;
    if args.force {
        tell("quintain: -f is not imitated: answers are read, as without it\n");
    }
    let options = options(args, &asked, proxy.as_ref());
    put(&webbench::benchmarking(&options)).map_err(|error| unwritten(&error))?;
    let address = reach(proxy.as_ref().unwrap_or(&asked.host))?;
    let plan = plan(args, asked, address);
    check(&plan, address)?;
    let failed = |error: &dyn std::fmt::Display| Failure(SYSTEM, format!("quintain: {error}\n"));
    let stop = signals::listen().map_err(|error| failed(&error))?;
    let Measured { run, .. } = load::run(&plan, &stop, &mut |_| {}).map_err(|error| failed(&error))?;
    put(&webbench::result(&run, &options)).map_err(|error| unwritten(&error))?;
    tell(&unnoticed(&run));
    Ok(if run.interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// WebBench takes a port that is missing for 80.
fn proxy(text: &str) -> Result<HostPort, Failure> {
    let with_port = if text.rsplit_once(':').is_some() { text.to_owned() } else { format!("{text}:80") };
    with_port.parse().map_err(|error| Failure(USAGE_CODE, format!("Error in option --proxy {text}: {error}\n")))
}

fn options(args: &WebbenchArgs, asked: &Asked, proxy: Option<&HostPort>) -> webbench::Options {
    webbench::Options {
        method: args.method.to_owned(),
        url: args.url.clone(),
        http: match asked.http {
            HttpVersion::V09 => webbench::Http::V09,
            HttpVersion::V10 => webbench::Http::V10,
            HttpVersion::V11 => webbench::Http::V11,
        },
        clients: args.clients as u64,
        seconds: args.seconds.into(),
        // Not said, because not done.
        force: false,
        reload: args.reload,
        proxy: proxy.map(|HostPort { host, port }| Proxy { host: host.clone(), port: *port }),
    }
}

/// The address, if something listens there: WebBench connects once before it begins.
fn reach(to: &HostPort) -> Result<SocketAddr, Failure> {
    let failed = |error: String| {
        Failure(UNREACHABLE, format!("\nConnect to server failed. Aborting benchmark.\nquintain: {error}\n"))
    };
    let address = target::resolve(to, &[]).map_err(|error| failed(error.to_string()))?;
    match TcpStream::connect_timeout(&address, REACH) {
        Ok(_) => Ok(address),
        Err(error) => Err(failed(format!("cannot connect to {address}: {error}"))),
    }
}

fn plan(args: &WebbenchArgs, asked: Asked, address: SocketAddr) -> Plan {
    let duration = Duration::from_secs(u64::from(args.seconds));
    Plan {
        target: Target { host: asked.host.host, port: asked.host.port, address: Address::Tcp(address) },
        requests: [asked.request].into(),
        exchange: ExchangePlan {
            keep_alive: false,
            pipeline: 1,
            // WebBench has none: nothing times out before the run is over.
            timeout: duration + REACH,
            expected: Statuses(vec![(0, 999)]),
            same_length: false,
            verify: None,
        },
        connections: args.clients,
        threads: args.threads,
        end: End { requests: None, duration: Some(duration), abort_after: None, fatal: &[] },
        pace: Pace::Closed,
        sources: Vec::new(),
        socket: SocketPlan::default(),
        watch: Vec::new(),
        pins: Pins::none(),
        keep: Keep::default(),
        warm_up: Duration::ZERO,
    }
}

fn check(plan: &Plan, address: SocketAddr) -> Result<(), Failure> {
    /// Files beside connections: what is watched, and the kernel's counters.
    const FILES: u64 = 8;
    let needs = Needs {
        connections: plan.connections as u64,
        threads: plan.threads,
        files: FILES,
        sources: 1,
        loopback: address.ip().is_loopback(),
        connects_a_minute: None,
    };
    let shortage = |shortage| Failure(SYSTEM, format!("quintain: {shortage}\n"));
    preflight::check(&Facts::of_this_machine(), &needs).map_err(shortage)
}

/// What WebBench does not look at: statuses, and how requests failed.
fn unnoticed(run: &Run) -> String {
    let not_2xx: u64 = run.statuses.iter().filter(|(status, _)| !(200..300).contains(*status)).map(|(_, n)| n).sum();
    let ends = &run.endings;
    let counts = [
        (not_2xx, "answered, but not with 2xx"),
        (ends.closed_early, "cut short by the server"),
        (ends.sent_nothing, "closed without an answer"),
        (ends.reset, "reset"),
        (ends.connect_failed + ends.connect_timed_out, "not connected"),
        (ends.malformed, "not answered in HTTP/1"),
    ];
    let seen: Vec<_> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if seen.is_empty() { String::new() } else { format!("quintain: of the requests, {}\n", seen.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Endings, sample};

    #[test]
    fn a_proxy_without_a_port_is_at_80() {
        let read = |text| proxy(text).map_err(|Failure(code, said)| (code, said));
        assert_eq!(read("p:81"), Ok(HostPort { host: "p".to_owned(), port: 81 }));
        assert_eq!(read("p"), Ok(HostPort { host: "p".to_owned(), port: 80 }));
        for text in [":81", "p:", "p:x"] {
            let (code, said) = read(text).unwrap_err();
            assert!(code == 2 && said.starts_with(&format!("Error in option --proxy {text}: ")), "{said}");
        }
    }

    #[test]
    fn short_connections_for_a_time() {
        let words = ["-c", "7", "-t", "3", "http://127.0.0.1:81/x"].map(OsString::from);
        let Ok(WebbenchCall::Run(args)) = parse(words) else { panic!("not a run") };
        let asked = request::asked(&args).unwrap();
        assert!(!options(&args, &asked, None).force);
        let plan = plan(&args, asked, "127.0.0.1:81".parse().unwrap());
        assert_eq!((plan.connections, plan.threads, plan.exchange.keep_alive), (7, 1, false));
        assert_eq!((plan.end.requests, plan.end.duration), (None, Some(Duration::from_secs(3))));
        assert!(plan.exchange.timeout > Duration::from_secs(3) && plan.exchange.expected.holds(500));
    }

    #[test]
    fn strict_figures_are_said_only_where_there_are_some() {
        let mut run = sample::run();
        (run.endings, run.statuses) = (Endings { ok: 9, ..Endings::default() }, [(200, 9)].into());
        assert_eq!(unnoticed(&run), "");
        run.statuses = [(200, 5), (404, 4)].into();
        run.endings.closed_early = 2;
        let said = "quintain: of the requests, 4 answered, but not with 2xx, 2 cut short by the server\n";
        assert_eq!(unnoticed(&run), said);
    }
}
