//! Folders as a sweep leaves them: one measurement that was really made, and from it as many as a report needs, with figures that
//! are made up.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use quintain::record::experiment::{
    Cell, Client, ConnectionKind, Document, EXPERIMENT_FILE, Entry, Experiment, JOURNAL_FILE, Machine, Measured,
    Published, Target, TargetKind, VERSION,
};
use quintain::record::{Endings, Record};
use tempfile::TempDir;

use crate::harness::{Launch, Site};
use crate::load::Load;

/// What is in a folder.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Names and requests per second; each next one takes more CPU for each.
    pub targets: Vec<(String, f64)>,
    pub documents: Vec<(String, u64)>,
    pub connections: Vec<ConnectionKind>,
    pub levels: Vec<u64>,
    pub repeats: u64,
}

impl Shape {
    /// Three servers, two documents, four concurrencies.
    pub fn usual() -> Self {
        let targets = [("nginx", 42_000.0), ("tomcat", 31_000.0), ("jetty", 30_500.0)];
        Self {
            targets: targets.map(|(name, per_s)| (name.to_owned(), per_s)).to_vec(),
            documents: vec![("1k.html".to_owned(), 1024), ("100k.html".to_owned(), 102_400)],
            connections: vec![ConnectionKind::Short],
            levels: vec![50, 100, 500, 1000],
            repeats: 6,
        }
    }

    /// One server, as the quick plan has it.
    pub fn alone() -> Self {
        Self {
            targets: vec![("quintain".to_owned(), 50_000.0)],
            connections: vec![ConnectionKind::Short, ConnectionKind::KeepAlive],
            levels: vec![50, 500],
            repeats: 3,
            ..Self::usual()
        }
    }

    /// As much as a published experiment has, and more.
    pub fn large() -> Self {
        let names = ["nginx", "tomcat", "tomcat-bio", "netty", "jetty", "quintain"];
        let targets = names.iter().enumerate().map(|(at, name)| ((*name).to_owned(), 40_000.0 - 4_500.0 * at as f64));
        Self {
            targets: targets.collect(),
            documents: vec![("1k.html".to_owned(), 1024)],
            levels: (1..=40).map(|n| n * 50).collect(),
            repeats: 3,
            ..Self::usual()
        }
    }

    /// Names that would be more than names if they could.
    pub fn hostile() -> Self {
        let evil = "</title><script>document.title='run'</script><img src=http://127.0.0.1:9/x onerror=alert(1)>";
        let long = "a-name-without-a-single-place-where-it-could-be-broken-".repeat(6);
        Self {
            targets: vec![(evil.to_owned(), 42_000.0), (long.clone(), 31_000.0)],
            documents: vec![(long, 1024), (evil.to_owned(), 2048)],
            levels: vec![50, 100, 500],
            ..Self::usual()
        }
    }

    /// The same with one of the targets so many times as fast.
    pub fn faster(mut self, target: &str, times: f64) -> Self {
        let its = self.targets.iter_mut().find(|(name, _)| name == target).expect("it is one of them");
        its.1 *= times;
        self
    }

    /// In the order of a plan without interleaving: blocks of all targets.
    fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for repeat in 1..=self.repeats {
            for (document, _) in &self.documents {
                for connections in &self.connections {
                    for concurrency in &self.levels {
                        cells.extend(self.targets.iter().map(|(target, _)| Cell {
                            target: target.clone(),
                            document: document.clone(),
                            connections: *connections,
                            concurrency: *concurrency,
                            repeat,
                            requests: Some(20_000),
                            duration_ms: None,
                        }));
                    }
                }
            }
        }
        cells
    }

    /// What was planned, and where.
    pub fn experiment(&self) -> Experiment {
        let documents = self.documents.iter().map(|(name, bytes)| Document { name: name.clone(), bytes: *bytes });
        Experiment {
            version: VERSION,
            tool: "quintain 0.1.0".to_owned(),
            plan: "shape".to_owned(),
            question: "Which of these servers answers more requests?".to_owned(),
            started_unix_s: 1_796_105_905.0,
            seed: 7,
            repeats: self.repeats,
            targets: self.targets.iter().map(|(name, _)| target(name)).collect(),
            documents: documents.collect(),
            cells: self.cells(),
            gates: Vec::new(),
            band: 0.02,
            client: Client::default(),
            machine: machine(),
            published: self.published(),
            course: None,
            narrowed: None,
        }
    }

    fn published(&self) -> Vec<Published> {
        let figure = |concurrency: &u64| Published {
            source: "a paper".to_owned(),
            server: "Netty 3.2".to_owned(),
            document: "1k.html".to_owned(),
            connections: ConnectionKind::Short,
            concurrency: *concurrency,
            requests_per_s: 15_000.0 - *concurrency as f64,
            note: String::new(),
        };
        self.levels.iter().map(figure).collect()
    }

    /// What happened. The last target fails at the highest concurrency.
    pub fn entries(&self, measured: &Record) -> Vec<Entry> {
        let made_up = |(at, cell): (usize, Cell)| {
            let place = self.targets.iter().position(|(name, _)| *name == cell.target).expect("it is one of them");
            let mut record = measured.clone();
            let run = &mut record.runs[0];
            // Repeats differ by up to 2 %, and never in the same way.
            let luck = 1.0 + ((at * 7919) % 41) as f64 / 1000.0 - 0.02;
            run.answered_per_s = self.targets[place].1 * luck;
            run.settings.connections = cell.concurrency;
            run.verdict.doubts.clear();
            run.endings = Endings { ok: 20_000, ..Endings::default() };
            let fails = place + 1 == self.targets.len() && Some(&cell.concurrency) == self.levels.last() && place > 0;
            if fails {
                run.endings = Endings { ok: 19_990, reset: 10, ..Endings::default() };
            }
            for watched in &mut run.watched {
                watched.cpu_per_request_us = (20.0 + 6.0 * place as f64) / luck;
            }
            Entry::Measured(Box::new(Measured { cell, restarted: false, time_wait: 12, record }))
        };
        self.cells().into_iter().enumerate().map(made_up).collect()
    }

    /// A folder with all of it.
    pub fn folder(&self) -> TempDir {
        folder(&self.experiment(), &self.entries(&one_measurement()))
    }
}

/// A folder as a sweep leaves it.
pub fn folder(experiment: &Experiment, entries: &[Entry]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), experiment, entries);
    folder
}

fn write(folder: &Path, experiment: &Experiment, entries: &[Entry]) {
    let experiment = serde_json::to_string_pretty(experiment).expect("it is JSON");
    fs::write(folder.join(EXPERIMENT_FILE), experiment).expect("it is written");
    let mut journal = fs::File::create(folder.join(JOURNAL_FILE)).expect("it is made");
    for entry in entries {
        let line = serde_json::to_string(entry).expect("it is JSON");
        writeln!(journal, "{line}").expect("it is written");
    }
}

/// A record of the load tool, of a server that was watched meanwhile.
pub fn one_measurement() -> Record {
    let site = Site::small();
    let server = Launch::over(site.root()).start();
    let load =
        Load::of(server.url("/index.html")).with("-n 500 -c 5 --threads 1 --watch").word(server.id().to_string());
    let ran = load.run();
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    ran.record()
}

fn target(name: &str) -> Target {
    Target {
        name: name.to_owned(),
        kind: TargetKind::Command,
        command: vec![name.to_owned(), "--port".to_owned(), "8101".to_owned()],
        url: "http://127.0.0.1:8101".to_owned(),
        version: format!("{name} 1.2.3"),
        workers: Some(1),
        cpus: "0".to_owned(),
    }
}

fn machine() -> Machine {
    let sysctls = [("net.ipv4.ip_local_port_range", "32768 60999"), ("net.ipv4.tcp_tw_reuse", "2")];
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
