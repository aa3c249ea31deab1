//! The server as operators run it: in the background, under a service manager, reloaded and replaced while it serves.

mod activation;
mod background;
mod documented;
mod instance;
mod manager;
mod privileges;
mod reload;
mod rotation;
mod signals;
mod sources;
mod upgrade;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{Client, Endpoint, Launch, PATIENCE, Response, Site};

/// A server in the background. Dropping it ends it.
struct Daemon {
    pid_file: PathBuf,
    log: PathBuf,
}

impl Daemon {
    /// How it is started: one worker over `site`, everything that it writes beside the site.
    fn launch(site: &Site) -> Launch {
        let beside = |name: &str| site.outer().join(name).to_str().expect("UTF-8").to_owned();
        Launch::over(site.root()).switch("--daemon").flag("--pid-file", &beside("pid")).set("log.file", &beside("log"))
    }

    /// Starts it; the command has to come back by itself.
    #[track_caller]
    fn start(site: &Site, launch: &Launch) -> Self {
        let output = launch.command().output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        assert!(output.stderr.is_empty() && output.stdout.is_empty(), "{output:?}");
        Self { pid_file: site.outer().join("pid"), log: site.outer().join("log") }
    }

    #[track_caller]
    fn pid(&self) -> Pid {
        pid_in(&self.pid_file).expect("a process id in the pid file")
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("a log")
    }

    /// The address that the log announces: it is there as soon as the command has come back.
    #[track_caller]
    fn endpoint(&self) -> Endpoint {
        wait_for("an address in the log", || {
            let log = self.log();
            let (_, rest) = log.split_once("listening on http://")?;
            rest.split_whitespace().next()?.parse().ok().map(Endpoint::Tcp)
        })
    }

    #[track_caller]
    fn get(&self, target: &str) -> Response {
        Client::connect(&self.endpoint()).get_with(target, "Connection: close\r\n")
    }

    /// Runs `quintain COMMAND --pid-file ...` for it.
    fn control(&self, command: &str, arguments: &[&str]) -> Output {
        control(command, &self.pid_file, arguments)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Only while the lock is held is the number this server's.
        if control("status", &self.pid_file, &[]).status.success()
            && !control("stop", &self.pid_file, &["--wait", "5s"]).status.success()
            && let Some(pid) = pid_in(&self.pid_file)
        {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn pid_in(file: &std::path::Path) -> Option<Pid> {
    Pid::from_raw(fs::read_to_string(file).ok()?.trim().parse().ok()?)
}

fn control(command: &str, pid_file: &std::path::Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_quintain"));
    program.arg(command).arg("--pid-file").arg(pid_file).args(arguments).output().expect("it runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits until there is something.
#[track_caller]
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "there never was {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn signal(id: u32, signal: Signal) {
    kill_process(Pid::from_raw(id.cast_signed()).expect("a child's id"), signal).expect("the server runs");
}

/// ApacheBench at work. Dropping it ends it.
struct Ab(Option<Child>);

impl Ab {
    /// `None`, with a word about it, where it is not installed.
    fn start(arguments: &[&str]) -> Option<Self> {
        match Command::new("ab").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
            Ok(child) => Some(Self(Some(child))),
            Err(_) => {
                crate::peers::skip("ab is not installed");
                None
            }
        }
    }

    fn is_running(&mut self) -> bool {
        self.0.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Its report.
    fn finish(mut self) -> String {
        let output = self.0.take().expect("it was started").wait_with_output().expect("it ends");
        crate::peers::text(&output)
    }
}

impl Drop for Ab {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// All requests were answered, and well.
#[track_caller]
fn none_failed(report: &str, requests: u64) {
    use crate::peers::figure;
    assert_eq!(figure(report, "Complete requests:"), Some(requests), "{report}");
    assert_eq!(figure(report, "Failed requests:"), Some(0), "{report}");
    assert_eq!(figure(report, "Non-2xx responses:"), None, "{report}");
}
