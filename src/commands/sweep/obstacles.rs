//! What a plan wants and this machine does not have.

use std::net::IpAddr;

use super::installed;
use crate::commands::doctor;
use crate::config::Mistake;
use crate::load::preflight::{self, Facts, Needs};
use crate::load::sources::Sources;
use crate::record::experiment::{Cell, ConnectionKind};
use crate::sweep::cpus::CpuSet;
use crate::sweep::estimate;
use crate::sweep::plan::{How, Plan, TargetPlan};
use crate::sweep::written::{Surroundings, Understood};

/// Files that the load tool has open beside its connections.
const FILES: u64 = 8;

/// Sentences, the worst first.
pub(super) fn of(plan: &Plan, around: &Surroundings) -> Vec<String> {
    let groups = [installed::missing(plan), cpus(plan, around), connections(plan), sources(plan), settings(plan)];
    groups.into_iter().flatten().collect()
}

/// Source addresses that the load tool could not read.
pub(super) fn wrong_source(understood: &Understood) -> Option<Mistake> {
    let text = &understood.plan.client.sources;
    let error = text.parse::<Sources>().err().filter(|_| !text.is_empty())?;
    Some(Mistake { place: understood.place("client.source").to_owned(), says: format!("client.source: {error}") })
}

fn cpus(plan: &Plan, around: &Surroundings) -> Vec<String> {
    let set = |text: &str| text.parse::<CpuSet>().unwrap_or_default();
    let client = set(&plan.client.cpus);
    let mut says = Vec::new();
    let everybody = plan.targets.iter().map(|target| (format!("target {}", target.name), set(&target.cpus)));
    for (who, set) in everybody.chain([("client".to_owned(), client.clone())]) {
        if let Some(cpu) = set.numbers().iter().find(|cpu| !around.cpus.numbers().contains(cpu)) {
            says.push(format!("{who}: CPU {cpu} is none of those that this process may use, {}.", around.cpus));
        }
    }
    let shares = |target: &&TargetPlan| {
        let servers = set(&target.cpus);
        let is_started = !matches!(target.how, How::Running { .. });
        is_started && (servers.numbers().is_empty() || client.numbers().is_empty() || overlap(&servers, &client))
    };
    let sharing: Vec<_> = plan.targets.iter().filter(shares).map(|target| target.name.as_str()).collect();
    if !sharing.is_empty() {
        says.push(format!(
            "client and {} share CPUs: each takes time that the other is measured by.",
            sharing.join(", ")
        ));
    }
    says
}

fn overlap(one: &CpuSet, other: &CpuSet) -> bool {
    one.numbers().iter().any(|cpu| other.numbers().contains(cpu))
}

fn most(plan: &Plan) -> u64 {
    plan.cells.iter().map(|cell| cell.concurrency).max().unwrap_or(0)
}

/// What would run out: descriptors, ports, or ports over a minute.
fn connections(plan: &Plan) -> Vec<String> {
    let sources = plan.client.sources.parse::<Sources>().map_or(1, |sources| sources.addresses().len() as u64);
    let facts = Facts::of_this_machine();
    let needs = Needs {
        connections: most(plan),
        threads: plan.client.threads.and_then(|threads| threads.try_into().ok()).unwrap_or(1),
        files: FILES,
        sources,
        loopback: plan.targets.iter().all(is_here),
        connects_a_minute: plan.cells.iter().filter_map(|cell| connects_a_minute(cell, plan)).max(),
    };
    let shortage = preflight::check(&facts, &needs).err().map(|shortage| format!("{shortage}."));
    let doubt = preflight::doubt(&facts, &needs).map(|doubt| format!("{doubt}."));
    shortage.into_iter().chain(doubt).collect()
}

fn connects_a_minute(cell: &Cell, plan: &Plan) -> Option<u64> {
    let document = plan.documents.iter().find(|document| document.name == cell.document)?;
    let requests = cell.requests.filter(|_| cell.connections == ConnectionKind::Short)?;
    let seconds = estimate::of_cell(cell, document.bytes).as_secs().max(1);
    Some(requests.min(requests / seconds * 60))
}

/// Whether a target is on this machine, as far as its URL tells.
fn is_here(target: &TargetPlan) -> bool {
    let How::Running { url, .. } = &target.how else { return true };
    let host = url.strip_prefix("http://").and_then(|rest| rest.rsplit_once(':')).map_or("", |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn sources(plan: &Plan) -> Vec<String> {
    let Ok(sources) = plan.client.sources.parse::<Sources>() else { return Vec::new() };
    sources.check().err().map(|error| format!("client.source: {error}.")).into_iter().collect()
}

/// What the machine is set to, as `quintain doctor` finds it for so many connections and such documents.
fn settings(plan: &Plan) -> Vec<String> {
    let connections = u32::try_from(most(plan)).unwrap_or(u32::MAX);
    let largest = plan.documents.iter().map(|document| document.bytes).max().unwrap_or(0);
    doctor::worth_a_look(connections, largest)
}
