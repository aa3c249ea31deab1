//! The counters for people and scripts: one JSON object, which says what the server is as well.

use std::time::Duration;

use serde::Serialize;

use super::{Elsewhere, Reloads, Snapshot, Usage, present};

/// What the server is, for how long it has run, and what became of its configuration meanwhile.
#[derive(Debug, Clone)]
pub struct About {
    /// The package's version.
    pub version: &'static str,
    /// Time since the start.
    pub uptime: Duration,
    /// When the server started, in seconds since 1970.
    pub started_unix_s: u64,
    /// Threads that serve.
    pub workers: usize,
    /// Addresses that are listened on, with the real ports.
    pub listen: Vec<String>,
    /// `server.profile`.
    pub profile: &'static str,
    /// `server.model`.
    pub model: &'static str,
    /// `files.mode`.
    pub files_mode: &'static str,
    /// `transfer.path`.
    pub transfer_path: &'static str,
    /// Stack that each thread may use.
    pub stack_bytes: u64,
    /// What came of the reloads.
    pub reloads: Reloads,
}

#[derive(Serialize)]
struct Status<'a> {
    version: &'a str,
    uptime_seconds: u64,
    workers: usize,
    listen: &'a [String],
    profile: &'a str,
    model: &'a str,
    files_mode: &'a str,
    transfer_path: &'a str,
    reloads: &'a Reloads,
    requests: Requests,
    sent_bytes: u64,
    connections: Connections,
    accept_errors: AcceptErrors,
    timeouts: Timeouts,
    cache: Cache,
    access_log: AccessLog,
    log: Log,
    transfers: Transfers,
    process: Process,
}

#[derive(Serialize)]
struct Requests {
    #[serde(rename = "1xx")]
    informational: u64,
    #[serde(rename = "2xx")]
    successful: u64,
    #[serde(rename = "3xx")]
    redirection: u64,
    #[serde(rename = "4xx")]
    client_error: u64,
    #[serde(rename = "5xx")]
    server_error: u64,
}

#[derive(Serialize)]
struct Connections {
    open: u64,
    accepted: u64,
    waiting: u64,
    parked: u64,
    parked_total: u64,
    woken_total: u64,
}

#[derive(Serialize)]
struct AcceptErrors {
    connection: u64,
    descriptors: u64,
    memory: u64,
    other: u64,
}

#[derive(Serialize)]
struct Timeouts {
    header: u64,
    idle: u64,
    write_stall: u64,
    linger: u64,
}

#[derive(Serialize)]
struct Cache {
    hits: u64,
    misses: u64,
}

#[derive(Serialize)]
struct AccessLog {
    dropped: u64,
    lost: u64,
}

#[derive(Serialize)]
struct Log {
    lost: u64,
}

#[derive(Serialize)]
struct Transfers {
    memory: u64,
    sendfile: u64,
    copy: u64,
    stream: u64,
}

#[derive(Serialize)]
struct Process {
    threads: u64,
    threads_started: u64,
    stack_bytes: u64,
    resident_bytes: u64,
    virtual_bytes: u64,
    open_descriptors: u64,
}

/// The body of `/status`.
pub fn to_json(about: &About, snapshot: &Snapshot) -> String {
    let About {
        version,
        uptime,
        started_unix_s: _,
        workers,
        listen,
        profile,
        model,
        files_mode,
        transfer_path,
        stack_bytes,
        reloads,
    } = about;
    let Snapshot {
        requests: [informational, successful, redirection, client_error, server_error],
        sent_bytes,
        accepted,
        closed,
        parked,
        woken,
        accept_errors: [connection, descriptors, memory, other],
        timeouts: [header, idle, write_stall, linger],
        transfers: [from_memory, sendfile, copy, stream],
        threads_started,
        access_log_dropped,
        elsewhere: Elsewhere { connections_waiting, cache_hits, cache_misses, access_log_lost, log_lost, usage },
    } = snapshot.clone();
    let Usage { threads, resident_bytes, virtual_bytes, descriptors: open_descriptors } = usage;
    let status = Status {
        version,
        uptime_seconds: uptime.as_secs(),
        workers: *workers,
        listen,
        profile,
        model,
        files_mode,
        transfer_path,
        reloads,
        requests: Requests { informational, successful, redirection, client_error, server_error },
        sent_bytes,
        connections: Connections {
            open: present(accepted, closed),
            accepted,
            waiting: connections_waiting,
            parked: present(parked, woken),
            parked_total: parked,
            woken_total: woken,
        },
        accept_errors: AcceptErrors { connection, descriptors, memory, other },
        timeouts: Timeouts { header, idle, write_stall, linger },
        cache: Cache { hits: cache_hits, misses: cache_misses },
        access_log: AccessLog { dropped: access_log_dropped, lost: access_log_lost },
        log: Log { lost: log_lost },
        transfers: Transfers { memory: from_memory, sendfile, copy, stream },
        process: Process {
            threads,
            threads_started,
            stack_bytes: *stack_bytes,
            resident_bytes,
            virtual_bytes,
            open_descriptors,
        },
    };
    serde_json::to_string(&status).expect("numbers and strings under string keys are always JSON")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::{about, distinct};
    use super::*;

    #[test]
    fn every_figure_has_its_place() {
        let status: Value = serde_json::from_str(&to_json(&about(), &distinct())).unwrap();
        let expected = json!({
            "version": "1.2.3",
            "uptime_seconds": 61,
            "workers": 2,
            "listen": ["127.0.0.1:8080", "unix:/run/\"q\".sock"],
            "profile": "none",
            "model": "event-loop",
            "files_mode": "cached",
            "transfer_path": "auto",
            "reloads": {
                "applied": 81, "refused": 82, "last": {"result": "refused", "unix_seconds": 83, "reason": "why"},
            },
            "requests": {"1xx": 11, "2xx": 12, "3xx": 13, "4xx": 14, "5xx": 15},
            "sent_bytes": 1_000_001,
            "connections": {
                "open": 700, "accepted": 900, "waiting": 51, "parked": 500, "parked_total": 800, "woken_total": 300,
            },
            "accept_errors": {"connection": 21, "descriptors": 22, "memory": 23, "other": 24},
            "timeouts": {"header": 31, "idle": 32, "write_stall": 33, "linger": 34},
            "cache": {"hits": 52, "misses": 53},
            "access_log": {"dropped": 41, "lost": 54},
            "log": {"lost": 55},
            "transfers": {"memory": 61, "sendfile": 62, "copy": 63, "stream": 64},
            "process": {
                "threads": 71, "threads_started": 65, "stack_bytes": 75, "resident_bytes": 72, "virtual_bytes": 73,
                "open_descriptors": 74,
            },
        });
        assert_eq!(status, expected);
    }
}
