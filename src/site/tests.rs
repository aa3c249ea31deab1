//! The site as a whole, on real folders.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::config::plan::{CachePlan, Root};

const NOW: Now = Now(0);

fn plan() -> SitePlan {
    SitePlan {
        root: Root::Folder("given to Site::open".into()),
        index: "index.html".into(),
        hidden: false,
        listing: false,
        precompressed: true,
        cache: CachePlan { capacity_bytes: 1 << 20, file_max_bytes: 1 << 12, revalidate: Duration::from_secs(1) },
    }
}

fn site(root: &Path) -> Site {
    Site::open(root, &plan()).unwrap()
}

#[test]
fn a_file_is_served_and_then_remembered() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a.html"), "hello").unwrap();
    let site = site(root.path());
    for _ in 0..2 {
        let Answer::Whole(document) = site.decide(&Request::new(Method::Get, "/a.html"), NOW) else {
            panic!("not served");
        };
        assert!(matches!(&document.content, Content::Memory(bytes) if bytes == "hello"));
        assert_eq!(document.content_type, "text/html; charset=utf-8");
    }
    let counts = site.cache_counts();
    assert_eq!((counts.hits, counts.misses, counts.entries), (1, 1, 1));
}
