//! WebBench 1.5's lines, with its spelling.
//!
//! Two things are ours: an answer that was cut short has failed (webbench takes any end of the connection for success), and the
//! sums do not overflow (webbench's bytes do, beyond 2 GiB).

use super::Proxy;
use crate::record::Run;

/// What of webbench's command line shows in its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `GET`, or what `--head`, `--options`, `--trace` ask for.
    pub method: String,
    /// As it was typed.
    pub url: String,
    /// `-9`, `-1` or `-2`.
    pub http: Http,
    /// `-c`.
    pub clients: u64,
    /// `-t`, in seconds.
    pub seconds: u64,
    /// `-f`: connections are closed without a look at the answer.
    pub force: bool,
    /// `-r`: caches on the way are asked to look again.
    pub reload: bool,
    /// `-p`.
    pub proxy: Option<Proxy>,
}

/// The version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http {
    /// 0.9: a request line and nothing more.
    V09,
    /// 1.0, which is webbench's default.
    V10,
    /// 1.1.
    V11,
}

/// Stderr, first of all.
pub const BANNER: &str = "Webbench - Simple Web Benchmark 1.5\n\
                          Copyright (c) Radim Kolar 1997-2004, GPL Open Source Software.\n";

/// Stdout, before the run.
#[must_use]
pub fn benchmarking(options: &Options) -> String {
    let Options { method, url, http, clients, seconds, force, reload, proxy } = options;
    let version = match http {
        Http::V09 => " (using HTTP/0.9)",
        Http::V10 => "",
        Http::V11 => " (using HTTP/1.1)",
    };
    let clients = if *clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
    let force = if *force { ", early socket close" } else { "" };
    let proxy = proxy.as_ref().map(|proxy| format!(", via proxy server {proxy}")).unwrap_or_default();
    let reload = if *reload { ", forcing reload" } else { "" };
    format!("\nBenchmarking: {method} {url}{version}\n{clients}, running {seconds} sec{force}{proxy}{reload}.\n")
}

/// Stdout, after the run. A page is a request that was answered whole, with any status, or that failed.
#[must_use]
pub fn result(run: &Run, options: &Options) -> String {
    let succeeded = run.endings.answered();
    // A length that differs is an answer to webbench, which compares nothing.
    let failed = run.endings.all() - run.endings.aborted - succeeded;
    let seconds = divisor_s(run, options);
    let pages = ((succeeded + failed) as f64 * 60.0 / seconds) as u64;
    let bytes = (run.transfer.received_bytes as f64 / seconds) as u64;
    format!("\nSpeed={pages} pages/min, {bytes} bytes/sec.\nRequests: {succeeded} susceed, {failed} failed.\n")
}

/// webbench divides by the time that was asked for. A run that was cut short has not lasted that long.
fn divisor_s(run: &Run, options: &Options) -> f64 {
    let asked = options.seconds as f64;
    let cut_short = run.interrupted || run.aborted || asked == 0.0;
    if cut_short { run.elapsed_s.max(1e-6) } else { asked }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Endings, sample};

    fn options() -> Options {
        Options {
            method: "GET".to_owned(),
            url: "http://127.0.0.1:8080/1k.html".to_owned(),
            http: Http::V10,
            clients: 1,
            seconds: 10,
            force: false,
            reload: false,
            proxy: None,
        }
    }

    #[test]
    fn before_the_run() {
        assert_eq!(BANNER.lines().count(), 2);
        let plain = "\nBenchmarking: GET http://127.0.0.1:8080/1k.html\n1 client, running 10 sec.\n";
        assert_eq!(benchmarking(&options()), plain);
        let proxy = Some(Proxy { host: "proxy".to_owned(), port: 3128 });
        let all = Options { http: Http::V11, clients: 5000, force: true, reload: true, proxy, ..options() };
        let expected = "\nBenchmarking: GET http://127.0.0.1:8080/1k.html (using HTTP/1.1)\n5000 clients, running 10 sec, \
                        early socket close, via proxy server proxy:3128, forcing reload.\n";
        assert_eq!(benchmarking(&all), expected);
        let old = Options { http: Http::V09, ..options() };
        assert!(benchmarking(&old).contains("1k.html (using HTTP/0.9)\n"));
    }

    /// The two lines of a run of webbench that somebody published.
    #[test]
    fn after_the_run() {
        let mut run = sample::run();
        run.endings = Endings { ok: 29_845, aborted: 50, ..Endings::default() };
        run.transfer.received_bytes = 17_369_798;
        let expected = "\nSpeed=179070 pages/min, 1736979 bytes/sec.\nRequests: 29845 susceed, 0 failed.\n";
        assert_eq!(result(&run, &options()), expected);
    }

    #[test]
    fn failures_are_pages_and_any_status_is_success() {
        let mut run = sample::run();
        run.endings =
            Endings { ok: 50, status_refused: 5, length_differs: 5, closed_early: 1, reset: 2, ..Endings::default() };
        run.transfer.received_bytes = 30_000_000_000;
        let expected = "\nSpeed=378 pages/min, 3000000000 bytes/sec.\nRequests: 60 susceed, 3 failed.\n";
        assert_eq!(result(&run, &options()), expected);
    }

    #[test]
    fn a_run_that_was_cut_short_is_divided_by_its_own_time() {
        let mut run = sample::run();
        run.endings = Endings { ok: 60, ..Endings::default() };
        (run.elapsed_s, run.interrupted) = (2.0, true);
        assert!(result(&run, &options()).contains("Speed=1800 pages/min"));
    }
}
