//! What a plan's text means, and what is said of one that means nothing.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::record::experiment::ConnectionKind;
use crate::sweep::estimate::Estimate;
use crate::sweep::plan::{CoolDown, How, WarmUp};
use crate::sweep::shipped;

const TARGET: &str = "question = 'Is it?'\n[[target]]\nname = 'a'\nserve = []\n";
const MATRIX: &str = "[[matrix]]\ndocuments = '1k.html'\nconcurrency = 5\nconnections = 'short'\nrequests = 10\n";

/// A machine of four CPUs, in whose working directory there is nothing.
fn around() -> (tempfile::TempDir, Surroundings) {
    let folder = tempfile::tempdir().unwrap();
    let working = folder.path().canonicalize().unwrap();
    (folder, Surroundings { cpus: "0-3".parse().unwrap(), working, judges: Judges::default() })
}

fn read_with(content: &str, wishes: &Wishes) -> Result<Plan, String> {
    let (folder, around) = around();
    std::fs::write(folder.path().join("a.toml"), content).unwrap();
    let text = Text::find("./a.toml", &around.working).unwrap();
    read(&text, &around, wishes).map_err(|mistakes| mistakes.to_string())
}

fn read_text(content: &str) -> Result<Plan, String> {
    read_with(content, &Wishes::default())
}

#[test]
fn what_nobody_wrote() {
    let plan = read_text(&format!("{TARGET}{MATRIX}")).unwrap();
    assert_eq!((plan.name.as_str(), plan.question.as_str()), ("a", "Is it?"));
    assert_eq!((plan.repeats, plan.seed, plan.band), (6, 1, 0.02));
    assert_eq!(plan.warm_up, WarmUp { cycles: 1, duration: Duration::from_secs(1), pause: Duration::ZERO });
    assert_eq!(plan.cell_warm_up, Duration::ZERO);
    assert_eq!(plan.cool_down, CoolDown { time_wait_below: 10_000, at_most: Duration::ZERO });
    assert!(plan.gates.is_empty() && plan.published.is_empty());
    assert!(plan.root.ends_with("fixtures") && !plan.root.exists());
    assert_eq!(plan.documents, [Document { name: "1k.html".into(), bytes: 1024 }]);
    // Four CPUs: two for each side.
    assert_eq!(plan.client, Client { threads: Some(2), cpus: "2-3".into(), sources: String::new() });
    let target = &plan.targets[0];
    assert_eq!((target.workers, target.cpus.as_str()), (2, "0-1"));
    assert_eq!(target.how, How::Ours { arguments: Vec::new() });
    assert_eq!(plan.cells.len(), 6);
    let cell = &plan.cells[5];
    assert_eq!((cell.connections, cell.concurrency, cell.repeat), (ConnectionKind::Short, 5, 6));
    assert_eq!((cell.requests, cell.duration_ms), (Some(10), None));
}

#[test]
fn every_plan_that_is_built_in_can_be_read_anywhere() {
    let (_folder, around) = around();
    assert_eq!(shipped::ALL[0].name, shipped::USUAL);
    for shipped in shipped::ALL {
        let text = Text::find(shipped.name, &around.working).unwrap();
        let plan = read(&text, &around, &Wishes::default());
        let plan = plan.unwrap_or_else(|mistakes| panic!("{}: {mistakes}", shipped.name));
        assert_eq!(plan.name, shipped.name);
    }
}

#[test]
fn a_name_is_a_plan_or_a_file_and_never_either() {
    let (folder, around) = around();
    std::fs::write(folder.path().join("quick"), "not a plan").unwrap();
    assert_eq!(Text::find("quick", &around.working).unwrap().content, shipped::ALL[0].text);
    assert_eq!(Text::find("./quick", &around.working).unwrap().content, "not a plan");
    let says = |word: &str| Text::find(word, &around.working).unwrap_err().to_string();
    assert!(
        says("quck").starts_with("plan \"quck\": there is no plan of this name; did you mean quick?"),
        "{}",
        says("quck")
    );
    assert!(says("quck.toml").starts_with("quck.toml: cannot be read as a plan: "), "{}", says("quck.toml"));
    assert!(says("/").starts_with("/: this is a folder, "), "{}", says("/"));
}

#[test]
fn paths_begin_at_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(top.join("plans")).unwrap();
    std::fs::create_dir_all(top.join("site")).unwrap();
    std::fs::write(top.join("site/x.bin"), "12345").unwrap();
    let content = "question = 'Is it?'\nroot = '../site'\n\
                   [[target]]\nname = 'a'\ncommand = ['../bin/server', '--port={port}', '{plan}/a.conf']\nversion = ['server', '-v']\n\
                   [[target]]\nname = 'b'\nurl = 'http://localhost:80/'\npid_file = 'b.pid'\n\
                   [[matrix]]\ndocuments = ['x.bin']\nconcurrency = 1\nconnections = 'short'\nduration = '1s'\n";
    std::fs::write(top.join("plans/a.toml"), content).unwrap();
    let around = Surroundings { cpus: CpuSet::default(), working: top.clone(), judges: Judges::default() };
    let text = Text::find("plans/a.toml", &around.working).unwrap();
    let plan = read(&text, &around, &Wishes::default()).unwrap();
    let at = |path: &str| top.join(path).to_str().unwrap().to_owned();
    assert_eq!(plan.root, Path::new(&at("site")));
    assert_eq!(plan.documents, [Document { name: "x.bin".into(), bytes: 5 }]);
    let words = vec![at("bin/server"), "--port={port}".into(), at("plans/a.conf")];
    let version = vec!["server".into(), "-v".into()];
    assert_eq!(plan.targets[0].how, How::Command { words, version });
    let pid_file = Some(at("plans/b.pid").into());
    assert_eq!(plan.targets[1].how, How::Running { url: "http://localhost:80".into(), pid_file });
    // Without CPUs to divide nobody is pinned, and the load tool decides about its threads.
    assert_eq!((plan.targets[0].workers, plan.targets[0].cpus.as_str()), (1, ""));
    assert_eq!(plan.client, Client::default());
}

#[test]
fn lists_of_our_own_server_make_several_targets() {
    let target = "question = 'Is it?'\n[[target]]\nname = 'x'\nprofile = ['nginx', 'none']\n\
                  model = ['event-loop', 'boss-worker']\nworkers = [1, 2]\nserve = ['--set', 'a=b']\ncpus = 'all'\n";
    let plan = read_text(&format!("{target}{MATRIX}")).unwrap();
    let names: Vec<_> = plan.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names[..3], ["x-nginx-event-loop-1", "x-nginx-event-loop-2", "x-nginx-boss-worker-1"]);
    assert_eq!((names.len(), names[7]), (8, "x-none-boss-worker-2"));
    let words = ["--profile", "none", "--set", "server.model=boss-worker", "--set", "a=b"];
    let last = &plan.targets[7];
    assert_eq!(last.how, How::Ours { arguments: words.map(String::from).to_vec() });
    assert_eq!((last.workers, last.cpus.as_str()), (2, ""));
    assert_eq!(plan.cells.len(), 8 * 6);

    let one = "question = 'Is it?'\n[[target]]\nname = 'x'\nprofile = 'nginx'\nworkers = 3\n";
    let plan = read_text(&format!("{one}{MATRIX}")).unwrap();
    assert_eq!((plan.targets[0].name.as_str(), plan.targets[0].workers), ("x", 3));

    let numbers: Vec<_> = (1..=33).map(|number| number.to_string()).collect();
    let many = format!("workers = [{}]\nmodel = ['event-loop', 'boss-worker']\n", numbers.join(","));
    let says = read_text(&format!("question = 'Is it?'\n[[target]]\nname = 'x'\n{many}{MATRIX}")).unwrap_err();
    assert_eq!(says, "./a.toml:2: target: its lists make 66 targets of it, and at most 64 are compared");
}

#[test]
fn what_differs_by_document_and_who_takes_part() {
    let plan = format!(
        "{TARGET}[[target]]\nname = 'b'\nprofile = 'jetty'\n[[matrix]]\ndocuments = ['10k.html', '1k.html']\nconcurrency = [5, 6]\n\
         connections = ['short', 'keep-alive']\nrequests = {{ '1k.html' = 10, '10k.html' = 20 }}\nduration = '2s'\n\
         [[matrix]]\ndocuments = ['1k.html']\nconcurrency = 7\nconnections = 'short'\nduration = '1s'\ntargets = ['b']\n"
    );
    let plan = read_text(&plan).unwrap();
    assert_eq!(
        plan.documents.iter().map(|document| document.name.as_str()).collect::<Vec<_>>(),
        ["10k.html", "1k.html"]
    );
    assert_eq!(plan.cells.len(), (2 * 2 * 2 * 2 + 1) * 6);
    for cell in &plan.cells {
        let expected = match (cell.document.as_str(), cell.concurrency) {
            (_, 7) => (None, Some(1000)),
            ("1k.html", _) => (Some(10), Some(2000)),
            _ => (Some(20), Some(2000)),
        };
        assert_eq!((cell.requests, cell.duration_ms), expected, "{cell:?}");
        assert!(cell.concurrency != 7 || cell.target == "b", "{cell:?}");
    }
}

#[test]
fn too_much_is_refused_before_it_is_made() {
    let level = "concurrency = { from = 1, to = 1000, step = 1 }";
    let large = MATRIX.replace("concurrency = 5", level);
    let says = read_text(&format!("{TARGET}{large}[order]\nrepeats = 201\n")).unwrap_err();
    assert_eq!(says, "./a.toml: 1000 cells 201 times are 201000 measurements, and at most 200000 are made");
    let documents = "documents = ['1k.html', '10k.html', '30k.html', '100k.html', '300k.html']";
    let larger = large.replace("documents = '1k.html'", documents).replace("'short'", "['short', 'keep-alive']");
    let names: String = (0..30).map(|at| format!("[[target]]\nname = 't{at}'\nserve = []\n")).collect();
    let says = read_text(&format!("question = 'Is it?'\n{names}{larger}")).unwrap_err();
    assert_eq!(says, "./a.toml:92: matrix: with this one there are more cells than anybody has time for");
    let says = read_text(&format!("{TARGET}{}{MATRIX}", "[[target]]\n".repeat(64))).unwrap_err();
    assert!(says.contains("./a.toml:2: target: there are 65 of them, and at most 64"), "{says}");
}

#[test]
fn published_figures_are_those_that_the_plan_measures_too() {
    let (_folder, around) = around();
    let plan = |name: &str| read(&Text::find(name, &around.working).unwrap(), &around, &Wishes::default()).unwrap();
    let published = plan("tomcat-nginx").published;
    assert_eq!(published.len(), 6);
    assert!(published.iter().all(|row| row.concurrency == 1000 && row.connections == ConnectionKind::KeepAlive));
    // One row of the four kernels' has no concurrency; the servlet's page stands beside the shortest document.
    assert_eq!(plan("kernel").published.iter().map(|row| row.concurrency).collect::<Vec<_>>(), [1000, 5000]);
    let small = plan("netty-tomcat-small");
    assert!(!small.published.is_empty() && small.published.iter().all(|row| row.document != "10k.html"));
    assert!(plan("models").published.is_empty());
}

#[test]
fn a_file_beside_the_plan_that_is_no_table_of_figures() {
    let (folder, around) = around();
    std::fs::write(folder.path().join("a.csv"), "a,b\n1,2\n").unwrap();
    let published = "[published]\nfile = 'a.csv'\n";
    std::fs::write(folder.path().join("a.toml"), format!("{TARGET}{MATRIX}{published}")).unwrap();
    let text = Text::find("a.toml", &around.working).unwrap();
    let says = read(&text, &around, &Wishes::default()).unwrap_err().to_string();
    assert!(says.starts_with("a.toml:11: published.file: a.csv: "), "{says}");

    std::fs::write(folder.path().join("a.csv"), shipped::PUBLISHED.text).unwrap();
    let published = "[published]\nfile = 'a.csv'\nservers = ['Nety']\nsources = ['x']\n";
    std::fs::write(folder.path().join("a.toml"), format!("{TARGET}{MATRIX}{published}")).unwrap();
    let text = Text::find("a.toml", &around.working).unwrap();
    let says = read(&text, &around, &Wishes::default()).unwrap_err().to_string();
    let expected = "a.toml:12: published.servers: there is no row of Nety; did you mean Netty?\n\
                    a.toml:13: published.sources: there is no row of x; there are 000_408b7219b9f9ca28.txt, \
                    002_c19c4f2dcb1b5076.txt, 003_5db29d5c659db7ca.txt, 004_923f076a8e71f98a.txt";
    assert_eq!(says, expected);
}

/// A plan and its small form ask the same of the same servers.
#[test]
fn small_forms_are_forms_of_their_plans() {
    let (_folder, around) = around();
    let plan = |name: &str| read(&Text::find(name, &around.working).unwrap(), &around, &Wishes::default()).unwrap();
    let small = shipped::ALL.iter().filter_map(|shipped| Some((shipped.name, shipped.name.strip_suffix("-small")?)));
    let pairs: Vec<_> = small.collect();
    assert_eq!(pairs.len(), 6);
    for (small_name, name) in pairs {
        let (large, small) = (plan(name), plan(small_name));
        assert_eq!((&large.question, &large.targets), (&small.question, &small.targets), "{name}");
        assert!(small.repeats >= 6, "{name}: the signed-rank test cannot reach 5 %");
        assert!(small.cells.len() <= large.cells.len(), "{name}");
        let of_large = |cell: &crate::record::experiment::Cell| {
            large.cells.iter().any(|one| (&one.document, one.connections) == (&cell.document, cell.connections))
        };
        assert!(small.cells.iter().all(of_large), "{name}");
    }
}

/// On two CPUs; what they really take was looked at when they were written.
#[test]
fn small_forms_are_for_five_minutes_and_the_quick_plan_for_two() {
    let (_folder, mut around) = around();
    around.cpus = "0-1".parse().unwrap();
    for shipped in shipped::ALL.iter().filter(|shipped| shipped.name == "quick" || shipped.name.ends_with("-small")) {
        let text = Text::of(shipped, &around.working);
        let estimate = Estimate::of(&read(&text, &around, &Wishes::default()).unwrap());
        let most = Duration::from_secs(if shipped.name == "quick" { 110 } else { 300 });
        assert!(estimate.without_waits() <= most, "{}: {estimate:?}", shipped.name);
        assert_eq!(estimate.waiting_at_most, Duration::ZERO, "{}", shipped.name);
    }
}

// === Any text ===

/// Values of every kind, right and wrong.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1",
    "6",
    "99999999999999999999",
    "1.5",
    "nan",
    "inf",
    "true",
    "''",
    "'x'",
    "'1k.html'",
    "'short'",
    "'1s'",
    "'99999h'",
    "[]",
    "['short', 'keep-alive']",
    "[1, 2]",
    "[[[[]]]]",
    "{}",
    "{ from = 1, to = 1000000, step = 1 }",
    "{ '1k.html' = 1 }",
    "1979-05-27",
    "'all'",
    "'0-1023'",
    "['{port}']",
    "'http://[::1]:1'",
    "'http://'",
    "'\\u0000'",
    "'../..'",
    "'/dev/zero'",
    "'/'",
];

const KEYS: &[&str] = &[
    "question",
    "root",
    "target",
    "matrix",
    "order",
    "gates",
    "client",
    "published",
    "name",
    "profile",
    "model",
    "serve",
    "command",
    "version",
    "url",
    "pid_file",
    "workers",
    "cpus",
    "ready_within",
    "stop_within",
    "documents",
    "concurrency",
    "connections",
    "requests",
    "duration",
    "targets",
    "repeats",
    "seed",
    "cell_warm_up",
    "warm_up",
    "cool_down",
    "fail_if",
    "band",
    "threads",
    "source",
    "file",
    "sources",
    "servers",
    "[target]",
    "[[target]]",
    "[[matrix]]",
    "[order.warm_up]",
    "[order]",
    "[published]",
    "[client]",
    "nothing",
];

/// Reads it, or says where it is wrong: each sentence with a line of the file, or the file alone.
fn is_read_or_refused(content: &str) {
    if let Err(says) = read_text(content) {
        for line in says.lines() {
            let rest = line.strip_prefix("./a.toml:").unwrap_or_else(|| panic!("{line:?} has no place"));
            assert!(rest.contains(": ") || rest.starts_with(' '), "{line:?} says nothing");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_or_refused(text: String) {
        is_read_or_refused(&text);
    }

    #[test]
    fn any_keys_with_any_values_are_read_or_refused(lines in prop::collection::vec((select(KEYS), select(VALUES)), 0..30)) {
        let line = |(key, value): &(&str, &str)| match key.starts_with('[') {
            true => format!("{key}\n"),
            false => format!("{key} = {value}\n"),
        };
        is_read_or_refused(&lines.iter().map(line).collect::<String>());
    }

    #[test]
    fn a_plan_with_a_hole_is_read_or_refused(which: Index, from: Index, length in 0_usize..200, value in select(VALUES)) {
        let text = which.get(shipped::ALL).text;
        let from = from.index(text.len());
        let to = (from + length).min(text.len());
        let (Some(head), Some(tail)) = (text.get(..from), text.get(to..)) else { return Ok(()) };
        is_read_or_refused(&format!("{head}{value}{tail}"));
    }
}
