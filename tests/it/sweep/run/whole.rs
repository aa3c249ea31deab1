//! Sweeps that come to their end, and what is in their folder then.

use std::fs;
use std::path::Path;

use quintain::record::experiment::{ConnectionKind, TargetKind};

use super::bench::Bench;
use crate::harness::{Server, Site};

const TWO: &str = r#"
    [[target]]
    name = "a"
    serve = []

    [[target]]
    name = "b"
    profile = "nginx"
"#;

const BOTH_KINDS: &str = r#"
    concurrency = [1, 4]
    connections = ["keep-alive", "short"]
    requests = 40

    [order]
    repeats = 2
    warm_up = { cycles = 1, duration = "100ms" }
"#;

#[test]
fn every_cell_is_measured_once_and_has_its_report() {
    let bench = Bench::new(TWO, BOTH_KINDS);
    let ran = bench.begin().finish();
    ran.requires(0, "[32/32] ");
    ran.requires(0, "32 measurements are made; the results are in ");
    assert!(ran.stdout.contains("The report is "), "{ran:#?}");
    for file in ["report.html", "summary.md", "summary.csv", "summary.json"] {
        assert!(fs::metadata(bench.out().join(file)).is_ok_and(|file| file.len() > 0), "{file}: {ran:#?}");
    }
    let measured = bench.everything_is_measured_once();
    assert_eq!(measured.len(), 2 * 2 * 2 * 2 * 2);
    for one in &measured {
        let run = &one.record.runs[0];
        assert_eq!((run.endings.ok, run.endings.all(), one.restarted), (40, 40, false), "{:?}", one.cell);
        assert_eq!(run.settings.connections, one.cell.concurrency);
        assert_eq!(run.settings.keep_alive, one.cell.connections == ConnectionKind::KeepAlive);
        assert_eq!(run.watched.len(), 1, "the server is watched, and its guard is not");
    }
    for (name, cell) in [("a/short/one_4", 4), ("b/keep-alive/repeat-2/two_1", 1)] {
        let text = fs::read_to_string(bench.out().join("ab").join(name)).expect("ab's report");
        assert!(text.contains(&format!("Concurrency Level:      {cell}\n")), "{name}: {text}");
        assert!(text.contains("Complete requests:      40\n"), "{name}: {text}");
    }
    let reports = count_files(&bench.out().join("ab"));
    assert_eq!(reports, measured.len());
    bench.nothing_is_left();
}

fn count_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| if entry.path().is_dir() { count_files(&entry.path()) } else { 1 }).sum()
}

#[test]
fn the_experiment_says_what_was_measured() {
    let order = "repeats = 1\nwarm_up = { cycles = 0 }\ncool_down = { time_wait_below = 7, at_most = \"250ms\" }";
    let bench = Bench::new(TWO, &format!("concurrency = 1\nrequests = 5\n[order]\n{order}"));
    bench.begin().finish().requires(0, "");
    let experiment = bench.results().experiment;
    let [a, b] = experiment.targets.as_slice() else { panic!("{:?}", experiment.targets) };
    assert_eq!((a.name.as_str(), a.kind, b.name.as_str()), ("a", TargetKind::Ours, "b"));
    assert_eq!(a.version, format!("quintain {}", env!("CARGO_PKG_VERSION")));
    assert_eq!(a.command[..2], ["quintain", "serve"]);
    assert!(b.command.join(" ").ends_with("--profile nginx"), "{:?}", b.command);
    assert!(a.url.starts_with("http://127.0.0.1:") && a.url != b.url);
    assert_eq!((experiment.plan.as_str(), experiment.question.as_str()), ("plan", "Is it measured?"));
    let course = experiment.course.expect("what is done around the measurements");
    assert_eq!((course.warm_up_cycles, course.warm_up_ms, course.cell_warm_up_ms), (0, 1000, 0));
    assert_eq!((course.time_wait_below, course.cool_down_at_most_ms), (7, 250));
    let lengths: Vec<_> = experiment.documents.iter().map(|document| document.bytes).collect();
    assert_eq!(lengths, [1000, 2000]);
    assert_eq!(fs::read_to_string(bench.out().join("plan.toml")).expect("the plan's text"), bench.plan());
    // One kind of connections, and one repeat: nothing stands between a target and its reports.
    assert!(bench.out().join("ab/a/one_1").is_file() && bench.out().join("ab/b/two_1").is_file());
}

#[test]
fn what_runs_already_is_measured_and_goes_on() {
    let site = Site::empty();
    site.write("one.txt", "1".repeat(1000));
    site.write("two.txt", "2".repeat(2000));
    let server = Server::over(&site);
    fs::write(site.outer().join("pid"), server.id().to_string()).expect("a pid file");
    let target = format!(
        "[[target]]\nname = \"r\"\nurl = \"{}\"\npid_file = \"{}\"",
        server.url(""),
        site.outer().join("pid").display()
    );
    let bench = Bench::new(&target, "concurrency = 2\nrequests = 20\n[order]\nrepeats = 1");
    bench.begin().finish().requires(0, "");
    let measured = bench.everything_is_measured_once();
    assert!(measured.iter().all(|one| one.record.runs[0].watched[0].pid == server.id()));
    let described = &bench.results().experiment.targets[0];
    assert_eq!((described.kind, described.workers), (TargetKind::Running, None));
    assert!(described.version.starts_with("quintain"), "its Server line: {described:?}");
    assert_eq!(server.get("/one.txt").status, 200);
}

/// plan.toml in the folder is the whole plan, and nothing said that less was measured.
#[test]
fn fewer_targets_than_the_plan_has_are_mentioned() {
    let bench = Bench::new(&format!("{TWO}\n[[target]]\nname = \"c\"\nserve = []"), "concurrency = 1\nrequests = 5");
    let with = |names: &str, out: &str| {
        let words = ["plan.toml", "--repeats", "1", "--targets", names, "--out", out];
        bench.start(&words.map(Path::new)).finish()
    };
    with("c,a", "two").requires(0, "quintain: --targets: only a and c of the plan's 3 targets are measured\n");
    with("b", "one").requires(0, "quintain: --targets: only b of the plan's 3 targets is measured\n");
    let all = with("a,b,c", "all");
    assert!(all.code == Some(0) && !all.stderr.contains("--targets"), "{all:#?}");
}

#[test]
fn what_is_done_is_not_done_again() {
    let bench = Bench::new(TWO, "concurrency = 1\nrequests = 5\n[order]\nrepeats = 1");
    bench.begin().finish().requires(0, "");
    let journal = fs::read(bench.out().join("journal.jsonl")).expect("a journal");
    let ran = bench.resume().finish();
    ran.requires(0, "4 measurements are made; ");
    assert!(ran.stdout.contains("The report is "), "{ran:#?}");
    assert!(!ran.stderr.contains("starting"), "nobody had to be started: {ran:#?}");
    assert_eq!(fs::read(bench.out().join("journal.jsonl")).expect("a journal"), journal);
}

#[test]
fn without_a_folder_it_makes_one_and_says_where() {
    let bench = Bench::new(TWO, "concurrency = 1\nrequests = 5\n[order]\nrepeats = 1");
    let ran = bench.start(&["plan.toml".as_ref(), "-q".as_ref()]).finish();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "-q is quiet");
    let (_, named) = ran.stdout.split_once("The report is ").expect("the report is named");
    let (folder, _) = named.split_once("/report.html").expect("it lies in the folder");
    assert!(folder.starts_with("results/plan-20") && bench.path(folder).join("journal.jsonl").is_file(), "{folder}");
}
