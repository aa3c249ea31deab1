//! docs/operations.md and packaging/systemd: what they say is done here.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Daemon;
use crate::harness::{Client, Launch, Site, say_skipped};

fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The `sh` blocks, in order, as one script in an empty folder; on a free port, because tests run side by side.
#[test]
fn the_commands_of_the_operations_manual() {
    let text = fs::read_to_string(package("docs/operations.md")).expect("the manual");
    let blocks: Vec<_> = text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```")).collect();
    assert!(blocks.len() >= 5, "{} blocks", blocks.len());
    let script: String = blocks.iter().map(|(block, _)| *block).collect();
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
    let script = script.replace("127.0.0.1:8080", &format!("127.0.0.1:{port}"));

    let site = Site::empty();
    let beside = |name: &str| site.outer().join(name);
    let _ends = Daemon { pid_file: beside("server.pid"), log: beside("server.log") };
    let programs = Path::new(env!("CARGO_BIN_EXE_quintain")).parent().expect("a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a path"));
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", &script]).env("PATH", path).current_dir(site.outer());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("QUINTAIN_")) {
        shell.env_remove(name);
    }
    let output = shell.output().expect("bash");
    assert!(output.status.success(), "{}", crate::peers::text(&output));
}

/// Output of systemd-analyze; `None` where it is not installed.
fn analyze(arguments: &[&str]) -> Option<(bool, String)> {
    match Command::new("systemd-analyze").args(arguments).output() {
        Ok(output) => Some((output.status.success(), crate::peers::text(&output))),
        Err(_) => {
            say_skipped("systemd-analyze is not installed");
            None
        }
    }
}

#[test]
fn the_units_are_valid_and_hardened() {
    let place = tempfile::tempdir().expect("a folder");
    for unit in ["quintain.service", "quintain.socket"] {
        let text = fs::read_to_string(package("packaging/systemd").join(unit)).expect("a unit");
        let text = text.replace("/usr/local/bin/quintain", env!("CARGO_BIN_EXE_quintain"));
        fs::write(place.path().join(unit), text).expect("a copy");
    }
    let unit = |name: &str| place.path().join(name).to_str().expect("UTF-8").to_owned();
    let (service, socket) = (unit("quintain.service"), unit("quintain.socket"));
    let Some((valid, says)) = analyze(&["verify", &socket, &service]) else { return };
    assert!(valid && says.trim().is_empty(), "{says}");
    let Some((hardened, says)) = analyze(&["security", "--offline=true", "--threshold=20", &service]) else { return };
    assert!(hardened, "exposed by 2.0 of 10 or more: {says}");
}

/// The names in a set of system calls, those of the sets in it included.
fn system_calls(set: &str) -> Option<BTreeSet<String>> {
    let (_, text) = analyze(&["syscall-filter", set])?;
    let words = text.lines().filter(|line| line.starts_with(' ')).map(str::trim).filter(|word| !word.starts_with('#'));
    let mut names = BTreeSet::new();
    for word in words {
        match word.starts_with('@') {
            true => names.extend(system_calls(word)?),
            false => drop(names.insert(word.to_owned())),
        }
    }
    Some(names)
}

/// `systemctl reload` succeeded with a file that the server then refused. The check before it reads what the server reads.
#[test]
fn a_reload_by_the_unit_begins_with_a_check() {
    let text = fs::read_to_string(package("packaging/systemd/quintain.service")).expect("a unit");
    let site = Site::small();
    let file = site.outer().join("bench.toml");
    let lines = |key: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        let here = |line: &str| line.replace("/etc/quintain/config.toml", file.to_str().expect("UTF-8"));
        lines.map(|line| here(&line.replace("/usr/local/bin/quintain", env!("CARGO_BIN_EXE_quintain")))).collect()
    };
    let reload = lines("ExecReload");
    assert_eq!(reload[0], format!("{} --check", lines("ExecStart")[0]));
    assert!(reload[1].contains("-HUP $MAINPID") && reload.len() == 2, "{reload:?}");
    let check = |settings: &str| {
        fs::write(&file, format!("server.root = {:?}\n{settings}", site.root())).expect("a file");
        let mut words = reload[0].split(' ');
        let output = Command::new(words.next().expect("a program")).args(words).output().expect("it runs");
        output.status.code()
    };
    assert_eq!((check(""), check("server.wokers = 1")), (Some(0), Some(2)));
}

/// What the server calls from its start to its end, with small and large documents and a reload in between.
#[test]
fn the_units_filter_allows_what_the_server_calls() {
    let (Some(allowed), Some(privileged)) = (system_calls("@system-service"), system_calls("@privileged")) else {
        return;
    };
    let site = Site::small();
    site.write("large.bin", vec![b'x'; 300_000]);
    let (trace, own) = (site.outer().join("trace"), site.outer().join("own.log"));
    let inner = Launch::over(site.root()).set("log.file", own.to_str().expect("UTF-8")).command();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(&trace).arg(inner.get_program()).args(inner.get_args());
    let Ok(mut child) = command.stderr(std::process::Stdio::null()).spawn() else {
        say_skipped("strace is not installed");
        return;
    };
    let address = super::wait_for("an address, or an end", || {
        if child.try_wait().is_ok_and(|ended| ended.is_some()) {
            return Some(None);
        }
        let log = fs::read_to_string(&own).ok()?;
        let (_, rest) = log.split_once("listening on http://")?;
        rest.split_whitespace().next()?.parse().ok().map(Some)
    });
    let Some(address) = address else {
        say_skipped("strace may not trace here");
        return;
    };
    let mut client = Client::connect(&crate::harness::Endpoint::Tcp(address));
    client.get("/ten.txt");
    assert_eq!(client.get("/large.bin").body.len(), 300_000);
    drop(client);
    // The server is the only child of strace, and its first line begins with its id.
    let id = super::wait_for("an id", || fs::read_to_string(&trace).ok()?.split(' ').next()?.parse().ok());
    super::signal(id, rustix::process::Signal::HUP);
    super::wait_for("a reload", || fs::read_to_string(&own).ok().filter(|log| log.contains("in force")));
    super::signal(id, rustix::process::Signal::TERM);
    child.wait().expect("it ends");

    let text = fs::read_to_string(&trace).expect("a trace");
    let name = |line: &str| {
        let (_, call) = line.split_once(' ')?;
        let (name, _) = call.trim_start().split_once('(')?;
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then(|| name.to_owned())
    };
    let called: BTreeSet<_> = text.lines().filter_map(name).collect();
    assert!(called.contains("sendfile") && called.contains("openat2"), "{called:?}");
    let refused: Vec<_> = called.iter().filter(|call| !allowed.contains(*call) || privileged.contains(*call)).collect();
    assert!(refused.is_empty(), "the unit's SystemCallFilter refuses {refused:?}");
}
