//! Starts that cannot succeed: an exit code that says whose fault it is, and one sentence with the way out.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::harness::{Endpoint, Launch, Server, Site};

/// The machine or the folder is not as it should be.
const CANNOT: i32 = 1;

/// What was typed or configured is wrong.
const MISTAKE: i32 = 2;

/// Runs a launch that has to fail with this code and a message that contains all of `words`.
#[track_caller]
fn fails(launch: Launch, code: i32, words: &[&str]) {
    let ended = launch.expect_failure();
    assert_eq!(ended.status.code(), Some(code), "{ended:?}");
    for word in words {
        assert!(ended.stderr.contains(word), "{word:?} is missing in: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

/// The same for messages of the server itself: one line that begins with its name.
#[track_caller]
fn fails_in_one_sentence(launch: Launch, code: i32, words: &[&str]) {
    let ended = launch.clone().expect_failure();
    let own: Vec<_> = ended.stderr.lines().filter(|line| line.starts_with("quintain: ")).collect();
    assert_eq!(own.len(), 1, "not one sentence: {:?}", ended.stderr);
    fails(launch, code, words);
}

fn port_of(server: &Server) -> String {
    match server.endpoint() {
        Endpoint::Tcp(address) => address.to_string(),
        Endpoint::Unix(path) => panic!("no port at {path:?}"),
    }
}

fn on(address: &str) -> Launch {
    Launch::bare().flag("--listen", address)
}

#[test]
fn the_port_is_taken_by_another_of_its_kind() {
    let site = Site::small();
    let server = Server::over(&site);
    let second = on(&port_of(&server)).flag("--root", site.root().to_str().expect("UTF-8"));
    fails_in_one_sentence(second, CANNOT, &["taken", "--listen", &port_of(&server)]);
    assert_eq!(server.get("/ten.txt").status, 200);
}

#[test]
fn the_port_is_taken_by_another_program() {
    let site = Site::small();
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = other.local_addr().expect("an address").to_string();
    let launch = on(&address).flag("--root", site.root().to_str().expect("UTF-8"));
    fails_in_one_sentence(launch, CANNOT, &["taken", "--listen", &address]);
}

/// It named two settings that do not apply to the admin listener, and one that was set already.
#[test]
fn a_taken_port_is_told_with_the_way_out_of_whose_it_is() {
    let site = Site::small();
    let first = Launch::over(site.root()).set("server.share_port", "true").with_admin().start();
    let Endpoint::Tcp(admin) = first.admin() else { panic!("no TCP") };
    let second = on(&port_of(&first)).flag("--root", site.root().to_str().expect("UTF-8"));
    let second = second.set("server.share_port", "true");
    let ended = second.clone().set("admin.listen", &admin.to_string()).expect_failure();
    let own: Vec<_> = ended.stderr.lines().filter(|line| line.starts_with("quintain: ")).collect();
    let sentence = format!(
        "quintain: cannot listen on {admin}: the port is taken, and an admin listener is never shared; stop the server that has it, \
         or set admin.listen to another port or to \"off\""
    );
    assert_eq!(own, [sentence]);
    let _beside = second.start();
    let alone = Server::over(&site);
    let sharing = on(&port_of(&alone)).flag("--root", site.root().to_str().expect("UTF-8"));
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let unshared = other.local_addr().expect("an address").to_string();
    fails_in_one_sentence(sharing, CANNOT, &["or see server.share_port"]);
    let sharing = on(&unshared).flag("--root", site.root().to_str().expect("UTF-8")).set("server.share_port", "true");
    fails_in_one_sentence(sharing, CANNOT, &["server.share_port has to be true in both"]);
}

/// Where init or cron starts it, nobody reads stderr.
#[test]
fn a_start_in_the_background_that_fails_stands_in_the_log_too() {
    let site = Site::small();
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let log = site.outer().join("server.log");
    let launch = on(&other.local_addr().expect("an address").to_string())
        .flag("--root", site.root().to_str().expect("UTF-8"))
        .switch("--daemon")
        .set("log.file", log.to_str().expect("UTF-8"));
    let output = launch.command().output().expect("it runs");
    assert_eq!(output.status.code(), Some(CANNOT), "{output:?}");
    let written = fs::read_to_string(&log).expect("a log");
    assert!(written.contains("ERROR") && written.contains("the port is taken"), "{written}");
}

#[test]
fn the_address_is_not_this_machines() {
    let site = Site::small();
    // RFC 5737 keeps this network for documentation.
    let launch = on("192.0.2.1:0").flag("--root", site.root().to_str().expect("UTF-8"));
    fails_in_one_sentence(launch, CANNOT, &["192.0.2.1"]);
}

#[test]
fn the_root_is_missing() {
    let site = Site::empty();
    let missing = site.path("missing");
    fails_in_one_sentence(Launch::over(&missing), CANNOT, &[missing.to_str().expect("UTF-8"), "--root"]);
}

/// The listing is printed all the same: it says who named the folder.
#[test]
fn a_check_finds_that_the_root_is_missing() {
    let site = Site::empty();
    let missing = site.path("missing");
    let serving = Launch::over(&missing).expect_failure();
    let checking = Launch::over(&missing).command().arg("--check").output().expect("it runs");
    assert_eq!(checking.status.code(), Some(CANNOT));
    assert_eq!(String::from_utf8_lossy(&checking.stderr).trim_end(), serving.stderr.trim_end());
    let listing = String::from_utf8(checking.stdout).expect("UTF-8");
    assert!(listing.contains(missing.to_str().expect("UTF-8")) && listing.contains("admin.listen"), "{listing}");
}

/// `--check` had no word for any of these, and each of them stopped the start.
#[test]
fn a_check_finds_what_a_start_would_refuse() {
    let site = Site::small();
    let missing = |name: &str| site.path(name).to_str().expect("UTF-8").to_owned();
    let root = site.root().to_str().expect("UTF-8");
    let here = || Launch::over(site.root());
    fs::write(site.outer().join("full.pid"), "something else\n").expect("a file");
    fs::write(site.outer().join("no-socket"), "").expect("a file");
    let beside = |name: &str| site.outer().join(name).to_str().expect("UTF-8").to_owned();
    let launches = [
        here().set("log.file", &missing("no/server.log")),
        here().set("log.access", &missing("no/access.log")),
        here().set("log.access", &beside("no-socket/access.log")),
        here().flag("--pid-file", &missing("no/pid")),
        here().flag("--pid-file", &beside("full.pid")),
        here().flag("--pid-file", "/dev/null"),
        here().flag("--user", "no-such-user"),
        here().set("socket.congestion", "nonesuch"),
        here().descriptors(16),
        on(&format!("unix:{}", missing("no/socket"))).flag("--root", root),
        on(&format!("unix:{}", beside("no-socket"))).flag("--root", root),
        on("192.0.2.1:0").flag("--root", root),
        here().set("admin.listen", "192.0.2.1:0"),
    ];
    for launch in launches {
        let started = launch.clone().expect_failure();
        let checked = launch.command().arg("--check").output().expect("it runs");
        assert_eq!(checked.status.code(), Some(CANNOT), "{started:?}");
        let says = |text: &str| text.lines().filter(|line| line.starts_with("quintain: ")).collect::<String>();
        assert_eq!(says(&String::from_utf8_lossy(&checked.stderr)), says(&started.stderr));
    }
}

#[test]
fn a_check_tells_all_that_it_finds() {
    let site = Site::empty();
    let missing = site.path("missing");
    let launch = Launch::over(&missing).set("socket.congestion", "nonesuch").flag("--user", "no-such-user");
    let output = launch.command().arg("--check").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    for word in ["no-such-user", "nonesuch", "missing"] {
        assert!(said.contains(word), "{word:?} is missing in: {said}");
    }
}

/// It is asked for beside the server that it is about, before a reload of it or its next start.
#[test]
fn a_check_leaves_everything_as_it_is() {
    let site = Site::small();
    let name = |name: &str| site.outer().join(name).to_str().expect("UTF-8").to_owned();
    let launch = Launch::over(site.root())
        .flag("--pid-file", &name("pid"))
        .set("log.file", &name("server.log"))
        .set("log.access", &name("access.log"));
    let check = |launch: &Launch| launch.command().arg("--check").output().expect("it runs");
    let output = check(&launch);
    assert!(output.status.success(), "{output:?}");
    for file in ["pid", "server.log", "access.log"] {
        assert!(!site.outer().join(file).exists(), "{file} was made");
    }
    let server =
        Launch::over(site.root()).flag("--pid-file", &name("pid")).set("log.access", &name("access.log")).start();
    let output = check(&launch.flag("--listen", &port_of(&server)));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(server.get("/ten.txt").status, 200);
    let second = Launch::over(site.root()).flag("--pid-file", &name("pid"));
    assert!(second.expect_failure().stderr.contains("already running"), "the look took the lock away");
}

/// A full disk behind the log must not turn the exit code into that of a panic.
#[test]
fn the_exit_code_is_the_same_when_stderr_is_full() {
    let site = Site::small();
    let missing = Launch::over(&site.path("missing"));
    let mistaken = Launch::over(site.root()).set("site.indx", "a.html");
    for (launch, code) in [(missing, CANNOT), (mistaken, MISTAKE)] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let status = launch.command().stderr(full).status().expect("it runs");
        assert_eq!(status.code(), Some(code));
    }
}

/// Nor does a pipe that nobody reads.
#[test]
fn the_exit_code_is_the_same_when_nobody_reads_stderr() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let site = Site::small();
    let launch = Launch::over(site.root()).set("site.indx", "a.html");
    let status = launch.command().stderr(writer).status().expect("it runs");
    assert_eq!(status.code(), Some(MISTAKE));
}

/// `quintain doctor > report` on a full disk was a success with an empty report, and so were the version and the help.
#[test]
fn what_cannot_be_printed_is_no_success() {
    let site = Site::small();
    let (root, out) = (site.root().to_str().expect("UTF-8"), site.outer().join("documents"));
    let fixtures = format!("fixtures --size 1k --out {}", out.display());
    let check = format!("serve --check --root {root}");
    let rows = ["--version", "--help", "serve --help", "help stop", "doctor --connections 10", &check, &fixtures];
    for words in rows {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
        let output = command.args(words.split(' ')).stdout(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(CANNOT), "{words}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, "quintain: cannot write to stdout: No space left on device (os error 28)\n", "{words}");
    }
}

/// `| head` has had enough.
#[test]
fn a_reader_that_has_gone_needs_no_word() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_quintain")).arg("--help").stdout(writer).output().expect("it runs");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(CANNOT), 0), "{output:?}");
}

#[test]
fn the_root_is_a_file() {
    let site = Site::small();
    let file = site.path("ten.txt");
    fails_in_one_sentence(Launch::over(&file), CANNOT, &[file.to_str().expect("UTF-8"), "--root"]);
}

#[test]
fn the_root_may_not_be_read() {
    let site = Site::empty();
    let closed = site.path("closed");
    fs::create_dir(&closed).expect("a folder");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("mode 0");
    if let Some(launch) = Launch::over(&closed).unprivileged() {
        fails_in_one_sentence(launch, CANNOT, &[closed.to_str().expect("UTF-8"), "ermission"]);
    }
}

#[test]
fn there_are_too_few_descriptors() {
    let site = Site::small();
    fails_in_one_sentence(Launch::over(site.root()).descriptors(16), CANNOT, &["descriptors", "ulimit -n"]);
}

#[test]
fn the_congestion_control_does_not_exist() {
    let site = Site::small();
    let launch = Launch::over(site.root()).set("socket.congestion", "nonesuch");
    fails_in_one_sentence(launch, CANNOT, &["nonesuch", "socket.congestion"]);
}

#[test]
fn the_access_log_cannot_be_written() {
    let site = Site::small();
    let path = site.path("missing/access.log");
    let launch = Launch::over(site.root()).set("log.access", path.to_str().expect("UTF-8"));
    fails_in_one_sentence(launch, CANNOT, &["access log", "access.log"]);
}

#[test]
fn the_unix_sockets_folder_is_missing() {
    let site = Site::small();
    let address = format!("unix:{}", site.path("missing/s").display());
    let launch = on(&address).flag("--root", site.root().to_str().expect("UTF-8"));
    fails_in_one_sentence(launch, CANNOT, &["missing/s", "folder"]);
}

#[test]
fn a_flag_is_unknown() {
    fails(Launch::bare().flag("--wrokers", "2"), MISTAKE, &["--wrokers", "--workers"]);
}

#[test]
fn a_command_is_unknown() {
    let output = Command::new(env!("CARGO_BIN_EXE_quintain")).arg("sevre").output().expect("it runs");
    assert_eq!(output.status.code(), Some(MISTAKE));
    assert!(String::from_utf8_lossy(&output.stderr).contains("serve"));
}

/// A configuration file with these lines, in a folder of its own.
fn configured(lines: &str) -> (Site, Launch) {
    let site = Site::small();
    let file = site.outer().join("bench.toml");
    fs::write(&file, lines).expect("a file");
    let launch = Launch::over(site.root()).flag("--config", file.to_str().expect("UTF-8"));
    (site, launch)
}

#[test]
fn a_key_of_the_configuration_is_unknown() {
    let (_site, launch) = configured("# comment\n[server]\nwokers = 2\n");
    fails(launch, MISTAKE, &["bench.toml:3", "server.wokers", "did you mean server.workers"]);
}

#[test]
fn a_section_of_the_configuration_is_unknown() {
    let (_site, launch) = configured("[sever]\nworkers = 2\n");
    fails(launch, MISTAKE, &["bench.toml", "sever"]);
}

#[test]
fn a_value_of_the_configuration_is_wrong() {
    let (_site, launch) = configured("[keep_alive]\nenabled = true\ntimeout = 75\n");
    fails(launch, MISTAKE, &["bench.toml:3", "keep_alive.timeout", "duration"]);
}

#[test]
fn every_mistake_of_the_configuration_is_told() {
    let (_site, launch) = configured("[server]\nworkers = \"many\"\n[site]\nhidden = \"perhaps\"\n");
    fails(launch, MISTAKE, &["bench.toml:2", "server.workers", "bench.toml:4", "site.hidden"]);
}

#[test]
fn the_configuration_is_no_toml() {
    let (_site, launch) = configured("[server]\nworkers = = 2\n");
    fails(launch, MISTAKE, &["bench.toml", "2"]);
}

#[test]
fn the_configuration_is_missing() {
    let site = Site::small();
    let launch = Launch::over(site.root()).flag("--config", "/missing/bench.toml");
    fails_in_one_sentence(launch, MISTAKE, &["/missing/bench.toml"]);
}

#[test]
fn a_setting_on_the_command_line_is_unknown() {
    let site = Site::small();
    let launch = Launch::over(site.root()).set("site.indx", "a.html");
    fails_in_one_sentence(launch, MISTAKE, &["--set", "site.indx", "did you mean", "site.index"]);
}

#[test]
fn a_setting_on_the_command_line_is_wrong() {
    let site = Site::small();
    fails(Launch::over(site.root()).set("limits.head_bytes", "1k"), MISTAKE, &["limits.head_bytes", "size"]);
    fails(Launch::over(site.root()).flag("--set", "limits.head_bytes"), MISTAKE, &["KEY=VALUE"]);
}

#[test]
fn a_setting_in_the_environment_is_unknown() {
    let site = Site::small();
    let launch = Launch::over(site.root()).env("QUINTAIN_SERVER__WOKERS", "2");
    fails_in_one_sentence(launch, MISTAKE, &["QUINTAIN_SERVER__WOKERS", "QUINTAIN_SERVER__WORKERS"]);
}

#[test]
fn a_setting_in_the_environment_is_wrong() {
    let site = Site::small();
    let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8"));
    let launch = launch.listen("127.0.0.1:0").env("QUINTAIN_SERVER__WORKERS", "many");
    fails(launch, MISTAKE, &["QUINTAIN_SERVER__WORKERS", "1024"]);
}

/// `cd site; quintain serve --root .` gave the configuration away without a word.
#[test]
fn a_configuration_that_clients_can_ask_for_is_remarked_on() {
    let words = "in the folder that is served, and given to whoever asks for it";
    for (name, more, is_given) in
        [("bench.toml", "", true), (".q.toml", "", false), (".q.toml", "site.hidden = true", true)]
    {
        let site = Site::small();
        site.write(name, more);
        let file = site.path(name);
        let server = Launch::over(site.root()).flag("--config", file.to_str().expect("UTF-8")).start();
        assert_eq!(server.get(&format!("/{name}")).status == 200, is_given, "{name} {more}");
        assert_eq!(
            server.log().iter().filter(|line| line.contains(words)).count(),
            usize::from(is_given),
            "{name} {more}"
        );
    }
    let site = Site::small();
    let file = site.outer().join("bench.toml");
    fs::write(&file, "").expect("a file");
    let server = Launch::over(site.root()).flag("--config", file.to_str().expect("UTF-8")).start();
    assert!(!server.log().iter().any(|line| line.contains(words)), "{:?}", server.log());
}

/// Forgetting `--user` was not noticed: the server served as root.
#[test]
fn a_server_that_stays_root_says_so() {
    let site = Site::small();
    let stays = |launch: Launch| {
        let ended = launch.start().stop();
        ended.stderr.lines().filter(|line| line.contains("WARN") && line.contains("--user")).count()
    };
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(stays(Launch::over(site.root())), usize::from(is_root));
    if is_root {
        assert_eq!(stays(Launch::over(site.root()).set("process.user", "root")), 0, "somebody meant it");
    }
}
