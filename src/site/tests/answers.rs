//! Which target, method and header lines lead to which answer.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::SystemTime;

use super::*;

#[test]
fn every_target_has_its_answer() {
    let trial = Trial::new(&plan());
    fs::create_dir(trial.parent.path().join("site-leak")).unwrap();
    fs::write(trial.parent.path().join("site-leak/x"), "outside").unwrap();
    for name in ["a", "index.html", "dir/index.html", "dir/x", "bare/x", "evil.com/x", ".git/config", ".well-known/x"] {
        trial.write(name, name);
    }
    fs::create_dir(trial.path("folder-index")).unwrap();
    fs::create_dir(trial.path("folder-index/index.html")).unwrap();
    symlink("../site-leak/x", trial.path("link-out")).unwrap();
    symlink("dir/x", trial.path("link-in")).unwrap();
    symlink("dir", trial.path("link-dir")).unwrap();
    symlink("../.git/config", trial.path("dir/named-on-purpose")).unwrap();
    let table = [
        ("/a", "200 a"),
        ("/%61", "200 a"),
        ("//a", "200 a"),
        ("/./a", "200 a"),
        ("/dir/../a", "200 a"),
        ("/gone/../a", "200 a"),
        ("/dir%2F..%2Fa", "200 a"),
        ("/", "200 index.html"),
        ("/index.html", "200 index.html"),
        ("/dir/", "200 dir/index.html"),
        ("/dir/.", "200 dir/index.html"),
        ("/dir", "301 /dir/"),
        ("//dir", "301 /dir/"),
        ("/%64ir", "301 /dir/"),
        ("/link-dir", "301 /link-dir/"),
        ("//evil.com", "301 /evil.com/"),
        ("//evil.com/%2e%2e/evil.com", "301 /evil.com/"),
        ("/bare/", "404"),
        ("/folder-index/", "404"),
        ("/bare/x", "200 bare/x"),
        ("/gone", "404"),
        ("/gone/", "404"),
        ("/a/", "404"),
        ("/a/x", "404"),
        ("/link-in", "200 dir/x"),
        ("/link-dir/x", "200 dir/x"),
        ("/link-out", "404"),
        ("/..", "404"),
        ("/../a", "404"),
        ("/%2e%2e/site/a", "404"),
        ("/..%2fsite-leak/x", "404"),
        ("/%252e%252e/site-leak/x", "404"),
        ("/.git/config", "404"),
        ("/%2egit/config", "404"),
        ("/dir/named-on-purpose", "200 .git/config"),
        ("/.well-known/x", "200 .well-known/x"),
        ("/%00", "400"),
        ("/%zz", "400"),
        ("*", "400"),
        ("", "400"),
    ];
    // Twice: from the disk, and as remembered.
    for round in ["found", "remembered"] {
        for (path, expected) in table {
            assert_eq!(trial.get(path), expected, "{path:?}, {round}");
        }
    }
    let query = Request { query: Some("a=b"), ..Request::new(Method::Get, "/dir") };
    assert_eq!(summary(&trial.decide(&query)), "301 /dir/?a=b");
    let query = Request { query: Some("a=b"), ..Request::new(Method::Get, "/a") };
    assert_eq!(summary(&trial.decide(&query)), "200 a");
}

#[test]
fn the_method_decides_before_the_target() {
    let trial = Trial::new(&plan());
    trial.write("a", "a");
    let table = [
        (Method::Get, "/a", "200 a"),
        (Method::Head, "/a", "200 a"),
        (Method::Head, "/gone", "404"),
        (Method::Head, "*", "400"),
        (Method::Options, "*", "204"),
        (Method::Options, "/a", "204"),
        (Method::Options, "/gone", "204"),
        (Method::Other, "/a", "405"),
        (Method::Other, "/gone", "405"),
        (Method::Other, "/%zz", "405"),
    ];
    for (method, path, expected) in table {
        assert_eq!(summary(&trial.decide(&Request::new(method, path))), expected, "{method:?} {path}");
    }
}

#[test]
fn any_name_that_a_file_can_have_is_served() {
    let trial = Trial::new(&SitePlan { hidden: true, ..plan() });
    let names: &[&[u8]] = &[
        b"a b",
        b"a+b",
        b"a%20b",
        b"a%62",
        b"quote\"'",
        b"line\nbreak",
        b"back\\slash",
        b"question?#mark",
        b"...",
        b"-",
        b"not utf-8 \xff\xfe",
        "é".as_bytes(),
        "😀".as_bytes(),
        &[b'n'; 255],
    ];
    for name in names {
        fs::write(trial.path(OsStr::from_bytes(name)), "found").unwrap();
        let path = format!("/{}", target::escape(name));
        assert_eq!(trial.get(&path), "200 found", "{path}");
    }
    assert_eq!(trial.get("/é"), "200 found");
}

#[test]
fn hidden_names_are_served_when_they_are_meant_to_be() {
    let trial = Trial::new(&SitePlan { hidden: true, ..plan() });
    trial.write(".git/config", "config");
    assert_eq!(trial.get("/.git/config"), "200 config");
    assert_eq!(trial.get("/.git"), "301 /.git/");
}

#[test]
fn folders_are_listed_when_they_are_meant_to_be() {
    let trial = Trial::new(&SitePlan { listing: true, ..plan() });
    trial.write("bare/x", "x");
    trial.write("dir/index.html", "index");
    trial.write("file", "file");
    fs::create_dir_all(trial.path("folder-index/index.html")).unwrap();
    assert!(trial.get("/").contains("<a href=\"./bare/\">"));
    assert!(trial.get("/bare/").contains("<a href=\"./x\">"));
    assert!(trial.get("/folder-index/").contains("<a href=\"./index.html/\">"));
    assert_eq!(trial.get("/dir/"), "200 index");
    assert_eq!(trial.get("/bare"), "301 /bare/");
    for path in ["/file/", "/gone/"] {
        assert_eq!(trial.get(path), "404", "{path}");
    }
    let with_tag = |tag: &'static [u8]| Request { if_match: Some(tag.into()), ..Request::new(Method::Get, "/bare/") };
    assert_eq!(summary(&trial.decide(&with_tag(b"\"x\""))), "412");
    assert!(summary(&trial.decide(&with_tag(b"*"))).starts_with("200"));
    // Entries come and go with age, as documents do.
    trial.write("bare/y", "y");
    assert!(!trial.get_at("/bare/", 999).contains("./y"));
    assert!(trial.get_at("/bare/", 1000).contains("./y"));
}

#[test]
fn what_may_not_be_read_is_forbidden() {
    let trial = Trial::new(&plan());
    trial.write("secret", "secret");
    trial.write("search-only/x", "x");
    trial.write("closed/x", "x");
    for (name, mode) in [("secret", 0o000), ("search-only", 0o311), ("closed", 0o600)] {
        fs::set_permissions(trial.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    if File::open(trial.path("secret")).is_ok() {
        // `eprintln!` is captured, and shown of failing tests only.
        let _ = writeln!(io::stderr(), "skipped: this user may read everything");
        return;
    }
    assert_eq!(trial.get("/secret"), "403");
    assert_eq!(trial.get("/secret"), "403");
    assert_eq!(trial.get("/search-only"), "301 /search-only/");
    assert_eq!(trial.get("/search-only/x"), "200 x");
    assert_eq!(trial.get("/closed/x"), "403");
    fs::set_permissions(trial.path("secret"), fs::Permissions::from_mode(0o400)).unwrap();
    assert_eq!(trial.get_at("/secret", 1000), "200 secret");
    // The temporary folder is removed by its owner, who must get in.
    for name in ["search-only", "closed"] {
        fs::set_permissions(trial.path(name), fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn conditions_and_ranges_come_together_in_their_order() {
    let trial = Trial::new(&plan());
    trial.write("ten", "0123456789");
    trial.write("empty", "");
    let mtime = SystemTime::UNIX_EPOCH + Duration::new(1_577_836_800, 500_000_000);
    File::options().write(true).open(trial.path("ten")).unwrap().set_modified(mtime).unwrap();
    let document = trial.document("/ten", "");
    let (etag, date) =
        (document.etag.as_ref().unwrap().as_bytes(), document.last_modified.as_ref().unwrap().as_bytes());
    assert_eq!(date, b"Wed, 01 Jan 2020 00:00:00 GMT");
    let get = || Request::new(Method::Get, "/ten");
    let ranged = |range: &'static str| Request { range: Some(range.as_bytes()), ..get() };
    let table = [
        (ranged("bytes=2-4"), "206 234"),
        (ranged("bytes=-1,0-0"), "206 0|9"),
        (ranged("bytes=10-"), "416 */10"),
        (ranged("bytes=x"), "200 0123456789"),
        (Request { path: "/empty", ..ranged("bytes=0-") }, "200 "),
        (Request { method: Method::Head, ..ranged("bytes=2-4") }, "200 0123456789"),
        (Request { method: Method::Head, ..ranged("bytes=10-") }, "200 0123456789"),
        (Request { if_range: Some(etag), ..ranged("bytes=2-4") }, "206 234"),
        (Request { if_range: Some(date), ..ranged("bytes=2-4") }, "206 234"),
        (Request { if_range: Some(b"\"x\""), ..ranged("bytes=2-4") }, "200 0123456789"),
        (Request { if_range: Some(b"\"x\""), ..ranged("bytes=10-") }, "200 0123456789"),
        (Request { if_range: Some(etag), ..get() }, "200 0123456789"),
        (Request { if_modified_since: Some(date), ..get() }, "304"),
        (Request { method: Method::Head, if_modified_since: Some(date), ..get() }, "304"),
        (Request { if_none_match: Some(etag.into()), ..get() }, "304"),
        (Request { if_none_match: Some(etag.into()), ..ranged("bytes=10-") }, "304"),
        (Request { if_match: Some(b"\"x\"".into()), ..ranged("bytes=2-4") }, "412"),
        (Request { if_match: Some(etag.into()), ..ranged("bytes=2-4") }, "206 234"),
        // Conditions apply to what would have been a 200.
        (Request { path: "/gone", if_none_match: Some(b"*".into()), ..get() }, "404"),
        (Request { path: "/gone", if_match: Some(b"*".into()), ..get() }, "404"),
    ];
    for (request, expected) in table {
        assert_eq!(summary(&trial.decide(&request)), expected, "{request:?}");
    }
}
