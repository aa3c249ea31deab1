//! The admin listener: /healthz, /metrics, /status. Off by default; it runs on the main thread, so that asking costs
//! the workers nothing but a look at their counters.

use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;

use super::body::Body;
use super::listen::{self, Bound};
use super::metrics::{self, About, Elsewhere, PROMETHEUS_CONTENT_TYPE, Snapshot};
use super::operator::LogLost;
use super::post::Post;
use crate::config::plan::LivePlan;
use crate::process::usage::Usage;

/// Admin connections at once; further ones wait in the accept queue.
const MOST_CONNECTIONS: usize = 32;

/// An admin connection without a new request for this long is over, whether its client sends nothing or reads nothing: it
/// must not keep others out.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the admin listener can see.
pub struct Overview {
    team: Vec<Arc<Post>>,
    about: Mutex<About>,
    /// Second handles of the listening sockets, to ask how long their queues are.
    listeners: Mutex<Vec<OwnedFd>>,
    /// Lines that the access log's destination has not taken.
    access_log_lost: Arc<AtomicU64>,
    log_lost: LogLost,
    start: Instant,
}

impl Overview {
    /// Looks at these workers and these listeners from now on.
    pub fn new(
        team: Vec<Arc<Post>>,
        bound: &[Bound],
        about: About,
        access_log_lost: Arc<AtomicU64>,
        log_lost: LogLost,
    ) -> io::Result<Self> {
        let sockets = bound.iter().flat_map(|address| &address.sockets);
        let listeners = sockets.map(OwnedFd::try_clone).collect::<io::Result<_>>()?;
        Ok(Self {
            team,
            about: Mutex::new(about),
            listeners: Mutex::new(listeners),
            access_log_lost,
            log_lost,
            start: Instant::now(),
        })
    }

    /// Shows what a new configuration has changed.
    pub fn show(&self, live: &LivePlan) {
        let mut about = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        about.profile = live.profile.name();
        about.files_mode = live.site.cache.mode.name();
        about.transfer_path = live.transfer.path.name();
    }

    /// Notes that a reload was applied, or why it was refused.
    pub fn note_reload(&self, refusal: Option<&str>) {
        self.about.lock().unwrap_or_else(PoisonError::into_inner).reloads.note(refusal, SystemTime::now());
    }

    /// Lets the listening sockets go, so that they close when their workers close them.
    pub fn forget_listeners(&self) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn snapshot(&self) -> Snapshot {
        let caches = || self.team.iter().map(|post| post.cache_counts());
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let elsewhere = Elsewhere {
            connections_waiting: listeners.iter().filter_map(listen::waiting).sum(),
            cache_hits: caches().map(|counts| counts.hits).sum(),
            cache_misses: caches().map(|counts| counts.misses).sum(),
            usage: Usage::now(),
            access_log_lost: self.access_log_lost.load(Relaxed),
            log_lost: (self.log_lost)(),
        };
        Snapshot::sum(self.team.iter().map(|post| &post.counters), elsewhere)
    }

    fn about(&self) -> About {
        let about = self.about.lock().unwrap_or_else(PoisonError::into_inner).clone();
        About { uptime: self.start.elapsed(), ..about }
    }
}

/// Answers admin requests until the runtime ends.
pub async fn serve(bound: Bound, overview: Arc<Overview>) {
    if let Err(error) = accept(bound, overview).await {
        tracing::error!("the admin listener has ended: {error}");
    }
}

async fn accept(mut bound: Bound, overview: Arc<Overview>) -> io::Result<()> {
    let Some(socket) = bound.sockets.pop() else { return Ok(()) };
    if bound.url.starts_with("unix:") {
        let listener = UnixListener::from_std(socket.into())?;
        accept_from(async || listener.accept().await.map(|(stream, _)| stream), overview).await
    } else {
        let listener = TcpListener::from_std(socket.into())?;
        accept_from(async || listener.accept().await.map(|(stream, _)| stream), overview).await
    }
}

async fn accept_from<S>(next: impl AsyncFn() -> io::Result<S>, overview: Arc<Overview>) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let permit = Arc::clone(&permits).acquire_owned().await.map_err(io::Error::other)?;
        match next().await {
            Ok(stream) => {
                let overview = Arc::clone(&overview);
                tokio::task::spawn_local(async move {
                    answer(stream, overview).await;
                    drop(permit);
                });
            }
            // Descriptors ran out, most likely: the workers are in the same trouble, and trying at once would spin.
            Err(_) => tokio::time::sleep(super::admission::BACK_OFF).await,
        }
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin + 'static, overview: Arc<Overview>) {
    let asked = Cell::new(false);
    let service = service_fn(async |request: Request<Incoming>| {
        asked.set(true);
        Ok::<_, Infallible>(respond(&request, &overview))
    });
    let connection = http1::Builder::new().header_read_timeout(None).serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // A client that goes away is no news.
    while tokio::time::timeout(PATIENCE, &mut connection).await.is_err() {
        if !asked.take() {
            break;
        }
    }
}

fn respond(request: &Request<Incoming>, overview: &Overview) -> Response<Body> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = page(StatusCode::METHOD_NOT_ALLOWED, TEXT, "405 Method Not Allowed\n".to_owned());
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match request.uri().path() {
        "/healthz" => page(StatusCode::OK, TEXT, "ok\n".to_owned()),
        "/metrics" => page(
            StatusCode::OK,
            PROMETHEUS_CONTENT_TYPE,
            metrics::to_prometheus(&overview.about(), &overview.snapshot()),
        ),
        "/status" => page(StatusCode::OK, JSON, metrics::to_json(&overview.about(), &overview.snapshot()) + "\n"),
        _ => page(StatusCode::NOT_FOUND, TEXT, "404 Not Found: try /healthz, /metrics or /status\n".to_owned()),
    }
}

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

fn page(status: StatusCode, content_type: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::bytes(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
