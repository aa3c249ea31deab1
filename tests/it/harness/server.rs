//! The real binary as a child process that ends with the test.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Client, Endpoint, Metrics, PATIENCE, Response, Site, say_skipped};

/// Log lines kept of one server.
const LOG_LINES: usize = 10_000;

/// How a server is to be started.
#[derive(Clone)]
pub struct Launch {
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    directory: Option<PathBuf>,
    descriptors: Option<u64>,
    unprivileged: bool,
    listeners: usize,
    admin: bool,
}

impl Launch {
    /// `quintain serve` and nothing else.
    pub fn bare() -> Self {
        Self {
            arguments: vec!["serve".to_owned()],
            environment: Vec::new(),
            directory: None,
            descriptors: None,
            unprivileged: false,
            listeners: 1,
            admin: false,
        }
    }

    /// One worker on a free port over `root`. A later `set` of either counts more.
    pub fn over(root: &Path) -> Self {
        Self::bare()
            .flag("--root", root.to_str().expect("a UTF-8 path"))
            .set("server.workers", "1")
            .listen("127.0.0.1:0")
    }

    pub fn flag(mut self, name: &str, value: &str) -> Self {
        self.arguments.extend([name.to_owned(), value.to_owned()]);
        self
    }

    /// A flag without a value.
    pub fn switch(mut self, name: &str) -> Self {
        self.arguments.push(name.to_owned());
        self
    }

    /// One more address; [`Launch::over`] has given the first.
    pub fn listen(mut self, address: &str) -> Self {
        self.listeners = self.arguments.iter().filter(|argument| *argument == "--listen").count() + 1;
        self.flag("--listen", address)
    }

    pub fn set(self, key: &str, value: &str) -> Self {
        self.flag("--set", &format!("{key}={value}"))
    }

    pub fn with_admin(mut self) -> Self {
        self.admin = true;
        self.set("admin.listen", "127.0.0.1:0")
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn in_directory(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    /// Starts it under a descriptor limit, soft and hard.
    pub fn descriptors(mut self, limit: u64) -> Self {
        self.descriptors = Some(limit);
        self
    }

    /// Starts it as somebody to whom file permissions apply. `None`, with a word about it, if that cannot be done here.
    pub fn unprivileged(mut self) -> Option<Self> {
        self.unprivileged = rustix::process::geteuid().is_root();
        let possible = !self.unprivileged || Command::new("setpriv").arg("--version").output().is_ok();
        if !possible {
            say_skipped("file permissions do not apply to root, and setpriv is not installed");
        }
        possible.then_some(self)
    }

    /// Expects that many addresses to be announced, where they are not given by [`Launch::listen`].
    pub fn announcing(mut self, listeners: usize) -> Self {
        self.listeners = listeners;
        self
    }

    /// Starts the server and waits until it says that it listens.
    #[track_caller]
    pub fn start(self) -> Server {
        match self.try_start() {
            Ok(server) => server,
            Err(ended) => panic!("the server did not start: {ended:?}"),
        }
    }

    /// Starts the server; an end before it listens is a value.
    pub fn try_start(self) -> Result<Server, Ended> {
        let mut child = self.command().spawn().expect("the binary under test can be executed");
        let log = Log::follow(child.stderr.take().expect("stderr is piped"));
        let wanted = self.listeners + usize::from(self.admin);
        let ready = log.wait(|lines| lines.iter().filter(|line| announced(line).is_some()).count() >= wanted);
        let mut server = Server { child, endpoints: Vec::new(), admin: None, log, ended: None };
        if !ready {
            server.signal_if_running(Signal::KILL);
            return Err(server.wait());
        }
        for (admin, endpoint) in server.log.lines().iter().filter_map(|line| announced(line)) {
            if admin {
                server.admin = Some(endpoint);
            } else {
                server.endpoints.push(endpoint);
            }
        }
        Ok(server)
    }

    /// Runs it to its own end, for starts that are expected to fail.
    #[track_caller]
    pub fn expect_failure(self) -> Ended {
        match self.try_start() {
            Err(ended) => ended,
            Ok(server) => panic!("the server started although it should not: {:?}", server.log.lines()),
        }
    }

    /// The command itself, with both outputs piped.
    pub fn command(&self) -> Command {
        let binary = env!("CARGO_BIN_EXE_quintain");
        // By way of other programs, because what happens between fork and exec would need unsafe code.
        let mut words = vec![];
        if let Some(limit) = self.descriptors {
            words.extend(["sh".to_owned(), "-c".to_owned(), format!("ulimit -n {limit}; exec \"$0\" \"$@\"")]);
        }
        if self.unprivileged {
            // Root without these is still the owner of its files, but what their mode forbids is forbidden.
            words.extend(["setpriv", "--bounding-set=-dac_override,-dac_read_search"].map(str::to_owned));
        }
        words.push(binary.to_owned());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("QUINTAIN_")) {
            command.env_remove(name);
        }
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// How a server ended, and what it said.
#[derive(Debug, Clone)]
pub struct Ended {
    pub status: ExitStatus,
    pub stderr: String,
}

/// A running server. Dropping it ends it.
pub struct Server {
    child: Child,
    endpoints: Vec<Endpoint>,
    admin: Option<Endpoint>,
    log: Log,
    ended: Option<Ended>,
}

impl Server {
    /// One worker over `site` with everything at its default.
    #[track_caller]
    pub fn over(site: &Site) -> Self {
        Launch::over(site.root()).start()
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoints[0]
    }

    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The first address, for programs that are given a URL.
    #[track_caller]
    pub fn url(&self, target: &str) -> String {
        match self.endpoint() {
            Endpoint::Tcp(address) => format!("http://{address}{target}"),
            Endpoint::Unix(path) => panic!("no URL for {path:?}"),
        }
    }

    pub fn admin(&self) -> &Endpoint {
        self.admin.as_ref().expect("started with_admin()")
    }

    #[track_caller]
    pub fn metrics(&self) -> Metrics {
        Metrics::scrape(self.admin())
    }

    /// Scrapes until `condition` holds; counters are summed from workers and may lag behind an answer.
    #[track_caller]
    pub fn wait_for_metrics(&self, what: &str, condition: impl Fn(&Metrics) -> bool) -> Metrics {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let metrics = self.metrics();
            if condition(&metrics) {
                return metrics;
            }
            assert!(Instant::now() < deadline, "/metrics never showed {what}: {metrics:#?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    pub fn client(&self) -> Client {
        Client::connect(self.endpoint())
    }

    /// One GET on a connection of its own.
    #[track_caller]
    pub fn get(&self, target: &str) -> Response {
        self.client().get_with(target, "Connection: close\r\n")
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the log has a line with `text`.
    #[track_caller]
    pub fn wait_for_log(&self, text: &str) {
        let found = self.log.wait(|lines| lines.iter().any(|line| line.contains(text)));
        assert!(found, "the log never said {text:?}: {:#?}", self.log.lines());
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lines()
    }

    pub fn terminate(&self) {
        self.signal_if_running(Signal::TERM);
    }

    /// Waits for the process to end; kills it if it does not.
    pub fn wait(&mut self) -> Ended {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().expect("the child can be killed");
            }
            thread::sleep(Duration::from_millis(5));
        };
        self.log.finish();
        let ended = Ended { status, stderr: self.log.lines().join("\n") };
        self.ended = Some(ended.clone());
        ended
    }

    /// Waits for the process to end and returns what it wrote to stdout (read only then: keep it short).
    pub fn wait_with_stdout(mut self) -> (Ended, String) {
        let mut stdout = self.child.stdout.take().expect("stdout is piped");
        let mut text = String::new();
        stdout.read_to_string(&mut text).expect("UTF-8 on stdout");
        (self.wait(), text)
    }

    /// Ends the process in an orderly way and requires that it succeeds in that.
    #[track_caller]
    pub fn stop(mut self) -> Ended {
        self.terminate();
        let ended = self.wait();
        assert_eq!(ended.status.code(), Some(0), "after SIGTERM: {ended:?}");
        ended
    }

    fn signal_if_running(&self, signal: Signal) {
        if self.ended.is_none() {
            let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a child's id is not zero");
            // It may just have ended by itself; it is not reaped yet, so the id is still its own.
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Server {
    #[expect(clippy::disallowed_macros, reason = "captured, so that the log stands with the panic of its test")]
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.signal_if_running(Signal::TERM);
            // Clients that are still connected may hold up the drain. What a drain must do has its own tests.
            let deadline = Instant::now() + Duration::from_secs(1);
            while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
                thread::sleep(Duration::from_millis(5));
            }
            self.signal_if_running(Signal::KILL);
            let _ = self.wait();
        }
        let lines = self.log.lines();
        let panicked = lines.iter().any(|line| line.contains("panicked at"));
        if thread::panicking() {
            eprintln!("the server's log:\n{}", lines.join("\n"));
        } else {
            assert!(!panicked, "the server panicked:\n{}", lines.join("\n"));
        }
    }
}

/// The address that a log line announces, and whether it is the admin listener's.
fn announced(line: &str) -> Option<(bool, Endpoint)> {
    let after = |marker: &str| {
        let rest = &line[line.find(marker)? + marker.len()..];
        Some(rest.split(['"', ' ', '/', '\u{1b}']).next().unwrap_or_default().to_owned())
    };
    if let Some(start) = line.find("listening on unix:") {
        let rest = &line[start + "listening on unix:".len()..];
        let path = rest.split(['"', ' ', '\u{1b}']).next().unwrap_or_default();
        return Some((false, Endpoint::Unix(PathBuf::from(path))));
    }
    let tcp = |address: String| address.parse::<SocketAddr>().ok().map(Endpoint::Tcp);
    if let Some(address) = after("listening on http://") {
        return Some((false, tcp(address)?));
    }
    Some((true, tcp(after("admin on http://")?)?))
}

/// A child's stderr, read by a thread from start to end so that the child never waits for a reader.
struct Log {
    shared: Arc<(Mutex<LogState>, Condvar)>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct LogState {
    lines: Vec<String>,
    ended: bool,
}

impl Log {
    fn follow(stderr: impl Read + Send + 'static) -> Self {
        let shared = Arc::new((Mutex::new(LogState::default()), Condvar::new()));
        let theirs = Arc::clone(&shared);
        let reader = thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut state = theirs.0.lock().expect("no holder panics");
                if state.lines.len() < LOG_LINES {
                    state.lines.push(line);
                }
                theirs.1.notify_all();
            }
            theirs.0.lock().expect("no holder panics").ended = true;
            theirs.1.notify_all();
        });
        Self { shared, reader: Some(reader) }
    }

    /// Waits until the lines satisfy `condition`: false if the log ends or nothing comes for too long.
    fn wait(&self, condition: impl Fn(&[String]) -> bool) -> bool {
        let state = self.shared.0.lock().expect("no holder panics");
        let pending = |state: &mut LogState| !state.ended && !condition(&state.lines);
        let (state, _) = self.shared.1.wait_timeout_while(state, PATIENCE, pending).expect("no holder panics");
        condition(&state.lines)
    }

    fn lines(&self) -> Vec<String> {
        self.shared.0.lock().expect("no holder panics").lines.clone()
    }

    fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the log reader does not panic");
        }
    }
}
