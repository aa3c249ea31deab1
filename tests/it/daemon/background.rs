//! `serve --daemon`: what the shell is told, and what the process in the background is like.

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};

use super::{Daemon, stderr, wait_for};
use crate::harness::{Client, Launch, Site, TEN};

#[test]
fn the_command_comes_back_when_the_server_serves() {
    let site = Site::small();
    let daemon = Daemon::start(&site, &Daemon::launch(&site));
    assert_eq!(daemon.get("/ten.txt").body, TEN.as_bytes());

    let pid = daemon.pid().as_raw_nonzero();
    let proc = |name: &str| format!("/proc/{pid}/{name}");
    let link = |name: &str| fs::read_link(proc(name)).expect("a link");
    assert_eq!(link("cwd").to_str(), Some("/"));
    for stream in ["fd/0", "fd/1", "fd/2"] {
        assert_eq!(link(stream).to_str(), Some("/dev/null"), "{stream}");
    }
    let stat = fs::read_to_string(proc("stat")).expect("it runs");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in brackets");
    // proc_pid_stat(5): state, ppid, pgrp, session, tty_nr.
    let fields: Vec<_> = fields.split(' ').collect();
    assert_eq!(fields[3], pid.to_string(), "a session of its own");
    assert_eq!(fields[4], "0", "no terminal");
    let status = fs::read_to_string(proc("status")).expect("it runs");
    assert!(status.contains("Umask:\t0022\n"), "{status}");

    let endpoint = daemon.endpoint();
    let stopped = daemon.control("stop", &[]);
    assert!(stopped.status.success(), "{stopped:?}");
    assert!(!daemon.pid_file.exists());
    assert!(Client::try_connect(&endpoint, None).is_err());
    assert!(daemon.log().contains("SIGTERM: stopping"), "{}", daemon.log());
}

/// A script that holds a lock while it starts servers held it for as long as one of them lived; and of a pipe that it gave
/// along by mistake nobody ever saw the end.
#[test]
fn what_the_shell_had_open_is_closed() {
    let site = Site::small();
    let held = site.outer().join("held");
    let inner = Daemon::launch(&site).command();
    let mut shell = Command::new("bash");
    shell.arg("-c").arg("exec 3>\"$0\" 9>\"$0\" 200>\"$0\"; exec \"$@\"").arg(&held);
    let output = shell.arg(inner.get_program()).args(inner.get_args()).output().expect("bash");
    assert!(output.status.success(), "{output:?}");
    let daemon = Daemon { pid_file: site.outer().join("pid"), log: site.outer().join("log") };
    let folder = format!("/proc/{}/fd", daemon.pid().as_raw_nonzero());
    let open: Vec<_> = fs::read_dir(folder).expect("it runs").flatten().collect();
    assert!(open.len() > 3, "{open:?}");
    let kept: Vec<_> = open.iter().filter(|link| fs::read_link(link.path()).is_ok_and(|to| to == held)).collect();
    assert!(kept.is_empty(), "{kept:?}");
}

/// The log is a file that the shell does not see: the reason has to come back as well.
#[test]
fn a_start_that_fails_gives_its_reason_and_exit_code() {
    let site = Site::small();
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = other.local_addr().expect("an address").to_string();
    let missing = site.path("missing");
    for (key, value, words) in [
        ("server.listen", taken.as_str(), "the port is taken"),
        ("server.root", missing.to_str().expect("UTF-8"), "missing"),
    ] {
        let arguments =
            Launch::bare().switch("--daemon").set("log.file", site.outer().join("log").to_str().expect("UTF-8"));
        let arguments = arguments.set("server.root", site.root().to_str().expect("UTF-8"));
        let arguments = arguments.set("server.listen", "127.0.0.1:0").set(key, value);
        let arguments = arguments.flag("--pid-file", site.outer().join("pid").to_str().expect("UTF-8"));
        let output = arguments.command().output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let says = stderr(&output);
        assert!(says.starts_with("quintain: ") && says.contains(words) && says.lines().count() == 1, "{says}");
        wait_for("the end of the child", || (!site.outer().join("pid").exists()).then_some(()));
    }
}

/// The child of a command that is starting it, held before it serves; `None` if it was quicker.
fn caught_before_it_serves(command: &mut Child) -> Option<Pid> {
    let children = format!("/proc/{0}/task/{0}/children", command.id());
    let child = wait_for("a child, or the end of its start", || {
        let ended = command.try_wait().expect("it can be waited for").is_some();
        let child =
            fs::read_to_string(&children).ok().and_then(|text| text.trim().parse().ok()).and_then(Pid::from_raw);
        (ended || child.is_some()).then_some(child)
    })?;
    kill_process(child, Signal::STOP).ok()?;
    let state = || fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero())).unwrap_or_default();
    wait_for("a stop", || [") T ", ") Z "].iter().any(|word| state().contains(word)).then_some(()));
    let is_early = command.try_wait().expect("it can be waited for").is_none();
    is_early.then_some(child)
}

/// Whoever gave up a start that hung left a server behind that hung for ever, or came up when nobody expected it any more.
#[test]
fn a_start_that_is_given_up_ends() {
    let site = Site::small();
    let plain = Daemon::launch(&site).set("server.workers", "64");
    let launches = match rustix::process::geteuid().is_root() {
        // The kernel forgets the tie when the user changes.
        true => vec![plain.clone(), plain.flag("--user", "65534:65534")],
        false => vec![plain],
    };
    for launch in launches {
        let caught = (0..50).find_map(|_| {
            let mut command = launch.command().spawn().expect("it runs");
            let caught = caught_before_it_serves(&mut command);
            if caught.is_none() {
                let _ = Daemon { pid_file: site.outer().join("pid"), log: site.outer().join("log") };
                let _ = command.wait();
            }
            caught.map(|child| (command, child))
        });
        let (mut command, child) = caught.expect("a start that was caught");
        command.kill().expect("it waits");
        command.wait().expect("it was killed");
        let status = format!("/proc/{}/stat", child.as_raw_nonzero());
        let _ = kill_process(child, Signal::CONT);
        wait_for("its end", || fs::read_to_string(&status).map_or(true, |text| text.contains(") Z ")).then_some(()));
    }
}

#[test]
fn a_mistake_in_the_configuration_is_told_before_the_fork() {
    let site = Site::small();
    let output = Daemon::launch(&site).set("server.wokers", "2").command().output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("server.workers"), "{output:?}");
}

#[test]
fn streams_that_lead_nowhere_are_refused() {
    let site = Site::small();
    for (launch, way_out) in [
        (Launch::over(site.root()).switch("--daemon"), "log.file="),
        (Daemon::launch(&site).set("log.access", "stdout"), "--access-log"),
        // The same by the system's names.
        (Daemon::launch(&site).set("log.file", "/dev/stderr"), "log.file="),
        (Daemon::launch(&site).set("log.access", "/dev/stdout"), "--access-log"),
        (Daemon::launch(&site).set("log.access", "/proc/self/fd/1"), "--access-log"),
    ] {
        let output = launch.command().output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains(way_out), "{output:?}");
    }
}

/// The process leaves the folder that it was started in, so relative names must have been settled before.
#[test]
fn relative_paths_mean_the_folder_of_the_command() {
    let site = Site::small();
    fs::write(site.outer().join("bench.toml"), "headers.server = \"first\"\n").expect("a file");
    let launch = Launch::bare().switch("--daemon").listen("127.0.0.1:0").flag("--root", "site");
    let launch = launch.flag("--pid-file", "pid").set("log.file", "./log").set("log.access", "./access");
    let launch = launch.flag("--config", "bench.toml").in_directory(site.outer());
    let daemon = Daemon::start(&site, &launch);
    assert_eq!(daemon.get("/ten.txt").header("server"), Some("first"));
    fs::write(site.outer().join("bench.toml"), "headers.server = \"second\"\n").expect("a file");
    assert!(daemon.control("reload", &[]).status.success());
    wait_for("the new header", || (daemon.get("/ten.txt").header("server") == Some("second")).then_some(()));
    assert!(daemon.control("stop", &[]).status.success());
    assert!(fs::read_to_string(site.outer().join("access")).expect("a log").contains("/ten.txt"));
}

/// Without a pid file nothing said which process it was, and the last line of the log was that it had begun to stop.
#[test]
fn the_log_says_who_serves_and_when_that_is_over() {
    let site = Site::small();
    let log = site.outer().join("log");
    let launch = Launch::over(site.root()).switch("--daemon").set("log.file", log.to_str().expect("UTF-8"));
    let output = launch.command().output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let read = || fs::read_to_string(&log).expect("a log");
    let pid: u32 = wait_for("a process id", || {
        let text = read();
        let line = text.lines().find(|line| line.contains("listening on"))?;
        line.split_whitespace().find_map(|word| word.strip_prefix("pid="))?.parse().ok()
    });
    super::signal(pid, Signal::TERM);
    wait_for("its end", || read().trim_end().ends_with("INFO stopped").then_some(()));
}
