//! What else differs between two results, so that no change can be laid at one door without having looked at the others.

use std::collections::BTreeSet;

use crate::analysis::course;
use crate::record::experiment::{Cell, Client, Experiment, Machine, Target};

/// Something that is not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What: `kernel`, `version of nginx`.
    pub what: String,
    /// In the earlier result; empty where it has none.
    pub before: String,
    /// In the later one.
    pub after: String,
}

/// All that is known to differ: the plan, the machine, the client, the targets.
pub(super) fn all(before: &Experiment, after: &Experiment) -> Vec<Difference> {
    let mut found = Found(Vec::new());
    found.plan(before, after);
    found.machine(&before.machine, &after.machine);
    found.client(&before.client, &after.client);
    found.targets(before, after);
    found.0
}

struct Found(Vec<Difference>);

impl Found {
    fn compare(&mut self, what: &str, before: impl ToString, after: impl ToString) {
        let (before, after) = (before.to_string(), after.to_string());
        if before != after {
            self.0.push(Difference { what: what.to_owned(), before, after });
        }
    }

    fn plan(&mut self, before: &Experiment, after: &Experiment) {
        self.compare("question", &before.question, &after.question);
        self.compare("measuring program", &before.tool, &after.tool);
        self.compare("repeats", before.repeats, after.repeats);
        self.compare("band", before.band, after.band);
        self.compare("gates", before.gates.join(", "), after.gates.join(", "));
        for document in &before.documents {
            if let Some(other) = after.documents.iter().find(|other| other.name == document.name) {
                self.compare(&format!("length of {}", document.name), document.bytes, other.bytes);
            }
        }
        self.compare("end of a run", ends(before, after), ends(after, before));
        if let (Some(before), Some(after)) = (&before.course, &after.course) {
            self.compare("warm-up and waits", course::words(before), course::words(after));
        }
    }

    /// Every field, so that a new one is not forgotten.
    fn machine(&mut self, before: &Machine, after: &Machine) {
        let Machine { kernel, cpu_model, cpus, memory_bytes, governors, descriptors, sysctls } = before;
        self.compare("kernel", kernel, &after.kernel);
        self.compare("CPU", cpu_model, &after.cpu_model);
        self.compare("number of CPUs", cpus, after.cpus);
        // A kernel keeps a little more or less for itself.
        self.compare("memory in GiB", gib(*memory_bytes), gib(after.memory_bytes));
        self.compare("frequency governor", governors.join(", "), after.governors.join(", "));
        self.compare("descriptors of a process", descriptors, after.descriptors);
        for name in sysctls.keys().chain(after.sysctls.keys()).collect::<BTreeSet<_>>() {
            let value = |machine: &Machine| machine.sysctls.get(name).cloned().unwrap_or_default();
            self.compare(name, value(before), value(after));
        }
    }

    fn client(&mut self, before: &Client, after: &Client) {
        let Client { threads, cpus, sources } = before;
        let count =
            |threads: Option<u64>| threads.map_or_else(|| "its own choice".to_owned(), |count| count.to_string());
        self.compare("threads of the client", count(*threads), count(after.threads));
        self.compare("CPUs of the client", all_if_empty(cpus), all_if_empty(&after.cpus));
        self.compare("source addresses of the client", sources, &after.sources);
    }

    fn targets(&mut self, before: &Experiment, after: &Experiment) {
        for target in &before.targets {
            if let Some(other) = after.targets.iter().find(|other| other.name == target.name) {
                self.target(target, other);
            }
        }
        self.compare("targets", names(before), names(after));
    }

    fn target(&mut self, before: &Target, after: &Target) {
        // Of the command and the address, only what the plan decides: see `arguments`.
        let Target { name, kind, command: _, url: _, version, workers, cpus } = before;
        let count = |workers: Option<u64>| workers.map_or_else(|| "not said".to_owned(), |count| count.to_string());
        self.compare(&format!("version of {name}"), version, &after.version);
        self.compare(&format!("workers of {name}"), count(*workers), count(after.workers));
        self.compare(&format!("CPUs of {name}"), all_if_empty(cpus), all_if_empty(&after.cpus));
        self.compare(&format!("command of {name}"), arguments(before), arguments(after));
        if kind != &after.kind {
            self.compare(&format!("kind of {name}"), format!("{kind:?}"), format!("{:?}", after.kind));
        }
    }
}

/// The words of a command without those that are another each time: ports and paths.
fn arguments(target: &Target) -> String {
    let port = target.url.rsplit_once(':').map_or("", |(_, port)| port);
    let stays = |word: &&String| !word.contains('/');
    let words = target.command.iter().filter(stays).map(|word| match port {
        "" => word.clone(),
        port => word.replace(port, "{port}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// How runs end whose cells both have, each end once.
fn ends(of: &Experiment, other: &Experiment) -> String {
    type Place<'a> = (&'a str, &'a str, crate::record::experiment::ConnectionKind, u64);
    fn place(cell: &Cell) -> Place<'_> {
        (&cell.target, &cell.document, cell.connections, cell.concurrency)
    }
    let common: BTreeSet<Place<'_>> = other.cells.iter().map(place).collect();
    let ends: BTreeSet<(Option<u64>, Option<u64>)> = of
        .cells
        .iter()
        .filter(|cell| common.contains(&place(cell)))
        .map(|cell| (cell.requests, cell.duration_ms))
        .collect();
    let words = ends.into_iter().map(|(requests, duration)| {
        let requests = requests.map(|count| format!("{count} requests"));
        let duration = duration.map(|ms| format!("{} s", ms as f64 / 1e3));
        [requests, duration].into_iter().flatten().collect::<Vec<_>>().join(" or ")
    });
    words.collect::<Vec<_>>().join(", ")
}

fn names(experiment: &Experiment) -> String {
    experiment.targets.iter().map(|target| target.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn all_if_empty(cpus: &str) -> &str {
    if cpus.is_empty() { "all" } else { cpus }
}

fn gib(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 30))
}
