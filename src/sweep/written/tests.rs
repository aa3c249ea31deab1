//! What a plan's text means, and what is said of one that means nothing.

use std::path::Path;
use std::time::Duration;

use super::*;
use crate::record::experiment::ConnectionKind;
use crate::sweep::plan::{CoolDown, How, WarmUp};
use crate::sweep::shipped;

const TARGET: &str = "question = 'Is it?'\n[[target]]\nname = 'a'\nserve = []\n";
const MATRIX: &str = "[[matrix]]\ndocuments = '1k.html'\nconcurrency = 5\nconnections = 'short'\nrequests = 10\n";

/// A machine of four CPUs, in whose working directory there is nothing.
fn around() -> (tempfile::TempDir, Surroundings) {
    let folder = tempfile::tempdir().unwrap();
    let working = folder.path().canonicalize().unwrap();
    (folder, Surroundings { cpus: "0-3".parse().unwrap(), working })
}

fn read_with(content: &str, wishes: &Wishes) -> Result<Plan, String> {
    let (folder, around) = around();
    std::fs::write(folder.path().join("a.toml"), content).unwrap();
    let text = Text::find("./a.toml", &around.working).unwrap();
    let understood = read(&text, &around, wishes).map_err(|mistakes| mistakes.to_string())?;
    Ok(understood.plan)
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
        let understood = read(&text, &around, &Wishes::default());
        let plan = understood.unwrap_or_else(|mistakes| panic!("{}: {mistakes}", shipped.name)).plan;
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
        says("quck").starts_with("plan \"quck\": there is no plan of this name; built in are quick"),
        "{}",
        says("quck")
    );
    assert!(says("quck.toml").starts_with("quck.toml: cannot be read as a plan: "), "{}", says("quck.toml"));
    assert!(says("/").starts_with("/: cannot be read as a plan: "), "{}", says("/"));
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
    let around = Surroundings { cpus: CpuSet::default(), working: top.clone() };
    let text = Text::find("plans/a.toml", &around.working).unwrap();
    let plan = read(&text, &around, &Wishes::default()).unwrap().plan;
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
