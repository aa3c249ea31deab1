//! Sweeps that end before their end, and go on.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use quintain::record::experiment::Entry;
use rustix::process::Signal;

use super::bench::{Bench, QUINTAIN, measured};
use crate::harness::say_skipped;

const TIMED: &str = r#"
    concurrency = 2
    duration = "200ms"

    [order]
    repeats = 4
    warm_up = { cycles = 0 }
"#;

/// Our own server, and one behind a shell that takes no notice of SIGTERM and has children.
fn targets() -> String {
    let script = r#"trap "" TERM; "$0" serve --config /dev/null --root "$1" --listen "127.0.0.1:$2" & while :; do sleep 1; done"#;
    format!(
        r#"
            [[target]]
            name = "a"
            serve = []

            [[target]]
            name = "stubborn"
            command = ["sh", "-c", '''{script}''', "{QUINTAIN}", "{{root}}", "{{port}}"]
            stop_within = "1s"
        "#
    )
}

#[test]
fn killed_in_the_middle_it_leaves_nobody_and_goes_on() {
    let bench = Bench::new(&targets(), TIMED);
    let mut sweep = bench.begin();
    sweep.until_measured(5);
    sweep.signal(Signal::KILL);
    assert_eq!(sweep.finish().code, None, "nothing is said by what is killed");
    bench.nothing_is_left();
    let before = measured(&bench.results().entries);
    assert!(before.len() >= 5 && before.len() < 16, "{}", before.len());

    bench.resume().finish().requires(0, "[16/16] ");
    let after = bench.everything_is_measured_once();
    assert_eq!(after[..before.len()], before, "what was measured before stays as it was");
    bench.nothing_is_left();
}

#[test]
fn interrupted_it_ends_in_order_and_says_how_to_go_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let bench = Bench::new(&targets(), TIMED);
        let mut sweep = bench.begin();
        sweep.until_measured(2);
        sweep.signal(signal);
        let ran = sweep.finish();
        let out = bench.out();
        let out = out.display();
        let says = format!(
            "; go on with `quintain sweep --resume {out}`, or read what is there so far with `quintain report {out}`\n"
        );
        ran.requires(130, &says);
        assert!(ran.stderr.ends_with(&says), "it is the last thing that is said: {ran:#?}");
        // By the time it has ended everybody else has.
        bench.nothing_is_left();
        assert!(!bench.results().torn);
        bench.resume().finish().requires(0, "");
        bench.everything_is_measured_once();
    }
}

/// Whoever begins it with `nohup` wants it to go on when the terminal is closed.
#[test]
fn a_hangup_that_is_ignored_is_no_end() {
    let bench = Bench::new("[[target]]\nname = \"a\"\nserve = []", TIMED);
    let mut sweep = bench.begin_without_hangups();
    sweep.until_measured(1);
    sweep.signal(Signal::HUP);
    sweep.finish().requires(0, "[8/8] ");
    bench.everything_is_measured_once();
}

/// Before `experiment.json` is there nothing is measured, and a resumed sweep is a new one.
#[test]
fn interrupted_before_anybody_answers() {
    let slow = r#"
        [[target]]
        name = "never"
        command = ["sleep", "600", "{port}"]
    "#;
    let bench = Bench::new(slow, "concurrency = 1\nrequests = 5");
    let sweep = bench.begin();
    bench.until_there("out/targets/never/output.log");
    sweep.signal(Signal::INT);
    let ran = sweep.finish();
    ran.requires(130, "0 measurements are made, of 12");
    assert!(!ran.stderr.contains("quintain report"), "there is nothing to be read: {ran:#?}");
    bench.nothing_is_left();
    assert!(!bench.out().join("experiment.json").exists());
    let resumed = bench.resume();
    resumed.signal(Signal::KILL);
    resumed.finish();
    bench.nothing_is_left();
}

#[test]
fn a_torn_last_line_is_measured_again() {
    let bench =
        Bench::new("[[target]]\nname = \"a\"\nserve = []", "concurrency = 1\nrequests = 5\n[order]\nrepeats = 2");
    bench.begin().finish().requires(0, "");
    let path = bench.out().join("journal.jsonl");
    // Within the line, just before its end, and at its newline, which alone is mended.
    for cut in [1000, 2, 1] {
        let journal = OpenOptions::new().write(true).open(&path).expect("a journal");
        let length = journal.metadata().expect("its length").len();
        journal.set_len(length - cut).expect("a shorter journal");
        bench.resume().finish().requires(0, "");
        bench.everything_is_measured_once();
    }
}

#[test]
fn one_folder_is_one_sweep() {
    let bench = Bench::new(&targets(), TIMED);
    let mut sweep = bench.begin();
    sweep.until_measured(1);
    bench.resume().finish().requires(1, "another sweep is writing to ");
    bench.begin().finish().requires(1, "another sweep is writing to ");
    sweep.signal(Signal::INT);
    sweep.finish().requires(130, "");
    bench.begin().finish().requires(1, "is not empty; name another folder, or go on with what is there by --resume");
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let bench = Bench::new("[[target]]\nname = \"a\"\nserve = []", "concurrency = 1\nduration = \"300ms\"");
    bench.resume().finish().requires(1, "has no experiment.json: this is not the folder of a sweep");
    let mut sweep = bench.begin();
    sweep.until_measured(1);
    sweep.signal(Signal::INT);
    sweep.finish().requires(130, "");

    let (plan, experiment) = (bench.out().join("plan.json"), bench.out().join("experiment.json"));
    let tool = format!("quintain {}", env!("CARGO_PKG_VERSION"));
    changed(&plan, &tool, "quintain 0.0.1", || {
        bench.resume().finish().requires(1, &format!("it was begun by quintain 0.0.1, and this is {tool}"));
    });
    changed(&experiment, "\"cpu_model\": \"", "\"cpu_model\": \"another than ", || {
        bench.resume().finish().requires(1, "and was another than ");
    });
    changed(&plan, "\"concurrency\": 1", "\"concurrency\": 2", || {
        bench.resume().finish().requires(1, "plan.json and experiment.json are of two plans");
    });
    changed(&plan, "{", "", || bench.resume().finish().requires(1, "without it the sweep cannot be resumed"));
    let journal = bench.out().join("journal.jsonl");
    changed(&journal, "\"concurrency\":1,", "\"concurrency\":3,", || {
        bench.resume().finish().requires(1, "journal.jsonl has repeat 1 of ");
    });
    let line = fs::read_to_string(&journal).expect("a journal");
    changed(&journal, &line, &line.repeat(2), || {
        bench.resume().finish().requires(1, ", which is not planned, or not once more; what would follow");
    });
    let aside = bench.path("experiment.json");
    fs::rename(&experiment, &aside).expect("a file that is moved");
    bench.resume().finish().requires(1, "it has a journal.jsonl, and no experiment.json any more");
    fs::rename(&aside, &experiment).expect("a file that is moved back");
    changed(&bench.root().join("one.txt"), "1111", "1", || {
        bench.resume().finish().requires(1, "has 250 bytes now, and had 1000 when it began");
    });
    bench.resume().finish().requires(0, "");
    bench.everything_is_measured_once();
}

/// Targets are told folders in their words, and records keep them: both are text.
#[test]
fn a_folder_that_no_command_can_name() {
    let bench = Bench::new(&targets(), TIMED);
    let out = bench.path("").join(OsStr::from_bytes(b"\xff"));
    bench.begin_in(&out).finish().requires(1, "its name is not UTF-8, and could not be handed to a command");
    assert!(!out.exists(), "something was made");
}

/// With another text in a file for the time of `then`.
fn changed(path: &Path, from: &str, to: &str, then: impl FnOnce()) {
    let text = fs::read_to_string(path).expect("a file");
    assert!(text.contains(from), "{path:?} has no {from:?}");
    fs::write(path, text.replace(from, to)).expect("a changed file");
    then();
    fs::write(path, text).expect("the file as it was");
}

/// nginx's workers outlive a master that is killed: they listen on, and the next sweep's port would be theirs.
#[test]
fn no_worker_of_nginx_is_left() {
    let start = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/nginx/start");
    let nginx = format!(
        r#"
            [[target]]
            name = "nginx"
            command = ["{}", "--port", "{{port}}", "--root", "{{root}}", "--workers", "2", "--dir", "{{dir}}"]
        "#,
        start.display()
    );
    let bench = Bench::new(&nginx, TIMED);
    let mut sweep = bench.begin();
    let entries = sweep.until_or_end(|entries| !measured(entries).is_empty());
    let Some(entries) = entries else {
        let ran = sweep.finish();
        ran.requires(1, "not installed");
        let required = std::env::var("QUINTAIN_REQUIRE_PEERS").is_ok_and(|value| value == "1");
        assert!(!required, "nginx is not installed, and QUINTAIN_REQUIRE_PEERS wants it");
        return say_skipped("nginx is not installed");
    };
    let watched = &measured(&entries)[0].record.runs[0].watched;
    assert_eq!(watched.len(), 3, "the master and its workers are watched: {watched:#?}");
    sweep.signal(Signal::KILL);
    sweep.finish();
    bench.nothing_is_left();
    assert!(matches!(entries[0], Entry::Measured(_)));
}
