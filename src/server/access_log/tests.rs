//! The queue, the thread, and destinations that misbehave.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard};
use std::time::UNIX_EPOCH;

use super::*;

/// Longer than any healthy machine needs; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// An entry whose other fields are those of the Apache manual's example.
pub(super) fn entry(target: &str) -> Entry {
    Entry {
        time: UNIX_EPOCH + Duration::from_millis(971_186_136_120),
        remote: Some("1.2.3.4:5678".parse().unwrap()),
        request: Some(RequestLine { method: Method::GET, target: target.as_bytes().into(), version: Version::HTTP_11 }),
        status: 200,
        bytes: 2326,
        referer: Some(b"http://referer.example/"[..].into()),
        user_agent: Some(b"ab/2.3 (test)"[..].into()),
        duration: Duration::from_micros(1500),
    }
}

/// The targets of the lines, which number them in these tests.
fn targets(log: &str) -> Vec<&str> {
    log.lines().map(|line| line.split(' ').nth(6).unwrap()).collect()
}

/// Memory behind a door: a write says that it is there, then waits until it is let in with a verdict.
struct Door {
    arrived: SyncSender<()>,
    verdicts: Receiver<io::Result<usize>>,
    memory: Memory,
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap()
    }

    fn text(&self) -> String {
        String::from_utf8(self.lock().clone()).unwrap()
    }
}

impl Write for Door {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        // When the test holds the door no longer, it stands open.
        let _ = self.arrived.send(());
        let most = self.verdicts.recv().unwrap_or(Ok(usize::MAX))?;
        let count = most.min(data.len());
        self.memory.lock().extend_from_slice(&data[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn door() -> (Door, Receiver<()>, SyncSender<io::Result<usize>>, Memory) {
    let ((arrived, arrivals), (verdict, verdicts)) = (sync_channel(64), sync_channel(64));
    let memory = Memory::default();
    (Door { arrived, verdicts, memory: memory.clone() }, arrivals, verdict, memory)
}

#[test]
fn a_full_queue_drops_and_says_so_and_nobody_waits() {
    let (door, arrivals, verdict, memory) = door();
    let (handle, writer) = spawn(Box::new(door), AccessFormat::Combined, 3, &Arc::default()).unwrap();

    assert!(handle.log(entry("/1")));
    arrivals.recv().unwrap();
    // The thread stands before the door with the first line: the queue is empty, and stays as it is.
    assert!(["/2", "/3", "/4"].into_iter().all(|target| handle.log(entry(target))));
    assert!(!handle.clone().log(entry("/5")));
    assert!(!handle.log(entry("/6")));

    drop(verdict);
    assert!(writer.stop(PATIENCE));
    assert_eq!(targets(&memory.text()), ["/1", "/2", "/3", "/4"]);
    assert_eq!(handle.lost(), 0);
}

#[test]
fn stopping_writes_all_that_was_queued_and_refuses_what_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    let (handle, writer) =
        start(&AccessLog::File(path.clone()), AccessFormat::Combined, None, &Arc::default()).unwrap().unwrap();

    let expected: Vec<String> = (0..QUEUE / 2).map(|number| format!("/{number}")).collect();
    assert!(expected.iter().all(|target| handle.log(entry(target))));
    assert!(writer.stop(PATIENCE));

    assert_eq!(targets(&fs::read_to_string(path).unwrap()), expected);
    assert!(!handle.log(entry("/late")));
}

#[test]
fn stopping_gives_up_on_a_destination_that_takes_nothing() {
    let (door, arrivals, verdict, _memory) = door();
    let (handle, writer) = spawn(Box::new(door), AccessFormat::Combined, 1, &Arc::default()).unwrap();
    assert!(handle.log(entry("/1")));
    arrivals.recv().unwrap();
    assert!(handle.log(entry("/2")), "the queue is full now");
    assert!(!writer.stop(Duration::from_millis(5)));
    drop(verdict);
}

/// The writer held a way to its own thread, which therefore never ended: each reload with another access log left a thread
/// and an open file behind.
#[test]
fn the_last_handle_that_goes_ends_the_thread() {
    let (door, arrivals, verdict, memory) = door();
    drop(verdict);
    let (handle, writer) = spawn(Box::new(door), AccessFormat::Json, 8, &Arc::default()).unwrap();
    assert!(handle.log(entry("/1")));
    drop(handle);
    // The door is dropped by the thread at its end, and with it the other side of this.
    let end = std::iter::repeat_with(|| arrivals.recv_timeout(PATIENCE)).find_map(Result::err);
    assert_eq!(end, Some(RecvTimeoutError::Disconnected));
    assert!(writer.stop(PATIENCE));
    assert!(memory.text().contains("\"target\":\"/1\""));
}

/// A disk that is full for a while: the log goes on afterwards, on a line of its own, and knows what is missing.
#[test]
fn a_failing_destination_loses_counted_lines_and_no_others() {
    let (door, arrivals, verdict, memory) = door();
    let (handle, writer) = spawn(Box::new(door), AccessFormat::Combined, 8, &Arc::default()).unwrap();
    let full = || Err(io::ErrorKind::StorageFull.into());

    assert!(handle.log(entry("/1")));
    arrivals.recv().unwrap();
    assert!(["/2", "/3"].into_iter().all(|target| handle.log(entry(target))));
    verdict.send(full()).unwrap();

    // The second write holds two lines. The whole first one and ten bytes of the other are taken.
    arrivals.recv().unwrap();
    assert_eq!(handle.lost(), 1);
    let mut one = Vec::new();
    line::combined(&entry("/2"), &mut one);
    verdict.send(Ok(one.len() + 10)).unwrap();
    arrivals.recv().unwrap();
    assert!(["/4", "/5"].into_iter().all(|target| handle.log(entry(target))));
    verdict.send(full()).unwrap();

    // The third write fails at once: a line that was torn before is still torn.
    arrivals.recv().unwrap();
    assert_eq!(handle.lost(), 2);
    assert!(handle.log(entry("/6")));
    verdict.send(full()).unwrap();

    arrivals.recv().unwrap();
    assert_eq!(handle.lost(), 4);
    drop(verdict);
    assert!(writer.stop(PATIENCE));
    let text = memory.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], "1.2.3.4 - ", "the torn line");
    assert_eq!(targets(&[lines[0], lines[2]].join("\n")), ["/2", "/6"]);
    assert_eq!((lines.len(), handle.lost()), (3, 4));
}

#[test]
fn off_starts_nothing() {
    assert!(start(&AccessLog::Off, AccessFormat::Combined, None, &Arc::default()).unwrap().is_none());
}

#[test]
fn a_file_is_appended_to_and_not_for_everybody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    for target in ["/first", "/second"] {
        let (handle, writer) =
            start(&AccessLog::File(path.clone()), AccessFormat::Combined, None, &Arc::default()).unwrap().unwrap();
        assert!(handle.log(entry(target)));
        assert!(writer.stop(PATIENCE));
    }
    assert_eq!(targets(&fs::read_to_string(&path).unwrap()), ["/first", "/second"]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o007, 0);
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let path = Path::new("/nonexistent/access.log");
    let error = start(&AccessLog::File(path.into()), AccessFormat::Combined, None, &Arc::default()).unwrap_err();
    assert!(error.to_string().starts_with("cannot open the access log /nonexistent/access.log: "), "{error}");
}
