//! `quintain doctor` on whatever machine runs the tests: what it finds depends on the machine, what it promises does not.

use std::net::TcpListener;
use std::process::Command;

use crate::harness::{Server, Site};

/// Exit code and all output.
fn doctor(arguments: &[&str]) -> (Option<i32>, String) {
    let binary = env!("CARGO_BIN_EXE_quintain");
    let output = Command::new(binary).arg("doctor").args(arguments).output().expect("it runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), format!("{out}{err}"))
}

#[test]
fn a_few_connections_are_possible_everywhere() {
    let (code, text) = doctor(&["--connections", "10"]);
    assert_eq!(code, Some(0), "{text}");
    for name in
        ["descriptors", "net.ipv4.ip_local_port_range", "net.core.somaxconn", "net.ipv4.tcp_congestion_control", "CPUs"]
    {
        let told = text.lines().filter(|line| line.contains(name) && !line.starts_with("  change:")).count();
        assert!(told >= 2, "{name} is not in the table and below it:\n{text}");
    }
    assert!(text.contains("\n10 connections are possible"), "{text}");
}

#[test]
fn more_connections_than_there_are_ports_are_not() {
    // There are 65,536 ports at the most.
    let (code, text) = doctor(&["--connections", "100k"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("; quintain load --source 127.0.0.2-127.0.0.3"), "{text}");
    assert!(text.contains("problem  net.ipv4.ip_local_port_range"), "{text}");
    assert!(text.contains("100000 connections are not possible as it is: see "), "{text}");
}

/// A report of the doctor is what people post when they ask for help.
#[test]
fn a_password_in_the_url_is_not_printed() {
    let site = Site::small();
    let server = Server::over(&site);
    let with_password = server.url("/ten.txt").replace("//", "//user:secret@");
    for url in [&with_password, "http://user:secret@127.0.0.1:1/", "https://user:secret@127.0.0.1/"] {
        let (_, text) = doctor(&["--connections", "1", "--url", url]);
        assert!(text.contains("//127.0.0.1") && !text.contains("secret"), "{text}");
    }
}

#[test]
fn a_url_is_asked() {
    let site = Site::small();
    let server = Server::over(&site);
    let (code, text) = doctor(&["--connections", "1", "--url", &server.url("/ten.txt")]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("/ten.txt: it answers.") && text.contains("over loopback"), "{text}");
    let (code, text) = doctor(&["--connections", "1", "--url", &server.url("/missing")]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.lines().any(|line| line.starts_with("look     URL") && line.ends_with("  404")), "{text}");
}

#[test]
fn a_url_that_does_not_answer_is_a_problem() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    drop(listener);
    let (code, text) = doctor(&["--connections", "1", "--url", &url]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("does not answer: ") && text.contains("Connection refused"), "{text}");
}

#[test]
fn what_cannot_be_meant() {
    for wrong in
        [["--url", "https://127.0.0.1/"], ["--url", "nonsense"], ["--connections", "0"], ["--connections", "2m"]]
    {
        assert_eq!(doctor(&wrong).0, Some(2), "{wrong:?}");
    }
}
