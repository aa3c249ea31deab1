//! The files of `/proc/PID` that are read, and what of them is used: proc_pid_stat(5), proc_pid_status(5), proc_pid_fd(5).

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::threads::Reading;
use crate::process::schedule::ThreadTimes;

/// More descriptors than that are not counted one by one.
const DESCRIPTORS_COUNTED: usize = 65_536;

/// `/proc/PID/stat`, or that of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) name: String,
    /// It ended, and its parent has not asked for its exit code yet.
    pub(super) is_zombie: bool,
    /// CPU time in clock ticks, user and system, of ended threads too.
    pub(super) cpu_ticks: u64,
    pub(super) threads: u64,
    /// In clock ticks since the system started. With the id it names a process that no other has ever been.
    pub(super) started: u64,
    pub(super) resident_pages: u64,
}

impl Stat {
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(folder.join("stat"))?;
        Self::parse(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a stat file of another form"))
    }

    /// The name stands in parentheses and may itself hold some, and spaces: only the last `)` is sure to end it.
    fn parse(text: &str) -> Option<Self> {
        let (id_and_name, rest) = text.rsplit_once(')')?;
        let (_, name) = id_and_name.split_once('(')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // The manual numbers fields from 1, and the state, which is field 3, comes first here.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let threads = number(20)?;
        Some(Self {
            name: name.to_owned(),
            // A process whose first thread ended before others looks like a zombie as well.
            is_zombie: matches!(*fields.first()?, "Z" | "X") && threads <= 1,
            cpu_ticks: number(14)? + number(15)?,
            threads,
            started: number(22)?,
            resident_pages: number(24)?,
        })
    }
}

/// What one thread has used, and the list of CPUs that it may run on.
pub(super) fn thread(folder: &Path) -> io::Result<(Reading, String)> {
    let status = fs::read_to_string(folder.join("status"))?;
    let number = |name| value(&status, name).and_then(|value| value.parse().ok()).unwrap_or(0);
    let reading = Reading {
        times: thread_times(folder)?,
        voluntary: number("voluntary_ctxt_switches"),
        involuntary: number("nonvoluntary_ctxt_switches"),
    };
    Ok((reading, value(&status, "Cpus_allowed_list").unwrap_or_default().to_owned()))
}

/// From `schedstat`, or by the clock ticks of `stat` and without run delay where the kernel does not count.
fn thread_times(folder: &Path) -> io::Result<ThreadTimes> {
    let text = fs::read_to_string(folder.join("schedstat")).unwrap_or_default();
    match ThreadTimes::parse(&text) {
        Some(times) if times.cpu > Duration::ZERO => Ok(times),
        _ => Ok(ThreadTimes { cpu: ticks(Stat::read(folder)?.cpu_ticks), run_delay: Duration::ZERO }),
    }
}

/// How many descriptors the process has.
pub(super) fn descriptors(folder: &Path) -> io::Result<u64> {
    let folder = folder.join("fd");
    // Since Linux 6.2 the size of the folder is their number. Reading the folder makes an entry for each of them in the
    // kernel's cache, which for 10,000 connections takes 10 ms.
    let size = fs::metadata(&folder)?.len();
    if size > 0 {
        return Ok(size);
    }
    Ok(fs::read_dir(&folder)?.take(DESCRIPTORS_COUNTED).count() as u64)
}

/// Clock ticks, which are 10 ms almost everywhere, as time.
pub(super) fn ticks(ticks: u64) -> Duration {
    const NANOS: u64 = 1_000_000_000;
    Duration::from_nanos(ticks.saturating_mul(NANOS / rustix::param::clock_ticks_per_second()))
}

/// The first word of a line of a `status` file.
fn value<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let rest = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    rest.split_ascii_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_file() {
        let text = "77 (a) R (b c) S 1 77 3 0 -1 4194304 96 0 0 0 150 25 0 0 20 0 9 0 1297958 3133440 359 1 2 3";
        let expected = Stat {
            name: "a) R (b c".to_owned(),
            is_zombie: false,
            cpu_ticks: 175,
            threads: 9,
            started: 1_297_958,
            resident_pages: 359,
        };
        assert_eq!(Stat::parse(text), Some(expected));
        assert_eq!(Stat::parse("77 (a) R 1 77"), None);
        assert_eq!(Stat::parse("77 a R 1 77"), None);
        assert_eq!(Stat::parse(""), None);
    }

    #[test]
    fn the_dead_are_told_from_those_whose_first_thread_has_ended() {
        let stat = |state, threads| format!("77 (a) {state} 1 77 3 0 -1 0 0 0 0 0 1 2 0 0 20 0 {threads} 0 5 6 7");
        let is_zombie = |state, threads| Stat::parse(&stat(state, threads)).expect("it parses").is_zombie;
        assert!(is_zombie('Z', 1));
        assert!(is_zombie('X', 0));
        assert!(!is_zombie('Z', 4));
        assert!(!is_zombie('R', 1));
    }

    #[test]
    fn a_value_of_a_status_file() {
        let status = "Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t12\n\
                      nonvoluntary_ctxt_switches:\t5\n";
        assert_eq!(value(status, "Cpus_allowed_list"), Some("0-1"));
        assert_eq!(value(status, "voluntary_ctxt_switches"), Some("12"));
        assert_eq!(value(status, "nonvoluntary_ctxt_switches"), Some("5"));
        assert_eq!(value(status, "Threads"), None);
    }

    #[test]
    fn of_this_process() {
        let folder = Path::new("/proc/self");
        let stat = Stat::read(folder).expect("it is there");
        assert!(stat.threads >= 1 && stat.resident_pages > 0 && stat.started > 0, "{stat:?}");
        assert!(descriptors(folder).expect("it is there") >= 3);
        let (reading, cpus) = thread(Path::new("/proc/thread-self")).expect("it is there");
        assert!(reading.times.cpu > Duration::ZERO, "{reading:?}");
        assert!(!cpus.is_empty());
    }
}
