//! Files that a table cannot describe: by their time, their permissions, or what they do to others.

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::harness::{Launch, Server, Site, TEN, say_skipped};

/// RFC 9110 section 8.8.2.1: a server must not send a Last-Modified that is later than its Date.
#[test]
fn last_modified_is_never_later_than_date() {
    let site = Site::full();
    site.set_modified("thousand.txt", SystemTime::now() + Duration::from_secs(2));
    let server = Server::over(&site);
    let mut client = server.client();
    for target in ["/2100.txt", "/thousand.txt"] {
        let answer = client.get(target);
        let date = |name| answer.header(name).map(|value| httpdate::parse_http_date(value).expect("a date"));
        let now = date("date").expect("a Date");
        assert!(date("last-modified").is_none_or(|modified| modified <= now), "{answer:?}");
    }
}

/// httpdate panics from the year 9999 on, which is how one such server died.
#[test]
fn a_file_from_the_year_9999_or_later_has_no_last_modified() {
    const YEAR_9999: u64 = 253_370_764_800;
    let site = Site::small();
    let time = UNIX_EPOCH + Duration::from_secs(YEAR_9999);
    site.write("far.txt", "far");
    site.set_modified("far.txt", time);
    let stored = site.path("far.txt").metadata().and_then(|metadata| metadata.modified()).expect("a time");
    let server = Server::over(&site);
    let answer = server.get("/far.txt");
    assert_eq!(answer.text(), "far");
    if stored == time {
        assert_eq!(answer.header("last-modified"), None, "{answer:?}");
    } else {
        say_skipped("this file system keeps no time of the year 9999");
    }
}

#[test]
fn what_may_not_be_read_is_403() {
    let site = Site::full();
    let Some(launch) = Launch::over(site.root()).unprivileged() else { return };
    let server = launch.set("site.listing", "true").start();
    let mut client = server.client();
    for target in ["/private.txt", "/private/leaf.txt", "/private/"] {
        let answer = client.get(target);
        assert_eq!(answer.status, 403, "{target}: {answer:?}");
        assert!(!answer.text().contains("nobody may"), "{answer:?}");
    }
    assert_eq!(client.get("/ten.txt").body, TEN.as_bytes());
}

/// Opening a FIFO for reading waits for a writer, which once hung a whole server (merecat #2).
#[test]
fn a_fifo_holds_nobody_up() {
    let site = Site::full();
    let server = Server::over(&site);
    let mut clients: Vec<_> = (0..20).map(|_| server.client()).collect();
    for client in &mut clients {
        client.send("GET /fifo HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    assert_eq!(server.get("/ten.txt").body, TEN.as_bytes());
    for client in &mut clients {
        assert_eq!(client.answer().expect("an answer").status, 404);
    }
}

/// The bytes of a range are those of the file, wherever it begins and however the file is kept.
#[test]
fn ranges_hold_the_right_bytes() {
    let site = Site::full();
    let content = std::fs::read(site.path("big.bin")).expect("the file");
    for cache_file_max in ["0", "1m"] {
        let server = Launch::over(site.root()).set("files.cache_file_max", cache_file_max).start();
        let mut client = server.client();
        for (first, last) in [(0, 0), (1, 4095), (4096, 8191), (4095, 4097), (15_032, 49_184), (65_536, 299_999)] {
            let answer = client.get_with("/big.bin", &format!("Range: bytes={first}-{last}\r\n"));
            assert_eq!(answer.status, 206);
            assert!(answer.body == content[first..=last], "bytes {first}-{last}, cache_file_max {cache_file_max}");
        }
        assert!(client.get("/big.bin").body == content, "the whole, cache_file_max {cache_file_max}");
        let parts = client.get_with("/big.bin", "Range: bytes=10-19,100000-199999,299990-\r\n");
        for part in [&content[10..20], &content[100_000..200_000], &content[299_990..]] {
            assert!(parts.body.windows(part.len()).any(|window| window == part), "a part is missing");
        }
    }
}

/// Many clients of many files at once, on more than one worker: nobody gets another's bytes.
#[test]
fn answers_are_not_mixed_up() {
    let site = Site::empty();
    for number in 0..50 {
        site.write(&format!("{number}.txt"), format!("{number};").repeat(number * 400 + 1));
    }
    let server = Launch::over(site.root()).set("server.workers", "2").start();
    thread::scope(|scope| {
        for start in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let mut client = server.client();
                for step in 0..200 {
                    let number = (start * 7 + step * 13) % 50;
                    let answer = client.get(&format!("/{number}.txt"));
                    assert_eq!(answer.text(), format!("{number};").repeat(number * 400 + 1));
                }
            });
        }
    });
}
