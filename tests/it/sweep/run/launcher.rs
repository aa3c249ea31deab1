//! `quintain launch`: the guard between a sweep and each of its children.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::bench::{QUINTAIN, signal_to};

/// Longest wait. A safety net.
const PATIENCE: Duration = Duration::from_secs(60);

/// A guard whose parent is this test, over a script.
fn guard(flags: &[&str], script: &str) -> Child {
    let me = std::process::id().to_string();
    let mut command = Command::new(QUINTAIN);
    command.args(["launch", "--parent", &me]).args(flags).args(["--", "sh", "-c", script]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary under test can be executed")
}

/// The exit code, and what was said.
fn ended(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Process ids that a script prints, one a line.
fn printed(child: &mut Child, count: usize) -> Vec<u32> {
    let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    lines.take(count).map(|line| line.expect("a line").trim().parse().expect("a number")).collect()
}

#[track_caller]
fn nobody_is_left(pids: &[u32]) {
    let deadline = Instant::now() + PATIENCE;
    while pids.iter().any(|pid| runs(*pid)) {
        assert!(Instant::now() < deadline, "some of {pids:?} are still there");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Not one that has ended and that nobody has asked for its exit code.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn the_exit_code_is_the_programs() {
    let rows = [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", 137), ("kill -TERM $$", 143)];
    for (script, code) in rows {
        assert_eq!(ended(guard(&[], script)).0, Some(code), "{script}");
    }
}

#[test]
fn what_cannot_be_started_is_said() {
    let me = std::process::id().to_string();
    let launch = |words: &[&str]| {
        let output = Command::new(QUINTAIN).args(["launch", "--parent", &me]).args(words).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = launch(&["--", "/nowhere/x"]);
    assert_eq!(code, Some(127));
    assert_eq!(said, "quintain: cannot start /nowhere/x: No such file or directory (os error 2)\n");
    let (code, said) = launch(&["--", "/dev/null"]);
    assert!(code == Some(126) && said.contains("cannot start /dev/null: Permission denied"), "{code:?} {said}");
    let (code, said) = launch(&["--cpus", "1023", "--", "true"]);
    assert!(code == Some(126) && said.contains("this process may not run on CPU 1023"), "{code:?} {said}");
}

#[test]
fn the_program_is_pinned() {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:\t")).expect("a list of CPUs");
    let first = line.split(['-', ',']).next().expect("a CPU");
    let output = guard(&["--cpus", first], "grep Cpus_allowed_list /proc/self/status").wait_with_output();
    let said = String::from_utf8(output.expect("it ends").stdout).expect("UTF-8");
    assert_eq!(said, format!("Cpus_allowed_list:\t{first}\n"));
}

/// Whoever started it had ended before it could ask to be told: nothing is started.
#[test]
fn a_guard_without_its_parent_starts_nothing() {
    for step in [&["launch"][..], &["launch", "--become"]] {
        let output = Command::new(QUINTAIN).args(step).args(["--parent", "1", "--", "echo", "x"]).output();
        let output = output.expect("the binary under test can be executed");
        assert_eq!((output.status.code(), output.stdout), (Some(75), Vec::new()), "{step:?}");
    }
}

#[test]
fn what_the_program_leaves_is_killed() {
    let mut left =
        guard(&[], "sleep 600 & echo $!; setsid sleep 600 & echo $!; trap '' TERM; sleep 600 & echo $!; exit 5");
    let pids = printed(&mut left, 3);
    assert_eq!(ended(left).0, Some(5));
    nobody_is_left(&pids);
}

#[test]
fn whoever_takes_no_notice_is_killed_in_the_end() {
    let stubborn = r#"trap "" TERM; echo $$; setsid sleep 600 & echo $!; while :; do sleep 1; done"#;
    let mut guard = guard(&["--stop-within-ms", "200"], stubborn);
    let pids = printed(&mut guard, 2);
    signal_to(guard.id(), Signal::TERM);
    assert_eq!(ended(guard).0, Some(137));
    nobody_is_left(&pids);
}

#[test]
fn whoever_can_end_in_order_does() {
    let orderly = r#"trap "echo bye >&2; exit 7" TERM; echo $$; while :; do sleep 0.1; done"#;
    let mut guard = guard(&["--stop-within-ms", "60000"], orderly);
    let pids = printed(&mut guard, 1);
    signal_to(guard.id(), Signal::TERM);
    let (code, said) = ended(guard);
    // Some shells tell of their own child first, which had the signal too.
    assert!(code == Some(7) && said.ends_with("bye\n"), "{code:?}, {said:?}");
    nobody_is_left(&pids);
}

/// Somebody has pressed Ctrl-Z, or wanted the machine to be quiet for a while.
#[test]
fn one_that_is_stopped_ends_in_order_as_well() {
    let orderly = r#"trap "exit 7" TERM; echo $$; while :; do sleep 0.1; done"#;
    let mut guard = guard(&["--stop-within-ms", "60000"], orderly);
    let pids = printed(&mut guard, 1);
    signal_to(pids[0], Signal::STOP);
    signal_to(guard.id(), Signal::TERM);
    assert_eq!(ended(guard).0, Some(7));
}

/// Nobody guards the guard, but the program has its end for a signal.
#[test]
fn without_its_guard_the_program_ends() {
    let mut guard = guard(&[], "echo $$; exec sleep 600");
    let pids = printed(&mut guard, 1);
    signal_to(guard.id(), Signal::KILL);
    ended(guard);
    nobody_is_left(&pids);
}
