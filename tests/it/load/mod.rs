//! `quintain load` against servers that know what really happened: the scripted one of the harness, and our own with its
//! `/metrics`.

mod attacked;
mod connects;
mod counters;
mod endings;
mod ends;
mod exact;
mod framing;
mod kept;
mod records;
mod requests;
mod run;
mod scale;
mod times;
mod verdicts;
mod verify;

use quintain::record::Endings;

use crate::harness::{Answer, TruthServer, Turn};

pub use run::{Load, Ran};

/// Requests of a run that looks at endings: not divisible by the connections.
const N: u64 = 22;

/// Their connections.
const C: u64 = 8;

/// Both ways to use a connection, over one thread and over two.
const WAYS: [&str; 4] = [
    "--connections keep-alive --threads 1",
    "--connections keep-alive --threads 2",
    "--connections short --threads 1",
    "--connections short --threads 2",
];

/// All `N` requests ended well.
fn all_ok() -> Endings {
    Endings { ok: N, ..Endings::default() }
}

/// Runs `N` requests over `C` connections in each of the [`WAYS`] against a script, and requires these endings.
#[track_caller]
fn every_way(reply: impl Fn(&Turn<'_>) -> Answer + Send + Sync + Clone + 'static, more: &str, expected: Endings) {
    for way in WAYS {
        let server = TruthServer::answering(reply.clone());
        let load = Load::of(server.url("/")).with(&format!("-n {N} -c {C}")).with(way).with(more);
        assert_eq!(load.endings(), expected, "{way} {more}");
        assert_eq!(expected.all(), N, "the test itself expects exactly one ending per request");
    }
}
