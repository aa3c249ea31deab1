//! What changes on the disk becomes visible in time, and whole.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::time::SystemTime;

use super::*;

/// Each way in which a file changes without changing its length, and some of them without a newer mtime.
#[test]
fn every_change_is_seen_when_the_answer_has_aged() {
    type Change = fn(&Path);
    let ways: [(&str, Change); 4] = [
        ("replaced", replace),
        ("replaced by an older one", replace_by_an_older_one),
        ("rewritten in place", rewrite_in_place),
        ("removed and created", remove_and_create),
    ];
    for (name, change) in ways {
        let trial = Trial::new(&plan());
        trial.write("a", "old");
        let old = trial.document("/a", "");
        change(&trial.path("a"));
        assert_eq!(trial.get_at("/a", 999), "200 old", "{name}");
        assert_eq!(trial.get_at("/a", 1000), "200 new", "{name}");
        assert_ne!(document_at(&trial.site, "/a", 1000).etag, old.etag, "{name}");
        // An answer that is under way keeps what it began with.
        assert_eq!(body(&old, 0..3), "old", "{name}");
    }
}

fn replace(path: &Path) {
    fs::write(path.with_extension("new"), "new").unwrap();
    fs::rename(path.with_extension("new"), path).unwrap();
}

fn replace_by_an_older_one(path: &Path) {
    replace(path);
    File::options().write(true).open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

/// And has the old mtime back.
fn rewrite_in_place(path: &Path) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    let mut file = File::options().write(true).open(path).unwrap();
    file.write_all(b"new").unwrap();
    file.set_modified(modified).unwrap();
}

fn remove_and_create(path: &Path) {
    fs::remove_file(path).unwrap();
    fs::write(path, "new").unwrap();
}

#[test]
fn kinds_of_answers_replace_each_other() {
    let trial = Trial::new(&plan());
    assert_eq!(trial.get_at("/a", 0), "404");
    trial.write("a", "file");
    assert_eq!(trial.get_at("/a", 999), "404");
    assert_eq!(trial.get_at("/a", 1000), "200 file");
    fs::remove_file(trial.path("a")).unwrap();
    fs::create_dir(trial.path("a")).unwrap();
    assert_eq!(trial.get_at("/a", 1999), "200 file");
    assert_eq!(trial.get_at("/a", 2000), "301 /a/");
    fs::remove_dir(trial.path("a")).unwrap();
    symlink("../outside", trial.path("a")).unwrap();
    assert_eq!(trial.get_at("/a", 3000), "404");
}

#[test]
fn every_request_checks_when_answers_are_not_to_be_believed() {
    let mut plan = plan();
    plan.cache.revalidate = Duration::ZERO;
    let trial = Trial::new(&plan);
    for content in ["one", "two", "six"] {
        trial.write("a", content);
        assert_eq!(trial.get("/a"), format!("200 {content}"));
    }
    assert_eq!(trial.site.cache_counts().hits, 0);
}

/// A file that has rested is compared, not loaded again. The manifest of this package was there before it was compiled.
#[test]
fn an_unchanged_document_is_kept() {
    let site = Site::open(Path::new(env!("CARGO_MANIFEST_DIR")), &plan()).unwrap();
    let first = document_at(&site, "/Cargo.toml", 0);
    for now in [999, 1000, 5000, 5001] {
        assert!(Arc::ptr_eq(&first, &document_at(&site, "/Cargo.toml", now)), "{now}");
    }
    let counts = site.cache_counts();
    assert_eq!((counts.hits, counts.misses, counts.stale), (2, 1, 2));
}

/// Readers see one state or the other, also while the file is being replaced over and over.
#[test]
fn a_document_is_never_a_mixture() {
    let mut plan = plan();
    plan.cache.revalidate = Duration::ZERO;
    let trial = Trial::new(&plan);
    let states = [vec![b'a'; 4000], vec![b'b'; 3000]];
    trial.write("page", &states[0]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for state in states.iter().cycle().take(200) {
                fs::write(trial.path("new"), state).unwrap();
                fs::rename(trial.path("new"), trial.path("page")).unwrap();
            }
        });
        let mut is_last = false;
        while !is_last {
            is_last = writer.is_finished();
            let document = document_at(&trial.site, "/page", 0);
            let Content::Memory(content) = &document.content else { panic!("kept open") };
            assert!(states.iter().any(|state| state == content) && document.length == content.len() as u64);
        }
    });
}
