//! What a server that is started or reloaded must not wait for, and must not take for what it is not.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::{Daemon, signal, stderr, wait_for};
use crate::harness::{Launch, Site, TEN, say_skipped};

fn pipe(path: &std::path::Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo");
    assert!(made.success());
}

/// The thread that reloads is the one that keeps all deadlines: it waited for somebody to write into the pipe.
#[test]
fn a_named_pipe_is_no_configuration() {
    let site = Site::small();
    let file = site.outer().join("config.toml");
    let server = Launch::over(site.root()).in_directory(site.outer()).start();
    pipe(&file);
    signal(server.id(), Signal::HUP);
    server.wait_for_log("it is a named pipe");
    assert_eq!(server.get("/ten.txt").body, TEN.as_bytes());
    assert_eq!(server.stop().status.code(), Some(0));

    for launch in [Launch::over(site.root()), Daemon::launch(&site)] {
        let ended = launch.flag("--config", file.to_str().expect("UTF-8")).command().output().expect("it runs");
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        assert!(stderr(&ended).contains("it is a named pipe"), "{ended:?}");
    }
}

/// Its second reading was empty, and the defaults "in force".
#[test]
fn a_stream_is_a_configuration_once() {
    let site = Site::small();
    let file = site.outer().join("bench.toml");
    fs::write(&file, "headers.server = 'from-a-stream'\n").expect("a file");
    let mut command = Daemon::launch(&site).flag("--config", "/dev/stdin").command();
    let output = command.stdin(fs::File::open(&file).expect("a file")).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let daemon = Daemon { pid_file: site.outer().join("pid"), log: site.outer().join("log") };
    let server_line = || daemon.get("/ten.txt").header("server").map(str::to_owned);
    assert_eq!(server_line().as_deref(), Some("from-a-stream"));
    signal(daemon.pid().as_raw_nonzero().get().unsigned_abs(), Signal::HUP);
    wait_for("a refusal", || daemon.log().contains("was a stream, which is read only once").then_some(()));
    assert_eq!(server_line().as_deref(), Some("from-a-stream"));
}

/// Clients of somebody's site were shown the documents that come with the program.
#[test]
fn a_site_that_has_gone_is_not_replaced_by_the_bundled_documents() {
    let site = Site::small();
    let folder = site.outer().join("fixtures");
    fs::rename(site.root(), &folder).expect("a new name");
    let server = Launch::bare().in_directory(site.outer()).listen("127.0.0.1:0").start();
    assert_eq!(server.get("/ten.txt").body, TEN.as_bytes());
    fs::rename(&folder, site.root()).expect("the old name");
    signal(server.id(), Signal::HUP);
    server.wait_for_log("SIGHUP: refused");
    assert_eq!(server.get("/ten.txt").body, TEN.as_bytes(), "the folder is still open");
}

/// Process 1 of a container inherits the children of others; the image has nobody else to take note of their end.
#[test]
fn process_one_buries_orphans_and_does_not_leave() {
    let site = Site::small();
    let unshared = |launch: &Launch| {
        let command = launch.command();
        let mut unshared = Command::new("unshare");
        unshared
            .args(["--pid", "--fork", "--mount-proc", "--kill-child"])
            .arg(command.get_program())
            .args(command.get_args());
        unshared
    };
    if !Command::new("unshare").args(["--pid", "--fork", "true"]).status().is_ok_and(|status| status.success()) {
        say_skipped("no namespace of processes can be made here");
        return;
    }
    let refused = unshared(&Daemon::launch(&site)).output().expect("it runs");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(stderr(&refused).contains("this is process 1"), "{refused:?}");

    let pid_file = site.outer().join("pid");
    let launch = Launch::over(site.root()).flag("--pid-file", pid_file.to_str().expect("UTF-8"));
    let mut outer = unshared(&launch).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let children = |pid: u32| -> Vec<u32> {
        let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        listed.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    };
    let first = wait_for("process 1", || {
        let first = *children(outer.id()).first()?;
        fs::read_to_string(&pid_file).is_ok_and(|pid| pid.trim() == "1").then_some(first)
    });
    // An orphan: its parent ends at once.
    let script = "sleep 0.2 & exec true";
    let entered = Command::new("nsenter").args(["-t", &first.to_string(), "-p", "-m", "sh", "-c", script]).status();
    assert!(entered.is_ok_and(|status| status.success()));
    wait_for("an orphan", || children(first).first().copied());
    wait_for("its burial", || children(first).is_empty().then_some(()));
    signal(first, Signal::TERM);
    assert_eq!(outer.wait().expect("it ends").code(), Some(0));
}
