//! A page as Chromium shows it. It is not changed for that: it stands in a frame of the width that is asked for, and a script
//! around it measures.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

use crate::harness::machine_to_myself;
use crate::peers::skip;

/// Longest wait for a page. Only what hangs takes that long.
const PATIENCE: Duration = Duration::from_secs(90);

/// What was asked for before [`measure.js`](MEASURE) and is found behind it.
const BEGIN: &str = "<pre id=\"seen\">";

/// Runs in the page around the one that is measured.
const MEASURE: &str = include_str!("measure.js");

/// The user's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

/// What was seen. Lengths are in CSS pixels.
#[derive(Debug, Deserialize)]
pub struct Seen {
    /// Of its title.
    pub title: String,
    /// Of the page's ground.
    pub background: String,
    /// Of the window.
    pub window_width: f64,
    /// Of all that is in it.
    pub content_width: f64,
    /// Charts that are shown.
    pub charts: Vec<Chart>,
    /// Charts that are there for another width.
    pub hidden_charts: usize,
    /// Texts whose contrast was measured.
    pub texts: usize,
    /// The least contrast of a text with what is below it, after WCAG 2.2.
    pub least_contrast: f64,
    /// Which text that is.
    pub faintest: String,
    /// Texts of charts that lie over another one.
    pub overlaps: Vec<String>,
    /// What was loaded besides the page.
    pub loaded: Vec<String>,
    /// Lines that the browser wrote into its console.
    #[serde(default)]
    pub console: Vec<String>,
}

/// A chart that is shown.
#[derive(Debug, Deserialize)]
pub struct Chart {
    pub id: String,
    pub left: f64,
    pub right: f64,
    pub width: f64,
    pub height: f64,
    /// Marks that can be seen inside of it.
    pub marks: usize,
    /// Texts that reach out of it.
    pub cut_off: Vec<String>,
}

/// A browser, if there is one.
pub struct Browser {
    program: PathBuf,
}

impl Browser {
    /// `None` without one, which is said.
    #[track_caller]
    pub fn find() -> Option<Self> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&folders).map(|folder| folder.join("chromium")).find(|path| path.is_file());
        if program.is_none() {
            skip("chromium is not installed");
        }
        Some(Self { program: program? })
    }

    /// Looks at a page.
    #[track_caller]
    pub fn look(&self, page: &str, width: u32, scheme: Scheme) -> Seen {
        // A browser takes all CPUs, and some tests look at who had one.
        let _alone = machine_to_myself();
        let work = tempfile::tempdir().expect("a folder for what it writes");
        let around = work.path().join("around.html");
        fs::write(&around, around_page(page, width)).expect("it is written");
        let home = work.path().join("home");
        let mut command = Command::new(&self.program);
        command
            // A container's root has no sandbox, and pages of ours need none.
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            // A phone's take no room.
            .arg("--hide-scrollbars")
            .args(["--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"])
            .args(["--virtual-time-budget=5000", "--window-size=1500,1000", "--dump-dom"])
            .arg(joined("--user-data-dir=", home.join("profile").into_os_string()))
            .args((scheme == Scheme::Dark).then_some("--blink-settings=preferredColorScheme=0"))
            .arg(joined("file://", around.into_os_string()))
            .env("HOME", &home)
            .env_remove("DBUS_SESSION_BUS_ADDRESS");
        let (stdout, stderr) = run(command);
        let mut seen = read(&stdout).unwrap_or_else(|| panic!("nothing was measured: {stderr}"));
        seen.console = stderr.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
        seen
    }
}

fn joined(flag: &str, value: OsString) -> OsString {
    let mut word = OsString::from(flag);
    word.push(value);
    word
}

/// The page in a frame, and the script that measures it.
fn around_page(page: &str, width: u32) -> String {
    let escaped = page.replace('&', "&amp;").replace('"', "&quot;");
    let mut around = String::from("<!DOCTYPE html><meta charset=\"utf-8\"><body style=\"margin:0\">");
    let style = format!("width:{width}px;height:900px;border:0");
    let _ = write!(
        around,
        "<iframe id=\"page\" style=\"{style}\" srcdoc=\"{escaped}\"></iframe><script>{MEASURE}</script>"
    );
    around
}

/// Runs it to its end, bounded in time: what it wrote to stdout and stderr. It starts processes of its own, which end with it.
#[track_caller]
fn run(mut command: Command) -> (String, String) {
    let mut child = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("chromium can be executed");
    let stdout = collect(child.stdout.take().expect("it is piped"));
    let stderr = collect(child.stderr.take().expect("it is piped"));
    let deadline = Instant::now() + PATIENCE;
    let mut late = false;
    while child.try_wait().expect("the child can be waited for").is_none() {
        if Instant::now() > deadline {
            late = true;
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    let group = Pid::from_raw(child.id().cast_signed()).expect("a child's id is not zero");
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    let texts = [stdout, stderr].map(|reader| reader.join().expect("the reader does not panic"));
    assert!(!late, "chromium did not end: {}", texts[1]);
    texts.into()
}

fn collect(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = from.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// What the script has written into the page.
fn read(dom: &str) -> Option<Seen> {
    let (_, rest) = dom.split_once(BEGIN)?;
    let (text, _) = rest.split_once("</pre>")?;
    let json = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    Some(serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}")))
}
