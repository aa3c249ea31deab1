//! Profiles: the settings that make this server a stand-in for another one, and where each value is from.
//!
//! They are the values that the real server is *shipped* with, because "Tomcat" in a published comparison is Tomcat as it was
//! unpacked. `peers/NAME/start --stock` starts the same configuration of the real one, and tests/it/profiles.rs compares
//! the two.
//!
//! What no profile sets: `server.workers` (Tomcat and Jetty run at most 200 requests at once, each on a thread that may
//! wait; here none waits, and one thread a CPU is what is busy there too; Netty's two loops a CPU wait in turn for one),
//! `log.access` (nginx and Tomcat are shipped with one; a file in the working directory is not for a profile to make), and
//! what is served at all: `site.hidden` (nginx, Tomcat and Jetty serve names that begin with a dot) and `site.listing`
//! (Jetty lists folders).

use super::layers::{Entry, Origin};
use super::plan::Profile;
use super::written::Written;

/// The key that names the profile.
const KEY: &str = "server.profile";

/// The profile that the layers name together: as for any other setting, the last one counts.
pub fn chosen(written: &[Entry]) -> Profile {
    let named = written.iter().rev().filter(|entry| entry.key == KEY);
    // What is no profile is refused where the entry is applied.
    named.map(|entry| Profile::read(&entry.value)).next().flatten().unwrap_or(Profile::None)
}

/// The layer of a profile: above the defaults, below all that anybody wrote.
pub fn layer(profile: Profile) -> impl Iterator<Item = Entry> {
    settings(profile).iter().map(move |(key, text)| Entry {
        key: (*key).into(),
        value: (*text).into(),
        origin: Origin::Profile(profile.name()),
    })
}

fn settings(profile: Profile) -> &'static [(&'static str, &'static str)] {
    match profile {
        Profile::None => &[],
        Profile::Nginx => NGINX,
        Profile::Netty => NETTY,
        Profile::Tomcat => TOMCAT,
        Profile::TomcatBio => TOMCAT_BIO,
        Profile::Jetty => JETTY,
    }
}

/// nginx 1.22.1, configured as in Debian's nginx.conf.
const NGINX: &[(&str, &str)] = &[
    // Each worker process accepts and serves by itself, on epoll.
    ("server.model", "event-loop"),
    // NGX_LISTEN_BACKLOG in os/unix/ngx_linux_config.h
    ("server.backlog", "511"),
    // `worker_connections 768` in nginx.conf
    ("server.max_connections", "768/worker"),
    // ngx_http_core_module: keepalive_timeout, keepalive_requests
    ("keep_alive.timeout", "75s"),
    ("keep_alive.max_requests", "1000"),
    // ngx_http_core_module: client_header_timeout, send_timeout
    ("timeouts.header", "60s"),
    ("timeouts.write_stall", "60s"),
    // ngx_http_core_module: large_client_header_buffers 4 8k; a line fits into one of them, so the target has 8,192 bytes
    // less `GET `, ` HTTP/1.1` and the line's end.
    ("limits.head_bytes", "32k"),
    ("limits.target_bytes", "8177"),
    // ngx_http_core_module: open_file_cache off
    ("files.mode", "per-request"),
    // `sendfile on` in nginx.conf; strace shows one for a document of any length.
    ("transfer.path", "sendfile"),
    // ngx_http_core_module: listen without `deferred`
    ("socket.defer_accept", "off"),
    // ngx_http_gzip_static_module: gzip_static off
    ("site.precompressed", "false"),
    ("headers.style", "nginx"),
    // `server_tokens` is on: the version is part of the line, and of the length of every head.
    ("headers.server", "nginx/1.22.1"),
];

/// The program of peers/netty on Netty 4.1.48, as `--stock` starts it: a library has no other configuration to ship.
const NETTY: &[(&str, &str)] = &[
    // ServerBootstrap with a boss and a worker NioEventLoopGroup
    ("server.model", "boss-worker"),
    // NetUtil.SOMAXCONN is net.core.somaxconn, which is what the kernel makes of any larger number.
    ("server.backlog", "1000000"),
    // There is no handler that counts connections or requests.
    ("server.max_connections", "auto"),
    ("keep_alive.max_requests", "0"),
    // No IdleStateHandler: there is no end to any wait, and here none longer.
    ("keep_alive.timeout", "24h"),
    ("timeouts.header", "24h"),
    ("timeouts.write_stall", "24h"),
    // HttpObjectDecoder: maxInitialLineLength 4096 (without the line's end, and one byte more passes), maxHeaderSize 8192
    ("limits.head_bytes", "12k"),
    ("limits.target_bytes", "4082"),
    // The program opens the file for each request and sends it as a DefaultFileRegion, whatever its length.
    ("files.mode", "per-request"),
    ("transfer.path", "sendfile"),
    ("socket.defer_accept", "off"),
    ("site.precompressed", "false"),
    ("headers.style", "netty"),
    ("headers.server", ""),
];

/// Tomcat 10.1 with the server.xml, web.xml and context.xml that it is shipped with.
const TOMCAT: &[(&str, &str)] = &[
    // NioEndpoint: one poller, and a pool of which any thread serves any connection
    ("server.model", "work-stealing"),
    // AbstractEndpoint: acceptCount
    ("server.backlog", "100"),
    // AbstractEndpoint: maxConnections
    ("server.max_connections", "8192"),
    // `connectionTimeout="20000"` in server.xml; keepAliveTimeout and the write timeout are the same where not set.
    ("keep_alive.timeout", "20s"),
    ("timeouts.header", "20s"),
    ("timeouts.write_stall", "20s"),
    // AbstractHttp11Protocol: maxKeepAliveRequests
    ("keep_alive.max_requests", "100"),
    // AbstractHttp11Protocol: maxHttpHeaderSize 8192, of the whole head; a target has no limit of its own.
    ("limits.head_bytes", "8k"),
    ("limits.target_bytes", "8177"),
    // StandardRoot and its Cache: cachingAllowed, cacheMaxSize 10240 KiB, objectMaxSize 512 KiB, ttl 5000 ms
    ("files.mode", "cached"),
    ("files.cache_bytes", "10m"),
    ("files.cache_file_max", "512k"),
    ("files.revalidate", "5s"),
    // DefaultServlet: sendfileSize 48 KiB, and useSendfile of the NIO connector; only what is longer goes by sendfile.
    ("transfer.path", "auto"),
    ("transfer.sendfile_min", "49153"),
    // deferAccept exists in the APR connector only.
    ("socket.defer_accept", "off"),
    // DefaultServlet: precompressed false
    ("site.precompressed", "false"),
    ("headers.style", "tomcat"),
    // AbstractHttp11Protocol: server is not set
    ("headers.server", ""),
];

/// Tomcat with its blocking connector, Http11Protocol, which ended with 8.0. There is no such Tomcat for current Java to
/// compare with: heads and limits are those of [`TOMCAT`], so that between the two only the I/O differs.
/// (Tomcat 7 also said `Server: Apache-Coyote/1.1`, which `headers.server` can add.)
const TOMCAT_BIO: &[(&str, &str)] = &[
    // JIoEndpoint: a thread of the pool belongs to a connection until it ends
    ("server.model", "thread-per-connection"),
    // JIoEndpoint: maxThreads; maxConnections is the same where not set, which "auto" is in this model.
    ("server.max_threads", "200"),
    ("server.max_connections", "auto"),
    ("server.backlog", "100"),
    ("keep_alive.timeout", "20s"),
    ("timeouts.header", "20s"),
    ("timeouts.write_stall", "20s"),
    ("keep_alive.max_requests", "100"),
    ("limits.head_bytes", "8k"),
    ("limits.target_bytes", "8177"),
    ("files.mode", "cached"),
    ("files.cache_bytes", "10m"),
    ("files.cache_file_max", "512k"),
    ("files.revalidate", "5s"),
    // JIoEndpoint: useSendfile is always false
    ("transfer.path", "memory"),
    ("socket.defer_accept", "off"),
    ("site.precompressed", "false"),
    ("headers.style", "tomcat"),
    ("headers.server", ""),
];

/// Jetty 9.4 with jetty.xml, the module http and webdefault.xml as it is shipped.
const JETTY: &[(&str, &str)] = &[
    // QueuedThreadPool and EatWhatYouKill: the thread that selected goes on to serve, another one takes over selecting
    ("server.model", "work-stealing"),
    // ServerConnector: acceptQueueSize 0 leaves it to java.net.ServerSocket, which takes 50.
    ("server.backlog", "50"),
    // The module connectionlimit is not enabled; nothing counts requests.
    ("server.max_connections", "auto"),
    ("keep_alive.max_requests", "0"),
    // `jetty.http.idleTimeout` in http.mod: 30 s without a byte in either direction
    ("keep_alive.timeout", "30s"),
    ("timeouts.header", "30s"),
    ("timeouts.write_stall", "30s"),
    // HttpConfiguration: requestHeaderSize 8192, of the whole head, but not every line end counts: with a Host line of one
    // letter, 8,204 bytes pass. Where the limit is reached within the target, behind `GET `, it is a 414.
    ("limits.head_bytes", "8204"),
    ("limits.target_bytes", "8188"),
    // DefaultServlet in webdefault.xml: maxCacheSize, maxCachedFileSize; CachedContentFactory compares on each request.
    ("files.mode", "cached"),
    ("files.cache_bytes", "256000000"),
    ("files.cache_file_max", "200000000"),
    ("files.revalidate", "0s"),
    // There is no sendfile: one gather write of head and buffer.
    ("transfer.path", "memory"),
    ("socket.defer_accept", "off"),
    // DefaultServlet: precompressed false
    ("site.precompressed", "false"),
    ("headers.style", "jetty"),
    // `jetty.httpConfig.sendServerVersion` in server.mod
    ("headers.server", "Jetty(9.4.57.v20241219)"),
];

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::config::layers::Merged;
    use crate::config::resolve;
    use crate::config::written::Choice;

    #[test]
    fn each_profile_sets_settings_that_exist_and_go_together() {
        for (name, profile) in Profile::CHOICES {
            let mut merged = Merged::default();
            assert_eq!(merged.apply(layer(*profile)), [], "{name}");
            for (key, _) in settings(*profile) {
                assert_eq!(merged.origin(key), &Origin::Profile(name), "{key}");
            }
            let one = resolve::resolve(merged.settings, true, NonZeroUsize::MIN);
            assert_eq!(resolve::conflicts(&one), [], "{name}");
        }
    }

    /// A profile that left one of these at this server's default would be a stand-in for a mixture.
    #[test]
    fn each_profile_says_what_its_server_does() {
        let facts = [
            "server.model",
            "server.backlog",
            "server.max_connections",
            "keep_alive.timeout",
            "keep_alive.max_requests",
            "timeouts.header",
            "timeouts.write_stall",
            "limits.head_bytes",
            "limits.target_bytes",
            "files.mode",
            "transfer.path",
            "socket.defer_accept",
            "site.precompressed",
            "headers.style",
            "headers.server",
        ];
        for (name, profile) in Profile::CHOICES.iter().filter(|(_, profile)| *profile != Profile::None) {
            let keys: Vec<_> = settings(*profile).iter().map(|(key, _)| *key).collect();
            for fact in facts {
                assert_eq!(keys.iter().filter(|key| **key == fact).count(), 1, "{fact} in {name}");
            }
        }
    }
}
