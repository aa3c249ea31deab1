//! What a dry run says that the machine cannot do, or does in a way of its own.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::Command;

use super::plans::{MATRIX, printed};

#[test]
fn peers_that_are_not_there_are_said_to_be_left_out() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let text = printed(elsewhere.path(), &["tomcat-nginx"]);
    for peer in ["tomcat", "nginx"] {
        let program = elsewhere.path().canonicalize().expect("a path").join(format!("peers/{peer}/start"));
        let line =
            format!("\n  target {peer}: there is no program {}, and the target will be left out.", program.display());
        assert!(text.contains(&line), "{line} is not in\n{text}");
    }
}

#[test]
fn a_command_that_cannot_say_its_version_is_doubted() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = |name: &str, version: &str| {
        format!("[[target]]\nname = '{name}'\ncommand = ['sh', '{{port}}']\nversion = {version}\n")
    };
    let rows = [
        ("fine", "['sh', '-c', 'echo 1.0']", None),
        ("silent", "['false']", Some("false has failed")),
        ("spoken", "['sh', '-c', 'echo first; echo it is not there >&2; exit 69']", Some("it is not there")),
        ("missing", "['no-such-program']", Some("there is no program no-such-program")),
    ];
    let targets: String = rows.iter().map(|(name, version, _)| target(name, version)).collect();
    fs::write(folder.path().join("a.toml"), format!("question = 'Is it?'\n{targets}{MATRIX}")).expect("a file");
    let text = printed(folder.path(), &["a.toml"]);
    for (name, _, why) in rows {
        let says = format!("\n  target {name}: sh is there, but its version is not to be had (");
        assert_eq!(text.contains(&says), why.is_some(), "{name}: {text}");
        assert!(
            why.is_none_or(|why| text.contains(&format!("{says}{why}). If it is not installed, "))),
            "{name}: {text}"
        );
    }
}

/// A sweep left them out, or had no CPU of them, after hours in which everybody else was measured.
#[test]
fn targets_that_should_run_are_looked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let there = listener.local_addr().expect("its address");
    let gone = TcpListener::bind("127.0.0.1:0").and_then(|gone| gone.local_addr()).expect("a port");
    fs::write(folder.path().join("own.pid"), std::process::id().to_string()).expect("a file");
    fs::write(folder.path().join("old.pid"), "4194305").expect("a file");
    let target = |name: &str, address: &SocketAddr, pid_file: &str| {
        format!("[[target]]\nname = '{name}'\nurl = 'http://{address}'\npid_file = '{pid_file}'\n")
    };
    let targets =
        target("fine", &there, "own.pid") + &target("old", &there, "old.pid") + &target("gone", &gone, "no.pid");
    fs::write(folder.path().join("a.toml"), format!("question = 'Is it?'\n{targets}{MATRIX}")).expect("a file");
    let text = printed(folder.path(), &["a.toml"]);
    let (_, obstacles) = text.split_once("\nWhat this machine ").expect("obstacles");
    let place = folder.path().canonicalize().expect("a path");
    let place = place.display();
    for says in [
        format!("target old: its pid_file {place}/old.pid names no process that can be watched, and what it takes"),
        format!(
            "target gone: http://{gone} cannot be connected to ({gone}: Connection refused (os error 111)). If it does"
        ),
        format!(
            "target gone: there is no pid_file {place}/no.pid, and what it takes of the machine will not be known."
        ),
    ] {
        assert!(obstacles.contains(&format!("\n  {says}")), "{says:?} is not in\n{obstacles}");
    }
    assert!(!obstacles.contains("target fine") && obstacles.matches("target old").count() == 1, "{obstacles}");
}

/// What the machine says of a plan of these targets, at so many connections.
fn said_of(targets: &str, connections: u32) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let matrix = MATRIX.replace("= 50", &format!("= {connections}"));
    fs::write(folder.path().join("own.pid"), std::process::id().to_string()).expect("a file");
    fs::write(folder.path().join("a.toml"), format!("question = 'Is it?'\n{targets}{matrix}")).expect("a file");
    let text = printed(folder.path(), &["a.toml"]);
    text.split_once("\nWhat this machine ").expect("obstacles").1.to_owned()
}

/// It was said of nginx that `quintain serve` had too short a queue, and not of our own server that was given a short one.
#[test]
fn a_queue_is_looked_at_where_it_is_our_own() {
    let running = "[[target]]\nname = 'other'\nurl = 'http://127.0.0.1:1'\n";
    assert!(!said_of(running, 50_000).contains("somaxconn"));
    let ours = |name: &str, rest: &str| format!("[[target]]\nname = '{name}'\n{rest}\n");
    let few = "serve = ['--set', 'server.backlog=20']";
    let targets =
        ours("few", few) + &ours("same", few) + &ours("profiled", "profile = 'jetty'") + &ours("fine", "serve = []");
    let said = said_of(&(running.to_owned() + &targets), 90);
    let lines: Vec<_> = said.lines().filter(|line| line.contains("net.core.somaxconn is ")).collect();
    let [few, profiled] = lines.as_slice() else { panic!("{said}") };
    assert!(few.starts_with("  few, same: ") && few.contains(", the server asks for 20: "), "{few}");
    assert!(few.ends_with(" Change: quintain serve --set server.backlog=90"), "{few}");
    assert!(profiled.starts_with("  profiled: ") && profiled.contains(", the server asks for 50: "), "{profiled}");
}

/// Only the warnings of the report told that the one had all CPUs and the others half of them.
#[test]
fn what_runs_already_on_other_cpus_is_said_to_be_unequal() {
    let running = "[[target]]\nname = 'other'\nurl = 'http://127.0.0.1:1'\npid_file = 'own.pid'\n";
    let pinned = |cpus: &str| format!("{running}[[target]]\nname = 'ours'\nserve = []\ncpus = '{cpus}'\n");
    let unequal = "compares unequal things";
    let said = said_of(&pinned("900"), 50);
    assert!(
        said.contains(", and ours on CPU 900: that compares unequal things. Start it under `taskset -c 900`, "),
        "{said}"
    );
    assert!(said.contains("  client and other share CPUs: "), "{said}");
    assert!(!said_of(&pinned("all"), 50).contains(unequal) && !said_of(running, 50).contains(unequal));
    let elsewhere = pinned("900").replace("127.0.0.1", "192.0.2.1").replace("pid_file = 'own.pid'\n", "");
    assert!(!said_of(&elsewhere, 50).contains(unequal));
}

/// The dry run named one figure, and each target another one that was higher.
#[test]
fn so_many_descriptors_suffice_for_every_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = "[[target]]\nname = 'ours'\nserve = []\n";
    let matrix = MATRIX.replace("= 50", "= 390");
    fs::write(folder.path().join("a.toml"), format!("question = 'Is it?'\n{target}{matrix}")).expect("a file");
    let script = format!("ulimit -n 400 && exec {} sweep --dry-run a.toml", env!("CARGO_BIN_EXE_quintain"));
    let ran = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().expect("it runs");
    let text = String::from_utf8_lossy(&ran.stdout);
    let figure = text.split_once("  390 connections need ").and_then(|(_, rest)| rest.split(' ').next());
    let figure: u64 = figure.and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("{ran:?}"));
    // Two for each of the 64 processes that are watched at most.
    assert!(figure >= 390 + 2 * 64, "{text}");
}
