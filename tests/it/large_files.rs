//! Files over 4 GiB: where a length or an offset was 32 bits wide, somewhere, these find it.

use std::os::unix::fs::FileExt;

use crate::harness::{Launch, Server, Site, machine_to_myself};

const GIB: u64 = 1 << 30;

/// A sparse file of 5 GiB with a few bytes that are not zero around the 4 GiB line and at the end.
fn site() -> Site {
    let site = Site::small();
    let file = site.write_sparse("five.bin", 5 * GIB);
    file.write_all_at(b"<before|after>", 4 * GIB - 7).expect("bytes around 4 GiB");
    file.write_all_at(b"end", 5 * GIB - 3).expect("bytes at the end");
    site
}

#[test]
fn head_says_the_whole_length() {
    let site = site();
    let server = Server::over(&site);
    let mut client = server.client();
    client.send("HEAD /five.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    let head = client.answer_to_head().expect("a head");
    assert_eq!((head.status, head.content_length()), (200, Some(5 * GIB)));
    assert_eq!(client.get("/ten.txt").status, 200);
}

#[test]
fn ranges_around_four_gigabytes() {
    let site = site();
    let server = Server::over(&site);
    let mut client = server.client();
    let line = 4 * GIB;
    for (range, first, body) in [
        (format!("{}-{}", line - 7, line + 6), line - 7, "<before|after>"),
        (format!("{line}-{}", line + 5), line, "|after"),
        (format!("{}-{}", line - 7, line - 1), line - 7, "<before"),
        ("-3".to_owned(), 5 * GIB - 3, "end"),
        (format!("{}-", 5 * GIB - 1), 5 * GIB - 1, "d"),
        (format!("{}-{}", 5 * GIB - 3, u64::MAX), 5 * GIB - 3, "end"),
    ] {
        let answer = client.get_with("/five.bin", &format!("Range: bytes={range}\r\n"));
        assert_eq!(answer.status, 206, "{range}: {answer:?}");
        assert_eq!(answer.text(), body, "{range}");
        let last = first + body.len() as u64 - 1;
        assert_eq!(answer.header("content-range"), Some(&*format!("bytes {first}-{last}/{}", 5 * GIB)));
    }
    let past = client.get_with("/five.bin", &format!("Range: bytes={}-\r\n", 5 * GIB));
    assert_eq!((past.status, past.header("content-range")), (416, Some(&*format!("bytes */{}", 5 * GIB))));
}

#[test]
fn several_ranges_on_both_sides_of_four_gigabytes() {
    let site = site();
    let server = Server::over(&site);
    let range = format!("Range: bytes={}-{},{}-{},-3\r\n", 4 * GIB - 7, 4 * GIB - 1, 4 * GIB + 1, 4 * GIB + 5);
    let answer = server.client().get_with("/five.bin", &range);
    assert_eq!(answer.status, 206);
    for part in ["\r\n\r\n<before\r\n--", "\r\n\r\nafter\r\n--", "\r\n\r\nend\r\n--"] {
        assert!(answer.text().contains(part), "{part:?} is missing in {}", answer.text());
    }
}

/// The length that is announced is the length that comes; servers have sent it modulo 2^32.
#[test]
fn the_whole_of_more_than_four_gigabytes() {
    let _alone = machine_to_myself();
    let length = 4 * GIB + GIB / 10;
    let site = Site::small();
    site.write_sparse("whole.bin", length);
    // Reno is in every kernel, and does not pace what never leaves the machine, as BBR does.
    let server = Launch::over(site.root()).set("socket.congestion", "reno").start();
    let mut client = server.client();
    client.send("GET /whole.bin HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    assert_eq!(client.head().expect("a head").content_length(), Some(length));
    let (count, end) = client.drain();
    assert_eq!(count, length, "the end was {end}");
}
