//! What a plan wants and this machine does not have.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::{cpus, installed, ours};
use crate::commands::doctor;
use crate::load::preflight::{self, Facts, Needs};
use crate::load::sources::Sources;
use crate::record::experiment::{Cell, ConnectionKind};
use crate::sweep::estimate;
use crate::sweep::plan::{How, Plan, TargetPlan};
use crate::sweep::target::WATCHED_MAX;
use crate::sweep::written::Surroundings;

/// Files that the load tool has open beside its connections, at least; and as many as it may need for the processes of a target.
const FILES: u64 = 8;
const FILES_MAX: u64 = FILES + 2 * WATCHED_MAX as u64;

/// Sentences, the worst first.
pub(super) fn of(plan: &Plan, around: &Surroundings) -> Vec<String> {
    let groups = [
        installed::missing(plan),
        cpus::unfair(plan, around),
        connections(plan),
        sources(plan),
        settings(plan),
        backlogs(plan),
    ];
    groups.into_iter().flatten().collect()
}

/// Source addresses that the load tool could not read.
pub(super) fn wrong_source(text: &str) -> Option<String> {
    text.parse::<Sources>().err().map(|error| error.to_string())
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
    // What is certain to run out is told with the figure that suffices for every target: each would else name one of its own.
    let is_short = preflight::check(&facts, &needs).is_err();
    let enough = preflight::check(&facts, &Needs { files: FILES_MAX, ..needs });
    let shortage = enough.err().filter(|_| is_short).map(|shortage| format!("{shortage}."));
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
pub(super) fn is_here(target: &TargetPlan) -> bool {
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

/// Our own servers before which more connections may wait than their queues hold, each shape of them once.
fn backlogs(plan: &Plan) -> Vec<String> {
    let mut shapes: BTreeMap<(u32, u32), Vec<&str>> = BTreeMap::new();
    for TargetPlan { name, how, .. } in &plan.targets {
        let How::Ours { arguments } = how else { continue };
        let most = plan.cells.iter().filter(|cell| cell.target == *name).map(|cell| cell.concurrency).max();
        let Some((most, backlog)) = most.zip(ours::backlog(arguments)) else { continue };
        shapes.entry((u32::try_from(most).unwrap_or(u32::MAX), backlog)).or_default().push(name);
    }
    let says = |((most, backlog), names): ((u32, u32), Vec<&str>)| {
        let sentence = doctor::queue_worth_a_look(most, backlog)?;
        Some(format!("{}: {sentence}", names.join(", ")))
    };
    shapes.into_iter().filter_map(says).collect()
}
