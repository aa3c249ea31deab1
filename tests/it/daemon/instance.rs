//! `stop`, `reload`, `status`, and the pid file by which they find the server.

use std::fs;
use std::ops::Not;
use std::process::{Child, Command};

use nix::fcntl::{FcntlArg, fcntl};
use rustix::process::{Signal, kill_process};

use super::{Daemon, control, signal, stderr, wait_for};
use crate::harness::{Client, Launch, Site, TEN};

#[test]
fn a_second_instance_is_refused_with_the_id_of_the_first() {
    let site = Site::small();
    let daemon = Daemon::start(&site, &Daemon::launch(&site));
    let pid_file = daemon.pid_file.to_str().expect("UTF-8");
    let second = Launch::over(site.root()).flag("--pid-file", pid_file);
    for launch in [Daemon::launch(&site), second] {
        let output = launch.command().output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let first = format!("already running as process {}", daemon.pid().as_raw_nonzero());
        assert!(stderr(&output).contains(&first), "{output:?}");
    }
    assert_eq!(daemon.get("/ten.txt").body, TEN.as_bytes());
}

#[test]
fn status_says_whether_it_runs() {
    let site = Site::small();
    let file = site.outer().join("pid");
    assert_eq!(control("status", &file, &[]).status.code(), Some(3));
    let daemon = Daemon::start(&site, &Daemon::launch(&site));
    let running = daemon.control("status", &[]);
    assert_eq!(running.status.code(), Some(0));
    let pid = daemon.pid();
    assert_eq!(String::from_utf8_lossy(&running.stdout), format!("running as process {}\n", pid.as_raw_nonzero()));

    kill_process(pid, Signal::KILL).expect("it runs");
    let dead =
        wait_for("its end", || Some(daemon.control("status", &[])).filter(|output| output.status.code() != Some(0)));
    assert_eq!(dead.status.code(), Some(1), "{dead:?}");
    assert!(stderr(&dead).contains("has ended without removing"), "{dead:?}");
    assert_eq!(daemon.control("reload", &[]).status.code(), Some(7));
    assert_eq!(daemon.control("stop", &[]).status.code(), Some(0), "what does not run is stopped");

    // The stale file is no obstacle, even if its number is by now that of a process which lives.
    fs::write(&file, format!("{}\n", std::process::id())).expect("a file");
    let again = Daemon::start(&site, &Daemon::launch(&site));
    assert_ne!(again.pid().as_raw_nonzero().get().cast_unsigned(), std::process::id());
}

/// `stop` with a mistyped path said that it had stopped something, and returned 0.
#[test]
fn what_is_no_pid_file_of_a_server_is_told_apart() {
    let site = Site::small();
    let place = |name: &str| site.outer().join(name);
    fs::write(place("words"), "not a number\n").expect("a file");
    fs::write(place("emptied"), "").expect("a file");
    let rows = [
        ("absent", 3, 0, 7, "not running: there is no "),
        ("emptied", 3, 0, 7, "has ended and emptied "),
        ("words", 1, 1, 7, "holds no process id"),
        ("no/such/folder", 4, 1, 4, "there is no such folder"),
        ("words/pid", 4, 1, 4, "there is no such folder"),
    ];
    for (name, status, stop, reload, words) in rows {
        for (command, code) in [("status", status), ("stop", stop), ("reload", reload)] {
            let output = control(command, &place(name), &[]);
            assert_eq!(output.status.code(), Some(code), "{command} {name}: {output:?}");
            assert!(crate::peers::text(&output).contains(words), "{command} {name}: {output:?}");
        }
    }
}

/// A process that nobody means. Dropping it ends it.
struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().expect("sleep"))
    }

    fn runs(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn write_lock(byte: i64) -> libc::flock {
    let (l_type, l_whence) = (libc::F_WRLCK as libc::c_short, libc::SEEK_SET as libc::c_short);
    libc::flock { l_type, l_whence, l_start: byte, l_len: 1, l_pid: 0 }
}

/// For flock(2) it is enough to read a file: anybody could lock the pid file that a dead server had left, and `stop` ended
/// the process whose number stood in it. Whoever may write to the file can do more; nobody but the holder of the lock is
/// signalled all the same.
#[test]
fn a_lock_is_believed_of_whom_the_kernel_names() {
    let site = Site::small();
    let file = site.outer().join("pid");
    let mut bystander = Bystander::new();
    fs::write(&file, format!("{}\n", bystander.0.id())).expect("a file");
    let ours = fs::File::options().read(true).write(true).open(&file).expect("a file");
    let mut expect = |status: i32, stop: i32, reload: i32, words: &str| {
        for (command, code) in [("status", status), ("stop", stop), ("reload", reload)] {
            let output = control(command, &file, &[]);
            assert_eq!(output.status.code(), Some(code), "{command}: {output:?}");
            assert!(crate::peers::text(&output).contains(words), "{command}: {output:?}");
        }
        assert!(bystander.runs(), "somebody was signalled whom nobody meant");
    };
    let reader = fs::File::open(&file).expect("a file");
    reader.lock().expect("reading is enough");
    expect(1, 0, 7, "not running");
    fcntl(&ours, FcntlArg::F_OFD_SETLK(&write_lock(0))).expect("a lock");
    expect(4, 4, 4, "the kernel does not say by which process");
    fcntl(&ours, FcntlArg::F_SETLK(&write_lock(1))).expect("a lock");
    expect(4, 4, 4, &format!("but process {} has locked it", std::process::id()));
}

/// A pid file that is a link to another one: the number is true, and who may make the link decides whom root signals.
#[test]
fn a_link_in_the_place_of_a_pid_file_is_not_followed() {
    let site = Site::small();
    let daemon = Daemon::start(&site, &Daemon::launch(&site));
    let link = site.outer().join("link");
    std::os::unix::fs::symlink(&daemon.pid_file, &link).expect("a link");
    for command in ["status", "stop", "reload"] {
        let output = control(command, &link, &[]);
        assert_eq!(output.status.code(), Some(4), "{command}: {output:?}");
        assert!(stderr(&output).contains("symbolic link"), "{command}: {output:?}");
    }
    assert_eq!(daemon.get("/ten.txt").body, TEN.as_bytes());
    fs::remove_file(&link).expect("a link");
    let other = site.outer().join("other");
    fs::write(&other, "").expect("a file");
    std::os::unix::fs::symlink(&other, &link).expect("a link");
    let ended = Launch::over(site.root()).flag("--pid-file", link.to_str().expect("UTF-8")).expect_failure();
    assert!(ended.stderr.contains("symbolic link") && ended.stderr.contains("--pid-file"), "{ended:?}");
    assert_eq!(fs::read_to_string(&other).expect("it is there"), "");
}

/// 1 would say that it is dead.
#[test]
fn a_status_that_cannot_be_printed_is_unknown() {
    let site = Site::small();
    let daemon = Daemon::start(&site, &Daemon::launch(&site));
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut status = Command::new(env!("CARGO_BIN_EXE_quintain"));
    let output = status.arg("status").arg("--pid-file").arg(&daemon.pid_file).stdout(full).output().expect("it runs");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(stderr(&output).contains("cannot write to stdout"), "{output:?}");
}

#[test]
fn stop_waits_for_running_answers_and_not_for_ever() {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; 32 << 20]);
    let daemon = Daemon::start(&site, &Daemon::launch(&site).set("timeouts.shutdown", "10m"));
    let mut running = Client::connect_with_fixed_buffer(&daemon.endpoint());
    running.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    running.head().expect("a head");
    let early = daemon.control("stop", &["--wait", "100ms"]);
    assert_eq!(early.status.code(), Some(1), "{early:?}");
    assert!(stderr(&early).contains("--wait"), "{early:?}");
    assert_eq!(running.take(32 << 20).expect("the whole answer").len(), 32 << 20);
    wait_for("its end", || (daemon.control("status", &[]).status.code() == Some(3)).then_some(()));
}

#[test]
fn a_pid_file_that_cannot_be_written_is_a_reason_not_to_start() {
    let site = Site::small();
    let file = site.outer().join("missing/pid");
    let ended = Launch::over(site.root()).flag("--pid-file", file.to_str().expect("UTF-8")).expect_failure();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("missing/pid") && ended.stderr.contains("--pid-file"), "{ended:?}");
}

/// Whoever finds the pid file may signal at once, as a rotation of logs does. SIGHUP and SIGUSR1 ended a server that had
/// written it and did not listen to signals yet.
#[test]
fn signals_right_after_the_start_end_nothing() {
    let site = Site::small();
    for round in 0..10 {
        let (pid_file, log) = (site.outer().join(format!("{round}.pid")), site.outer().join(format!("{round}.log")));
        let launch = Launch::over(site.root()).flag("--pid-file", pid_file.to_str().expect("UTF-8"));
        let mut server = launch.set("log.file", log.to_str().expect("UTF-8")).command().spawn().expect("it runs");
        while fs::read_to_string(&pid_file).is_ok_and(|text| !text.is_empty()).not() {
            assert!(server.try_wait().expect("our child").is_none(), "it ended at start");
            std::thread::yield_now();
        }
        for early in [Signal::HUP, Signal::USR1] {
            signal(server.id(), early);
        }
        let served = || fs::read_to_string(&log).is_ok_and(|text| text.contains("listening on")).then_some(());
        wait_for("it serves", served);
        signal(server.id(), Signal::TERM);
        assert_eq!(server.wait().expect("our child").code(), Some(0), "round {round}");
    }
}

/// The pid file was written into an empty log, and a log into the configuration, which no reload could read after that.
#[test]
fn files_that_are_one_are_refused() {
    let site = Site::small();
    let name = |name: &str| site.outer().join(name).to_str().expect("UTF-8").to_owned();
    let (config, one, documents) = (name("config.toml"), name("one"), name("site/pid"));
    fs::write(&config, "").expect("a file");
    std::os::unix::fs::symlink("config.toml", name("link.toml")).expect("a link");
    std::os::unix::fs::symlink("site", name("link-to-site")).expect("a link");
    let pid = |file: &str| Launch::over(site.root()).flag("--config", &config).flag("--pid-file", file);
    let log = |key: &str, file: &str| Launch::over(site.root()).flag("--config", &config).set(key, file);
    let rows = [
        (pid(&config), "the configuration and process.pid_file"),
        (log("log.file", &config), "the configuration and log.file"),
        (log("log.access", &name("link.toml")), "the configuration and log.access"),
        (pid(&one).set("log.file", &one), "process.pid_file and log.file"),
        (pid(&one).set("log.access", &name("site/../one")), "process.pid_file and log.access"),
        (pid(&documents), "in the folder that is served"),
        (log("log.file", &documents), "in the folder that is served"),
        (log("log.access", &name("link-to-site/pid")), "in the folder that is served"),
    ];
    for empty in [false, true] {
        for (launch, words) in &rows {
            for launch in [launch.clone(), launch.clone().switch("--check")] {
                let output = launch.command().output().expect("it runs");
                assert_eq!(output.status.code(), Some(2), "{words}: {output:?}");
                assert!(stderr(&output).contains(words), "{words}: {output:?}");
            }
        }
        assert_eq!(fs::read_to_string(&config).expect("it is there"), "");
        assert_eq!(fs::read_to_string(&one).is_ok(), empty, "nothing was made");
        fs::write(&one, "").expect("a file");
    }
}

#[test]
fn a_reload_keeps_the_logs_out_of_the_pid_file() {
    let site = Site::small();
    let name = |name: &str| site.outer().join(name).to_str().expect("UTF-8").to_owned();
    let config = name("config.toml");
    fs::write(&config, "").expect("a file");
    let launch = Launch::over(site.root()).flag("--config", &config).flag("--pid-file", &name("pid"));
    let server = launch.start();
    fs::write(&config, format!("log.access = {:?}\n", name("pid"))).expect("a file");
    signal(server.id(), Signal::HUP);
    server.wait_for_log("SIGHUP: refused");
    server.wait_for_log("process.pid_file and log.access are one file");
}
