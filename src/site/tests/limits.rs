//! Large files, many files, no descriptors.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::process::Command;

use rustix::process::{Resource as Limit, Rlimit, getrlimit, setrlimit};

use super::*;

#[test]
fn a_large_file_is_kept_open_and_exact_beyond_four_gib() {
    let trial = Trial::new(&plan());
    let length = 5 << 30;
    let mut file = File::create(trial.path("large")).unwrap();
    file.set_len(length).unwrap();
    for (offset, mark) in [(0, "first"), ((1 << 32) - 2, "cross"), (length - 4, "last")] {
        file.seek(SeekFrom::Start(offset)).unwrap();
        file.write_all(mark.as_bytes()).unwrap();
    }
    let document = trial.document("/large", "");
    assert_eq!(document.length, length);
    let Content::Open(open) = &document.content else { panic!("read into memory") };
    assert_eq!(open.slice(0..length).len() as u64, length);
    assert_eq!(open.slice(1 << 32..length).as_ptr() as usize - open.map.as_ptr() as usize, 1 << 32);
    let table = [
        ("bytes=0-4", "206 first"),
        ("bytes=4294967294-4294967298", "206 cross"),
        ("bytes=-4", "206 last"),
        ("bytes=0-0,4294967296-4294967298", "206 f|oss"),
        ("bytes=5368709120-", "416 */5368709120"),
    ];
    for (range, expected) in table {
        let request = Request { range: Some(range.as_bytes()), ..Request::new(Method::Get, "/large") };
        assert_eq!(summary(&trial.decide(&request)), expected, "{range}");
    }
    // What is under way keeps its file when the name is gone.
    fs::remove_file(trial.path("large")).unwrap();
    assert_eq!(body(&document, length - 4..length), "last");
    assert_eq!(trial.get_at("/large", 1000), "404");
}

#[test]
fn the_cache_keeps_a_bounded_number_of_files_open() {
    let mut plan = plan();
    plan.cache.file_max_bytes = 0;
    let trial = Trial::new(&plan);
    for number in 0..400 {
        trial.write(&number.to_string(), "x");
        assert_eq!(trial.get(&format!("/{number}")), "200 x");
    }
    let counts = trial.site.cache_counts();
    assert!(counts.entries <= 256 && counts.weight_bytes <= plan.cache.capacity_bytes, "{counts:?}");
    let prefix = trial.path("");
    let held = fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    assert!(held.filter(|path| path.starts_with(&prefix)).count() <= 257, "more than the cache and the root");
}

/// The limit is that of the whole process, and other tests run in this one: the trial is made in a child of its own.
#[test]
fn without_descriptors_a_new_file_has_to_wait_and_a_known_one_is_served() {
    const CHILD: &str = "QUINTAIN_TEST_WITHOUT_DESCRIPTORS";
    if std::env::var_os(CHILD).is_some() {
        return without_descriptors();
    }
    let name = "site::tests::limits::without_descriptors_a_new_file_has_to_wait_and_a_known_one_is_served";
    let child =
        Command::new(std::env::current_exe().unwrap()).args(["--exact", name]).env(CHILD, "1").output().unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && output.contains("1 passed"), "{output}");
}

fn without_descriptors() {
    let trial = Trial::new(&plan());
    trial.write("known", "known");
    trial.write("new", "new");
    assert_eq!(trial.get("/known"), "200 known");
    let limit = getrlimit(Limit::Nofile);
    setrlimit(Limit::Nofile, Rlimit { current: Some(64), ..limit }).unwrap();
    let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert_eq!(trial.get("/new"), "503");
    assert_eq!(trial.get("/gone"), "503");
    // Too old to be believed, but there is no descriptor to compare it with.
    assert_eq!(trial.get_at("/known", 1000), "200 known");
    taken.truncate(taken.len() - 8);
    // None of that was remembered.
    assert_eq!(trial.get("/new"), "200 new");
    assert_eq!(trial.get("/gone"), "404");
    fs::write(trial.path("known"), "newer").unwrap();
    assert_eq!(trial.get_at("/known", 1000), "200 newer");
}
