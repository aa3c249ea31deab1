//! From settings to a plan: one small function per part of the plan, then the rules that span several settings.
//!
//! Each section is taken apart without `..`, so a setting that reaches no plan does not compile.

use std::num::NonZeroUsize;
use std::time::Duration;

use http::{HeaderName, HeaderValue, header};

use super::plan::{
    Address, AdminPlan, CachePlan, ConnectionPlan, DeadlinesPlan, HeadPlan, ListenPlan, LivePlan, LogPlan, ProcessPlan,
    Root, ServePlan, SitePlan, ThreadsPlan, TransferPath, TransferPlan,
};
use super::settings::{
    Admin, Files, Headers, KeepAlive, Limits, Log, Process, Server, Settings, Site, Socket, Timeouts, Transfer,
};
use super::units::{Count, show_duration, show_size};
use super::words::{Connections, HeaderLines};
use super::written::{Empty, Or};

/// Settings that do not go together, and why.
#[derive(Debug, PartialEq)]
pub struct Conflict {
    pub keys: &'static [&'static str],
    pub says: String,
}

/// The plan that the settings make. `root_is_default`: nobody named the folder. `cpus`: how many this process may run on.
pub fn resolve(settings: Settings, root_is_default: bool, cpus: NonZeroUsize) -> ServePlan {
    let Settings { server, keep_alive, timeouts, limits, files, transfer, socket, site, headers, log, process, admin } =
        settings;
    let Server {
        profile,
        listen,
        root,
        model,
        workers,
        max_threads,
        stack_size,
        affinity,
        backlog,
        share_port,
        max_connections,
    } = server;
    let KeepAlive { enabled, timeout, max_requests } = keep_alive;
    let Site { index, hidden, listing, precompressed, cache_control } = site;
    let transfer = transfer_plan(transfer);
    let workers = workers.value.map_or(cpus, positive);
    let keep_alive = enabled.then_some(timeout.0);
    ServePlan {
        listen: listen_plan(listen, backlog.0, share_port, socket),
        threads: ThreadsPlan {
            model,
            workers,
            max_threads: positive(max_threads),
            stack_bytes: stack_size.value.and_then(|size| NonZeroUsize::new(size.0 as usize)),
            affinity,
        },
        process: process_plan(process),
        admin: admin_plan(admin),
        live: LivePlan {
            profile,
            max_connections: max_connections.value.map(|most| connections_in_all(most, workers)),
            site: SitePlan {
                root: if root_is_default { Root::Bundled(root) } else { Root::Folder(root) },
                index: index.0,
                hidden,
                listing,
                precompressed,
                labels: headers.style.labels(),
                cache: cache_plan(files, &transfer),
            },
            connection: connection_plan(enabled, max_requests.0, limits),
            transfer,
            head: head_plan(headers, cache_control, keep_alive),
            deadlines: deadlines_plan(timeouts, timeout.0),
            log: log_plan(log),
        },
    }
}

fn positive<const MAX: u32>(count: Count<1, MAX>) -> NonZeroUsize {
    NonZeroUsize::new(count.0 as usize).expect("the range begins at 1")
}

fn connections_in_all(most: Connections, workers: NonZeroUsize) -> NonZeroUsize {
    match most {
        Connections::InAll(count) => positive(count),
        Connections::EachWorker(count) => positive(count).saturating_mul(workers),
    }
}

fn listen_plan(addresses: Vec<Address>, backlog: u32, share_port: bool, socket: Socket) -> ListenPlan {
    let Socket { nodelay, defer_accept, send_buffer, congestion } = socket;
    ListenPlan {
        addresses,
        backlog,
        share_port,
        nodelay,
        defer_accept: defer_accept.value.map(|period| period.0),
        send_buffer_bytes: send_buffer.value.map(|size| u32::try_from(size.0).expect("the range ends at 512m")),
        congestion: congestion.value.map(|name| name.0),
    }
}

fn cache_plan(files: Files, transfer: &TransferPlan) -> CachePlan {
    let Files { mode, cache_bytes, cache_file_max, revalidate } = files;
    // What goes by another way than memory need not be in memory.
    let file_max_bytes = match transfer.path {
        TransferPath::Memory => cache_file_max.0,
        TransferPath::Auto => cache_file_max.0.min(transfer.sendfile_min_bytes.saturating_sub(1)),
        TransferPath::Sendfile | TransferPath::Stream => 0,
    };
    CachePlan { mode, capacity_bytes: cache_bytes.0, file_max_bytes, revalidate: revalidate.0 }
}

fn transfer_plan(transfer: Transfer) -> TransferPlan {
    let Transfer { path, sendfile_min, chunk } = transfer;
    TransferPlan { path, sendfile_min_bytes: sendfile_min.0, chunk_bytes: chunk.0 as usize }
}

fn connection_plan(keep_alive: bool, max_requests: u32, limits: Limits) -> ConnectionPlan {
    let Limits { head_bytes, target_bytes } = limits;
    ConnectionPlan {
        keep_alive,
        max_requests: NonZeroUsize::new(max_requests as usize),
        head_bytes: head_bytes.0 as usize,
        target_bytes: target_bytes.0 as usize,
    }
}

fn head_plan(headers: Headers, cache_control: Or<Empty, HeaderValue>, keep_alive: Option<Duration>) -> HeadPlan {
    let Headers { style, server, extra: HeaderLines(extra) } = headers;
    HeadPlan { style, keep_alive, server: server.value, cache_control: cache_control.value, extra }
}

fn deadlines_plan(timeouts: Timeouts, idle: Duration) -> DeadlinesPlan {
    let Timeouts { header, write_stall, shutdown } = timeouts;
    DeadlinesPlan { header: header.0, idle, write_stall: write_stall.0, shutdown: shutdown.0 }
}

fn log_plan(log: Log) -> LogPlan {
    let Log { level, format, file, access, access_format } = log;
    LogPlan { level, format, file, access, access_format }
}

fn process_plan(process: Process) -> ProcessPlan {
    let Process { pid_file, user } = process;
    ProcessPlan { pid_file: pid_file.value, user: user.value }
}

fn admin_plan(admin: Admin) -> AdminPlan {
    let Admin { listen } = admin;
    AdminPlan { listen: listen.value }
}

/// Every rule that the plan breaks.
pub fn conflicts(plan: &ServePlan) -> Vec<Conflict> {
    let rules = [
        each_worker_has_a_connection,
        target_is_part_of_the_head,
        cache_holds_its_largest_file,
        addresses_differ,
        kernel_defers_by_whole_seconds,
        extra_lines_are_nobody_elses,
    ];
    rules.iter().filter_map(|rule| rule(plan)).collect()
}

fn each_worker_has_a_connection(plan: &ServePlan) -> Option<Conflict> {
    let (count, most) = (plan.threads.workers, plan.live.max_connections.filter(|most| *most < plan.threads.workers)?);
    Some(Conflict {
        keys: &["server.workers", "server.max_connections"],
        says: format!("server.max_connections is {most}, which {count} workers cannot share: each needs at least one"),
    })
}

fn target_is_part_of_the_head(plan: &ServePlan) -> Option<Conflict> {
    let (target, head) = (plan.live.connection.target_bytes as u64, plan.live.connection.head_bytes as u64);
    (target >= head).then(|| Conflict {
        keys: &["limits.head_bytes", "limits.target_bytes"],
        says: format!(
            "limits.target_bytes is {}, which is not less than limits.head_bytes, {}: the target is a part of the head, so set both",
            show_size(target),
            show_size(head)
        ),
    })
}

fn cache_holds_its_largest_file(plan: &ServePlan) -> Option<Conflict> {
    let CachePlan { capacity_bytes, file_max_bytes, .. } = plan.live.site.cache;
    (file_max_bytes > capacity_bytes).then(|| Conflict {
        keys: &["files.cache_bytes", "files.cache_file_max"],
        says: format!(
            "files.cache_file_max is {}, more than the whole of files.cache_bytes, {}",
            show_size(file_max_bytes),
            show_size(capacity_bytes)
        ),
    })
}

/// Port 0 asks the kernel for a free port, a new one each time.
fn addresses_differ(plan: &ServePlan) -> Option<Conflict> {
    let fixed = |address: &&Address| !matches!(address, Address::Tcp(tcp) if tcp.port() == 0);
    let addresses: Vec<_> = plan.listen.addresses.iter().chain(&plan.admin.listen).filter(fixed).collect();
    let with_earlier =
        |(at, other): (usize, &&Address)| addresses[..at].iter().find_map(|one| both_listened_on(one, other));
    let says = addresses.iter().enumerate().find_map(with_earlier)?;
    Some(Conflict { keys: &["admin.listen", "server.listen"], says })
}

/// The kernel gives a port of all addresses to nobody else, so the server would be told to stop the server that has it: itself.
/// (nginx takes such a pair, and listens on all addresses alone.)
fn both_listened_on(one: &Address, other: &Address) -> Option<String> {
    if one == other {
        return Some(format!("{one} is listened on twice"));
    }
    let (Address::Tcp(a), Address::Tcp(b)) = (one, other) else { return None };
    let is_one_port = a.port() == b.port() && a.is_ipv4() == b.is_ipv4();
    let all = [a, b].into_iter().find(|address| address.ip().is_unspecified()).filter(|_| is_one_port)?;
    let part = if all == a { b } else { a };
    Some(format!(
        "{part} is listened on twice, because {all} is the same port of all addresses; leave one of the two away"
    ))
}

fn kernel_defers_by_whole_seconds(plan: &ServePlan) -> Option<Conflict> {
    let period = plan.listen.defer_accept.filter(|period| period.subsec_nanos() > 0)?;
    Some(Conflict {
        keys: &["socket.defer_accept"],
        says: format!("the kernel counts whole seconds here, which {} is not", show_duration(period)),
    })
}

/// Lines that the server writes, or that change how a message ends: a second one makes the answer wrong.
static OWN_LINES: [(HeaderName, &str); 20] = [
    (header::CACHE_CONTROL, "site.cache_control sets it"),
    (header::SERVER, "headers.server sets it"),
    (header::ACCEPT_RANGES, OWN),
    (header::ALLOW, OWN),
    (header::CONNECTION, OWN),
    (header::CONTENT_ENCODING, OWN),
    (header::CONTENT_LENGTH, OWN),
    (header::CONTENT_RANGE, OWN),
    (header::CONTENT_TYPE, OWN),
    (header::DATE, OWN),
    (header::ETAG, OWN),
    (HeaderName::from_static("keep-alive"), OWN),
    (header::LAST_MODIFIED, OWN),
    (header::LOCATION, OWN),
    (header::RETRY_AFTER, OWN),
    (header::TRAILER, OWN),
    (header::TRANSFER_ENCODING, OWN),
    (header::UPGRADE, OWN),
    (header::VARY, OWN),
    (header::X_CONTENT_TYPE_OPTIONS, OWN),
];

const OWN: &str = "the server itself decides about it";

fn extra_lines_are_nobody_elses(plan: &ServePlan) -> Option<Conflict> {
    let owner = |(name, _): &(HeaderName, HeaderValue)| OWN_LINES.iter().find(|(own, _)| own == name);
    let (name, why) = plan.live.head.extra.iter().find_map(owner)?;
    Some(Conflict { keys: &["headers.extra"], says: format!("{name} cannot be an extra line: {why}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::plan::{EtagForm, LabelsPlan};

    fn plan(changes: &[(&str, &str)]) -> ServePlan {
        let mut settings = Settings::default();
        for (key, text) in changes {
            assert_eq!(settings.set(key, &(*text).into()), Ok(()), "{key} = {text}");
        }
        resolve(settings, true, NonZeroUsize::new(4).unwrap())
    }

    fn says(changes: &[(&str, &str)]) -> Vec<String> {
        conflicts(&plan(changes)).into_iter().map(|conflict| conflict.says).collect()
    }

    #[test]
    fn words_and_zeros_become_none() {
        let defaults = plan(&[]);
        assert_eq!(defaults.threads.workers.get(), 4);
        assert_eq!(defaults.live.max_connections, None);
        assert_eq!(defaults.live.connection.max_requests, None);
        assert_eq!(defaults.listen.defer_accept, Some(Duration::from_secs(1)));
        assert_eq!(defaults.live.head.server, Some(HeaderValue::from_static("quintain")));
        assert_eq!(defaults.live.head.cache_control, None);
        assert_eq!(defaults.live.site.root, Root::Bundled("fixtures".into()));
        assert_eq!(defaults.live.deadlines.idle, Duration::from_secs(75));

        let changed = plan(&[
            ("server.workers", "2"),
            ("server.max_connections", "100"),
            ("keep_alive.max_requests", "5"),
            ("socket.defer_accept", "off"),
            ("socket.send_buffer", "64k"),
            ("headers.server", ""),
            ("headers.style", "tomcat"),
            ("site.cache_control", "no-store"),
        ]);
        assert_eq!(changed.threads.workers.get(), 2);
        assert_eq!(changed.live.max_connections, NonZeroUsize::new(100));
        assert_eq!(changed.live.connection.max_requests, NonZeroUsize::new(5));
        assert_eq!(changed.listen.defer_accept, None);
        assert_eq!(changed.listen.send_buffer_bytes, Some(65_536));
        assert_eq!(changed.live.head.server, None);
        assert_eq!(changed.live.head.cache_control, Some(HeaderValue::from_static("no-store")));
        assert_eq!(changed.live.site.labels, LabelsPlan { etag: EtagForm::WeakLengthAndMilliseconds, charset: false });
    }

    #[test]
    fn connections_of_each_worker_add_up() {
        let plan = plan(&[("server.max_connections", "768/worker"), ("server.workers", "3")]);
        assert_eq!(plan.live.max_connections, NonZeroUsize::new(2304));
    }

    #[test]
    fn what_is_kept_in_memory() {
        let rows: &[(&[(&str, &str)], u64)] = &[
            (&[], 24 * 1024 - 1),
            (&[("transfer.sendfile_min", "48k")], 48 * 1024 - 1),
            (&[("transfer.sendfile_min", "0")], 0),
            (&[("transfer.sendfile_min", "4m")], 1 << 20),
            (&[("transfer.path", "memory")], 1 << 20),
            (&[("transfer.path", "sendfile")], 0),
            (&[("transfer.path", "stream")], 0),
        ];
        for (changes, expected) in rows {
            assert_eq!(plan(changes).live.site.cache.file_max_bytes, *expected, "{changes:?}");
        }
    }

    #[test]
    fn settings_that_go_together() {
        assert_eq!(says(&[]), [""; 0]);
        assert_eq!(says(&[("server.max_connections", "4")]), [""; 0]);
        assert_eq!(says(&[("files.cache_file_max", "64m"), ("transfer.path", "memory")]), [""; 0]);
        assert_eq!(says(&[("files.cache_file_max", "128m")]), [""; 0], "none that large is kept");
        assert_eq!(says(&[("server.listen", "127.0.0.1:0,127.0.0.1:0"), ("admin.listen", "127.0.0.1:0")]), [""; 0]);
        assert_eq!(says(&[("server.listen", "127.0.0.1:80,[::1]:80,unix:/a,unix:/b")]), [""; 0]);
        assert_eq!(says(&[("server.listen", "0.0.0.0:80,[::]:80,127.0.0.1:81")]), [""; 0]);
        assert_eq!(says(&[("headers.extra", "X-Run=7,Strict-Transport-Security=max-age=1")]), [""; 0]);
    }

    #[test]
    fn settings_that_do_not() {
        let rows: &[(&[(&str, &str)], &str)] = &[
            (
                &[("server.max_connections", "3")],
                "server.max_connections is 3, which 4 workers cannot share: each needs at least one",
            ),
            (
                &[("limits.head_bytes", "8k")],
                "limits.target_bytes is 8k, which is not less than limits.head_bytes, 8k: the target is a part of the head, so set both",
            ),
            (
                &[("files.cache_file_max", "128m"), ("transfer.path", "memory")],
                "files.cache_file_max is 128m, more than the whole of files.cache_bytes, 64m",
            ),
            (&[("server.listen", "unix:/a,80,*:80")], "0.0.0.0:80 is listened on twice"),
            (&[("admin.listen", "127.0.0.1:8080")], "127.0.0.1:8080 is listened on twice"),
            (
                &[("server.listen", "80,127.0.0.1:80")],
                "127.0.0.1:80 is listened on twice, because 0.0.0.0:80 is the same port of all addresses; leave one of the two away",
            ),
            (
                &[("server.listen", "[::1]:80"), ("admin.listen", "[::]:80")],
                "[::1]:80 is listened on twice, because [::]:80 is the same port of all addresses; leave one of the two away",
            ),
            (&[("socket.defer_accept", "1500ms")], "the kernel counts whole seconds here, which 1500ms is not"),
            (
                &[("headers.extra", "Content-Length=5")],
                "content-length cannot be an extra line: the server itself decides about it",
            ),
            (&[("headers.extra", "Server=x")], "server cannot be an extra line: headers.server sets it"),
        ];
        for (changes, expected) in rows {
            assert_eq!(says(changes), [*expected], "{changes:?}");
        }
    }
}
