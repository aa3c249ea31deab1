//! Experiments as sweeps leave them, imagined from a seed: for the unit tests of all who read an analysis.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::Analysis;
use crate::record::experiment::{
    Cell, Client, ConnectionKind, Document, Entry, Experiment, LeftOut, Machine, Measured, NotMeasured, Published,
    Restarted, Target, TargetKind,
};
use crate::record::{Doubt, Endings, Record, Watched, plain, sample};

/// A server that does not exist.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Behaviour {
    /// Its name.
    pub name: &'static str,
    /// Requests per second that it answers, at any concurrency.
    pub per_s: f64,
    /// CPU that it takes for one.
    pub cpu_us: f64,
}

/// An experiment that was never made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Imagined<'a> {
    pub targets: &'a [Behaviour],
    pub documents: &'a [(&'a str, u64)],
    pub kinds: &'a [ConnectionKind],
    pub levels: &'a [u64],
    pub repeats: u64,
    /// Standard deviation of the logarithm of each run.
    pub noise: f64,
    /// Of the step by which the whole machine changes from block to block; a twentieth of the way back it goes by itself.
    pub drift: f64,
    pub seed: u64,
}

/// With every target in each of them, one after the other.
pub(crate) fn cells(imagined: &Imagined<'_>) -> Vec<Cell> {
    let mut cells = Vec::new();
    for repeat in 1..=imagined.repeats {
        for (document, _) in imagined.documents {
            for connections in imagined.kinds {
                for concurrency in imagined.levels {
                    cells.extend(imagined.targets.iter().map(|target| Cell {
                        target: target.name.to_owned(),
                        document: (*document).to_owned(),
                        connections: *connections,
                        concurrency: *concurrency,
                        repeat,
                        requests: Some(10_000),
                        duration_ms: None,
                    }));
                }
            }
        }
    }
    cells
}

impl Imagined<'_> {
    /// What a sweep would have left of it.
    pub(crate) fn results(&self) -> (Experiment, Vec<Entry>) {
        let cells = cells(self);
        let entries = self.entries(&cells);
        (self.experiment(cells), entries)
    }

    fn entries(&self, cells: &[Cell]) -> Vec<Entry> {
        let mut random = Rng::with_seed(self.seed);
        let mut machine = 0.0;
        let template = template();
        let mut entries = Vec::new();
        for block in cells.chunks(self.targets.len()) {
            machine = 0.95 * machine + self.drift * normal(&mut random);
            for (cell, target) in block.iter().zip(self.targets) {
                let mut luck = || (machine + self.noise * normal(&mut random)).exp();
                let (rate, cpu) = (target.per_s * luck(), target.cpu_us / luck());
                let record = record(&template, rate, cpu, cell.concurrency);
                let measured = Measured { cell: cell.clone(), restarted: false, time_wait: 120, record };
                entries.push(Entry::Measured(Box::new(measured)));
            }
        }
        entries
    }

    fn experiment(&self, cells: Vec<Cell>) -> Experiment {
        let documents = self.documents.iter().map(|(name, bytes)| Document { name: (*name).to_owned(), bytes: *bytes });
        Experiment {
            version: crate::record::experiment::VERSION,
            tool: "quintain 0.1.0".to_owned(),
            plan: "imagined".to_owned(),
            question: "Which of these servers answers more requests?".to_owned(),
            started_unix_s: 1_796_105_905.0,
            seed: 7,
            repeats: self.repeats,
            targets: self.targets.iter().enumerate().map(|(at, target)| described(at, target.name)).collect(),
            documents: documents.collect(),
            cells,
            gates: vec!["p99>5s".to_owned()],
            band: 0.02,
            client: Client { threads: Some(1), cpus: "1".to_owned(), sources: String::new() },
            machine: machine(),
            published: Vec::new(),
            course: None,
            narrowed: None,
        }
    }
}

/// Of the standard normal distribution (Box and Muller).
fn normal(random: &mut Rng) -> f64 {
    let (one, other) = (random.f64().max(f64::MIN_POSITIVE), random.f64());
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// Without its histograms: an analysis reads none, and they are most of a record.
fn template() -> Record {
    let mut run = plain::run();
    let latency = &mut run.latency;
    for times in [&mut latency.total, &mut latency.service, &mut latency.first_byte, &mut latency.connect] {
        times.histogram = String::new();
    }
    Record { runs: vec![run], ..sample::record() }
}

fn record(template: &Record, rate: f64, cpu_us: f64, concurrency: u64) -> Record {
    let mut record = template.clone();
    let run = &mut record.runs[0];
    run.answered_per_s = rate;
    run.settings.connections = concurrency;
    run.endings = Endings { ok: 10_000, ..Endings::default() };
    run.client.achieved_concurrency = concurrency as f64;
    run.client.cpu_per_request_us = 12.0;
    // Little's law gives the mean; the shape is the template's.
    let stretch = concurrency as f64 / rate * 1e9 / run.latency.total.mean_ns;
    let stretched = |ns: u64| (ns as f64 * stretch) as u64;
    let total = &mut run.latency.total;
    total.max_ns = stretched(total.max_ns);
    total.percentiles_ns.iter_mut().for_each(|(_, ns)| *ns = stretched(*ns));
    run.watched = vec![watched(cpu_us, concurrency), Watched { pid: 4712, ..watched(0.0, 0) }];
    record
}

fn watched(cpu_us: f64, connections: u64) -> Watched {
    Watched {
        pid: 4711,
        name: "imagined".to_owned(),
        cpu_s: cpu_us / 100.0,
        cpu_per_request_us: cpu_us,
        cpus_used: 0.9,
        cpus_allowed: 1,
        busiest_thread: 0.5,
        busiest_thread_delay: 0.1,
        threads_max: 4,
        resident_max_bytes: (20 << 20) + (connections << 10),
        descriptors_max: connections + 10,
        voluntary_switches: 900,
        involuntary_switches: 100,
        gone: false,
    }
}

fn described(at: usize, name: &str) -> Target {
    Target {
        name: name.to_owned(),
        kind: TargetKind::Command,
        command: vec![format!("/usr/sbin/{name}"), "--port".to_owned(), (8101 + at).to_string()],
        url: format!("http://127.0.0.1:{}", 8101 + at),
        version: format!("{name}/1.{at}"),
        workers: Some(1),
        cpus: "0".to_owned(),
    }
}

fn machine() -> Machine {
    let sysctls = [("net.ipv4.ip_local_port_range", "1024\t65535"), ("net.ipv4.tcp_tw_reuse", "2")];
    Machine {
        kernel: "6.12.0".to_owned(),
        cpu_model: "An Imagined CPU".to_owned(),
        cpus: 2,
        memory_bytes: 8 << 30,
        governors: Vec::new(),
        descriptors: 1 << 20,
        sysctls: sysctls
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
    }
}

pub(crate) const BOTH: &[ConnectionKind] = &[ConnectionKind::Short, ConnectionKind::KeepAlive];

/// Three servers, two documents, both kinds of connections, with everything in it that a report may have to show: each
/// word, hollow points of several kinds, a target without one of the documents, published figures.
pub(crate) fn analysis() -> Analysis {
    let (mut experiment, mut entries) = Imagined {
        targets: &[
            Behaviour { name: "tomcat", per_s: 20_000.0, cpu_us: 40.0 },
            Behaviour { name: "nginx", per_s: 26_000.0, cpu_us: 24.0 },
            Behaviour { name: "jetty", per_s: 20_000.0, cpu_us: 48.0 },
        ],
        documents: &[("1k.html", 1024), ("100k.html", 102_400)],
        kinds: BOTH,
        levels: &[50, 500, 1000],
        repeats: 12,
        noise: 0.015,
        drift: 0.02,
        seed: 1,
    }
    .results();
    experiment.published = published();
    entries.retain(|entry| !matches!(entry, Entry::Measured(one) if is_left_out(&one.cell)));
    for entry in &mut entries {
        if let Entry::Measured(measured) = entry {
            spoil(measured);
        }
    }
    entries.retain(|entry| !matches!(entry, Entry::Measured(one) if is_missing(&one.cell)));
    entries.extend(remarks(&experiment));
    Analysis::of(experiment, &entries)
}

/// One server on its own, as the quick plan has it.
pub(crate) fn portrait() -> Analysis {
    let (experiment, entries) = Imagined {
        targets: &[Behaviour { name: "quintain", per_s: 50_000.0, cpu_us: 9.0 }],
        documents: &[("1k.html", 1024), ("100k.html", 102_400)],
        kinds: BOTH,
        levels: &[50, 500],
        repeats: 3,
        noise: 0.015,
        drift: 0.02,
        seed: 2,
    }
    .results();
    Analysis::of(experiment, &entries)
}

/// Two servers, of which one lost a process in one repeat: its CPU takes no part in a verdict, its requests/s do.
pub(crate) fn lost_process() -> Analysis {
    let (experiment, mut entries) = Imagined {
        targets: &[
            Behaviour { name: "a", per_s: 20_000.0, cpu_us: 40.0 },
            Behaviour { name: "b", per_s: 26_000.0, cpu_us: 24.0 },
        ],
        documents: &[("1k.html", 1024)],
        kinds: &[ConnectionKind::Short],
        levels: &[50],
        repeats: 6,
        noise: 0.0,
        drift: 0.0,
        seed: 3,
    }
    .results();
    if let Some(Entry::Measured(last)) = entries.last_mut() {
        last.record.runs[0].watched[1].gone = true;
    }
    Analysis::of(experiment, &entries)
}

/// A sweep that was ended before its first cell.
pub(crate) fn nothing() -> Analysis {
    Analysis::of(analysis().experiment, &[])
}

fn is_left_out(cell: &Cell) -> bool {
    cell.target == "jetty" && cell.document == "100k.html"
}

fn is_missing(cell: &Cell) -> bool {
    cell.target == "nginx" && at(cell) == ("1k.html", ConnectionKind::Short, 500) && cell.repeat == 12
}

fn at(cell: &Cell) -> (&str, ConnectionKind, u64) {
    (&cell.document, cell.connections, cell.concurrency)
}

/// What went wrong, here and there.
fn spoil(measured: &mut Measured) {
    use ConnectionKind::{KeepAlive, Short};
    let Measured { cell, restarted, record, .. } = measured;
    let run = &mut record.runs[0];
    match (cell.target.as_str(), at(cell)) {
        // The client has no CPU left for large documents over kept connections, whoever answers.
        (_, ("100k.html", KeepAlive, _)) => run.verdict.doubts = vec![Doubt::ClientWasTheLimit],
        ("jetty", ("1k.html", Short, 1000)) if cell.repeat <= 2 => {
            run.endings = Endings { ok: 9_990, reset: 10, ..Endings::default() };
        }
        ("tomcat", ("1k.html", KeepAlive, 500)) if cell.repeat == 3 => *restarted = true,
        // A little ahead in each run, and very much in one: ranks see it, the mean does not.
        ("nginx", ("100k.html", Short, 50)) => {
            run.answered_per_s *= if cell.repeat == 5 { 40.0 } else { 1.08 / 1.3 };
        }
        ("jetty", ("1k.html", KeepAlive, _)) => run.answered_per_s *= 0.8,
        _ => {}
    }
}

fn remarks(experiment: &Experiment) -> Vec<Entry> {
    let missing = experiment.cells.iter().find(|cell| is_missing(cell)).expect("the plan has it").clone();
    vec![
        Entry::LeftOut(LeftOut {
            target: "jetty".to_owned(),
            document: Some("100k.html".to_owned()),
            reason: "it answered 404 Not Found".to_owned(),
        }),
        Entry::NotMeasured(NotMeasured { cell: missing, reason: "the load tool was killed by signal 9".to_owned() }),
        Entry::Restarted(Restarted { target: "tomcat".to_owned(), reason: "killed by signal 11".to_owned() }),
    ]
}

fn published() -> Vec<Published> {
    let figure = |concurrency, requests_per_s| Published {
        source: "a paper".to_owned(),
        server: "tomcat 7".to_owned(),
        document: "1k.html".to_owned(),
        connections: ConnectionKind::Short,
        concurrency,
        requests_per_s,
        note: String::new(),
    };
    vec![figure(50, 9_000.0), figure(500, 8_500.0), figure(1000, 7_000.0)]
}
