//! Logs of targets, kept from filling the disk.
//!
//! A target has its log open and writes to it itself. A process between the two would take CPU while it is measured, and would
//! hold up whoever writes faster than it reads. So the logs are looked at, and one that has become too long begins anew: its
//! last line explains an end, not its first.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Most that a log takes of the disk, and what is written between two looks.
const MOST: u64 = 64 << 20;

/// Between two looks. The progress bar wakes up as often.
const LOOK: Duration = Duration::from_secs(1);

/// The unit in which the system counts what a file takes.
const BLOCK: u64 = 512;

/// Looks at the logs until it is dropped.
#[derive(Debug)]
pub struct LogBound {
    /// Dropped, it ends the thread.
    end: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LogBound {
    /// Of these logs, whether they are there yet or not.
    ///
    /// # Errors
    ///
    /// No thread can be started.
    pub fn of(logs: Vec<PathBuf>) -> io::Result<Self> {
        let (end, ended) = sync_channel::<()>(0);
        let look = move || {
            let mut is_over = false;
            while !is_over {
                is_over = ended.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout);
                // What cannot be cut now may be at the next look.
                logs.iter().for_each(|log| drop(shorten(log, MOST)));
            }
        };
        let thread = thread::Builder::new().name("logs".to_owned()).spawn(look)?;
        Ok(Self { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for LogBound {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Empties a log that takes more than this, and says so in it.
fn shorten(log: &Path, most: u64) -> io::Result<()> {
    // A target may have put another name's file there, or a pipe, which is not ours to empty.
    let is_too_long = |facts: &std::fs::Metadata| facts.is_file() && taken(facts) > most;
    if !is_too_long(&log.symlink_metadata()?) {
        return Ok(());
    }
    let mut file = OpenOptions::new().append(true).custom_flags(libc::O_NOFOLLOW).open(log)?;
    file.set_len(0)?;
    writeln!(file, "quintain: more than {} MiB were written here; what stood above is dropped", most >> 20)
}

/// What it takes of the disk, in bytes: whoever does not append goes on where it was, and leaves a hole that takes nothing.
fn taken(facts: &std::fs::Metadata) -> u64 {
    facts.blocks() * BLOCK
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SAYS: &str = "quintain: more than 1 MiB were written here; what stood above is dropped\n";

    #[test]
    fn what_is_too_long_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("output.log");
        let mut target = OpenOptions::new().create(true).append(true).open(&log).unwrap();
        target.write_all(&vec![b'x'; 1 << 19]).unwrap();
        shorten(&log, 1 << 20).unwrap();
        assert_eq!(fs::metadata(&log).unwrap().len(), 1 << 19);
        target.write_all(&vec![b'x'; 1 << 20]).unwrap();
        shorten(&log, 1 << 20).unwrap();
        target.write_all(b"last words\n").unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), format!("{SAYS}last words\n"));
    }

    #[test]
    fn what_is_no_log_of_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (log, other) = (folder.path().join("output.log"), folder.path().join("other"));
        fs::write(&other, vec![b'x'; 2 << 20]).unwrap();
        std::os::unix::fs::symlink(&other, &log).unwrap();
        shorten(&log, 1 << 20).unwrap();
        assert_eq!(fs::metadata(&other).unwrap().len(), 2 << 20);
        assert!(shorten(&folder.path().join("nothing"), 1 << 20).is_err());
    }

    /// Its end looks once more, so that what was written in the last moment is bounded as well.
    #[test]
    fn the_end_is_a_look() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("output.log");
        let bound = LogBound::of(vec![log.clone()]).unwrap();
        fs::write(&log, vec![b'x'; (MOST + 1) as usize]).unwrap();
        drop(bound);
        assert!(fs::read_to_string(&log).unwrap().starts_with("quintain: more than 64 MiB were written here"));
    }
}
