//! Files that change while they are being sent, and after: every answer is the whole of one version, or breaks.

use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::harness::{Broken, Client, Launch, Server, Site};

/// Far more than the socket buffers hold.
const LARGE: usize = 64 << 20;

/// A server over one large file of `x`, and a client that has read its head and first megabyte.
fn begun() -> (Site, Server, Client) {
    let site = Site::small();
    site.write("large.bin", vec![b'x'; LARGE]);
    let server = Launch::over(site.root()).set("files.revalidate", "0s").start();
    let mut client = Client::connect_with_fixed_buffer(server.endpoint());
    client.send("GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n");
    let head = client.head().expect("a head");
    assert_eq!(head.content_length(), Some(LARGE as u64));
    assert_eq!(client.take(1 << 20).expect("the first megabyte"), vec![b'x'; 1 << 20]);
    (site, server, client)
}

/// The rest of the answer is the old file's, to the byte, and the connection can go on.
fn expect_old_rest(client: &mut Client) {
    let rest = client.take(LARGE - (1 << 20)).expect("the rest");
    assert!(rest.iter().all(|byte| *byte == b'x'), "bytes of another version were sent");
    assert_eq!(client.get("/ten.txt").status, 200);
}

#[test]
fn a_file_that_is_cut_short_breaks_its_connection_only() {
    const LEFT: u64 = 32 << 20;
    let (site, server, mut client) = begun();
    File::options().write(true).open(site.path("large.bin")).and_then(|file| file.set_len(LEFT)).expect("a cut");
    let (more, end) = client.drain();
    assert!(matches!(end, Broken::Closed | Broken::Reset(_)), "the end was {end}");
    assert!((1 << 20) + more <= LEFT, "{more} bytes after the first megabyte: the answer was padded");
    // Others, and the file at its new length, are served by the same worker.
    assert_eq!(server.get("/ten.txt").status, 200);
    assert_eq!(server.get("/large.bin").body.len() as u64, LEFT);
}

#[test]
fn a_file_that_is_cut_to_nothing_breaks_its_connection_only() {
    let (site, server, mut client) = begun();
    File::create(site.path("large.bin")).expect("an empty file");
    let (more, end) = client.drain();
    assert!(matches!(end, Broken::Closed | Broken::Reset(_)), "the end was {end}");
    assert!(more < (LARGE - (1 << 20)) as u64);
    assert_eq!(server.get("/large.bin").body, b"");
}

#[test]
fn a_file_that_grows_is_sent_as_announced() {
    let (site, _server, mut client) = begun();
    let mut content = vec![b'x'; LARGE];
    content.extend_from_slice(&[b'y'; 1000]);
    // In place: the same file, which is longer now.
    let file = File::options().append(true).open(site.path("large.bin")).expect("the file");
    std::io::Write::write_all(&mut &file, &content[LARGE..]).expect("an append");
    expect_old_rest(&mut client);
    assert_eq!(client.get("/large.bin").body.len(), LARGE + 1000);
}

#[test]
fn a_file_that_is_replaced_is_sent_as_it_was() {
    let (site, _server, mut client) = begun();
    site.replace("large.bin", vec![b'y'; LARGE]);
    expect_old_rest(&mut client);
    assert!(client.get("/large.bin").body.iter().all(|byte| *byte == b'y'));
}

#[test]
fn a_file_that_is_deleted_is_sent_as_it_was() {
    let (site, _server, mut client) = begun();
    fs::remove_file(site.path("large.bin")).expect("the file is there");
    expect_old_rest(&mut client);
    assert_eq!(client.get("/large.bin").status, 404);
}

/// Sizes differ, so that an old length with new bytes shows; readers run all the while.
#[test]
fn while_a_file_is_replaced_again_and_again_every_answer_is_whole() {
    let site = Site::small();
    let versions = [vec![b'a'; 40_000], vec![b'b'; 90_000], vec![b'c'; 3_000_000]];
    site.write("file.bin", &versions[0]);
    let server = Launch::over(site.root()).set("files.revalidate", "0s").start();
    let written = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for version in versions.iter().cycle().take(150) {
                site.replace("file.bin", version);
            }
            written.store(true, Relaxed);
        });
        let readers: Vec<_> = (0..3).map(|_| scope.spawn(|| read_until(&server, &versions, &written))).collect();
        let tags = readers.into_iter().flat_map(|reader| reader.join().expect("a reader"));
        // One validator never stands for two contents.
        let mut seen = std::collections::HashMap::new();
        for (tag, length) in tags {
            assert_eq!(*seen.entry(tag.clone()).or_insert(length), length, "{tag} was sent with two contents");
        }
        assert!(seen.len() > 1, "no reader saw a replacement");
    });
}

fn read_until(server: &Server, versions: &[Vec<u8>], done: &AtomicBool) -> Vec<(String, usize)> {
    let mut client = server.client();
    let mut tags = Vec::new();
    while !done.load(Relaxed) {
        let answer = client.get("/file.bin");
        assert!(versions.contains(&answer.body), "{} bytes that are no version of the file", answer.body.len());
        tags.push((answer.header("etag").expect("a tag").to_owned(), answer.body.len()));
    }
    tags
}

/// Gets the file until its content is `wanted`; before that it has to be `old`.
fn wait_for(client: &mut Client, old: &str, wanted: &str) -> String {
    for _ in 0..400 {
        let answer = client.get("/page.txt");
        if answer.text() == wanted {
            return answer.header("etag").expect("a tag").to_owned();
        }
        assert_eq!(answer.text(), old, "neither the old nor the new file");
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{wanted:?} was never served");
}

/// One history of one file: each step has the same length and, but for the last, may fall into the same second.
#[test]
fn every_kind_of_change_is_seen_and_has_a_tag_of_its_own() {
    let site = Site::empty();
    site.write("page.txt", "first");
    let server = Launch::over(site.root()).set("files.revalidate", "100ms").start();
    let mut client = server.client();
    let mut tags = vec![wait_for(&mut client, "", "first")];

    site.replace("page.txt", "again");
    tags.push(wait_for(&mut client, "first", "again"));

    // In place, the same inode and length.
    site.write("page.txt", "third");
    tags.push(wait_for(&mut client, "again", "third"));

    // An older file than the one that was served, as a restored backup is.
    let fresh = site.outer().join("old");
    fs::write(&fresh, "older").expect("a file");
    let old_time = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options().write(true).open(&fresh).expect("the file");
    file.set_times(fs::FileTimes::new().set_modified(old_time)).expect("an older time");
    fs::rename(&fresh, site.path("page.txt")).expect("rename");
    let known = client.get("/page.txt").header("last-modified").map(str::to_owned);
    tags.push(wait_for(&mut client, "third", "older"));
    // A client that knows the newer one by its tag must get it, although its date is later.
    let conditions = format!("If-None-Match: {}\r\nIf-Modified-Since: {}\r\n", tags[2], known.unwrap_or_default());
    assert_eq!(client.get_with("/page.txt", &conditions).text(), "older");

    fs::remove_file(site.path("page.txt")).expect("the file");
    let gone = (0..400).any(|_| {
        thread::sleep(Duration::from_millis(10));
        client.get("/page.txt").status == 404
    });
    assert!(gone, "a deleted file was served on");

    // A failure is remembered no longer than a success.
    site.write("page.txt", "fifth");
    let back = (0..400).any(|_| {
        thread::sleep(Duration::from_millis(10));
        client.get("/page.txt").text() == "fifth"
    });
    assert!(back, "a file that came back was never served");

    let count = tags.len();
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), count, "two contents had one tag: {tags:?}");
}

#[test]
fn each_variant_has_a_tag_of_its_own() {
    let site = Site::full();
    let server = Server::over(&site);
    let mut client = server.client();
    let mut tags: Vec<_> = ["identity", "gzip", "br", "zstd"]
        .map(|encoding| client.get_with("/page.html", &format!("Accept-Encoding: {encoding}\r\n")))
        .iter()
        .map(|answer| answer.header("etag").expect("a tag").to_owned())
        .collect();
    assert!(tags.iter().all(|tag| tag.starts_with('"')), "not strong: {tags:?}");
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 4, "{tags:?}");
}
