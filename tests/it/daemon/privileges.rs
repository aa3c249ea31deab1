//! `--user`: root is left behind before the first request is served.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::Daemon;
use crate::harness::{Launch, Site, TEN, say_skipped};

/// A user that need not exist: numbers do.
const NOBODY: &str = "65534:65534";

fn open_to_all(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

/// A site that others can read, if this is root, who alone can become somebody else.
fn site() -> Option<Site> {
    if !rustix::process::geteuid().is_root() {
        say_skipped("only root can become another user");
        return None;
    }
    let site = Site::small();
    open_to_all(site.outer(), 0o755);
    Some(site)
}

#[test]
fn every_thread_becomes_the_user_and_can_still_open_its_logs() {
    let Some(site) = site() else { return };
    let access = site.outer().join("access.log");
    let launch = Daemon::launch(&site).flag("--user", NOBODY).set("log.access", access.to_str().expect("UTF-8"));
    let daemon = Daemon::start(&site, &launch);
    assert_eq!(daemon.get("/ten.txt").body, TEN.as_bytes());
    let tasks = fs::read_dir(format!("/proc/{}/task", daemon.pid().as_raw_nonzero())).expect("it runs");
    let mut threads = 0;
    for task in tasks.flatten() {
        let status = fs::read_to_string(task.path().join("status")).expect("it runs");
        let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).expect(name).trim().to_owned();
        for name in ["Uid:", "Gid:"] {
            assert_eq!(line(name), "65534\t65534\t65534\t65534", "{name} of {}", line("Name:"));
        }
        assert!(line("Groups:").split(' ').all(|group| group == "65534"), "{status}");
        assert_eq!(line("CapEff:"), "0000000000000000");
        threads += 1;
    }
    assert!(threads >= 3, "main, log, access log, worker: {threads}");
    for file in [&access, &daemon.log] {
        assert_eq!(fs::metadata(file).expect("a log").uid(), 65534);
    }
    // It may not remove a file of root's folder, and empties it instead.
    assert!(daemon.control("stop", &[]).status.success());
    assert_eq!(daemon.control("status", &[]).status.code(), Some(3));
}

/// Documents are opened by whom the server becomes, so a folder that only root can read is not served by accident.
#[test]
fn a_root_that_the_user_cannot_read_is_refused() {
    let Some(site) = site() else { return };
    open_to_all(site.root(), 0o700);
    let ended = Launch::over(site.root()).flag("--user", NOBODY).expect_failure();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("ermission"), "{ended:?}");
}

#[test]
fn a_user_that_does_not_exist_is_named() {
    let site = Site::small();
    let ended = Launch::over(site.root()).flag("--user", "no-such-user").expect_failure();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("no user \"no-such-user\""), "{ended:?}");
}
