//! Precompressed neighbours.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn precompressed_neighbours_are_chosen_by_the_client() {
    let trial = Trial::new(&plan());
    trial.write("page.html", "plain");
    trial.write("page.html.br", "brotli, which may be longer than the plain one");
    trial.write("page.html.gz", "gzip");
    fs::create_dir(trial.path("page.html.zst")).unwrap();
    trial.write("alone.html", "alone");
    trial.write("orphan.html.gz", "orphan");
    symlink("../outside.gz", trial.path("alone.html.gz")).unwrap();
    fs::write(trial.parent.path().join("outside.gz"), "outside").unwrap();
    let table = [
        ("/page.html", "", "plain", None, true),
        ("/page.html", "gzip", "gzip", Some("gzip"), true),
        ("/page.html", "gzip, br", "brotli, which may be longer than the plain one", Some("br"), true),
        ("/page.html", "zstd", "plain", None, true),
        ("/page.html", "br;q=0, *", "gzip", Some("gzip"), true),
        ("/alone.html", "gzip", "alone", None, false),
        ("/page.html.gz", "gzip", "gzip", None, false),
    ];
    for (path, accept, content, encoding, varies) in table {
        let document = trial.document(path, accept);
        assert_eq!(body(&document, 0..document.length), content, "{path} {accept}");
        assert_eq!(
            document.content_encoding.as_ref().map(|value| value.to_str().unwrap()),
            encoding,
            "{path} {accept}"
        );
        assert_eq!(document.varies, varies, "{path} {accept}");
    }
    assert_eq!(trial.get("/orphan.html"), "404");
    let (plain, gzip) = (trial.document("/page.html", ""), trial.document("/page.html", "gzip"));
    assert_ne!(plain.etag, gzip.etag);
    assert_eq!(plain.content_type, gzip.content_type);
    assert_eq!(trial.document("/page.html.gz", "").content_type, "application/gzip");
    // Conditions and ranges are about what was chosen.
    let gzipped = || Request { accept_encoding: Some(b"gzip".into()), ..Request::new(Method::Get, "/page.html") };
    let range = Request { range: Some(b"bytes=1-"), ..gzipped() };
    assert_eq!(summary(&trial.decide(&range)), "206 zip");
    let same = Request { if_none_match: Some(gzip.etag.as_ref().unwrap().as_bytes().into()), ..gzipped() };
    assert_eq!(summary(&trial.decide(&same)), "304");
    let other = Request { if_none_match: Some(plain.etag.as_ref().unwrap().as_bytes().into()), ..gzipped() };
    assert_eq!(summary(&trial.decide(&other)), "200 gzip");
}

#[test]
fn neighbours_come_and_go_with_age() {
    let trial = Trial::new(&plan());
    trial.write("a", "plain");
    let get = |now| {
        let request = Request { accept_encoding: Some(b"gzip".into()), ..Request::new(Method::Get, "/a") };
        summary(&trial.site.decide(&request, Now(now)))
    };
    assert_eq!(get(0), "200 plain");
    trial.write("a.gz", "gzip");
    assert_eq!(get(999), "200 plain");
    assert_eq!(get(1000), "200 gzip");
    fs::remove_file(trial.path("a.gz")).unwrap();
    assert_eq!(get(2000), "200 plain");
}

#[test]
fn neighbours_are_left_alone_when_they_are_not_to_be_used() {
    let trial = Trial::new(&SitePlan { precompressed: false, ..plan() });
    trial.write("a", "plain");
    trial.write("a.gz", "gzip");
    let document = trial.document("/a", "gzip");
    assert_eq!((body(&document, 0..5).as_str(), document.varies), ("plain", false));
}
