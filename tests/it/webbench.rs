//! WebBench's face. There is no WebBench here to compare with; its lines are those of runs that people published.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use regex_lite::Regex;

use crate::harness::{Launch, Server, Site};

fn webbench(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
    command.arg("webbench").args(words).output().expect("the binary under test can be executed")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The figures of the two lines: pages a minute, bytes a second, succeeded, failed.
fn figures(text: &str) -> [u64; 4] {
    let lines = r"\nSpeed=(\d+) pages/min, (\d+) bytes/sec\.\nRequests: (\d+) susceed, (\d+) failed\.\n$";
    let found = Regex::new(lines).expect("a pattern").captures(text).unwrap_or_else(|| panic!("{text}"));
    [1, 2, 3, 4].map(|at| found[at].parse().expect("digits"))
}

#[test]
fn two_lines() {
    let site = Site::full();
    let server = Launch::over(site.root()).with_admin().start();
    let url = server.url("/thousand.txt");
    let output = webbench(&["-c", "4", "-t", "1", &url]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(text.starts_with(&format!("\nBenchmarking: GET {url}\n4 clients, running 1 sec.\n\nSpeed=")), "{text}");
    let [pages, bytes, succeeded, failed] = figures(&text);
    assert_eq!((pages, failed), (succeeded * 60, 0), "{text}");
    assert!(succeeded > 0 && bytes > succeeded * 1000, "{text}");
    let head = "Webbench - Simple Web Benchmark 1.5\nCopyright (c) Radim Kolar 1997-2004, GPL Open Source Software.\n";
    assert_eq!(stderr(&output), head);
}

#[test]
fn what_webbench_does_not_look_at_is_said() {
    let site = Site::small();
    let server = Server::over(&site);
    let output = webbench(&["-2", "--head", "-f", "-t", "1", &server.url("/missing.txt")]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("/missing.txt (using HTTP/1.1)\n1 client, running 1 sec.\n"), "{text}");
    let [_, _, succeeded, failed] = figures(&text);
    assert_eq!(failed, 0, "{text}");
    let said = stderr(&output);
    assert!(said.contains(&format!("quintain: of the requests, {succeeded} answered, but not with 2xx\n")), "{said}");
    assert!(said.contains("quintain: -f is not imitated"), "{said}");
}

#[test]
fn nobody_there() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("its address"));
    drop(listener);
    for url in [url.as_str(), "http://quintain.invalid/"] {
        let output = webbench(&["-t", "1", url]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("\nConnect to server failed. Aborting benchmark.\n"), "{}", stderr(&output));
        assert!(!stdout(&output).contains("Speed="));
    }
}

#[test]
fn usage() {
    let rows: &[(&[&str], &str)] = &[
        (&[], "webbench [option]... URL\n"),
        (&["-h"], "webbench [option]... URL\n"),
        (&["-t", "1"], "webbench: Missing URL!\nwebbench [option]... URL\n"),
        (&["-x", "http://h/"], "webbench: invalid option '-x'\n"),
        (&["-p", ":1", "http://h/"], "Error in option --proxy :1: "),
    ];
    for (words, said) in rows {
        let output = webbench(words);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{words:?}");
        assert!(stderr(&output).starts_with(said), "{words:?}: {}", stderr(&output));
    }
    for (url, said) in [
        ("h/", "\nh/: is not a valid URL.\n"),
        ("https://h/", "\nOnly HTTP protocol is directly supported, set --proxy for others.\n"),
        ("http://h", "\nInvalid URL syntax - hostname don't ends with '/'.\n"),
    ] {
        let output = webbench(&[url]);
        assert_eq!(output.status.code(), Some(2), "{url}");
        assert!(stderr(&output).ends_with(said), "{url}: {}", stderr(&output));
    }
}

#[test]
fn called_by_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let link = folder.path().join("webbench");
    symlink(env!("CARGO_BIN_EXE_quintain"), &link).expect("a symbolic link");
    let output = Command::new(&link).arg("-V").output().expect("the link can be executed");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "1.5\n"));
}
