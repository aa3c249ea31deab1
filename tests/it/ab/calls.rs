//! Command lines that are no run: what ab says to them, and with which exit code.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::ab::{ours, real, same, stderr, stdout};
use crate::harness::{Server, Site, TEN};

#[test]
fn the_version() {
    for words in [&["-V"][..], &["-wV"], &["-n", "5", "-V", "-c", "x"]] {
        let Some(theirs) = real(words) else { return };
        let ours = ours(words);
        assert_eq!((stdout(&ours), stderr(&ours)), (stdout(&theirs), stderr(&theirs)), "{words:?}");
        assert_eq!(ours.status.code(), Some(0));
    }
}

/// The usage text is in words of our own; the sentence before it is ab's.
#[test]
fn usage() {
    let url = "http://127.0.0.1:1/";
    let rows: &[&[&str]] = &[
        &[],
        &["-n", "5"],
        &["-n"],
        &["-n", "5", "-c", "6", url],
        &["-c", "2", url],
        &["-c", "-1", url],
        &["-n", "300000", "-c", "200001", url],
        &["-n", "5", "http://127.0.0.1:1"],
        &["-n", "5", "http:///x"],
        &["-n", "5", "http://127.0.0.1:99999/"],
        &["-n", "5", url, url],
        &[url, "-n", "5"],
    ];
    for words in rows {
        let Some(theirs) = real(words) else { return };
        let ours = ours(words);
        let first = |text: String| text.lines().next().unwrap_or_default().replace("[Range 0..", "[Range 1..");
        assert_eq!(first(stderr(&ours)), first(stderr(&theirs)), "{words:?}");
        assert!(stderr(&ours).contains("\nUsage: ab [options] "), "{words:?}: {}", stderr(&ours));
        assert_eq!((ours.status.code(), theirs.status.code()), (Some(22), Some(22)), "{words:?}");
        assert_eq!((stdout(&ours), stdout(&theirs)), (String::new(), String::new()), "{words:?}");
    }
    let help = ours(&["-h"]);
    assert_eq!(help.status.code(), Some(22));
    assert!(stderr(&help).starts_with("Usage: ab [options] "), "{}", stderr(&help));
}

#[test]
fn mistakes_without_the_usage_text() {
    let url = "http://127.0.0.1:1/";
    let rows: &[&[&str]] = &[
        &["-n", "0", url],
        &["-n", "x", url],
        &["-i", "-p", "/dev/null", url],
        &["-p", "/dev/null", "-u", "/dev/null", url],
        &["-m", "PUT", "-i", url],
        &["-p", "/nonexistent", url],
        &["-n", "5", "-B", "192.0.2.7", url],
        &["-n", "5", "-B", "quintain.invalid", url],
        &["-n", "5", "http://quintain.invalid/"],
    ];
    for words in rows {
        if same(words).is_none() {
            return;
        }
    }
}

/// ab finds out after the run, when its figures are lost.
#[test]
fn files_that_cannot_be_written_are_found_out_before_the_run() {
    let site = Site::small();
    let server = Server::over(&site);
    for (flag, what) in [("-e", "CSV"), ("-g", "gnuplot")] {
        let words = ["-n", "2", flag, "/nonexistent/file", &server.url("/ten.txt")];
        let ours = ours(&words);
        assert_eq!((ours.status.code(), stdout(&ours)), (Some(1), String::new()));
        assert_eq!(stderr(&ours), format!("Cannot open {what} output file: No such file or directory\n"));
        let Some(theirs) = real(&words) else { return };
        assert_eq!((theirs.status.code(), stderr(&theirs)), (Some(1), stderr(&ours)));
    }
}

#[test]
fn tls_is_refused_in_a_sentence() {
    for words in
        [&["-Z", "ALL", "http://127.0.0.1:1/"][..], &["-f", "ALL", "h/"], &["-E", "x", "h/"], &["https://127.0.0.1:1/"]]
    {
        let ours = ours(words);
        assert_ne!(ours.status.code(), Some(0), "{words:?}");
        assert!(stderr(&ours).contains("TLS") && stderr(&ours).lines().count() == 1, "{words:?}: {}", stderr(&ours));
    }
}

/// A link that is called `ab` is ab: with its name in its messages, and all words its own.
#[test]
fn called_by_its_name() {
    let site = Site::small();
    let server = Server::over(&site);
    let link = site.outer().join("ab");
    symlink(env!("CARGO_BIN_EXE_quintain"), &link).expect("a symbolic link");
    let run = |words: &[&str]| Command::new(&link).args(words).output().expect("the link can be executed");
    let output = run(&["-n", "2", &server.url("/ten.txt")]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).contains(&format!("\nDocument Length:        {} bytes\n", TEN.len())),
        "{}",
        stdout(&output)
    );
    let output = run(&[]);
    assert!(
        stderr(&output).starts_with(&format!("{}: wrong number of arguments\n", link.display())),
        "{}",
        stderr(&output)
    );
    assert_eq!(output.status.code(), Some(22));
}
