//! Who was measured, by whom, and on what.

use super::super::super::units::bytes;
use super::{cells, escaped};
use crate::analysis::Analysis;
use crate::record::experiment::{Client, Experiment, Machine, Target};

/// The targets, and the client.
pub(super) fn targets(analysis: &Analysis) -> String {
    let experiment = &analysis.experiment;
    let mut text = format!("- {}\n\n", client(&experiment.client));
    text += &cells(["target", "version", "workers", "CPUs", "command"]);
    text += &cells(["---"; 5]);
    text.extend(experiment.targets.iter().map(target));
    text
}

fn target(target: &Target) -> String {
    let Target { name, kind: _, command, url, version, workers, cpus } = target;
    let command = if command.is_empty() { format!("was running at {url}") } else { command.join(" ") };
    let workers = workers.map_or_else(|| "-".to_owned(), |workers| workers.to_string());
    cells([escaped(name), escaped(version), workers, all_if_empty(cpus), escaped(&command)])
}

fn client(client: &Client) -> String {
    let Client { threads, cpus, sources } = client;
    let threads = threads.map_or_else(|| "as many as it chose".to_owned(), |threads| threads.to_string());
    let sources = if sources.is_empty() { "the system's choice" } else { sources };
    format!("Client: threads: {threads}; CPUs: {}; source addresses: {}.", all_if_empty(cpus), escaped(sources))
}

fn all_if_empty(cpus: &str) -> String {
    if cpus.is_empty() { "all".to_owned() } else { escaped(cpus) }
}

/// What the machine is and is set to.
pub(super) fn machine(experiment: &Experiment) -> String {
    let Machine { kernel, cpu_model, cpus, memory_bytes, governors, descriptors, sysctls } = &experiment.machine;
    let governors = if governors.is_empty() { "not shown by the kernel".to_owned() } else { governors.join(", ") };
    let known = [
        ("kernel", kernel.clone()),
        ("CPU", cpu_model.clone()),
        ("CPUs", cpus.to_string()),
        ("memory", bytes(*memory_bytes as f64)),
        ("frequency governor", governors),
        ("descriptors of a process", descriptors.to_string()),
    ];
    let known = known.iter().map(|(name, value)| (*name, value.as_str()));
    let set = sysctls.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let rows: String = known.chain(set).map(|(name, value)| cells([escaped(name), escaped(value)])).collect();
    cells(["", ""]) + &cells(["---"; 2]) + &rows
}
