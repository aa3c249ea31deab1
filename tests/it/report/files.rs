//! The files of a report, and what is said where there can be none.

use std::fs;

use quintain::record::experiment::{EXPERIMENT_FILE, Experiment, JOURNAL_FILE};

use super::folder::{Shape, folder, one_measurement};
use super::{report, reported};

#[test]
fn a_report_is_written_beside_the_journal_and_says_where() {
    let folder = Shape::usual().folder();
    let ran = reported(folder.path());
    let page = folder.path().join("report.html");
    assert!(ran.stdout.contains(&page.display().to_string()), "{ran:#?}");
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
    assert!(!folder.path().join("charts").exists(), "nobody asked for them");
    assert!(ran.stdout.contains("jetty") && ran.stdout.contains("worse"), "the short form: {ran:#?}");
    let file = |name| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(file("summary.csv").lines().count(), 1 + 3 * 4 * 2, "a line of names, and one for each point");
    let summary: serde_json::Value = serde_json::from_str(&file("summary.json")).unwrap();
    assert_eq!(summary["version"], 1);
    assert!(file("summary.md").starts_with("# Which of these servers answers more requests?\n"));
}

#[test]
fn a_sweep_that_was_killed_is_reported_as_far_as_it_came() {
    let shape = Shape::usual();
    let entries = shape.entries(&one_measurement());
    let folder = folder(&shape.experiment(), &entries[..100]);
    let journal = folder.path().join(JOURNAL_FILE);
    let whole = fs::read(&journal).unwrap();
    fs::write(&journal, &whole[..whole.len() - 700]).unwrap();
    let ran = reported(folder.path());
    assert!(ran.stderr.contains("journal.jsonl ends in the middle of a line"), "{ran:#?}");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<strong>Incomplete: </strong>99 of 144 measurements"), "{ran:#?}");
}

#[test]
fn charts_go_where_documents_want_them() {
    let folder = Shape::usual().folder();
    let documents = tempfile::tempdir().unwrap();
    let out = documents.path().join("not/there/yet");
    let ran = report(&["--charts".as_ref(), "--out".as_ref(), out.as_os_str(), folder.path().as_os_str()]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let charts: Vec<_> = fs::read_dir(out.join("charts")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(charts.len(), 2 + 2 * 3);
    for chart in charts {
        assert!(fs::read_to_string(chart).unwrap().contains("prefers-color-scheme: dark"));
    }
    let summary = fs::read_to_string(out.join("summary.md")).unwrap();
    assert_eq!(summary.matches("](charts/").count(), 2 * 3, "{summary}");
    assert!(out.join("report.html").exists() && !folder.path().join("report.html").exists());
}

#[test]
fn charts_of_an_earlier_report_are_told_of() {
    let folder = Shape::alone().folder();
    let told =
        |ran: super::Ran| ran.stderr.contains("/charts is of an earlier report: with --charts it is drawn again\n");
    assert!(!told(reported(folder.path())), "there are none yet");
    assert!(!told(report(&["--charts".as_ref(), folder.path().as_os_str()])));
    assert!(told(reported(folder.path())));
}

#[test]
fn two_folders_are_compared_and_the_earlier_one_stays_as_it_was() {
    let [before, after] = [Shape::usual(), Shape::usual().faster("tomcat", 1.2)].map(|shape| shape.folder());
    let ran = report(&["--charts".as_ref(), before.path().as_os_str(), after.path().as_os_str()]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let row = |name: &str| ran.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    assert!(row("tomcat").contains("1.20 (") && row("tomcat").contains(") better"), "{ran:#?}");
    assert!(row("nginx").contains(") not shown"), "{ran:#?}");
    let page = after.path().join("comparison.html");
    assert!(ran.stdout.ends_with(&format!("\nThe comparison is {}.\n", page.display())), "{ran:#?}");
    assert!(fs::read_to_string(&page).unwrap().contains("Nothing that is recorded"), "the same machine and versions");
    assert!(after.path().join("charts/changes-requests.svg").exists());
    let names = |path| fs::read_dir(path).unwrap().count();
    assert_eq!(names(before.path()), 2, "experiment and journal");
}

#[test]
fn what_is_no_sweep_is_refused_in_a_sentence() {
    let empty = tempfile::tempdir().unwrap();
    let said = |words: &[&str]| {
        let ran = report(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:#?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
        ran.stderr
    };
    let path = empty.path().to_str().unwrap();
    assert!(said(&[path]).ends_with("has no experiment.json: this is not the folder of a sweep\n"));
    let newer = Experiment { version: 2, tool: "quintain 9.9.9".to_owned(), ..Shape::alone().experiment() };
    fs::write(empty.path().join(EXPERIMENT_FILE), serde_json::to_string(&newer).unwrap()).unwrap();
    assert!(said(&[path]).contains("has version 2 and was written by quintain 9.9.9"));
    let folder = folder(&Shape::alone().experiment(), &[]);
    fs::write(folder.path().join(JOURNAL_FILE), "{\"moon\":1}\n").unwrap();
    assert!(said(&[folder.path().to_str().unwrap()]).contains("journal.jsonl, line 1: unknown variant `moon`"));
}

/// What is not in order was written by nobody knows whom.
#[test]
fn what_a_file_says_steers_no_terminal() {
    let folder = folder(&Shape::alone().experiment(), &[]);
    let evil = "x\u{1b}[31m\nforged\u{7}\u{202e}";
    let plain = |words: &str| {
        let ran = report(&[folder.path()]);
        assert_eq!(ran.code, Some(1), "{ran:#?}");
        assert!(ran.stderr.contains(words) && ran.stderr.lines().count() == 1, "{ran:#?}");
        assert!(!ran.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{ran:#?}");
    };
    fs::write(folder.path().join(JOURNAL_FILE), format!("{}\n", serde_json::json!({ evil: 1 }))).unwrap();
    plain("unknown variant `x\u{fffd}[31m forged\u{fffd}\u{fffd}`");
    let newer = Experiment { version: 2, tool: evil.to_owned(), ..Shape::alone().experiment() };
    fs::write(folder.path().join(EXPERIMENT_FILE), serde_json::to_string(&newer).unwrap()).unwrap();
    plain("was written by x\u{fffd}[31m forged");
}

#[test]
fn a_folder_is_not_compared_with_itself() {
    let folder = Shape::alone().folder();
    let link = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.path(), link.path().join("other")).unwrap();
    let ran = report(&[folder.path().to_owned(), link.path().join("other")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:#?}");
    assert!(ran.stderr.ends_with("are one folder: name the results of two sweeps\n"), "{ran:#?}");
}

#[test]
fn a_place_that_cannot_be_written_is_named_with_the_way_out() {
    let folder = folder(&Shape::alone().experiment(), &[]);
    let ran = report(&["--out".as_ref(), "/proc/1".as_ref(), folder.path().as_os_str()]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.stderr.contains("cannot write /proc/1/report.html: "), "{ran:#?}");
    assert!(ran.stderr.ends_with("; name another folder by --out\n"), "{ran:#?}");
}
