//! The functions that every request passes between hyper and the kernel, each alone, and what the load tool does with
//! every answer.
//!
//! ```sh
//! cargo bench --bench hot_functions              # all of them
//! cargo bench --bench hot_functions -- decide    # those with this in their names
//! cargo test --bench hot_functions               # each once: whether they still do what their names say
//! ```
//!
//! They say which function a change has made dearer, and not how fast the server is: all of them together are a small
//! part of a request, whose cost is what `bench/side_by_side.py` measures. Each case is checked before it is measured,
//! so that a refusal is not taken for a fast answer.

use std::borrow::Cow;
use std::fs;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use criterion::Criterion;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request as HttpRequest, StatusCode};
use quintain::config::plan::{HeadPlan, HeadStyle, ServePlan};
use quintain::config::{self, Surroundings};
use quintain::load::response::{Event, Framer, LastHead};
use quintain::server::head::{Facts, Heads, Kind, Says};
use quintain::server::head_scan::HeadScan;
use quintain::server::request::facts;
use quintain::site::conditions::{Validators, Verdict, evaluate, range_applies};
use quintain::site::ranges::{MAX_RANGES, Selection, select};
use quintain::site::target::{Refusal, Target};
use quintain::site::{Answer, Document, Method, Now, Request, Site};

/// Whether an outcome is the one that is meant to be measured.
type Expected<T> = fn(&T) -> bool;

fn main() {
    let mut criterion = Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let folder = Folder::new();
    scan(&mut criterion, &folder.plan);
    read_facts(&mut criterion, &folder.plan);
    parse_target(&mut criterion);
    decide(&mut criterion, &folder);
    evaluate_conditions(&mut criterion);
    select_ranges(&mut criterion);
    write_head(&mut criterion, &folder);
    frame(&mut criterion, &folder);
    criterion.final_summary();
}

// === What is asked ===

/// What the clients of the measurements send, and one that has more to say.
const CLIENTS: [(&str, &str); 3] = [
    ("wrk", "GET /1k.html HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"),
    (
        "ab",
        "GET /1k.html HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: 127.0.0.1:8080\r\nUser-Agent: ApacheBench/2.3\r\n\
         Accept: */*\r\n\r\n",
    ),
    (
        "browser",
        "GET /1k.html HTTP/1.1\r\nHost: localhost:8080\r\n\
         User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
         Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
         Accept-Language: en-GB,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n\
         Upgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n\
         Sec-Fetch-Site: none\r\nIf-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT\r\nIf-None-Match: \"now\"\r\n\
         Priority: u=0, i\r\n\r\n",
    ),
];

/// A head as hyper hands it on.
fn parts(head: &str) -> Parts {
    let mut lines = head.lines();
    let request_line: Vec<_> = lines.next().expect("a request line").split(' ').collect();
    let [method, target, version] = request_line[..] else { panic!("{request_line:?}") };
    let version = if version == "HTTP/1.0" { http::Version::HTTP_10 } else { http::Version::HTTP_11 };
    let request = HttpRequest::builder().method(method).uri(target).version(version);
    let fields = lines.filter_map(|line| line.split_once(": "));
    let request = fields.fold(request, |request, (name, value)| request.header(name, value));
    request.body(()).expect("a valid head").into_parts().0
}

// === Heads of requests ===

fn scan(criterion: &mut Criterion, plan: &ServePlan) {
    let mut group = criterion.benchmark_group("scan");
    for (client, head) in CLIENTS {
        let mut scan = HeadScan::new(plan.live.connection.target_bytes);
        scan.pass(head.as_bytes());
        assert!(!scan.line_is_too_long() && !scan.is_ambiguous() && !scan.is_head_request(), "{client}");
        group.bench_function(client, |bencher| {
            bencher.iter(|| {
                scan.pass(black_box(head.as_bytes()));
                black_box(&scan);
            });
        });
    }
}

fn read_facts(criterion: &mut Criterion, plan: &ServePlan) {
    let mut group = criterion.benchmark_group("facts");
    let target_bytes = plan.live.connection.target_bytes;
    for (client, head) in CLIENTS {
        let parts = parts(head);
        assert_eq!(facts(&parts, target_bytes).expect("a request").path, "/1k.html", "{client}");
        group.bench_function(client, |bencher| bencher.iter(|| facts(black_box(&parts), target_bytes)));
    }
}

fn parse_target(criterion: &mut Criterion) {
    let table = [
        ("plain", "/1k.html", Ok("1k.html")),
        ("plain, deep", "/a/folder/in/a/folder/1k.html", Ok("a/folder/in/a/folder/1k.html")),
        ("percent-encoded", "/a%20folder/caf%C3%A9.html", Ok("a folder/café.html")),
        ("dot segments", "/a/./b/../../1k.html", Ok("1k.html")),
        ("traversal", "/a/%2e%2e/%2e%2e/etc/passwd", Err(Refusal::AboveRoot)),
    ];
    let mut group = criterion.benchmark_group("target");
    for (name, sent, expected) in table {
        let parsed = Target::parse(sent);
        assert_eq!(parsed.as_ref().map(Target::path), expected.as_ref().map(|path| path.as_bytes()), "{name}");
        group.bench_function(name, |bencher| bencher.iter(|| Target::parse(black_box(sent))));
    }
}

// === Answers ===

/// The moment of every request: what was found at it is fresh at it.
const NOW: Now = Now(0);

/// A folder, and a server as it is without configuration.
struct Folder {
    root: tempfile::TempDir,
    plan: ServePlan,
}

impl Folder {
    /// The neighbour need not be compressed: nothing here looks into it.
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        for (name, length) in [("1k.html", 1024), ("coded.html", 1024), ("coded.html.gz", 300)] {
            fs::write(root.path().join(name), vec![b'x'; length]).expect("a document");
        }
        let plan = plan(root.path());
        Self { root, plan }
    }

    fn site(&self) -> Site {
        Site::open(self.root.path(), &self.plan.live.site).expect("a site")
    }
}

fn plan(folder: &Path) -> ServePlan {
    let around = Surroundings {
        environment: Vec::new(),
        folder: folder.to_owned(),
        cpus: NonZeroUsize::MIN,
        memory_bytes: None,
    };
    config::load(None, &[], &around).expect("the defaults are valid").plan
}

fn document(site: &Site, request: &Request<'_>) -> Arc<Document> {
    match site.decide(request, NOW) {
        Answer::Whole(document) => document,
        other => panic!("{} is answered {other:?}", request.path),
    }
}

fn decide(criterion: &mut Criterion, folder: &Folder) {
    let site = folder.site();
    let get = |path| Request::new(Method::Get, path);
    let known = document(&site, &get("/1k.html"));
    let etag = known.etag.as_ref().map(|etag| Cow::Borrowed(etag.as_bytes()));
    let date = known.last_modified.as_ref().map(HeaderValue::as_bytes);
    let codings = Some(Cow::Borrowed(&b"gzip, deflate, br, zstd"[..]));
    let table: [(&str, Request<'_>, Expected<Answer>); 7] = [
        ("plain", get("/1k.html"), |answer| matches!(answer, Answer::Whole(_))),
        ("if-none-match", Request { if_none_match: etag, ..get("/1k.html") }, |answer| {
            matches!(answer, Answer::NotModified(_))
        }),
        ("if-modified-since", Request { if_modified_since: date, ..get("/1k.html") }, |answer| {
            matches!(answer, Answer::NotModified(_))
        }),
        (
            "range",
            Request { range: Some(b"bytes=100-199"), ..get("/1k.html") },
            |answer| matches!(answer, Answer::Part(_, range) if *range == (100..200)),
        ),
        (
            "accept-encoding, one form",
            Request { accept_encoding: codings.clone(), ..get("/1k.html") },
            |answer| matches!(answer, Answer::Whole(document) if document.content_encoding.is_none()),
        ),
        (
            "accept-encoding, two forms",
            Request { accept_encoding: codings, ..get("/coded.html") },
            |answer| matches!(answer, Answer::Whole(document) if document.content_encoding.is_some()),
        ),
        ("missing", get("/none.html"), |answer| matches!(answer, Answer::NotFound)),
    ];
    let mut group = criterion.benchmark_group("decide");
    for (name, request, is_expected) in &table {
        let answer = site.decide(request, NOW);
        assert!(is_expected(&answer), "{name}: {answer:?}");
        group.bench_function(*name, |bencher| bencher.iter(|| site.decide(black_box(request), NOW)));
    }
    assert_eq!(site.cache_counts().misses, 3, "each path is looked for on the disk once, and known from then on");
}

fn evaluate_conditions(criterion: &mut Criterion) {
    const DATE: &[u8] = b"Wed, 01 Jan 2020 00:00:00 GMT";
    let validators = Validators { etag: Some(b"\"0123456789abcdef\""), last_modified: Some(DATE) };
    let get = Request::new(Method::Get, "/1k.html");
    let tags = |list: &'static [u8]| Request { if_none_match: Some(Cow::Borrowed(list)), ..get.clone() };
    let table = [
        ("none", get.clone(), Verdict::Proceed),
        ("if-none-match, same", tags(b"\"0123456789abcdef\""), Verdict::NotModified),
        ("if-none-match, three others", tags(b"\"a\", W/\"b\", \"c\""), Verdict::Proceed),
        ("if-modified-since", Request { if_modified_since: Some(DATE), ..get.clone() }, Verdict::NotModified),
    ];
    let mut group = criterion.benchmark_group("conditions");
    for (name, request, expected) in &table {
        assert_eq!(evaluate(request, validators), *expected, "{name}");
        group.bench_function(*name, |bencher| bencher.iter(|| evaluate(black_box(request), black_box(validators))));
    }
    assert!(range_applies(Some(DATE), validators));
    group.bench_function("if-range, date", |bencher| {
        bencher.iter(|| range_applies(black_box(Some(DATE)), black_box(validators)));
    });
}

fn select_ranges(criterion: &mut Criterion) {
    let most: Vec<_> = (0..MAX_RANGES).map(|at| format!("{}-{}", 100 * at, 100 * at + 49)).collect();
    let most = format!("bytes={}", most.join(","));
    let table: [(&str, &str, Expected<Selection>); 5] = [
        ("one", "bytes=100-199", |selection| *selection == Selection::Part(100..200)),
        ("suffix", "bytes=-100", |selection| *selection == Selection::Part(9900..10_000)),
        ("most", &most, |selection| matches!(selection, Selection::Parts(ranges) if ranges.len() == MAX_RANGES)),
        ("beyond the end", "bytes=10000-", |selection| *selection == Selection::Unsatisfiable),
        ("malformed", "bytes=199-100", |selection| *selection == Selection::Whole),
    ];
    let mut group = criterion.benchmark_group("ranges");
    for (name, line, is_expected) in table {
        let selection = select(line.as_bytes(), 10_000);
        assert!(is_expected(&selection), "{name}: {selection:?}");
        group.bench_function(name, |bencher| bencher.iter(|| select(black_box(line.as_bytes()), 10_000)));
    }
}

// === Heads of answers ===

/// Into a map that has been in use, as the server does; turning the map into bytes is hyper's.
fn write_head(criterion: &mut Criterion, folder: &Folder) {
    let document = document(&folder.site(), &Request::new(Method::Get, "/1k.html"));
    let length = Some(document.length);
    let whole = (StatusCode::OK, length, Kind::Document(Arc::clone(&document), None));
    let range = HeaderValue::from_static("bytes 100-199/1024");
    let part = (StatusCode::PARTIAL_CONTENT, Some(100), Kind::Document(Arc::clone(&document), Some(range)));
    let not_modified = (StatusCode::NOT_MODIFIED, None, Kind::NotModified(document));
    let table = [
        ("quintain, 200", HeadStyle::Quintain, &whole, "accept-ranges"),
        ("quintain, 206", HeadStyle::Quintain, &part, "content-range"),
        ("quintain, 304", HeadStyle::Quintain, &not_modified, "etag"),
        ("nginx, 200", HeadStyle::Nginx, &whole, "date"),
        ("tomcat, 200", HeadStyle::Tomcat, &whole, "date"),
    ];
    let mut group = criterion.benchmark_group("head");
    for (name, style, (status, length, kind), line) in table {
        let heads = Heads::new(HeadPlan { style, ..folder.plan.live.head.clone() });
        let facts = Facts { status: *status, kind, length: *length, is_head: false, says: Says::Nothing, tick: 0 };
        let mut headers = HeaderMap::new();
        heads.write(&facts, &mut headers);
        assert!(headers.contains_key(line), "{name}: {headers:?}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                headers.clear();
                heads.write(black_box(&facts), &mut headers);
            });
        });
    }
}

// === The load tool ===

/// The bytes of an answer as our server sends it. hyper writes the lines as they are in the map, and the body's length.
fn answer(folder: &Folder) -> Vec<u8> {
    let document = document(&folder.site(), &Request::new(Method::Get, "/1k.html"));
    let length = document.length;
    let kind = Kind::Document(document, None);
    let (status, length) = (StatusCode::OK, Some(length));
    let mut headers = HeaderMap::new();
    let facts = Facts { status, kind: &kind, length, is_head: false, says: Says::Nothing, tick: 0 };
    Heads::new(folder.plan.live.head.clone()).write(&facts, &mut headers);
    let mut bytes = b"HTTP/1.1 200 OK\r\n".to_vec();
    for (name, value) in &headers {
        bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    bytes.extend(b"content-length: 1024\r\n\r\n");
    bytes.extend(fs::read(folder.root.path().join("1k.html")).expect("the document"));
    bytes
}

/// One answer from its first byte to its end; with how many bytes of body.
fn frame_one(framer: &mut Framer, last: &mut LastHead, mut input: &[u8]) -> Option<usize> {
    framer.begin(false);
    let mut body = 0;
    loop {
        match framer.next(&mut input, last, |_| ()).ok()?? {
            Event::Head(_) => {}
            Event::Body(piece) => body += piece.len(),
            Event::End => return Some(body),
        }
    }
}

fn frame(criterion: &mut Criterion, folder: &Folder) {
    let answer = answer(folder);
    let (mut framer, mut last) = (Framer::new(), LastHead::default());
    let mut group = criterion.benchmark_group("frame");
    group.bench_function("1 KiB, a new head", |bencher| {
        bencher.iter(|| {
            last = LastHead::default();
            assert_eq!(frame_one(&mut framer, &mut last, black_box(&answer)), Some(1024));
        });
    });
    group.bench_function("1 KiB, the same head again", |bencher| {
        bencher.iter(|| assert_eq!(frame_one(&mut framer, &mut last, black_box(&answer)), Some(1024)));
    });
}
