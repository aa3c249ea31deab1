//! `--user`: root is left behind before the first request is served.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Daemon, stderr, wait_for};
use crate::harness::{Client, Endpoint, Launch, Site, TEN, say_skipped};

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
    let check = Launch::over(site.root()).flag("--user", NOBODY).switch("--check").command().output().expect("it runs");
    assert_eq!(check.status.code(), Some(1), "{check:?}");
    assert_eq!(stderr(&check).trim_end(), ended.stderr.trim_end());
    open_to_all(site.root(), 0o755);
    let check = Launch::over(site.root()).flag("--user", NOBODY).switch("--check").command().output().expect("it runs");
    assert!(check.status.success(), "{check:?}");
}

#[test]
fn a_user_that_does_not_exist_is_named() {
    let site = Site::small();
    let ended = Launch::over(site.root()).flag("--user", "no-such-user").expect_failure();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("no user \"no-such-user\""), "{ended:?}");
}

/// It was root's, and to connect is to write: nobody but root could.
#[test]
fn a_unix_socket_is_the_users() {
    let Some(site) = site() else { return };
    let socket = |name: &str| site.outer().join(name);
    let address = |name: &str| format!("unix:{}", socket(name).display());
    let launch = Launch::over(site.root()).flag("--user", NOBODY).listen(&address("site.sock"));
    let server = launch.set("admin.listen", &address("admin.sock")).start();
    for name in ["site.sock", "admin.sock"] {
        let facts = fs::metadata(socket(name)).expect("a socket");
        assert_eq!((facts.uid(), facts.gid()), (65534, 65534), "{name}");
    }
    assert_eq!(Client::connect(&Endpoint::Unix(socket("site.sock"))).get("/ten.txt").status, 200);
    server.stop();
}

// === Names that lead elsewhere ===

/// A file of root's, beside the site, that nobody else may have or write to.
fn treasure(site: &Site) -> PathBuf {
    let file = site.outer().join("treasure");
    fs::write(&file, "root's own\n").expect("a file");
    open_to_all(&file, 0o600);
    file
}

#[track_caller]
fn is_untouched(treasure: &Path) {
    assert_eq!(fs::read_to_string(treasure).expect("it is there"), "root's own\n");
    assert_eq!(fs::metadata(treasure).expect("it is there").uid(), 0, "given away");
}

/// Root opened whatever the log's name led to, and made the user its owner: who could write to the log's folder could have
/// any file of the machine by a link in the log's place.
#[test]
fn a_link_in_the_place_of_a_log_gives_nothing_away() {
    let Some(site) = site() else { return };
    let treasure = treasure(&site);
    let (soft, hard) = (site.outer().join("soft.log"), site.outer().join("hard.log"));
    symlink(&treasure, &soft).expect("a link");
    fs::hard_link(&treasure, &hard).expect("a link");
    for key in ["log.file", "log.access"] {
        for (link, word) in [(&soft, "symbolic link"), (&hard, "hard link")] {
            for launch in [Launch::over(site.root()), Launch::over(site.root()).flag("--user", NOBODY)] {
                let ended = launch.set(key, link.to_str().expect("UTF-8")).expect_failure();
                assert_eq!(ended.status.code(), Some(1), "{ended:?}");
                let names = link.to_str().expect("UTF-8");
                assert!(ended.stderr.contains(word) && ended.stderr.contains(names), "{key}: {ended:?}");
                is_untouched(&treasure);
            }
        }
    }
}

/// The same one step before: the folder of the log is a link that the user has made.
#[test]
fn a_link_of_somebody_else_on_the_way_to_a_log_is_not_followed() {
    let Some(site) = site() else { return };
    let (theirs, private) = (site.outer().join("theirs"), site.outer().join("private"));
    fs::create_dir(&theirs).expect("a folder");
    fs::create_dir(&private).expect("a folder");
    chown(&theirs, Some(65534), Some(65534)).expect("root may");
    symlink(&private, theirs.join("logs")).expect("a link");
    symlink(&private, site.outer().join("logs")).expect("a link");
    let start =
        |log: &Path| Launch::over(site.root()).flag("--user", NOBODY).set("log.access", log.to_str().expect("UTF-8"));
    let ended = start(&theirs.join("logs/access.log")).expect_failure();
    assert!(ended.stderr.contains("symbolic link \"logs\""), "{ended:?}");
    assert_eq!(fs::read_dir(&private).expect("a folder").count(), 0);
    // Root's own link is root's own decision.
    start(&site.outer().join("logs/access.log")).start().stop();
    assert_eq!(fs::metadata(private.join("access.log")).expect("a log").uid(), 65534);
}

/// Between the looks at a file's names somebody can take one away. So what is there already is given only where root alone
/// could have put it.
#[test]
fn a_file_is_given_where_only_root_could_have_put_it() {
    let Some(site) = site() else { return };
    let theirs = site.outer().join("theirs");
    fs::create_dir(&theirs).expect("a folder");
    chown(&theirs, Some(65534), Some(65534)).expect("root may");
    let start =
        |log: &Path| Launch::over(site.root()).flag("--user", NOBODY).set("log.access", log.to_str().expect("UTF-8"));
    let owner = |log: &Path| fs::metadata(log).expect("a log").uid();
    let (ours, old) = (site.outer().join("access.log"), theirs.join("old.log"));
    fs::write(&ours, "a line\n").expect("a file");
    fs::write(&old, "a line\n").expect("a file");
    start(&ours).start().stop();
    assert_eq!(owner(&ours), 65534);
    let ended = start(&old).expect_failure();
    assert!(ended.stderr.contains("belongs to user 0") && ended.stderr.contains("chown"), "{ended:?}");
    assert_eq!(owner(&old), 0);
    // One that is made now is nobody else's, and one that is the user's stays so.
    let new = theirs.join("new.log");
    for _ in 0..2 {
        start(&new).start().stop();
        assert_eq!(owner(&new), 65534);
    }
}

/// A device belongs to the machine: /dev/null was the user's after a start with it.
#[test]
fn a_device_is_written_to_and_not_given() {
    let Some(site) = site() else { return };
    let device = site.outer().join("null");
    let made = Command::new("mknod").arg(&device).args(["c", "1", "3"]).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return say_skipped("root may not make devices here");
    }
    let launch = Launch::over(site.root()).flag("--user", NOBODY).set("log.access", device.to_str().expect("UTF-8"));
    let server = launch.start();
    server.get("/ten.txt");
    server.stop();
    assert_eq!(fs::metadata(&device).expect("a device").uid(), 0);
}

/// As in a container, where the name is a link to a link.
#[test]
fn a_log_on_dev_stdout_needs_no_file() {
    let Some(site) = site() else { return };
    let server = Launch::over(site.root()).flag("--user", NOBODY).set("log.access", "/dev/stdout").start();
    server.get("/ten.txt");
    server.terminate();
    let (ended, stdout) = server.wait_with_stdout();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(stdout.contains("/ten.txt"), "{stdout}");
}

/// `cargo test` is often root's, the server rarely.
fn as_nobody(launch: &Launch) -> Command {
    let inner = launch.command();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(inner.get_program()).args(inner.get_args());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// /var/log/quintain is one under a unit with DynamicUser.
#[test]
fn who_is_not_root_follows_any_link_to_a_folder() {
    let Some(site) = site() else { return };
    let (logs, link) = (site.outer().join("logs"), site.outer().join("link"));
    fs::create_dir(&logs).expect("a folder");
    chown(&logs, Some(65534), Some(65534)).expect("root may");
    symlink(&logs, &link).expect("a link");
    let launch = Launch::over(site.root()).set("log.file", link.join("server.log").to_str().expect("UTF-8"));
    let Ok(mut server) = as_nobody(&launch).spawn() else { return say_skipped("setpriv is not installed") };
    let serves = || fs::read_to_string(logs.join("server.log")).is_ok_and(|log| log.contains("listening on"));
    let ended = wait_for("a log, or an end", || {
        let ended = server.try_wait().expect("our child");
        (serves() || ended.is_some()).then_some(ended)
    });
    assert!(ended.is_none(), "{:?}", server.wait_with_output());
    super::signal(server.id(), rustix::process::Signal::TERM);
    assert!(server.wait().expect("our child").success());
}

/// Who is not root could not become anybody, and the server said "Operation not permitted" of the log.
#[test]
fn who_is_not_root_becomes_nobody_else() {
    let Some(site) = site() else { return };
    let log = site.outer().join("server.log");
    let launch = Launch::over(site.root()).flag("--user", "12345:12345").set("log.file", log.to_str().expect("UTF-8"));
    let Ok(output) = as_nobody(&launch).output() else { return say_skipped("setpriv is not installed") };
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("cannot become the user 12345:12345"), "{output:?}");
    assert!(stderr(&output).contains("start as root, or leave --user away"), "{output:?}");
    assert!(!log.exists());
}

/// Securebits and ambient capabilities outlive the change of the user id: it served root's own files as www-data.
#[test]
fn whoever_would_keep_capabilities_is_refused() {
    let Some(site) = site() else { return };
    let command = Launch::over(site.root()).flag("--user", NOBODY).command();
    let kept = Command::new("setpriv")
        .args(["--securebits", "+no_setuid_fixup"])
        .arg(command.get_program())
        .args(command.get_args())
        .output()
        .expect("setpriv");
    assert_eq!(kept.status.code(), Some(1), "{kept:?}");
    assert!(stderr(&kept).contains("would still have capabilities"), "{kept:?}");
}
