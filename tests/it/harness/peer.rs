//! A real server of `peers/` as a child process that ends with the test.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{Client, Endpoint, PATIENCE};

/// How long a virtual machine may take to start on a busy machine. Only what hangs waits that long.
const START: Duration = Duration::from_secs(120);

/// What the start scripts end with if a package is missing (EX_UNAVAILABLE).
const MISSING: i32 = 69;

/// A running peer. Dropping it ends it.
pub struct Peer {
    child: Child,
    pub endpoint: Endpoint,
    url: String,
    _work: TempDir,
}

impl Peer {
    /// Starts `peers/NAME/start --stock` over a folder and waits for its first answer to `target`. An error is what is
    /// missing.
    pub fn start(name: &str, root: &Path, target: &str) -> Result<Self, String> {
        Self::start_with(name, &["--stock"], root, target)
    }

    /// The same with other flags.
    pub fn start_with(name: &str, flags: &[&str], root: &Path, target: &str) -> Result<Self, String> {
        let work = tempfile::tempdir().expect("a folder for what it writes");
        let address = free_address();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name).join("start");
        let child = Command::new(script)
            .args(flags)
            .args(["--workers", "2", "--port", &address.port().to_string(), "--root"])
            .arg(root)
            .arg("--dir")
            .arg(work.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the start script can be executed");
        let url = format!("http://{address}");
        let mut peer = Self { child, endpoint: Endpoint::Tcp(address), url, _work: work };
        peer.await_answer(name, target)?;
        Ok(peer)
    }

    /// For programs that are given a URL.
    pub fn url(&self, target: &str) -> String {
        format!("{}{target}", self.url)
    }

    /// The processes that it has started, each followed by those that it has started in turn.
    pub fn descendants(&self) -> Vec<Pid> {
        let mut found = children(self.pid());
        let mut next = 0;
        while let Some(pid) = found.get(next) {
            found.extend(children(*pid));
            next += 1;
        }
        found
    }

    /// Ends one of its processes, or itself, as a user would, and waits until none of them all is left. Returns its exit
    /// status.
    #[track_caller]
    pub fn end_by(mut self, ended: Option<Pid>) -> Option<i32> {
        let all = self.descendants();
        assert!(!all.is_empty(), "nothing to leave behind");
        kill_process(ended.unwrap_or(self.pid()), Signal::TERM).expect("it runs");
        let status = self.child.wait().expect("the child can be waited for");
        let deadline = Instant::now() + PATIENCE;
        while let Some(left) = all.iter().find(|pid| runs(**pid)) {
            assert!(Instant::now() < deadline, "it has ended and left process {left:?} of {all:?} behind");
            thread::sleep(Duration::from_millis(20));
        }
        status.code()
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed()).expect("a child's id is not zero")
    }

    fn await_answer(&mut self, name: &str, target: &str) -> Result<(), String> {
        let mut said = BufReader::new(self.child.stderr.take().expect("stderr is piped")).lines();
        let deadline = Instant::now() + START;
        while !self.answers(target) {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                let said = said.by_ref().map_while(Result::ok).collect::<Vec<_>>().join("\n");
                assert_eq!(status.code(), Some(MISSING), "{name} did not start: {said}");
                return Err(said);
            }
            assert!(Instant::now() < deadline, "{name} does not answer");
            thread::sleep(Duration::from_millis(50));
        }
        // A server that goes on writing must not find its pipe full.
        thread::spawn(move || said.map_while(Result::ok).for_each(drop));
        Ok(())
    }

    fn answers(&self, target: &str) -> bool {
        let Ok(mut client) = Client::try_connect(&self.endpoint, None) else { return false };
        let request = format!("GET {target} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
        client.try_send(request.as_bytes()).is_ok() && client.answer().is_ok_and(|answer| answer.status == 200)
    }
}

fn children(pid: Pid) -> Vec<Pid> {
    let pid = pid.as_raw_nonzero();
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
}

/// One that has ended and that its new parent has not asked about yet does not run.
fn runs(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// An address whose port was free a moment ago: the scripts have to be told one.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address")
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Not SIGKILL, which would leave nginx's workers behind.
        let _ = kill_process(self.pid(), Signal::TERM);
        let _ = self.child.wait();
    }
}
