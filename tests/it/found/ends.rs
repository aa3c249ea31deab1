//! Starting and ending beside things that do not move: another server, a full pipe, a FIFO that nobody reads.

use std::io::{self, PipeReader, Write, pipe};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, fcntl_getfl, fcntl_setfl, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};

use super::LARGE;
use crate::harness::{Client, Endpoint, Launch, PATIENCE, Site, TEN};

fn on_unix_socket(site: &Site) -> (Launch, Endpoint) {
    let path = site.outer().join("quintain.sock");
    let launch = Launch::bare().flag("--root", site.root().to_str().expect("UTF-8")).set("server.workers", "1");
    (launch.listen(&format!("unix:{}", path.display())).set("timeouts.shutdown", "10m"), Endpoint::Unix(path))
}

/// A restart without a gap: the old server drains while the new one already listens on the same path. When the old one
/// had ended it removed the path, which was the new one's by then, and nobody could reach that any more.
#[test]
fn a_draining_server_leaves_the_socket_of_its_successor_alone() {
    let site = Site::small();
    let (launch, endpoint) = on_unix_socket(&site);
    let mut old = launch.clone().start();
    let mut begun = old.client();
    begun.send("GET /ten.txt HTTP/1.1\r\n");
    // One that is served after the bytes above came in, so that they have been read when the signal comes.
    old.get("/ten.txt");
    old.terminate();
    let deadline = Instant::now() + PATIENCE;
    while Client::try_connect(&endpoint, None).is_ok() {
        assert!(Instant::now() < deadline, "the old server still lets new connections in");
        thread::sleep(Duration::from_millis(5));
    }

    let new = launch.start();
    assert_eq!(new.get("/ten.txt").body, TEN.as_bytes());
    begun.send("Host: t\r\n\r\n");
    assert_eq!(begun.answer().expect("an answer of the old server").body, TEN.as_bytes());
    assert_eq!(old.wait().status.code(), Some(0));
    assert_eq!(new.get("/ten.txt").body, TEN.as_bytes());
}

/// A server whose stderr is a pipe that holds all it can, with its reading end open.
struct Muted {
    child: Child,
    endpoint: Endpoint,
    _unread: PipeReader,
}

impl Muted {
    /// Starts it and fills the pipe once it answers.
    fn start(site: &Site) -> Self {
        let (launch, endpoint) = on_unix_socket(site);
        let (unread, stderr) = pipe().expect("a pipe");
        let ours = stderr.try_clone().expect("a descriptor");
        let child = launch.command().stdout(Stdio::null()).stderr(stderr).spawn().expect("the binary under test");
        let muted = Self { child, endpoint, _unread: unread };
        let deadline = Instant::now() + PATIENCE;
        while Client::try_connect(&muted.endpoint, None).is_err() {
            assert!(Instant::now() < deadline, "the server does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        muted.client().get("/ten.txt");
        fill(ours);
        muted
    }

    fn client(&self) -> Client {
        Client::connect_with_fixed_buffer(&self.endpoint)
    }

    fn terminate(&self) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a child's id");
        kill_process(pid, Signal::TERM).expect("the server runs");
    }

    fn wait(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let ended = self.child.try_wait().expect("the child can be waited for");
            if ended.is_some() {
                return ended;
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Muted {
    fn drop(&mut self) {
        // Of no effect on one that has ended and was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes until not one byte more fits. Without waiting, and the server, which shares the flag, waits again after.
fn fill(mut pipe: impl Write + std::os::fd::AsFd) {
    let flags = fcntl_getfl(&pipe).expect("flags");
    fcntl_setfl(&pipe, flags | OFlags::NONBLOCK).expect("flags");
    for size in [4096, 1] {
        let full = loop {
            if let Err(error) = pipe.write(&vec![b'\n'; size]) {
                break error;
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
    }
    fcntl_setfl(&pipe, flags).expect("flags");
}

/// The line that says "SIGTERM: stopping" was written before anything was stopped, and waited for a reader that never
/// came.
#[test]
fn sigterm_ends_a_server_whose_stderr_nobody_reads() {
    let site = Site::small();
    let mut server = Muted::start(&site);
    server.terminate();
    assert_eq!(server.wait().and_then(|status| status.code()), Some(0), "None is a server that did not end");
}

/// The same during a drain, where the second signal is the last means short of SIGKILL.
#[test]
fn a_second_sigterm_ends_it_at_once() {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; LARGE]);
    let mut server = Muted::start(&site);
    let mut idle = server.client();
    idle.get("/ten.txt");
    let mut running = server.client();
    running.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    running.head().expect("a head");
    server.terminate();
    // The first signal has been taken when this ends.
    idle.expect_end();
    server.terminate();
    assert!(server.wait().is_some_and(|status| status.code().is_some()), "the server did not end by itself");
}

/// open(2) of a FIFO waits for a reader. The server waited before it listened, said nothing, and SIGTERM found it
/// without a handler.
#[test]
fn an_access_log_that_is_a_fifo_without_a_reader_is_refused() {
    let site = Site::small();
    let fifo: PathBuf = site.outer().join("access.fifo");
    mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).expect("a FIFO");
    let name = fifo.to_str().expect("UTF-8");
    let ended = Launch::over(site.root()).set("log.access", name).expect_failure();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert!(ended.stderr.contains(name) && !ended.stderr.contains("panicked"), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
}
