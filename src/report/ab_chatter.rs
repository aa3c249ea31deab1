//! What ab says before, during and after a run, beside its report. Which of it goes to stdout and which to stderr stands at
//! each function; scripts skip lines by count.

use std::io::{self, Write};

use super::Proxy;

const NAME: &str = "This is ApacheBench, Version 2.3";
const AUTHORS: [&str; 2] = [
    "Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/",
    "Licensed to The Apache Software Foundation, http://www.apache.org/",
];

/// Stdout, first of all; also the whole of `-V`. `$Revision$` is not filled in by distributors that build from Git, and so by
/// most that are seen.
#[must_use]
pub fn banner() -> String {
    let [first, second] = AUTHORS;
    format!("{NAME} <$Revision$>\n{first}\n{second}\n\n")
}

/// [`banner`] of `-w`.
#[must_use]
pub fn html_banner() -> String {
    let [first, second] = AUTHORS;
    format!("<p>\n {NAME} <i>&lt;$Revision$&gt;</i><br>\n {first}<br>\n {second}<br>\n</p>\n<p>\n")
}

/// Stdout, after the banner, not with `-w`. The line ends here if progress will be told, and else with [`DONE`].
#[must_use]
pub fn benchmarking(host: &str, proxy: Option<&Proxy>, heartbeat: Option<u64>) -> String {
    let through = proxy.map(|proxy| format!("[through {proxy}] ")).unwrap_or_default();
    let end = if heartbeat.is_some() { "\n" } else { "..." };
    format!("Benchmarking {host} {through}(be patient){end}")
}

/// After how many requests each ab tells its progress: a tenth of them, 100 at least, and never in short runs or with `-q`.
#[must_use]
pub fn heartbeat(requests: u64, quiet: bool) -> Option<u64> {
    (requests > 150 && !quiet).then(|| (requests / 10).max(100))
}

/// Stderr, at every heartbeat.
#[must_use]
pub fn completed(requests: u64) -> String {
    format!("Completed {requests} requests\n")
}

/// Stderr, at the end of a run that told its progress.
#[must_use]
pub fn finished(requests: u64) -> String {
    format!("Finished {requests} requests\n")
}

/// Stdout, at the end of a run that did not tell its progress. A run that was interrupted says neither.
pub const DONE: &str = "..done\n";

/// Stdout, when a run is given up after some requests.
#[must_use]
pub fn total_completed(requests: u64) -> String {
    format!("Total of {requests} requests completed\n")
}

/// Stdout, with `-v 2` and more: the head that will be sent, without the body.
///
/// # Errors
///
/// Those of the writer.
pub fn request_head(out: &mut dyn Write, method: &str, head: &[u8]) -> io::Result<()> {
    writeln!(out, "INFO: {method} header == \n---")?;
    out.write_all(head)?;
    out.write_all(b"\n---\n")
}

/// Stdout, with `-v 2` and more: the head of an answer, and what ab thinks of its status. ab also shows whatever of the body came
/// in the same read; that depends on timing, and is not kept.
///
/// # Errors
///
/// Those of the writer.
pub fn answer_head(out: &mut dyn Write, head: &[u8], verbosity: u32) -> io::Result<()> {
    out.write_all(b"LOG: header received:\n")?;
    out.write_all(head)?;
    out.write_all(b"\n")?;
    let status = status(head);
    if !status.starts_with('2') {
        writeln!(out, "WARNING: Response code not 2xx ({status})")?;
    } else if verbosity >= 3 {
        writeln!(out, "LOG: Response code = {status}")?;
    }
    Ok(())
}

/// Three characters after the version; 500 is what ab takes an answer for that has none.
fn status(head: &[u8]) -> String {
    let line = head.split(|byte| *byte == b'\r' || *byte == b'\n').next().unwrap_or_default();
    let code = line.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5));
    code.map_or_else(|| "500".to_owned(), |code| String::from_utf8_lossy(code).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As real ab printed them.
    #[test]
    fn before_the_run() {
        let banner_of_ab = "This is ApacheBench, Version 2.3 <$Revision$>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/
Licensed to The Apache Software Foundation, http://www.apache.org/\n\n";
        let html_of_ab = "<p>
 This is ApacheBench, Version 2.3 <i>&lt;$Revision$&gt;</i><br>
 Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/<br>
 Licensed to The Apache Software Foundation, http://www.apache.org/<br>
</p>
<p>\n";
        assert_eq!((banner().as_str(), html_banner().as_str()), (banner_of_ab, html_of_ab));
        let proxy = Proxy { host: "127.0.0.1".to_owned(), port: 18_777 };
        assert_eq!(benchmarking("h", None, None) + DONE, "Benchmarking h (be patient).....done\n");
        let through = "Benchmarking foo.example [through 127.0.0.1:18777] (be patient)...";
        assert_eq!(benchmarking("foo.example", Some(&proxy), None), through);
        assert_eq!(benchmarking("h", None, Some(100)), "Benchmarking h (be patient)\n");
    }

    #[test]
    fn progress() {
        let rows = [(150, None), (151, Some(100)), (1_000, Some(100)), (50_000, Some(5_000))];
        for (requests, expected) in rows {
            assert_eq!(heartbeat(requests, false), expected, "{requests}");
            assert_eq!(heartbeat(requests, true), None);
        }
        assert_eq!(completed(100) + &finished(151), "Completed 100 requests\nFinished 151 requests\n");
        assert_eq!(total_completed(7), "Total of 7 requests completed\n");
    }

    #[test]
    fn heads_of_requests_and_answers() {
        let mut out = Vec::new();
        request_head(&mut out, "HEAD", b"HEAD /x HTTP/1.0\r\nAccept: */*\r\n\r\n").unwrap();
        let expected = "INFO: HEAD header == \n---\nHEAD /x HTTP/1.0\r\nAccept: */*\r\n\r\n\n---\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);

        let found = "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n";
        let missing = "HTTP/1.1 404 Not Found\r\n\r\n";
        let warning = |code| format!("WARNING: Response code not 2xx ({code})\n");
        let rows = [
            (found, 2, String::new()),
            (found, 3, "LOG: Response code = 200\n".to_owned()),
            (missing, 2, warning("404")),
            (missing, 4, warning("404")),
            ("no answer\r\n", 2, warning("500")),
        ];
        for (head, verbosity, opinion) in rows {
            let mut out = Vec::new();
            answer_head(&mut out, head.as_bytes(), verbosity).unwrap();
            let expected = format!("LOG: header received:\n{head}\n{opinion}");
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{verbosity}");
        }
    }
}
