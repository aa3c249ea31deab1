//! `quintain load` as a child process: what it is told, and what it says.

use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quintain::record::{Endings, Record, Run};
use rustix::process::{Pid, Signal, kill_process};

/// Longest wait for a run to end. A safety net: what hangs is killed and fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command line in the making.
#[derive(Debug, Clone)]
pub struct Load {
    wrapper: Vec<String>,
    words: Vec<String>,
}

impl Load {
    /// A quiet run whose record is printed as JSON.
    pub fn of(url: impl Into<String>) -> Self {
        Self::aloud(url).word("-q")
    }

    /// A run whose record is printed as JSON, and which may make its remarks.
    pub fn aloud(url: impl Into<String>) -> Self {
        let words = ["load", "--output", "json"].map(str::to_owned).to_vec();
        Self { wrapper: Vec::new(), words }.word(url)
    }

    /// Further words, separated by blanks.
    pub fn with(self, words: &str) -> Self {
        words.split_whitespace().fold(self, |load, word| load.word(word))
    }

    /// One further word, whatever is in it.
    pub fn word(mut self, word: impl Into<String>) -> Self {
        self.words.push(word.into());
        self
    }

    /// By way of another program, which ends by executing the words that follow it.
    pub fn under(mut self, wrapper: &[&str]) -> Self {
        self.wrapper = wrapper.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// With so many descriptors at the most, soft and hard limit.
    pub fn with_descriptors(self, limit: u64) -> Self {
        self.under(&["sh", "-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")])
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn run(&self) -> Ran {
        self.start().finish()
    }

    /// Runs it, requires exit code 0 and returns its single run.
    #[track_caller]
    pub fn measure(&self) -> Run {
        let ran = self.run();
        assert_eq!(ran.code, Some(0), "{self:?}: {ran:#?}");
        ran.single()
    }

    /// Runs it, requires exit code 0 and returns how its requests ended.
    #[track_caller]
    pub fn endings(&self) -> Endings {
        self.measure().endings
    }

    pub fn start(&self) -> Running {
        let words: Vec<_> = self.wrapper.iter().map(String::as_str).chain([env!("CARGO_BIN_EXE_quintain")]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(&self.words);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("QUINTAIN_")) {
            command.env_remove(name);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary under test can be executed");
        let stdout = collect(child.stdout.take().expect("stdout is piped"));
        let stderr = collect(child.stderr.take().expect("stderr is piped"));
        Running { child, stdout: Some(stdout), stderr: Some(stderr), peak_resident: 0 }
    }
}

/// Reads to the end beside the child, so that it never waits for a reader.
fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        // What came until an error is for the failure message.
        let _ = from.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// A run that goes on. Dropping it ends it.
pub struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
    peak_resident: u64,
}

impl Running {
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a child's id is not zero");
        // It may have ended by itself; it is not reaped before `finish`, so the id is still its own.
        let _ = kill_process(pid, signal);
    }

    /// Waits for the end.
    #[track_caller]
    pub fn finish(mut self) -> Ran {
        let deadline = Instant::now() + PATIENCE;
        let mut killed = false;
        let status = loop {
            self.look_at_memory();
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            if Instant::now() > deadline {
                killed = true;
                self.child.kill().expect("the child can be killed");
            }
            thread::sleep(Duration::from_millis(2));
        };
        let text = |reader: &mut Option<JoinHandle<String>>| {
            reader.take().expect("taken once").join().expect("the reader does not panic")
        };
        let (stdout, stderr) = (text(&mut self.stdout), text(&mut self.stderr));
        let ran = Ran { code: status.code(), stdout, stderr, peak_resident: self.peak_resident };
        assert!(!killed, "the run did not end: {ran:#?}");
        assert!(!ran.stderr.contains("panicked at"), "the load tool panicked: {ran:#?}");
        ran
    }

    /// The kernel's own high-water mark, of which the last value before the end is kept.
    fn look_at_memory(&mut self) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        self.peak_resident = self.peak_resident.max(kib.unwrap_or(0) * 1024);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only of a test that fails before `finish`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a run of the command ended.
#[derive(Debug)]
pub struct Ran {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Most memory that was resident, in bytes.
    pub peak_resident: u64,
}

impl Ran {
    #[track_caller]
    pub fn record(&self) -> Record {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no record: {error}: {self:#?}"))
    }

    /// The only run of its record.
    #[track_caller]
    pub fn single(&self) -> Run {
        let mut runs = self.record().runs;
        assert_eq!(runs.len(), 1, "one run was asked for");
        runs.remove(0)
    }
}
