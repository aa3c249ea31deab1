//! Runs that come to their end, and their reports.

use std::fs;

use crate::ab::scripted::{Scripted, answer};
use crate::ab::{compare, ours, real, same, stdout};
use crate::harness::{Launch, Server, Site};
use crate::peers::figure;

#[test]
fn short_connections() {
    let site = Site::full();
    let server = Server::over(&site);
    let url = server.url("/thousand.txt");
    let rows: &[&[&str]] = &[
        &["-n", "1"],
        &["-n", "8", "-c", "2"],
        &["-n20", "-c", "20"],
        &["-n", "9", "-c", "9", "-b", "4096"],
        &["-n", "3", "-B", "127.0.0.2"],
    ];
    for words in rows {
        if same(&[*words, &[&url]].concat()).is_none() {
            return;
        }
    }
    // Without the scheme, and with a query.
    same(&["-n", "3", server.url("/ten.txt?a=b").trim_start_matches("http://")]);
}

#[test]
fn keep_alive() {
    let site = Site::full();
    let server = Server::over(&site);
    let url = server.url("/thousand.txt");
    for words in [&["-k", "-n", "8"][..], &["-kn20", "-c4"], &["-k", "-i", "-n", "8"]] {
        if same(&[words, &[&url]].concat()).is_none() {
            return;
        }
    }
}

/// The server ends a connection after its fifth answer, and says so in it.
#[test]
fn beyond_the_keep_alive_quota() {
    let site = Site::small();
    let server = Launch::over(site.root()).set("keep_alive.max_requests", "5").start();
    let url = server.url("/ten.txt");
    let Some(output) = same(&["-k", "-n", "40", &url]) else { return };
    assert_eq!(figure(&stdout(&output), "Keep-Alive requests:"), Some(32));
    // With several connections it depends on their turns how many come to their end.
    let words = ["-k", "-n", "40", "-c", "8", &url];
    compare(&real(&words).expect("ab is there"), &ours(&words), &words);
}

#[test]
fn not_2xx() {
    let site = Site::full();
    let server = Server::over(&site);
    for target in ["/missing.txt", "/dir"] {
        for words in [&["-n", "6"][..], &["-n", "6", "-k"], &["-n", "6", "-i", "-v", "2"]] {
            let Some(output) = same(&[words, &[&server.url(target)]].concat()) else { return };
            assert_eq!(figure(&stdout(&output), "Non-2xx responses:"), Some(6), "{target}");
        }
    }
}

#[test]
fn lengths_that_change() {
    let server = Scripted::start(|number, stream| answer(stream, &vec![b'x'; if number % 2 == 0 { 20 } else { 10 }]));
    let url = server.url("/");
    let Some(output) = same(&["-n", "6", &url]) else { return };
    assert!(stdout(&output).contains("   (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)\n"));
    let output = same(&["-n", "6", "-l", &url]).expect("ab is there");
    assert!(stdout(&output).contains("Document Length:        Variable\n"));
}

#[test]
fn parts_left_out() {
    let site = Site::small();
    let server = Server::over(&site);
    let url = server.url("/ten.txt");
    for words in
        [&["-d"][..], &["-S"], &["-dS"], &["-q"], &["-w"], &["-wk"], &["-x", "border=1", "-y", "a=b", "-z", "c=d"]]
    {
        if same(&[words, &["-n", "8", "-c", "2", &url]].concat()).is_none() {
            return;
        }
    }
}

/// More than 150 requests have progress lines, on stderr, and no `..done`.
#[test]
fn progress() {
    let site = Site::small();
    let server = Server::over(&site);
    let url = server.url("/ten.txt");
    for words in [&["-n", "150"][..], &["-n", "151"], &["-n", "350", "-k"], &["-qn350", "-k"]] {
        if same(&[words, &[&url]].concat()).is_none() {
            return;
        }
    }
}

/// Of an answer with a body ab shows also as much as came in the same read, so the heads are those of HEAD.
#[test]
fn verbose() {
    let site = Site::full();
    let server = Server::over(&site);
    for level in ["0", "1", "2", "3", "4"] {
        if same(&["-v", level, "-i", "-n", "2", &server.url("/ten.txt")]).is_none() {
            return;
        }
    }
}

#[test]
fn bodies() {
    let site = Site::small();
    let server = Server::over(&site);
    let body = site.outer().join("body");
    fs::write(&body, "a=b&c=d").expect("a file");
    let (body, url) = (body.to_str().expect("UTF-8"), server.url("/ten.txt"));
    for words in [&["-p", body][..], &["-u", body, "-T", "a/b"], &["-wp", body]] {
        let Some(output) = same(&[words, &["-n", "4", &url]].concat()) else { return };
        let text = stdout(&output);
        let theirs = stdout(&real(&[words, &["-n", "4", &url]].concat()).expect("ab is there"));
        assert_eq!(figure(&text, "Total body sent:"), figure(&theirs, "Total body sent:"));
    }
}

#[test]
fn files() {
    let site = Site::small();
    let server = Server::over(&site);
    let [csv, rows] = ["csv", "rows"].map(|name| site.outer().join(name));
    let words = ["-e", csv.to_str().expect("UTF-8"), "-g", rows.to_str().expect("UTF-8"), "-n", "100", "-c", "4"];
    let url = server.url("/ten.txt");
    let words = [&words[..], &[&url]].concat();
    let read = || [&csv, &rows].map(|path| fs::read_to_string(path).expect("the file was written"));
    let Some(theirs) = real(&words) else { return };
    let files_of_ab = read();
    compare(&theirs, &ours(&words), &words);
    let [csv, rows] = read();
    for (ours, theirs) in [&csv, &rows].into_iter().zip(&files_of_ab) {
        assert_eq!(ours.lines().count(), theirs.lines().count());
        assert_eq!(ours.lines().next(), theirs.lines().next(), "the header");
        let columns = |text: &str| text.lines().map(|line| line.split_whitespace().count()).collect::<Vec<_>>();
        assert_eq!(columns(ours), columns(theirs));
        assert_eq!(
            ours.lines().map(|line| line.split(['\t', ',']).count()).max(),
            theirs.lines().map(|line| line.split(['\t', ',']).count()).max()
        );
    }
    assert_eq!(csv.lines().count(), 102);
    let totals: Vec<u64> = rows.lines().skip(1).map(|row| column(row, 8)).collect();
    assert!(totals.is_sorted(), "rows come in the order of their total time: {totals:?}");
    assert!(rows.lines().skip(1).all(|row| column(row, 6) + column(row, 7) >= column(row, 8).saturating_sub(1)));
}

/// A column of `-g` as gnuplot and awk count them, the first being 0.
fn column(row: &str, at: usize) -> u64 {
    row.split_whitespace().nth(at).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{row}"))
}

#[test]
fn a_time_limit() {
    let site = Site::small();
    let server = Server::over(&site);
    // Whichever comes first: the later -n takes back the 50,000 of -t.
    if same(&["-t", "20", "-n", "7", &server.url("/ten.txt")]).is_none() {
        return;
    }
    let slow = Scripted::start(|_, stream| {
        std::thread::sleep(std::time::Duration::from_millis(30));
        answer(stream, b"slow");
    });
    let words = ["-n", "3", "-t", "1", &slow.url("/")];
    compare(&real(&words).expect("ab is there"), &ours(&words), &words);
}

/// The head of each request, byte for byte.
#[test]
fn requests_are_the_same_bytes() {
    let server = Scripted::start(|_, stream| answer(stream, b"ok"));
    let (url, proxy) = (server.url("/a?b#c"), server.authority());
    let rows: &[&[&str]] = &[
        &[&url],
        &["-k", &url],
        &["-C", "a=b", "-C", "c=d", "-A", "u:p", "-P", "x:y", &url],
        &["-H", "X: 1", "-H", "accept:none", "-H", "User-agent: me", "-H", "HOST: h", &url],
        &["-i", "-H", "Accept-Encoding: gzip", &url],
        &["-m", "OPTIONS", &url],
        &["-p", "/dev/null", "-T", "x/y", &url],
        &["-X", &proxy, "http://quintain.invalid:81/p?q"],
    ];
    for words in rows {
        let Some(theirs) = real(words) else { return };
        let request_of_ab = server.last_request();
        compare(&theirs, &ours(words), words);
        assert_eq!(server.last_request(), request_of_ab, "{words:?}");
    }
}
