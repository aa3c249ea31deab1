//! Where an experiment took place, as far as it limits what its figures mean.

use std::collections::BTreeSet;

use super::words::list;
use crate::record::experiment::{Experiment, Target};

/// What has to be said of the machine, in sentences.
pub(super) fn sentences(experiment: &Experiment) -> Vec<String> {
    let all = [one_machine(experiment), different_cpus(experiment), governor(experiment), pacing(experiment)];
    all.into_iter().flatten().collect()
}

/// Client and server on one machine take each other's time.
fn one_machine(experiment: &Experiment) -> Option<String> {
    let here: Vec<&Target> = experiment.targets.iter().filter(|target| is_local(&target.url)).collect();
    if here.is_empty() {
        return None;
    }
    let client = &experiment.client.cpus;
    let sharing: Vec<&str> =
        here.iter().filter(|target| overlap(client, &target.cpus)).map(|target| target.name.as_str()).collect();
    Some(if sharing.is_empty() {
        format!(
            "Client and server ran on one machine, the client on CPU {client} and the servers on CPU {}: caches, memory and the \
             kernel's part of the network they still shared.",
            list(&sets_of(&here))
        )
    } else {
        format!(
            "Client and server ({}) shared CPUs of one machine: what one used the other lacked, so requests/s are those of the \
             pair. The server's CPU for each request tells more.",
            list(&sharing)
        )
    })
}

/// Whether a target has a CPU that the client has, too.
pub(super) fn shares_cpus(experiment: &Experiment) -> bool {
    let mut here = experiment.targets.iter().filter(|target| is_local(&target.url));
    here.any(|target| overlap(&experiment.client.cpus, &target.cpus))
}

/// Whether nothing went over a network: 2 of `tcp_tw_reuse` means the loopback alone.
pub(super) fn is_local_only(experiment: &Experiment) -> bool {
    experiment.targets.iter().all(|target| is_local(&target.url))
}

/// The sets of CPUs that they had, each once.
fn sets_of<'a>(targets: &[&'a Target]) -> Vec<&'a str> {
    targets.iter().map(|target| target.cpus.as_str()).collect::<BTreeSet<_>>().into_iter().collect()
}

fn is_local(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]")
}

/// Whether two sets have a CPU in common; an empty one is all of them, and so is one that cannot be read.
fn overlap(one: &str, other: &str) -> bool {
    match (numbers(one), numbers(other)) {
        (Some(one), Some(other)) => !one.is_disjoint(&other),
        _ => true,
    }
}

/// The CPUs of a set such as `0,2-3`.
fn numbers(cpus: &str) -> Option<BTreeSet<u32>> {
    /// More than Linux can be built for.
    const MOST: u32 = 1 << 16;
    let mut numbers = BTreeSet::new();
    for part in cpus.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        numbers.extend(first..=last.min(MOST));
    }
    Some(numbers)
}

/// A ratio of servers on different CPUs is one of CPUs, too.
fn different_cpus(experiment: &Experiment) -> Option<String> {
    let sets: BTreeSet<&str> = experiment.targets.iter().map(|target| target.cpus.as_str()).collect();
    (sets.len() > 1).then(|| {
        let each = experiment.targets.iter().map(|target| match target.cpus.as_str() {
            "" => format!("{} on all", target.name),
            cpus => format!("{} on {cpus}", target.name),
        });
        format!("The targets did not have the same CPUs: {}.", list(&each.collect::<Vec<_>>()))
    })
}

fn governor(experiment: &Experiment) -> Option<String> {
    let governors = &experiment.machine.governors;
    governors.iter().any(|governor| governor != "performance").then(|| {
        format!(
            "The CPUs' frequency was governed by {}: it may have followed the load. 'performance' holds it.",
            list(governors)
        )
    })
}

/// Some algorithms of congestion control pace, even over the loopback, and a large document then arrives at their pace.
fn pacing(experiment: &Experiment) -> Option<String> {
    const LARGE: u64 = 1 << 20;
    let control = experiment.machine.sysctls.get("net.ipv4.tcp_congestion_control")?.trim();
    let large = experiment.documents.iter().find(|document| document.bytes >= LARGE)?;
    control.starts_with("bbr").then(|| {
        format!(
            "TCP's congestion control was {control}, which paces: {} and what is as large came at its pace, whichever server sent \
             it. With cubic (sysctl -w net.ipv4.tcp_congestion_control=cubic) it is the server's.",
            large.name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_cpus() {
        assert!(overlap("0-1", "1,4") && overlap("", "3") && overlap("0", "?"));
        assert!(!overlap("0", "1-3") && !overlap("0,2", "1,3"));
    }

    #[test]
    fn what_is_local() {
        assert!(is_local("http://127.0.0.1:80") && is_local("http://[::1]:80") && is_local("http://localhost"));
        assert!(!is_local("http://192.0.2.7:80"));
    }
}
