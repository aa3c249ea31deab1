//! SIGHUP: a configuration is taken as a whole or not at all, and nobody's connection ends because of it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::process::Signal;

use super::{Ab, none_failed, signal, wait_for};
use crate::harness::{Client, Launch, Server, Site, machine_to_myself};

/// A server whose configuration is a file.
struct Reloadable {
    server: Server,
    file: PathBuf,
    _site: Site,
}

impl Reloadable {
    fn start(more: impl FnOnce(Launch) -> Launch, lines: &str) -> Self {
        let site = Site::small();
        let file = site.outer().join("bench.toml");
        fs::write(&file, with_root(&site, lines)).expect("a file");
        let launch = Launch::bare().flag("--config", file.to_str().expect("UTF-8")).listen("127.0.0.1:0");
        Self { server: more(launch).start(), file, _site: site }
    }

    fn write(&self, lines: &str) {
        fs::write(&self.file, with_root(&self._site, lines)).expect("a file");
    }

    /// Sends SIGHUP and waits for what the server says of it.
    #[track_caller]
    fn reload(&self, says: &str) {
        let count = |server: &Server| server.log().iter().filter(|line| line.contains(says)).count();
        let before = count(&self.server);
        signal(self.server.id(), Signal::HUP);
        wait_for(&format!("{says:?} in {:#?}", self.server.log()), || (count(&self.server) > before).then_some(()));
    }

    #[track_caller]
    fn becomes(&self, lines: &str) {
        self.write(lines);
        self.reload("the configuration is in force");
    }
}

fn with_root(site: &Site, lines: &str) -> String {
    let root = if lines.contains("server.root") { String::new() } else { format!("server.root = {:?}\n", site.root()) };
    format!("{root}server.workers = 2\n{lines}\n")
}

fn server_line(client: &mut Client) -> String {
    client.get("/ten.txt").header("server").unwrap_or_default().to_owned()
}

#[test]
fn new_connections_and_the_next_requests_of_old_ones_are_under_the_new_configuration() {
    for model in MODELS {
        let reloadable = Reloadable::start(|launch| launch.set("server.model", model), "headers.server = 'one'");
        let mut kept = reloadable.server.client();
        assert_eq!(server_line(&mut kept), "one");
        let mut begun = reloadable.server.client();
        begun.send("GET /ten.txt HTTP/1.1\r\n");
        reloadable.server.get("/ten.txt");

        reloadable.becomes("headers.server = 'two'\nheaders.style = 'nginx'");
        let kept_answer = kept.get("/ten.txt");
        assert_eq!(kept_answer.header("server"), Some("two"), "{model}");
        assert_eq!(server_line(&mut reloadable.server.client()), "two", "{model}");
        begun.send("Host: t\r\n\r\n");
        assert_eq!(begun.answer().expect("an answer").status, 200, "{model}");
        // Names are cased as nginx has them: what hyper was told is new as well.
        assert!(kept_answer.headers.iter().any(|(name, _)| name == "Content-Type"), "{model}: {kept_answer:?}");
    }
}

/// In `thread-per-connection` a connection that was open at a reload was under the old configuration for ever: its thread waits
/// inside of `recv`, looked only when hyper came back from there, and hyper asks for the next request by itself.
#[test]
fn open_connections_answer_from_the_new_folder_as_long_as_they_live() {
    let other = Site::empty();
    other.write("ten.txt", "another");
    let new = format!("server.root = {:?}\nheaders.server = 'two'\nlimits.target_bytes = 64", other.root());
    let too_long = format!("/{}", "x".repeat(100));
    for model in MODELS {
        let off = |launch: Launch| launch.set("server.model", model).set("socket.defer_accept", "off");
        let reloadable = Reloadable::start(off, "headers.server = 'one'");
        let connect = || reloadable.server.client();
        let (mut kept, mut pipelined, mut fresh, mut late) = (connect(), connect(), connect(), connect());
        for client in [&mut kept, &mut pipelined, &mut late] {
            assert_eq!(client.get("/ten.txt").text(), "0123456789", "{model}");
        }
        reloadable.becomes(&new);
        for _ in 0..3 {
            let answer = kept.get("/ten.txt");
            assert_eq!((&*answer.text(), answer.header("server")), ("another", Some("two")), "{model}");
        }
        // It has not asked for anything yet, and its thread waits all the same.
        assert_eq!(fresh.get("/ten.txt").text(), "another", "{model}");
        // Two at once, the second one broken in the middle: not a byte is lost or read twice.
        let one = "GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n";
        pipelined.send(format!("{one}GET /ten.t"));
        assert_eq!(pipelined.answer().expect("an answer").text(), "another", "{model}");
        pipelined.send("xt HTTP/1.1\r\nHost: t\r\n\r\n");
        assert_eq!(pipelined.answer().expect("an answer").text(), "another", "{model}");
        // The limit of the new configuration holds for the first bytes that come under it.
        assert_eq!(late.get(&too_long).status, 414, "{model}");
    }
}

const MODELS: [&str; 4] = ["event-loop", "boss-worker", "work-stealing", "thread-per-connection"];

#[test]
fn root_limits_quota_and_admission_change() {
    let other = Site::empty();
    other.write("ten.txt", "another");
    let reloadable = Reloadable::start(|launch| launch.set("server.max_connections", "2").with_admin(), "");
    let answer = reloadable.server.get("/ten.txt");
    assert_eq!(answer.text(), "0123456789");
    let lines = format!(
        "server.root = {:?}\nlimits.target_bytes = 64\nkeep_alive.max_requests = 2\nserver.profile = 'none'\n",
        other.root()
    );
    reloadable.becomes(&lines);
    let mut client = reloadable.server.client();
    assert_eq!(client.get("/ten.txt").text(), "another");
    let second = client.get("/ten.txt");
    assert!(second.says_close(), "{second:?}");
    client.expect_end();
    assert_eq!(reloadable.server.get(&format!("/{}", "x".repeat(100))).status, 414);
    // The counters are the server's and not the configuration's.
    let metrics = reloadable.server.metrics();
    assert_eq!(metrics.sum("quintain_http_requests_total", &["2xx"]), 3.0);
}

#[test]
fn more_connections_are_let_in() {
    let launch = |launch: Launch| launch.set("socket.defer_accept", "off").with_admin();
    let reloadable = Reloadable::start(launch, "server.max_connections = '1/worker'\nserver.model = 'work-stealing'");
    let mut inside: Vec<_> = (0..2).map(|_| reloadable.server.client()).collect();
    inside.iter_mut().for_each(|client| drop(client.get("/ten.txt")));
    let mut third = reloadable.server.client();
    third.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    reloadable.server.wait_for_metrics("one waiting", |m| m.sum("quintain_connections_waiting", &[]) == 1.0);
    assert!(third.is_quiet());
    reloadable.becomes("server.max_connections = '2/worker'\nserver.model = 'work-stealing'");
    assert_eq!(third.answer().expect("an answer").status, 200);
}

#[test]
fn deadlines_change_for_connections_that_wait_already() {
    let reloadable = Reloadable::start(|launch| launch, "keep_alive.timeout = '1h'");
    let mut idle = reloadable.server.client();
    idle.get("/ten.txt");
    reloadable.becomes("keep_alive.timeout = '1s'");
    idle.expect_end();
}

#[test]
fn logs_change() {
    let place = tempfile::tempdir().expect("a folder");
    let path = |name: &str| place.path().join(name);
    let reloadable = Reloadable::start(|launch| launch, &format!("log.access = {:?}", path("one.log")));
    let mut kept = reloadable.server.client();
    kept.get("/ten.txt?1");
    reloadable.becomes(&format!(
        "log.access = {:?}\nlog.access_format = 'json'\nlog.level = 'debug'\nlog.format = 'json'",
        path("two.log")
    ));
    kept.get("/ten.txt?2");
    reloadable.server.get("/ten.txt?3");
    reloadable.write(&format!("log.access = {:?}\nlog.file = {:?}", path("two.log"), path("own.log")));
    signal(reloadable.server.id(), Signal::HUP);
    wait_for("its own log in a file", || {
        fs::read_to_string(path("own.log")).ok().filter(|text| text.contains("in force"))
    });
    drop(kept);
    let Reloadable { server, .. } = reloadable;
    let ended = server.stop();
    assert!(ended.stderr.lines().any(|line| line.starts_with('{')), "{}", ended.stderr);
    assert!(!ended.stderr.contains("SIGTERM"), "{}", ended.stderr);
    let lines =
        |name: &str| fs::read_to_string(path(name)).expect("a log").lines().map(str::to_owned).collect::<Vec<_>>();
    let (one, two) = (lines("one.log"), lines("two.log"));
    assert!(one.len() == 1 && one[0].contains("/ten.txt?1"), "{one:?}");
    assert!(two.len() == 2 && two.iter().all(|line| line.starts_with('{')), "{two:?}");
}

/// Each left a thread and an open file behind, up to sixteen of them, and deleted files kept their room on the disk.
#[test]
fn an_access_log_that_was_replaced_is_closed() {
    let place = tempfile::tempdir().expect("a folder");
    let lines = |number: usize| format!("log.access = {:?}", place.path().join(format!("{number}.log")));
    let reloadable = Reloadable::start(|launch| launch, &lines(0));
    let mut idle = reloadable.server.client();
    idle.get("/ten.txt");
    for number in 1..6 {
        reloadable.becomes(&lines(number));
    }
    let proc = format!("/proc/{}", reloadable.server.id());
    let folder =
        |name: &str| fs::read_dir(format!("{proc}/{name}")).expect("it runs").flatten().map(|entry| entry.path());
    wait_for("one access log", || {
        let threads = folder("task").filter_map(|task| fs::read_to_string(task.join("comm")).ok());
        let files = folder("fd").filter_map(|link| fs::read_link(link).ok());
        let open = files.filter(|file| file.starts_with(place.path())).count();
        (open == 1 && threads.filter(|name| name.trim() == "access-log").count() == 1).then_some(())
    });
}

/// One thread wrote to whatever the log was, and waited for the old pipe when the log was a file again.
#[test]
fn a_log_that_takes_nothing_can_be_left() {
    let place = tempfile::tempdir().expect("a folder");
    let (pipe, file) = (place.path().join("pipe"), place.path().join("log"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).expect("a pipe");
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut full = fs::File::options().read(true).write(true).custom_flags(flags).open(&pipe).expect("a pipe");
    let written = (0..100_000).take_while(|_| full.write(&[b'x'; 4096]).is_ok()).count();
    assert!((1..100_000).contains(&written), "a pipe has a bound");

    let reloadable = Reloadable::start(|launch| launch, "");
    for (server, log) in [("in the pipe", &pipe), ("in the file", &file)] {
        reloadable.write(&format!("headers.server = {server:?}\nlog.file = {log:?}"));
        signal(reloadable.server.id(), Signal::HUP);
        wait_for(server, || (server_line(&mut reloadable.server.client()) == server).then_some(()));
    }
    wait_for("a line", || fs::read_to_string(&file).is_ok_and(|text| text.contains("in force")).then_some(()));
}

/// Lines of the server's own log that a full disk had cost were counted nowhere.
#[test]
fn lines_of_its_own_log_that_are_lost_are_counted() {
    let reloadable = Reloadable::start(Launch::with_admin, "");
    let lost = |server: &Server| server.metrics().sum("quintain_log_lost_total", &[]);
    assert_eq!(lost(&reloadable.server), 0.0);
    reloadable.write("log.file = '/dev/full'");
    for count in [1.0, 2.0] {
        signal(reloadable.server.id(), Signal::HUP);
        wait_for("a lost line", || (lost(&reloadable.server) >= count).then_some(()));
    }
}

#[test]
fn a_broken_file_leaves_the_old_configuration_in_force() {
    let reloadable = Reloadable::start(|launch| launch, "headers.server = 'old'");
    let missing = reloadable._site.path("missing");
    for (lines, says) in [
        ("headers.server = = 'new'", "not TOML"),
        ("headers.server = 'new'\nsite.indx = 'a'", "did you mean site.index"),
        ("headers.server = 'new'\nkeep_alive.timeout = 5", "expected a duration"),
        (&*format!("headers.server = 'new'\nserver.root = {missing:?}"), "missing"),
        ("headers.server = 'new'\nlog.access = '/nonexistent/a.log'", "/nonexistent/a.log"),
        ("headers.server = 'new'\nlog.file = '/nonexistent/a.log'", "/nonexistent/a.log"),
    ] {
        reloadable.write(lines);
        reloadable.reload("refused, the old configuration stays in force");
        let log = reloadable.server.log();
        assert!(log.iter().any(|line| line.contains("refused") && line.contains(says)), "{says}: {log:#?}");
        assert_eq!(server_line(&mut reloadable.server.client()), "old", "{lines}");
    }
    reloadable.becomes("headers.server = 'new'");
    assert_eq!(server_line(&mut reloadable.server.client()), "new");
}

/// A file that had vanished put the defaults in force; a pipe in its place was waited for by the thread that hears the
/// signals, and SIGTERM was not heard any more.
#[test]
fn a_file_that_is_gone_or_a_pipe_leaves_the_old_configuration_in_force() {
    let site = Site::small();
    fs::write(site.outer().join("config.toml"), with_root(&site, "headers.server = 'old'")).expect("a file");
    // Found in the working directory: nobody has named it.
    let launch = Launch::bare().in_directory(site.outer()).listen("127.0.0.1:0");
    let file = site.outer().join("config.toml");
    let reloadable = Reloadable { server: launch.start(), file: file.clone(), _site: site };
    fs::remove_file(&file).expect("it is there");
    reloadable.reload("config.toml, with which the server was started, cannot be found");
    assert_eq!(server_line(&mut reloadable.server.client()), "old");
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR).expect("a pipe");
    reloadable.reload("config.toml, with which the server was started, is not a file any more");
    assert_eq!(server_line(&mut reloadable.server.client()), "old");
    fs::remove_file(&file).expect("it is there");
    reloadable.becomes("headers.server = 'new'");
    assert_eq!(server_line(&mut reloadable.server.client()), "new");
}

#[test]
fn what_the_start_has_used_up_is_named_and_refuses_the_whole() {
    let reloadable = Reloadable::start(|launch| launch, "headers.server = 'old'");
    reloadable.write("headers.server = 'new'\nserver.backlog = 7\nsocket.nodelay = false");
    reloadable.reload("socket.nodelay = false (");
    let file = reloadable.file.display();
    let says = format!(
        "server.backlog = 7 ({file}:4; it was 4096) and socket.nodelay = false ({file}:5; it was true) cannot change while \
         the server runs"
    );
    let log = reloadable.server.log();
    assert!(log.iter().any(|line| line.contains(&says)), "{says}: {log:#?}");
    assert_eq!(server_line(&mut reloadable.server.client()), "old");
}

/// `ab` reads one answer after the other on ten connections: a connection that were closed or an answer that were lost, torn
/// or mixed from two configurations would be a failed request or another length.
#[test]
fn a_hundred_thousand_requests_and_twenty_reloads() {
    let _alone = machine_to_myself();
    const REQUESTS: u64 = 100_000;
    // In turn, so that each reload changes something in what is sent; the length stays the same, because `ab` compares it.
    let lines = |turn: usize| {
        format!("headers.server = 'turn-{turn:02}'\nheaders.style = '{}'", ["quintain", "nginx"][turn % 2])
    };
    let reloadable = Reloadable::start(|launch| launch, &lines(0));
    let url = reloadable.server.url("/ten.txt");
    let descriptors = || fs::read_dir(format!("/proc/{}/fd", reloadable.server.id())).expect("it runs").count();
    let mut idle = reloadable.server.client();
    server_line(&mut idle);
    let before = descriptors();
    let Some(mut ab) = Ab::start(&["-q", "-k", "-n", &REQUESTS.to_string(), "-c", "10", &url]) else { return };
    let mut during = 0;
    for turn in 1..=20 {
        reloadable.becomes(&lines(turn));
        during += usize::from(ab.is_running());
        assert_eq!(server_line(&mut reloadable.server.client()), format!("turn-{turn:02}"));
    }
    let report = ab.finish();
    none_failed(&report, REQUESTS);
    assert_eq!(crate::peers::figure(&report, "Keep-Alive requests:"), Some(REQUESTS), "{report}");
    assert!(during > 0, "ab had ended before the first reload");
    // A configuration that is in force no more is let go, also by a connection that has done nothing since. Each of the
    // twenty has the root open in both workers; some connections may be on their way still.
    const ON_THE_WAY: usize = 12;
    wait_for("an end of the old configurations", || (descriptors() <= before + ON_THE_WAY).then_some(()));
    drop(idle);
}
