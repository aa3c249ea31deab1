//! A disk that is full.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::bench::{Bench, measured};
use crate::harness::say_skipped;

const A: &str = "[[target]]\nname = \"a\"\nserve = []";

/// A file system in memory of a few kilobytes, unmounted in the end.
struct Small(PathBuf);

impl Small {
    /// None where it cannot be mounted: that takes root, and a container mostly forbids it to root as well.
    fn mount(place: &Path) -> Option<Self> {
        fs::create_dir(place).expect("a folder");
        mount(&["-t", "tmpfs", "-o", "size=64k", "tmpfs"], place).then(|| Self(place.to_owned()))
    }

    fn grow(&self) {
        assert!(mount(&["-o", "remount,size=64m"], &self.0), "it could be mounted, and cannot be mounted again");
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(arguments: &[&str], place: &Path) -> bool {
    let mounted = Command::new("mount").args(arguments).arg(place).stderr(Stdio::null()).status();
    mounted.is_ok_and(|status| status.success())
}

#[test]
fn a_full_disk_loses_nothing_that_was_measured() {
    let bench = Bench::new(A, "concurrency = [1, 2, 3]\nrequests = 5\n[order]\nrepeats = 3\nwarm_up = { cycles = 0 }");
    let out = bench.out();
    let Some(disk) = Small::mount(&out) else {
        return say_skipped("no file system can be mounted here");
    };
    let ran = bench.begin().finish();
    ran.requires(1, ": No space left on device (os error 28); go on with `quintain sweep --resume ");
    bench.nothing_is_left();
    let results = bench.results();
    let before = measured(&results.entries);
    assert!(!results.torn && !before.is_empty() && before.len() < 18, "{}", before.len());

    disk.grow();
    bench.resume().finish().requires(0, "");
    let after = bench.everything_is_measured_once();
    assert_eq!(after[..before.len()], before);
}

/// Where not even the plan fits there is nothing to go on with, and nothing is started.
#[test]
fn a_disk_that_was_full_before() {
    let bench = Bench::new(A, "concurrency = 1\nrequests = 5");
    let Some(_disk) = Small::mount(&bench.path("full")) else {
        return say_skipped("no file system can be mounted here");
    };
    let filling = fs::write(bench.path("full/filling"), vec![0; 128 << 10]);
    assert!(filling.is_err(), "the disk is full");
    fs::create_dir(bench.path("full/out")).expect("an empty folder");
    let ran = bench.begin_in(&bench.path("full/out")).finish();
    ran.requires(1, "/full/out/plan.toml: No space left on device (os error 28)");
    assert!(!ran.stderr.contains("starting"), "{ran:#?}");
}

/// `ulimit -f`: by itself the signal for it would end the sweep without a word, and its targets would be ended behind it.
#[test]
fn a_file_that_may_not_grow() {
    let bench = Bench::new(A, "concurrency = [1, 2, 3, 4, 5]\nrequests = 5\n[order]\nwarm_up = { cycles = 0 }");
    let ran = bench.begin_under(&format!("--fsize={}", 20 << 10)).finish();
    ran.requires(1, "journal.jsonl: File too large (os error 27); go on with `quintain sweep --resume ");
    let before = measured(&bench.results().entries);
    assert!(!before.is_empty() && before.len() < 60, "{}", before.len());
    bench.nothing_is_left();

    bench.resume().finish().requires(0, "");
    bench.everything_is_measured_once();
}
