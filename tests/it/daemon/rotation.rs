//! SIGUSR1: log files are opened again after somebody has renamed them, and no line is lost.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use super::{Daemon, signal, wait_for};
use crate::harness::{Launch, Site, TEN};

fn lines(path: &std::path::Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// What logrotate does with `create` or without, while requests go on.
#[test]
fn every_line_is_in_the_old_file_or_in_the_new_one() {
    let site = Site::small();
    let (access, old) = (site.outer().join("access.log"), site.outer().join("access.log.1"));
    let server = Launch::over(site.root()).set("log.access", access.to_str().expect("UTF-8")).start();
    let mut client = server.client();
    let mut ask = |numbers: std::ops::Range<u32>| numbers.for_each(|n| drop(client.get(&format!("/ten.txt?{n:04}"))));
    ask(0..200);
    fs::rename(&access, &old).expect("a new name");
    // Until the signal, lines go on into the renamed file.
    ask(200..400);
    wait_for("the first lines", || (lines(&old).len() == 400).then_some(()));
    signal(server.id(), Signal::USR1);
    server.wait_for_log("log files are open again");
    wait_for("the new file", || access.exists().then_some(()));
    ask(400..600);
    drop(client);
    server.stop();
    let (before, after) = (lines(&old), lines(&access));
    assert_eq!(after.len(), 200, "lines of requests after the signal are in the new file");
    let all: Vec<_> = before.iter().chain(&after).collect();
    assert_eq!(all.len(), 600);
    for (number, line) in all.iter().enumerate() {
        assert!(line.contains(&format!("/ten.txt?{number:04} ")), "{line}");
    }
}

#[test]
fn the_servers_own_log_is_opened_again() {
    let site = Site::small();
    let daemon = Daemon::start(&site, &Daemon::launch(&site));
    let old = site.outer().join("log.1");
    daemon.endpoint();
    fs::rename(&daemon.log, &old).expect("a new name");
    signal(daemon.pid().as_raw_nonzero().get().cast_unsigned(), Signal::USR1);
    wait_for("the new file", || lines(&daemon.log).iter().any(|line| line.contains("open again")).then_some(()));
    assert!(lines(&old).iter().any(|line| line.contains("listening on")));
}

#[test]
fn a_file_that_cannot_be_opened_again_is_written_to_further() {
    let site = Site::small();
    let folder = site.outer().join("logs");
    fs::create_dir(&folder).expect("a folder");
    let access = folder.join("access.log");
    let server = Launch::over(site.root()).set("log.access", access.to_str().expect("UTF-8")).start();
    let moved = site.outer().join("moved");
    fs::rename(&folder, &moved).expect("a new name");
    signal(server.id(), Signal::USR1);
    server.wait_for_log("the old file is written to further");
    server.get("/ten.txt");
    server.stop();
    assert_eq!(lines(&moved.join("access.log")).len(), 1);
}

/// At SIGUSR1 the process is the user already, whose other files a link could still name: lines of the log would go there.
#[test]
fn a_link_in_the_place_of_a_renamed_log_is_not_followed() {
    let site = Site::small();
    let (access, other) = (site.outer().join("access.log"), site.outer().join("other"));
    fs::write(&other, "").expect("a file");
    let server = Launch::over(site.root()).set("log.access", access.to_str().expect("UTF-8")).start();
    let old = site.outer().join("access.log.1");
    fs::rename(&access, &old).expect("a new name");
    symlink(&other, &access).expect("a link");
    signal(server.id(), Signal::USR1);
    server.wait_for_log("symbolic link");
    server.get("/ten.txt");
    server.stop();
    assert_eq!((lines(&old).len(), lines(&other).len()), (1, 0));
}

/// `ulimit -f`: the kernel sends SIGXFSZ with such a write, and the server ended without a word.
#[test]
fn a_log_that_may_not_grow_ends_nothing() {
    let site = Site::small();
    let access = site.outer().join("access.log");
    let server = Launch::over(site.root()).set("log.access", access.to_str().expect("UTF-8")).with_admin().start();
    let pid = Pid::from_raw(server.id().cast_signed());
    prlimit(pid, Resource::Fsize, Rlimit { current: Some(256), maximum: Some(256) }).expect("it is our child");
    let mut client = server.client();
    for _ in 0..50 {
        assert_eq!(client.get("/ten.txt").body, TEN.as_bytes());
    }
    server.wait_for_metrics("lost lines", |m| m.sum("quintain_access_log_lost_total", &[]) > 0.0);
    assert!(access.metadata().expect("a log").len() <= 256);
}
