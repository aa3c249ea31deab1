//! `quintain sweep` as a child process, in a folder of its own, and everything that it starts.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quintain::record::experiment::{self, Cell, Entry, LeftOut, Measured, Results};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Longest wait for a sweep, or for something of it. A safety net: what hangs is killed and fails.
const PATIENCE: Duration = Duration::from_secs(180);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// The binary under test, for targets that are commands.
pub const QUINTAIN: &str = env!("CARGO_BIN_EXE_quintain");

/// In the environment of everything that a sweep starts, its folder: what is left of it can be found.
const MARK: &str = "SWEEP_OF_A_TEST";

/// A folder with two documents, a plan, and a place for results.
pub struct Bench {
    folder: TempDir,
    plan: String,
}

impl Bench {
    /// A plan of these targets over both documents, with further tables.
    pub fn new(targets: &str, matrix: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bench = Self { folder, plan: plan(targets, matrix) };
        fs::create_dir(bench.root()).expect("a folder for documents");
        fs::write(bench.root().join("one.txt"), "1".repeat(1000)).expect("a document");
        fs::write(bench.root().join("two.txt"), "2".repeat(2000)).expect("a document");
        fs::write(bench.path("plan.toml"), &bench.plan).expect("a plan");
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn root(&self) -> PathBuf {
        self.path("root")
    }

    pub fn plan(&self) -> &str {
        &self.plan
    }

    /// Where the results go.
    pub fn out(&self) -> PathBuf {
        self.path("out")
    }

    /// Begins the sweep.
    pub fn begin(&self) -> Running {
        self.begin_in(&self.out())
    }

    pub fn begin_in(&self, out: &Path) -> Running {
        self.start(&["plan.toml".as_ref(), "--out".as_ref(), out])
    }

    /// The same with a limit of prlimit(1).
    pub fn begin_under(&self, limit: &str) -> Running {
        let mut command = Command::new("prlimit");
        command.args([limit, QUINTAIN, "sweep", "plan.toml", "--out"]).arg(self.out());
        self.spawn(command)
    }

    /// The same with SIGHUP ignored, as nohup(1) does it.
    pub fn begin_without_hangups(&self) -> Running {
        let mut command = Command::new("sh");
        command.args(["-c", r#"trap "" HUP; exec "$0" sweep plan.toml --out "$1""#, QUINTAIN]).arg(self.out());
        self.spawn(command)
    }

    /// Goes on with it.
    pub fn resume(&self) -> Running {
        self.start(&["--resume".as_ref(), &self.out()])
    }

    pub fn start(&self, words: &[&Path]) -> Running {
        let mut command = Command::new(QUINTAIN);
        command.arg("sweep").args(words);
        self.spawn(command)
    }

    fn spawn(&self, mut command: Command) -> Running {
        command.current_dir(self.folder.path()).env(MARK, self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary under test can be executed");
        let stdout = collect(child.stdout.take().expect("stdout is piped"));
        let stderr = collect(child.stderr.take().expect("stderr is piped"));
        Running { child, streams: Some((stdout, stderr)), out: self.out() }
    }

    /// Waits for a file or folder.
    #[track_caller]
    pub fn until_there(&self, name: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.path(name).exists() {
            assert!(Instant::now() < deadline, "there is never a {name}");
            thread::sleep(LOOK);
        }
    }

    /// What the sweep has left.
    #[track_caller]
    pub fn results(&self) -> Results {
        experiment::read(&self.out()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Requires that each planned cell is in the journal, in this order and once, with a record.
    #[track_caller]
    pub fn everything_is_measured_once(&self) -> Vec<Measured> {
        let results = self.results();
        assert!(!results.torn, "a torn line is left");
        let measured = measured(&results.entries);
        let cells: Vec<&Cell> = measured.iter().map(|measured| &measured.cell).collect();
        let planned: Vec<&Cell> = results.experiment.cells.iter().collect();
        assert_eq!(cells, planned, "the cells of the journal are not those that were planned");
        measured
    }

    /// Requires that nothing of what was started is left, at once or soon.
    #[track_caller]
    pub fn nothing_is_left(&self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "still there: {left:#?}");
            thread::sleep(LOOK);
        }
    }

    /// Command lines of everything that was started here.
    fn processes(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.folder.path().display());
        let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
        let marked = entries.filter(|entry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        });
        let line = |path: PathBuf| {
            let words = fs::read_to_string(path.join("cmdline")).unwrap_or_default();
            format!("{} {}", path.display(), words.replace('\0', " "))
        };
        marked.map(|entry| line(entry.path())).collect()
    }
}

/// Connections are short where the matrix says nothing of them.
fn plan(targets: &str, matrix: &str) -> String {
    let connections = if matrix.contains("connections") { "" } else { "connections = \"short\"\n" };
    let top = "question = \"Is it measured?\"\nroot = \"root\"\n";
    format!("{top}{targets}\n[[matrix]]\ndocuments = [\"one.txt\", \"two.txt\"]\n{connections}{matrix}\n")
}

/// The measurements among these entries.
pub fn measured(entries: &[Entry]) -> Vec<Measured> {
    let measured = entries.iter().filter_map(|entry| match entry {
        Entry::Measured(measured) => Some((**measured).clone()),
        _ => None,
    });
    measured.collect()
}

/// What was left out, among these entries.
pub fn left_out(entries: &[Entry]) -> Vec<LeftOut> {
    let left_out = entries.iter().filter_map(|entry| match entry {
        Entry::LeftOut(left_out) => Some(left_out.clone()),
        _ => None,
    });
    left_out.collect()
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

/// A sweep that goes on. Dropping it ends it.
pub struct Running {
    child: Child,
    streams: Option<(JoinHandle<String>, JoinHandle<String>)>,
    out: PathBuf,
}

impl Running {
    pub fn signal(&self, signal: Signal) {
        signal_to(self.child.id(), signal);
    }

    /// Waits until the journal holds what is wanted, and returns its entries.
    #[track_caller]
    pub fn until(&mut self, what: &str, wanted: impl Fn(&[Entry]) -> bool) -> Vec<Entry> {
        match self.until_or_end(wanted) {
            Some(entries) => entries,
            None => panic!("it ended before {what}: {:?}", self.streams.take().map(|(_, stderr)| stderr.join())),
        }
    }

    /// The same; none if it ends before.
    #[track_caller]
    pub fn until_or_end(&mut self, wanted: impl Fn(&[Entry]) -> bool) -> Option<Vec<Entry>> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let ended = self.child.try_wait().expect("the child can be waited for").is_some();
            let entries = experiment::read(&self.out).map_or(Vec::new(), |results| results.entries);
            if wanted(&entries) {
                return Some(entries);
            }
            if ended {
                return None;
            }
            assert!(Instant::now() < deadline, "the journal never has what is wanted");
            thread::sleep(LOOK);
        }
    }

    /// Waits until so many measurements stand in the journal.
    #[track_caller]
    pub fn until_measured(&mut self, count: usize) -> Vec<Measured> {
        measured(&self.until("enough is measured", |entries| measured(entries).len() >= count))
    }

    /// Waits for the end.
    #[track_caller]
    pub fn finish(mut self) -> Ran {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            assert!(Instant::now() < deadline, "the sweep does not end");
            thread::sleep(LOOK);
        };
        let (stdout, stderr) = self.streams.take().expect("taken once");
        let text = |reader: JoinHandle<String>| reader.join().expect("the reader does not panic");
        let ran = Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr) };
        assert!(!ran.stderr.contains("panicked at"), "{ran:#?}");
        ran
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only of a test that fails before `finish`. Its guards end whatever it has started.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process that may just have ended.
pub fn signal_to(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process id is not zero");
    let _ = kill_process(pid, signal);
}

/// How a sweep ended.
#[derive(Debug)]
pub struct Ran {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Requires an exit code, and a sentence on stderr.
    #[track_caller]
    pub fn requires(&self, code: i32, sentence: &str) {
        assert!(self.code == Some(code) && self.stderr.contains(sentence), "{code}, {sentence}: {self:#?}");
    }
}
