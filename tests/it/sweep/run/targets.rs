//! Targets that do not do as they should: the sweep goes on without them, and says why.

use std::fs;
use std::net::TcpListener;

use quintain::record::experiment::{Entry, LeftOut};
use rustix::process::Signal;

use super::bench::{Bench, QUINTAIN, left_out, measured, signal_to};

const A: &str = r#"
    [[target]]
    name = "a"
    serve = []
"#;

const FEW: &str = r#"
    concurrency = 1
    requests = 5

    [order]
    repeats = 1
    warm_up = { cycles = 0 }
"#;

/// Runs a sweep of `a` and the target `b`, of which it requires that `b` is left out and `a` measured.
#[track_caller]
fn left_out_beside_a(bench: &Bench) -> LeftOut {
    bench.begin().finish().requires(0, "b is left out: ");
    let entries = bench.results().entries;
    let measured = measured(&entries);
    assert_eq!(measured.len(), 2);
    assert!(measured.iter().all(|one| one.cell.target == "a"));
    bench.nothing_is_left();
    let [one] = left_out(&entries).try_into().expect("one is left out");
    one
}

fn command(script: &str) -> String {
    format!(
        "{A}\n[[target]]\nname = \"b\"\nready_within = \"1s\"\ncommand = [\"sh\", \"-c\", '''{script}''', \"{{port}}\"]"
    )
}

/// Our own server as somebody else's, over a folder beside the plan.
fn serving(folder: &str, ready_within: &str) -> String {
    format!(
        r#"{A}
            [[target]]
            name = "b"
            ready_within = "{ready_within}"
            command = ["{QUINTAIN}", "serve", "--config", "/dev/null", "--root", "{{plan}}/{folder}", "--listen", "127.0.0.1:{{port}}"]
        "#
    )
}

#[test]
fn one_that_ends_at_once() {
    let one = left_out_beside_a(&Bench::new(&command("echo out of luck >&2; exit 3"), FEW));
    assert_eq!((one.document, one.reason.as_str()), (None, "it ended (exit code 3): out of luck"));
    let one = left_out_beside_a(&Bench::new(&command("kill -ABRT $$"), FEW));
    assert_eq!(one.reason, "it ended (signal 6)");
}

#[test]
fn one_that_lacks_a_package_or_is_not_there() {
    let one = left_out_beside_a(&Bench::new(&command("echo nginx: /usr/sbin/nginx is missing >&2; exit 69"), FEW));
    let expected = "something that it needs is not installed (exit code 69): nginx: /usr/sbin/nginx is missing";
    assert_eq!(one.reason, expected);
    let absent = format!("{A}\n[[target]]\nname = \"b\"\ncommand = [\"/nowhere/nginx\", \"{{port}}\"]");
    let one = left_out_beside_a(&Bench::new(&absent, FEW));
    assert_eq!(
        one.reason,
        "it ended (exit code 127): quintain: cannot start /nowhere/nginx: No such file or directory (os error 2)"
    );
}

/// Whoever works in another folder finds its own all the same.
#[test]
fn one_that_writes_has_a_folder() {
    let script = r#"cd / && touch "$1/here" && exit 3"#;
    let b = format!("[[target]]\nname = \"b\"\ncommand = [\"sh\", \"-c\", '''{script}''', \"{{port}}\", \"{{dir}}\"]");
    let bench = Bench::new(&b, FEW);
    let ran = bench.start(&["plan.toml".as_ref(), "--out".as_ref(), "a folder/out".as_ref()]).finish();
    ran.requires(1, "no target is left: b: it ended (exit code 3); go on with");
    assert!(bench.path("a folder/out/targets/b/work/here").is_file());
}

#[test]
fn one_that_never_answers() {
    let one = left_out_beside_a(&Bench::new(&command("sleep 600"), FEW));
    assert!(one.reason.starts_with("it did not answer 200 for /one.txt within 1 s: http://127.0.0.1:"), "{one:?}");
    assert!(one.reason.ends_with("cannot be connected to: Connection refused (os error 111)"), "{one:?}");
}

#[test]
fn one_that_answers_404() {
    let bench = Bench::new(&serving("empty", "5s"), FEW);
    fs::create_dir(bench.path("empty")).expect("a folder");
    let one = left_out_beside_a(&bench);
    let begins = "it did not answer 200 for /one.txt within 5 s: it answers 404";
    assert!(one.reason.starts_with(begins), "{one:?}");
    assert!(one.reason.contains("; the last that it wrote is: "), "{one:?}");
}

#[test]
fn documents_that_are_not_the_file_are_left_out() {
    let rows = [
        (None, "it answers 404"),
        (Some("2".repeat(1999)), "it answers with 1999 bytes, and "),
        (Some("3".repeat(2000)), "it answers with another content than that of "),
    ];
    for (two, reason) in rows {
        let bench = Bench::new(&serving("other", "60s"), FEW);
        fs::create_dir(bench.path("other")).expect("a folder");
        fs::write(bench.path("other/one.txt"), "1".repeat(1000)).expect("a document");
        if let Some(two) = two {
            fs::write(bench.path("other/two.txt"), two).expect("a document");
        }
        bench.begin().finish().requires(0, "two.txt of b is left out: ");
        let entries = bench.results().entries;
        let [one] = left_out(&entries).try_into().expect("one is left out");
        assert!(one.document.as_deref() == Some("two.txt") && one.reason.starts_with(reason), "{one:?}");
        assert_eq!(measured(&entries).len(), 3, "all but two.txt of b");
    }
}

/// The plan's first target is what the others are compared with. Nobody said that it had gone, or who stands in its place, and the
/// count jumped over what was left out.
#[test]
fn the_first_one_that_is_left_out_has_a_successor() {
    let absent = "[[target]]\nname = \"first\"\ncommand = [\"/nowhere/nginx\", \"{port}\"]";
    let third = "[[target]]\nname = \"c\"\nserve = []";
    let ran = Bench::new(&format!("{absent}\n{A}\n{third}"), FEW).begin().finish();
    let remark = "quintain: first, which the others would be compared with, takes no part: they are compared with a\n";
    ran.requires(0, remark);
    assert!(ran.stderr.contains("\n[1/4] ") && ran.stderr.contains("\n[4/4] "), "{ran:#?}");
    let alone = "quintain: first, which the others would be compared with, takes no part: a is left alone, and nothing is compared\n";
    let bench = Bench::new(&format!("{absent}\n{A}"), FEW);
    bench.begin().finish().requires(0, alone);
    let ran = Bench::new(&format!("{A}\n{absent}"), FEW).begin().finish();
    assert!(ran.code == Some(0) && !ran.stderr.contains("takes no part"), "{ran:#?}");
    // A report is made anew, and nothing else is done.
    bench.resume().finish().requires(0, "2 measurements are made, 2 left out; ");
}

/// Those that the sweep had not come to by then were not among them.
#[test]
fn an_interrupted_sweep_counts_all_that_is_left_out() {
    let absent = "[[target]]\nname = \"b\"\ncommand = [\"/nowhere/nginx\", \"{port}\"]";
    let timed = "concurrency = 1\nduration = \"300ms\"\n[order]\nrepeats = 8\nwarm_up = { cycles = 0 }";
    let bench = Bench::new(&format!("{A}\n{absent}"), timed);
    let mut sweep = bench.begin();
    sweep.until_measured(1);
    sweep.signal(Signal::INT);
    sweep.finish().requires(130, ", 16 left out, of 32; go on with");
}

/// With its folders in their places a command may be longer than the kernel takes.
#[test]
fn one_whose_command_becomes_too_long() {
    let word = "{root}".repeat(15_000);
    let bench =
        Bench::new(&format!("{A}\n[[target]]\nname = \"b\"\ncommand = [\"true\", \"{{port}}\", \"{word}\"]"), FEW);
    let one = left_out_beside_a(&bench);
    assert_eq!(one.reason, "its command cannot be started: Argument list too long (os error 7)");
}

/// It filled the disk, and nobody could measure any more.
#[test]
fn one_that_writes_without_end_keeps_the_end_of_its_log() {
    let b = format!(
        r#"{A}
            [[target]]
            name = "b"
            command = ["sh", "-c", """
                head -c 80000000 /dev/zero
                exec {QUINTAIN} serve --config /dev/null --root {{root}} --listen 127.0.0.1:{{port}}
            """]
        "#
    );
    let bench = Bench::new(&b, FEW);
    bench.begin().finish().requires(0, "");
    bench.everything_is_measured_once();
    let log = fs::read_to_string(bench.path("out/targets/b/output.log")).expect("a log");
    assert!(log.len() < 64 << 20, "{}", log.len());
    assert!(
        log.contains("quintain: more than 64 MiB were written here; what stood above is dropped\n"),
        "{}",
        log.len()
    );
}

#[test]
fn one_whose_port_is_taken() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = listener.local_addr().expect("its address");
    let b = format!("{A}\n[[target]]\nname = \"b\"\nserve = [\"--set\", \"admin.listen={taken}\"]");
    let one = left_out_beside_a(&Bench::new(&b, FEW));
    assert!(one.reason.contains(&format!("cannot listen on {taken}: the port is taken")), "{one:?}");
}

#[test]
fn one_that_should_run_and_does_not() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    drop(listener);
    let one = left_out_beside_a(&Bench::new(&format!("{A}\n[[target]]\nname = \"b\"\nurl = \"{url}\""), FEW));
    assert!(
        one.reason.starts_with(&format!("it does not answer 200 for /one.txt: {url} cannot be connected to")),
        "{one:?}"
    );
}

#[test]
fn without_anybody_there_is_no_sweep() {
    let bench = Bench::new("[[target]]\nname = \"b\"\ncommand = [\"sh\", \"-c\", \"exit 3\", \"{port}\"]", FEW);
    let ran = bench.begin().finish();
    ran.requires(1, "no target is left: b: it ended (exit code 3); go on with `quintain sweep --resume ");
    // Nothing was measured that a new try could contradict.
    bench.resume().finish().requires(1, "no target is left");
}

/// Once it is started again, and what was measured meanwhile is marked; the second time it is out.
#[test]
fn one_that_dies_is_started_again_once() {
    let timed = "concurrency = 1\nduration = \"300ms\"\n[order]\nrepeats = 8\nwarm_up = { cycles = 0 }";
    let bench = Bench::new(&format!("{A}\n[[target]]\nname = \"b\"\nserve = []"), timed);
    let mut sweep = bench.begin();
    let of_b =
        |entries: &[Entry]| measured(entries).into_iter().filter(|one| one.cell.target == "b").collect::<Vec<_>>();
    let server = |entries: &[Entry]| of_b(entries).last().map(|one| one.record.runs[0].watched[0].pid);

    let first = server(&sweep.until("b is measured", |entries| !of_b(entries).is_empty())).expect("a process");
    signal_to(first, Signal::KILL);
    let is_another = |entries: &[Entry]| server(entries).is_some_and(|pid| pid != first);
    let second = server(&sweep.until("b is measured again", is_another)).expect("a process");
    signal_to(second, Signal::KILL);
    sweep.finish().requires(0, "b is left out: it was started again, and died again: it ended (signal 9)");

    let entries = bench.results().entries;
    let restarts: Vec<_> =
        entries.iter().filter(|entry| matches!(entry, Entry::Restarted(one) if one.target == "b")).collect();
    assert_eq!(restarts.len(), 1);
    assert!(of_b(&entries).iter().any(|one| one.restarted), "the cell of its death is marked");
    assert!(of_b(&entries).iter().any(|one| !one.restarted));
    let of_a: Vec<_> = measured(&entries).into_iter().filter(|one| one.cell.target == "a").collect();
    assert_eq!(of_a.len(), 16, "the other one goes on to the end");
    assert!(of_a.iter().all(|one| !one.restarted));
    bench.nothing_is_left();
}

/// It dies while the next cell waits for sockets to leave TIME_WAIT, which they do not: the connections were short. That cell
/// is measured all the same, of the one that was started again.
#[test]
fn one_that_dies_between_two_cells_leaves_no_gap() {
    let waiting = "cool_down = { time_wait_below = 1, at_most = \"3s\" }\nwarm_up = { cycles = 0 }\nrepeats = 1";
    let bench = Bench::new(A, &format!("concurrency = 1\nrequests = 20\n[order]\n{waiting}"));
    let mut sweep = bench.begin();
    let first = sweep.until_measured(1);
    signal_to(first[0].record.runs[0].watched[0].pid, Signal::KILL);
    sweep.finish().requires(0, "a had to be started again: it ended (signal 9)");
    let measured = bench.everything_is_measured_once();
    assert_eq!(measured.iter().map(|one| one.restarted).collect::<Vec<_>>(), [false, true]);
    bench.nothing_is_left();
}

/// A server behind a script may go and leave the script: nothing has ended, and nobody answers.
#[test]
fn one_that_does_not_answer_any_more_counts_as_dead() {
    let script = format!(
        r#"{A}
            [[target]]
            name = "b"
            command = ["sh", "-c", """
                {QUINTAIN} serve --config /dev/null --root {{root}} --listen 127.0.0.1:{{port}} & echo $! > {{dir}}/pid
                trap 'kill $(cat {{dir}}/pid); exit' TERM
                while :; do sleep 0.1; done
            """]
        "#
    );
    let timed = "concurrency = 1\nduration = \"300ms\"\n[order]\nrepeats = 8\nwarm_up = { cycles = 0 }";
    let bench = Bench::new(&script, timed);
    let mut sweep = bench.begin();
    let server = || fs::read_to_string(bench.path("out/targets/b/work/pid")).ok()?.trim().parse::<u32>().ok();
    let is_restarted = |entry: &Entry| matches!(entry, Entry::Restarted(one) if one.target == "b");

    sweep.until("b is measured", |entries| measured(entries).iter().any(|one| one.cell.target == "b"));
    signal_to(server().expect("a process"), Signal::KILL);
    let entries = sweep.until("b is started again", |entries| entries.iter().any(is_restarted));
    let Some(Entry::Restarted(one)) = entries.iter().find(|entry| is_restarted(entry)) else { panic!("{entries:?}") };
    assert!(one.reason.starts_with("it did not answer any more: "), "{}", one.reason);

    signal_to(server().expect("another process"), Signal::KILL);
    sweep.finish().requires(0, "b is left out: it was started again, and died again: it did not answer any more: ");
    bench.nothing_is_left();
}

/// It was there, and it is not there any more: half of its cells would be missing for what may be a slip.
#[test]
fn one_that_took_part_has_to_come_back() {
    let b = serving("other", "60s");
    let bench = Bench::new(&b, "concurrency = 1\nduration = \"200ms\"\n[order]\nwarm_up = { cycles = 0 }");
    fs::create_dir(bench.path("other")).expect("a folder");
    for name in ["one.txt", "two.txt"] {
        fs::copy(bench.root().join(name), bench.path("other").join(name)).expect("a document");
    }
    let mut sweep = bench.begin();
    sweep.until("both are measured", |entries| measured(entries).iter().any(|one| one.cell.target == "b"));
    sweep.signal(Signal::INT);
    sweep.finish().requires(130, "");
    let two = bench.path("other/two.txt");
    fs::rename(&two, bench.path("elsewhere")).expect("a document goes");
    bench
        .resume()
        .finish()
        .requires(1, "b took part until now, and for /two.txt it answers 404; put that right and resume");
    fs::rename(bench.path("elsewhere"), &two).expect("and comes back");
    bench.resume().finish().requires(0, "");
    bench.everything_is_measured_once();
}
