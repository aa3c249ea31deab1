//! The site as a whole, on real folders. What one file decides alone has its table there.

mod answers;
mod freshness;
mod limits;
mod variants;

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::config::plan::{CachePlan, FilesMode, HeadStyle, Root};

/// Contents up to this length are read into memory.
const MEMORY_MAX: u64 = 4096;

fn plan() -> SitePlan {
    SitePlan {
        root: Root::Folder(PathBuf::from("given to Site::open")),
        index: "index.html".into(),
        hidden: false,
        listing: false,
        precompressed: true,
        labels: HeadStyle::Quintain.labels(),
        cache: CachePlan {
            mode: FilesMode::Cached,
            capacity_bytes: 1 << 20,
            file_max_bytes: MEMORY_MAX,
            revalidate: Duration::from_secs(1),
        },
    }
}

/// A site in a temporary folder of its own, beside which nothing stands.
struct Trial {
    parent: tempfile::TempDir,
    site: Site,
}

impl Trial {
    fn new(plan: &SitePlan) -> Self {
        let parent = tempfile::tempdir().unwrap();
        let root = parent.path().join("site");
        fs::create_dir(&root).unwrap();
        let site = Site::open(&root, plan).unwrap();
        Trial { parent, site }
    }

    fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.parent.path().join("site").join(Path::new(name.as_ref()))
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn decide(&self, request: &Request<'_>) -> Answer {
        self.site.decide(request, Now(0))
    }

    /// What a GET at a moment is answered, in short: the status, and what goes with it.
    fn get_at(&self, path: &str, now: u64) -> String {
        summary(&self.site.decide(&Request::new(Method::Get, path), Now(now)))
    }

    fn get(&self, path: &str) -> String {
        self.get_at(path, 0)
    }

    fn document(&self, path: &str, accept_encoding: &'static str) -> Arc<Document> {
        let accept_encoding = Some(Cow::Borrowed(accept_encoding.as_bytes()));
        match self.decide(&Request { accept_encoding, ..Request::new(Method::Get, path) }) {
            Answer::Whole(document) => document,
            other => panic!("{path}: {}", summary(&other)),
        }
    }
}

fn document_at(site: &Site, path: &str, now: u64) -> Arc<Document> {
    match site.decide(&Request::new(Method::Get, path), Now(now)) {
        Answer::Whole(document) => document,
        other => panic!("{path}: {}", summary(&other)),
    }
}

fn summary(answer: &Answer) -> String {
    match answer {
        Answer::Whole(document) => format!("200 {}", body(document, 0..document.length)),
        Answer::Part(document, range) => format!("206 {}", body(document, range.clone())),
        Answer::Parts(document, ranges) => {
            let parts: Vec<String> = ranges.iter().map(|range| body(document, range.clone())).collect();
            format!("206 {}", parts.join("|"))
        }
        Answer::NotModified(_) => "304".into(),
        Answer::PreconditionFailed => "412".into(),
        Answer::RangeNotSatisfiable { length } => format!("416 */{length}"),
        Answer::Redirect(reference) => format!("301 {}", reference.to_str().unwrap()),
        Answer::Listing(page) => format!("200 {}", String::from_utf8_lossy(page)),
        Answer::Options => "204".into(),
        Answer::MethodNotAllowed => "405".into(),
        Answer::BadRequest(_) => "400".into(),
        Answer::Forbidden => "403".into(),
        Answer::NotFound => "404".into(),
        Answer::Unavailable => "503".into(),
        Answer::Failed => "500".into(),
    }
}

/// The bytes that a client would get, taken as the server takes them: out of memory, or from the descriptor.
fn body(document: &Document, range: Range<u64>) -> String {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    match &document.content {
        Content::Memory(memory) => bytes.copy_from_slice(&memory[range.start as usize..range.end as usize]),
        Content::Open(open) => {
            let count = rustix::io::pread(&open.file, &mut bytes, range.start).unwrap();
            assert_eq!(count, bytes.len());
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_site_may_be_shared_and_sent() {
    fn check<T: Send + Sync>() {}
    check::<Site>();
}
