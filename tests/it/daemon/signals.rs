//! Signals that come while the server has something else to do.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{Daemon, signal, wait_for};
use crate::harness::{Client, Launch, Server, Site, TEN};

/// A terminal at which nobody types: whoever reads from it waits.
struct Terminal {
    _master: OwnedFd,
    path: PathBuf,
}

impl Terminal {
    fn open() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal");
        let name = ptsname(&master, Vec::new()).expect("a name");
        Self { _master: master, path: std::ffi::OsString::from_vec(name.into_bytes()).into() }
    }
}

fn has_open(server: &Server, path: &Path) -> Option<()> {
    let open = fs::read_dir(format!("/proc/{}/fd", server.id())).ok()?.flatten();
    open.filter_map(|link| fs::read_link(link.path()).ok()).any(|to| to == path).then_some(())
}

/// Whether the signal waits for none of the process's threads any more.
fn is_delivered(server: &Server, signal: Signal) -> Option<()> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).ok()?;
    let waiting = status.lines().find_map(|line| line.strip_prefix("ShdPnd:\t"))?;
    let waiting = u64::from_str_radix(waiting, 16).ok()?;
    (waiting & 1 << (signal.as_raw() - 1) == 0).then_some(())
}

/// A reload that waited for a disk which does not answer heard no signal any more: only SIGKILL ended the server.
#[test]
fn a_second_signal_ends_a_server_whose_reload_hangs() {
    for (first, second, code) in
        [(Signal::TERM, Signal::TERM, 143), (Signal::TERM, Signal::INT, 130), (Signal::QUIT, Signal::QUIT, 131)]
    {
        let (site, terminal) = (Site::small(), Terminal::open());
        let file = site.outer().join("bench.toml");
        fs::write(&file, "").expect("a file");
        let mut server = Launch::over(site.root()).flag("--config", file.to_str().expect("UTF-8")).start();
        fs::remove_file(&file).expect("a file");
        symlink(&terminal.path, &file).expect("a link");
        signal(server.id(), Signal::HUP);
        wait_for("a reload that reads", || has_open(&server, &terminal.path));
        assert_eq!(server.get("/ten.txt").body, TEN.as_bytes(), "the others go on");
        signal(server.id(), first);
        // Two of a kind that wait for the same thread are one to the kernel.
        wait_for("an end of the wait for the first signal", || is_delivered(&server, first));
        assert_eq!(server.get("/ten.txt").body, TEN.as_bytes(), "it cannot hear that one yet");
        signal(server.id(), second);
        assert_eq!(server.wait().status.code(), Some(code));
    }
}

/// A drain may take as long as a rotation of logs comes round, and passed over the signal for it: the lines of the last
/// answers went into the file that was put away.
#[test]
fn logs_are_opened_again_while_running_answers_finish() {
    const LENGTH: usize = 32 << 20;
    let site = Site::small();
    site.write("large.bin", vec![b'x'; LENGTH]);
    let (access, old) = (site.outer().join("access.log"), site.outer().join("access.log.1"));
    let launch = Launch::over(site.root()).set("log.access", access.to_str().expect("UTF-8"));
    let mut server = launch.set("timeouts.shutdown", "10m").start();
    let mut running = Client::connect_with_fixed_buffer(server.endpoint());
    running.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    running.head().expect("a head");
    server.terminate();
    server.wait_for_log("SIGTERM: stopping");
    fs::rename(&access, &old).expect("a new name");
    signal(server.id(), Signal::USR1);
    server.wait_for_log("SIGUSR1: log files are open again");
    signal(server.id(), Signal::HUP);
    server.wait_for_log("SIGHUP: the server is stopping");
    assert_eq!(running.take(LENGTH).expect("the whole answer").len(), LENGTH);
    assert_eq!(server.wait().status.code(), Some(0));
    assert!(fs::read_to_string(&access).expect("a new file").contains("/large.bin"));
    assert_eq!(fs::read_to_string(&old).expect("the old file"), "");
}

/// A program that waits for signals in a thread of its own has them blocked in all others, and hands that to what it starts.
#[test]
fn signals_that_the_parent_has_blocked_are_heard() {
    let site = Site::small();
    let command = Daemon::launch(&site).command();
    let mut blocked = Command::new("env");
    blocked.arg("--block-signal").arg(command.get_program()).args(command.get_args());
    let output = blocked.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let pid = super::pid_in(&site.outer().join("pid")).expect("a process id in the pid file");
    signal(pid.as_raw_nonzero().get().unsigned_abs(), Signal::TERM);
    wait_for("its end", || rustix::process::test_kill_process(pid).is_err().then_some(()));
}

/// Whoever comes from nginx quits with SIGQUIT: the server was ended in the middle of an answer, without a line, and the pid file
/// stayed.
#[test]
fn sigquit_lets_running_answers_finish() {
    const LENGTH: usize = 32 << 20;
    let site = Site::small();
    site.write("large.bin", vec![b'x'; LENGTH]);
    let pid_file = site.outer().join("pid");
    let launch = Launch::over(site.root()).flag("--pid-file", pid_file.to_str().expect("UTF-8"));
    let mut server = launch.set("timeouts.shutdown", "10m").start();
    let mut running = Client::connect_with_fixed_buffer(server.endpoint());
    running.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    running.head().expect("a head");
    signal(server.id(), Signal::QUIT);
    server.wait_for_log("SIGQUIT: stopping");
    assert_eq!(running.take(LENGTH).expect("the whole answer").len(), LENGTH);
    let ended = server.wait();
    assert_eq!(ended.status.code(), Some(0));
    assert!(!pid_file.exists());
    assert!(ended.stderr.trim_end().ends_with("stopped"), "{}", ended.stderr);
}

/// nginx changes its program at SIGUSR2. Here nothing is listening for it, and what nobody listens for ends a process.
#[test]
fn sigusr2_is_survived_with_a_line() {
    let site = Site::small();
    let server = Server::over(&site);
    signal(server.id(), Signal::USR2);
    server.wait_for_log("SIGUSR2: nothing is done at it");
    assert_eq!(server.get("/ten.txt").body, TEN.as_bytes());
    assert!(server.stop().status.success());
}
