//! Where a setting comes from, end to end: default < file < environment < `--set` < a flag of its own.

use std::fs;

use crate::harness::{Client, Launch, Site};

/// The `Server` line shows which layer won.
#[test]
fn each_layer_goes_before_the_one_below() {
    let site = Site::small();
    let file = site.outer().join("bench.toml");
    fs::write(&file, "[headers]\nserver = \"file\"\n").expect("a file");

    let default = Launch::over(site.root());
    let with_file = default.clone().flag("--config", file.to_str().expect("UTF-8"));
    let with_environment = with_file.clone().env("QUINTAIN_HEADERS__SERVER", "environment");
    let with_set = with_environment.clone().set("headers.server", "set");
    for (launch, expected) in
        [(default, "quintain"), (with_file, "file"), (with_environment, "environment"), (with_set, "set")]
    {
        assert_eq!(launch.start().get("/ten.txt").header("server"), Some(expected));
    }
}

#[test]
fn a_flag_goes_before_set() {
    let (site, other) = (Site::small(), Site::empty());
    other.write("ten.txt", "another");
    let launch = Launch::over(site.root()).set("server.root", other.root().to_str().expect("UTF-8"));
    assert_eq!(launch.start().get("/ten.txt").text(), "0123456789");
}

#[test]
fn a_later_set_goes_before_an_earlier_one() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("headers.server", "first").set("headers.server", "second").start();
    assert_eq!(server.get("/ten.txt").header("server"), Some("second"));
}

#[test]
fn a_file_is_found_in_the_current_folder() {
    let site = Site::small();
    fs::write(site.outer().join("config.toml"), "[headers]\nserver = \"found\"\n").expect("a file");
    let server = Launch::over(site.root()).in_directory(site.outer()).start();
    assert_eq!(server.get("/ten.txt").header("server"), Some("found"));
}

#[test]
fn a_file_is_named_by_the_environment() {
    let site = Site::small();
    let file = site.outer().join("named.toml");
    fs::write(&file, "[headers]\nserver = \"named\"\n").expect("a file");
    let server = Launch::over(site.root()).env("QUINTAIN_CONFIG", file.to_str().expect("UTF-8")).start();
    assert_eq!(server.get("/ten.txt").header("server"), Some("named"));
}

#[test]
fn a_whole_server_from_the_environment() {
    let site = Site::small();
    let launch = Launch::bare()
        .env("QUINTAIN_SERVER__ROOT", site.root().to_str().expect("UTF-8"))
        .env("QUINTAIN_SERVER__LISTEN", "127.0.0.1:0,127.0.0.1:0")
        .env("QUINTAIN_SERVER__WORKERS", "2")
        .announcing(2);
    let server = launch.start();
    for endpoint in server.endpoints() {
        assert_eq!(Client::connect(endpoint).get("/ten.txt").text(), "0123456789");
    }
}

#[test]
fn a_whole_server_from_a_file() {
    let site = Site::small();
    let file = site.outer().join("bench.toml");
    let lines = format!("[server]\nroot = {:?}\nlisten = [\"127.0.0.1:0\"]\nworkers = 1\n", site.root());
    fs::write(&file, lines).expect("a file");
    let server = Launch::bare().flag("--config", file.to_str().expect("UTF-8")).start();
    assert_eq!(server.get("/ten.txt").text(), "0123456789");
}

#[test]
fn check_prints_what_counts_and_where_it_comes_from() {
    let site = Site::small();
    let file = site.outer().join("bench.toml");
    fs::write(&file, "[server]\nworkers = 3\n").expect("a file");
    let output = Launch::bare()
        .flag("--config", file.to_str().expect("UTF-8"))
        .env("QUINTAIN_SITE__INDEX", "home.html")
        .set("keep_alive.max_requests", "7")
        .command()
        .arg("--check")
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let line =
        |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}"));
    assert!(line("server.workers = 3").contains("bench.toml:2"), "{text}");
    assert!(line("site.index = \"home.html\"").contains("QUINTAIN_SITE__INDEX"), "{text}");
    assert!(line("keep_alive.max_requests = 7").contains("--set"), "{text}");
    assert!(line("limits.target_bytes = ").contains("default"), "{text}");
    // What it prints is a configuration.
    toml::from_str::<toml::Table>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
}

#[test]
fn check_finds_mistakes() {
    let output = Launch::bare().set("server.workers", "many").command().arg("--check").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
