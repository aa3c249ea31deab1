//! `[process]`, and what two servers may share.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::with;
use crate::harness::{Client, Endpoint, Launch, Server, Site, say_skipped};

#[test]
fn process_pid_file() {
    let site = Site::small();
    let path = site.outer().join("pid");
    let server = with(&site, "process.pid_file", path.to_str().expect("UTF-8"));
    assert_eq!(fs::read_to_string(&path).expect("a pid file"), format!("{}\n", server.id()));
    server.stop();
    assert!(!path.exists());
    let _without = with(&site, "process.pid_file", "off");
    assert!(!path.exists());
}

#[test]
fn process_user() {
    if !rustix::process::geteuid().is_root() {
        return say_skipped("only root can become another user");
    }
    let site = Site::small();
    fs::set_permissions(site.outer(), fs::Permissions::from_mode(0o755)).expect("a mode");
    let uid = |server: &Server| {
        let status = fs::read_to_string(format!("/proc/{}/status", server.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:\t")).expect("a user");
        line.split('\t').next().expect("a number").to_owned()
    };
    for (user, expected) in [("off", "0"), ("65533:65533", "65533")] {
        assert_eq!(uid(&with(&site, "process.user", user)), expected, "{user}");
    }
}

#[test]
fn server_share_port() {
    let site = Site::small();
    let first = with(&site, "server.share_port", "true");
    let Endpoint::Tcp(address) = first.endpoint() else { panic!("{:?}", first.endpoint()) };
    let beside = |share: &str| {
        let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8"));
        launch.listen(&address.to_string()).set("server.share_port", share)
    };
    let ended = beside("false").expect_failure();
    assert!(ended.stderr.contains("server.share_port"), "{ended:?}");
    let second = beside("true").start();
    first.stop();
    assert_eq!(Client::connect(second.endpoint()).get("/ten.txt").status, 200);
}

/// A server that shared with nobody was joined all the same: SO_REUSEPORT was set whatever was asked for. The kernel asks both.
#[test]
fn one_queue_that_is_not_shared_is_joined_by_nobody() {
    let site = Site::small();
    for (key, value) in [("server.workers", "1"), ("server.model", "boss-worker")] {
        let first = with(&site, key, value);
        let Endpoint::Tcp(address) = first.endpoint() else { panic!("{:?}", first.endpoint()) };
        let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8")).listen(&address.to_string());
        let ended = launch.set("server.share_port", "true").expect_failure();
        assert!(ended.stderr.contains("the port is taken"), "{key}: {ended:?}");
        assert_eq!(Client::connect(first.endpoint()).get("/ten.txt").status, 200);
    }
}
