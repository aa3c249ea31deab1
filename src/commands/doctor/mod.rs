//! `quintain doctor`: what this machine means for so many connections.

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use super::{FAILED, USAGE, fail, print};
use crate::cli::DoctorArgs;
use crate::config;
use crate::load::url::Url;
use crate::process::affinity;
use crate::process::machine::Machine;

mod answer;
mod cpu;
mod descriptors;
mod fact;
mod ports;
mod queues;

use fact::{Fact, Mark};

/// What is to be possible.
#[derive(Debug, Clone, Copy)]
struct Question {
    /// Connections at once.
    connections: u64,
    /// Both ends are on this machine.
    loopback: bool,
    /// Backlog of the server's listeners, as it is configured.
    backlog: u64,
    /// CPUs of this process's mask.
    cpus: NonZeroUsize,
}

/// Looks, and tells. It changes nothing.
#[must_use]
pub fn run(DoctorArgs { connections, url }: &DoctorArgs) -> ExitCode {
    let url = match url.as_deref().map(Url::parse).transpose() {
        Ok(url) => url,
        Err(error) => return fail(USAGE, &error),
    };
    let answer = url.as_ref().map(answer::ask);
    let question = Question {
        connections: u64::from(*connections),
        loopback: answer.as_ref().is_none_or(|answer| answer.loopback),
        backlog: u64::from(config::default_backlog()),
        cpus: affinity::allowed(),
    };
    let mut facts = examine(&Machine::read(Path::new("/")), &question);
    facts.extend(answer.into_iter().flat_map(|answer| answer.facts));
    let printed = print(&render(&facts, &question));
    if facts.iter().any(|fact| fact.mark == Mark::Problem) { ExitCode::from(FAILED) } else { printed }
}

/// What may change or prevent a measurement over so many connections of this machine to itself, of documents of which the largest
/// has so many bytes: a sentence each, and the command that changes it. What is plainly impossible the load tool says better: it
/// knows source addresses.
pub(super) fn worth_a_look(connections: u32, largest_bytes: u64) -> Vec<String> {
    let facts = examine(&Machine::read(Path::new("/")), &to_itself(connections, config::default_backlog()));
    looks(facts, largest_bytes)
}

/// The same of the queue before one of our own servers, which is given this backlog: what other servers ask for is not known.
pub(super) fn queue_worth_a_look(connections: u32, backlog: u32) -> Option<String> {
    let fact = queues::accept(&Machine::read(Path::new("/")), &to_itself(connections, backlog));
    (fact.mark == Mark::Look).then(|| sentence(fact))
}

/// So many connections of this machine to itself.
fn to_itself(connections: u32, backlog: u32) -> Question {
    Question {
        connections: u64::from(connections),
        loopback: true,
        backlog: u64::from(backlog),
        cpus: affinity::allowed(),
    }
}

fn looks(facts: Vec<Fact>, largest_bytes: u64) -> Vec<String> {
    let shows = |fact: &Fact| match fact.name {
        cpu::CONGESTION => largest_bytes >= cpu::PACED_BYTES,
        // It is asked about each server, with the backlog of that one.
        queues::ACCEPT => false,
        _ => true,
    };
    facts.into_iter().filter(|fact| fact.mark == Mark::Look && shows(fact)).map(sentence).collect()
}

fn sentence(Fact { name, value, means, change, .. }: Fact) -> String {
    let change = change.map_or(String::new(), |change| format!(" Change: {change}"));
    format!("{name} is {value}: {means}{change}")
}

/// The facts of a machine in the order in which a connection meets them.
fn examine(machine: &Machine, question: &Question) -> Vec<Fact> {
    let groups: [fn(&Machine, &Question) -> Vec<Fact>; 4] =
        [descriptors::facts, ports::facts, queues::facts, cpu::facts];
    groups.iter().flat_map(|facts| facts(machine, question)).collect()
}

/// A table with a line for each fact, what each of them means, and the sum.
fn render(facts: &[Fact], question: &Question) -> String {
    let names = facts.iter().map(|fact| fact.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Fact { mark, name, value, .. } in facts {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:7}  {name:names$}  {value}", mark.name());
    }
    for Fact { name, means, change, .. } in facts {
        let _ = write!(text, "\n{name}: {means}\n");
        if let Some(change) = change {
            let _ = writeln!(text, "  change: {change}");
        }
    }
    let _ = writeln!(text, "\n{}", sum(facts, question));
    text
}

fn sum(facts: &[Fact], Question { connections, .. }: &Question) -> String {
    let with = |mark| facts.iter().filter(move |fact| fact.mark == mark).map(|fact| fact.name);
    let problems: Vec<_> = with(Mark::Problem).collect();
    if !problems.is_empty() {
        return format!("{connections} connections are not possible as it is: see {}.", problems.join(", "));
    }
    match with(Mark::Look).collect::<Vec<_>>().as_slice() {
        [] => format!("{connections} connections are possible."),
        looks => format!("{connections} connections are possible; worth a look: {}.", looks.join(", ")),
    }
}

#[cfg(test)]
mod tests;
