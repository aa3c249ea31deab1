//! `[files]`, `[site]`, `[headers]`: what is sent, and from where.

use std::fs;
use std::path::Path;

use super::with;
use crate::harness::{Launch, Server, Site, TEN};

// === [files] ===

/// Twice through a hundred files: a cache with room for them all has them the second time.
#[test]
fn files_cache_bytes() {
    let site = Site::small();
    for number in 0..100 {
        site.write(&format!("{number}.txt"), vec![b'x'; 10_000]);
    }
    let hits = |bytes: &str| {
        let launch = Launch::over(site.root()).set("files.cache_bytes", bytes).set("files.cache_file_max", "32k");
        let server = launch.set("files.revalidate", "1h").with_admin().start();
        let mut client = server.client();
        for number in (0..100).chain(0..100) {
            assert_eq!(client.get(&format!("/{number}.txt")).body.len(), 10_000);
        }
        server.metrics().sum("quintain_cache_hits_total", &[])
    };
    assert_eq!(hits("64m"), 100.0);
    assert!(hits("64k") < 50.0);
}

/// A file that is not kept in memory is kept open.
#[test]
fn files_cache_file_max() {
    let site = Site::small();
    for (most, open) in [("0", true), ("1m", false)] {
        let server = with(&site, "files.cache_file_max", most);
        assert_eq!(server.get("/ten.txt").body, TEN.as_bytes());
        assert_eq!(has_open(&server, &site.path("ten.txt")), open, "cache_file_max {most}");
    }
}

fn has_open(server: &Server, path: &Path) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", server.id())).expect("the server runs");
    descriptors.flatten().any(|descriptor| fs::read_link(descriptor.path()).is_ok_and(|target| target == path))
}

#[test]
fn files_revalidate() {
    for (age, text) in [("0s", "new"), ("1h", "old")] {
        let site = Site::small();
        site.write("page.txt", "old");
        let server = with(&site, "files.revalidate", age);
        assert_eq!(server.get("/page.txt").text(), "old");
        site.replace("page.txt", "new");
        assert_eq!(server.get("/page.txt").text(), text, "revalidate {age}");
    }
}

#[test]
fn files_mode() {
    for (mode, text) in [("cached", "old"), ("per-request", "new")] {
        let site = Site::small();
        site.write("page.txt", "old");
        let server = Launch::over(site.root()).set("files.revalidate", "1h").set("files.mode", mode).start();
        assert_eq!(server.get("/page.txt").text(), "old");
        site.replace("page.txt", "new");
        assert_eq!(server.get("/page.txt").text(), text, "{mode}");
    }
}

// === [site] ===

#[test]
fn site_index() {
    let site = Site::full();
    assert!(with(&site, "site.index", "home.html").get("/dir/").text().contains("home of dir"));
}

#[test]
fn site_hidden() {
    let site = Site::full();
    for (value, status) in [("false", 404), ("true", 200)] {
        assert_eq!(with(&site, "site.hidden", value).get("/.hidden").status, status);
    }
}

#[test]
fn site_listing() {
    let site = Site::full();
    for (value, status) in [("false", 404), ("true", 200)] {
        assert_eq!(with(&site, "site.listing", value).get("/bare/").status, status);
    }
}

#[test]
fn site_precompressed() {
    let site = Site::full();
    for (value, encoding) in [("false", None), ("true", Some("gzip"))] {
        let answer =
            with(&site, "site.precompressed", value).client().get_with("/page.html", "Accept-Encoding: gzip\r\n");
        assert_eq!(answer.header("content-encoding"), encoding);
    }
}

#[test]
fn site_cache_control() {
    let site = Site::small();
    for (value, line) in [("", None), ("no-store", Some("no-store"))] {
        assert_eq!(with(&site, "site.cache_control", value).get("/ten.txt").header("cache-control"), line);
    }
}

// === [headers] ===

/// profiles.rs compares each style with the server whose it is.
#[test]
fn headers_style() {
    let site = Site::small();
    for (style, names) in [
        ("quintain", "server content-type last-modified etag accept-ranges x-content-type-options content-length date"),
        ("nginx", "Server Date Content-Type Content-Length Last-Modified Connection Etag Accept-Ranges"),
        ("netty", "content-type content-length last-modified date"),
    ] {
        let answer = with(&site, "headers.style", style).client().get("/ten.txt");
        let sent: Vec<_> = answer.headers.iter().map(|(name, _)| name.as_str()).collect();
        let names: Vec<_> = names.split(' ').collect();
        assert_eq!(sent, names, "{style}");
    }
}

#[test]
fn headers_server() {
    let site = Site::small();
    for (value, line) in [("", None), ("Apache-Coyote/1.1", Some("Apache-Coyote/1.1"))] {
        let server = with(&site, "headers.server", value);
        // The last is refused before it is a request, by other code.
        for request in
            ["GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n", "GET /missing HTTP/1.1\r\nHost: t\r\n\r\n", "x\r\n\r\n"]
        {
            let mut client = server.client();
            client.send(request);
            assert_eq!(client.answer().expect("an answer").header("server"), line, "{request}");
        }
    }
}

#[test]
fn headers_extra() {
    let site = Site::small();
    let server = with(&site, "headers.extra", "X-Run=7,X-Profile=tomcat");
    for (target, status) in [("/ten.txt", 200), ("/missing", 404)] {
        let answer = server.get(target);
        assert_eq!(answer.status, status);
        assert_eq!((answer.header("x-run"), answer.header("x-profile")), (Some("7"), Some("tomcat")));
    }
}
