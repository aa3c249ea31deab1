//! On which CPUs everybody runs, and whether that makes them unequal.

use super::obstacles::is_here;
use crate::process::affinity::Pins;
use crate::sweep::cpus::CpuSet;
use crate::sweep::plan::{How, Plan, TargetPlan};
use crate::sweep::target::{WATCHED_MAX, running_process};
use crate::sweep::tree::descendants;
use crate::sweep::written::Surroundings;

/// A target of this machine, and where it runs.
struct Runner<'a> {
    name: &'a str,
    cpus: CpuSet,
    /// It runs already, and nobody pins it.
    is_running: bool,
}

/// Whatever lets one side have less of the machine than another.
pub(super) fn unfair(plan: &Plan, around: &Surroundings) -> Vec<String> {
    let runners: Vec<_> = plan.targets.iter().filter_map(|target| runner(target, around)).collect();
    let client = effective(&plan.client.cpus, around);
    missing(plan, around).into_iter().chain(sharing(&runners, &client)).chain(unequal(&runners)).collect()
}

/// CPUs that a plan names and this process may not use.
fn missing(plan: &Plan, around: &Surroundings) -> Vec<String> {
    let targets = plan.targets.iter().map(|target| (format!("target {}", target.name), target.cpus.as_str()));
    let mut says = Vec::new();
    for (who, set) in targets.chain([("client".to_owned(), plan.client.cpus.as_str())]) {
        let set: CpuSet = set.parse().unwrap_or_default();
        if let Some(cpu) = set.numbers().iter().find(|cpu| !around.cpus.numbers().contains(cpu)) {
            says.push(format!("{who}: CPU {cpu} is none of those that this process may use, {}.", around.cpus));
        }
    }
    says
}

fn sharing(runners: &[Runner<'_>], client: &CpuSet) -> Option<String> {
    let overlaps = |set: &CpuSet| set.numbers().iter().any(|cpu| client.numbers().contains(cpu));
    let unknown = |set: &CpuSet| set.numbers().is_empty() || client.numbers().is_empty();
    let sharing = runners.iter().filter(|runner| unknown(&runner.cpus) || overlaps(&runner.cpus));
    let sharing: Vec<_> = sharing.map(|runner| runner.name).collect();
    let says =
        || format!("client and {} share CPUs: each takes time that the other is measured by.", sharing.join(", "));
    (!sharing.is_empty()).then(says)
}

/// Those that run already and have other CPUs than the first that is started: their figures are not of the same machine.
fn unequal(runners: &[Runner<'_>]) -> Vec<String> {
    let Some(Runner { name: other, cpus: pinned, .. }) = runners.iter().find(|runner| !runner.is_running) else {
        return Vec::new();
    };
    let differs = |runner: &&Runner<'_>| runner.is_running && runner.cpus != *pinned;
    let says = |Runner { name, cpus, .. }: &Runner<'_>| {
        format!(
            "target {name}: it may run on CPU {cpus}, and {other} on CPU {pinned}: that compares unequal things. Start it under \
             `taskset -c {pinned}`, or write cpus = \"all\" for those that are started."
        )
    };
    runners.iter().filter(differs).map(says).collect()
}

/// Nothing of one that is elsewhere.
fn runner<'a>(target: &'a TargetPlan, around: &Surroundings) -> Option<Runner<'a>> {
    let TargetPlan { name, how, cpus, .. } = target;
    let (cpus, is_running) = match how {
        How::Running { .. } if !is_here(target) => return None,
        How::Running { pid_file, .. } => {
            let seen = pid_file.as_deref().and_then(running_process).and_then(of_processes);
            (seen.unwrap_or_else(|| around.cpus.clone()), true)
        }
        How::Ours { .. } | How::Command { .. } => (effective(cpus, around), false),
    };
    Some(Runner { name, cpus, is_running })
}

/// No CPU in particular is any that there is.
fn effective(cpus: &str, around: &Surroundings) -> CpuSet {
    let named: CpuSet = cpus.parse().unwrap_or_default();
    if named == CpuSet::default() { around.cpus.clone() } else { named }
}

/// CPUs of a process, or of its workers where it has some: a master of pinned workers does nothing.
fn of_processes(pid: u32) -> Option<CpuSet> {
    let workers = descendants(pid, WATCHED_MAX);
    let all = if workers.is_empty() { vec![pid] } else { workers };
    let numbers: Vec<_> = all.into_iter().filter_map(Pins::of_process).flat_map(|pins| pins.cpus().to_vec()).collect();
    (!numbers.is_empty()).then(|| CpuSet::of(numbers))
}
