//! One `quintain load`: from what is asked to the record that it leaves.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::capture::{Bounds, Captured, Output, capture};
use super::child::{Program, end_of};
use super::wait::Stop;
use crate::record::Record;
use crate::record::experiment::{Client, ConnectionKind};

/// Longest record, which is some 100 KB: what is not a record should not fill the memory.
const RECORD_MAX: usize = 64 << 20;

/// Most that is kept of what the load tool says besides.
const SAID_MAX: usize = 64 << 10;

/// Longest that a run takes which ends after a number of requests.
const COUNTED_AT_MOST: Duration = Duration::from_secs(3600);

/// What a run may take beside its own time: requests that are given up at its end, connections in their thousands, the record.
const BESIDES: Duration = Duration::from_secs(120);

/// What is asked of the load tool.
#[derive(Debug, Clone)]
pub struct Ask {
    /// `http://127.0.0.1:8101/1k.html`.
    pub url: String,
    /// One request each, or kept.
    pub connections: ConnectionKind,
    /// Connections at once.
    pub concurrency: u64,
    /// End after so many requests.
    pub requests: Option<u64>,
    /// End after this time.
    pub duration: Option<Duration>,
    /// Load before it whose figures are thrown away.
    pub warm_up: Duration,
    /// End after so many failures in a row.
    pub abort_after: Option<u64>,
    /// Longest time of one request, if it is not to be the load tool's own.
    pub timeout: Option<Duration>,
    /// Answers have to be this file, with status 200.
    pub verify: Option<PathBuf>,
    /// The processes of the server.
    pub watch: Vec<u32>,
    /// Threads, CPUs and addresses.
    pub client: Client,
}

/// What came of it.
#[derive(Debug)]
pub struct Said {
    /// The record, or why there is none.
    pub answer: Answer,
    /// What the load tool thinks that people should know, as sentences.
    pub remarks: Vec<String>,
}

/// The record, or why there is none.
#[derive(Debug)]
pub enum Answer {
    /// It measured, failures included.
    Record(Box<Record>),
    /// It did not, for this reason.
    Nothing(String),
    /// The sweep has to stop.
    Stopped,
}

/// Lets the load tool do it, and waits for that. Only where no process can be started there is no answer.
pub fn measure(program: &Program, ask: &Ask, stop: &Stop) -> io::Result<Said> {
    let captured = capture(program, ask.words(), Bounds { stdout: RECORD_MAX, stderr: SAID_MAX }, ask.at_most(), stop)?;
    let without = |answer| Said { answer, remarks: Vec::new() };
    Ok(match captured {
        Captured::Stopped => without(Answer::Stopped),
        Captured::TooLong => {
            without(Answer::Nothing(format!("the load tool did not end within {} s", ask.at_most().as_secs())))
        }
        Captured::Whole(output) => said(&output),
    })
}

impl Ask {
    fn at_most(&self) -> Duration {
        self.warm_up + self.duration.unwrap_or(COUNTED_AT_MOST) + self.timeout.unwrap_or_default() + BESIDES
    }

    /// The command line.
    fn words(&self) -> Vec<OsString> {
        let Self { url, connections, concurrency, requests, duration, warm_up, abort_after, timeout, .. } = self;
        let Client { cpus, sources, .. } = &self.client;
        let time = |time: Duration| format!("{}ms", time.as_millis().max(1));
        let named = |text: &String| (!text.is_empty()).then(|| text.clone());
        let flags = [
            ("-c", Some(concurrency.to_string())),
            ("--connections", Some(connections.name().to_owned())),
            ("-n", requests.map(|requests| requests.to_string())),
            ("-t", duration.map(time)),
            ("--warm-up", (!warm_up.is_zero()).then(|| time(*warm_up))),
            ("--abort-after", abort_after.map(|failures| failures.to_string())),
            ("--timeout", timeout.map(time)),
            ("--threads", self.threads().map(|threads| threads.to_string())),
            ("--cpus", named(cpus)),
            ("--source", named(sources)),
        ];
        let mut words: Vec<OsString> = [Program::ITSELF, "load", "--output", "json"].map(OsString::from).to_vec();
        let given = flags.into_iter().filter_map(|(flag, value)| Some([flag.into(), value?.into()]));
        words.extend(given.flatten());
        if let Some(file) = &self.verify {
            words.extend(["--expect-status", "200", "--verify"].map(OsString::from));
            words.push(file.into());
        }
        words.extend(self.watch.iter().flat_map(|pid| ["--watch".into(), pid.to_string().into()]));
        words.push(url.into());
        words
    }

    /// No more than there are connections: each thread has its own, and the load tool refuses one that would have none.
    fn threads(&self) -> Option<u64> {
        let connections = self.requests.map_or(self.concurrency, |requests| requests.min(self.concurrency));
        self.client.threads.map(|threads| threads.min(connections))
    }
}

fn said(Output { stdout, stderr, status }: &Output) -> Said {
    let text = String::from_utf8_lossy(stderr);
    // The rest is its progress.
    let mut remarks: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix("quintain: ")).map(str::to_owned).collect();
    let read = serde_json::from_slice::<Record>(stdout);
    let answer = match (status.and_then(|status| status.code()), read) {
        (Some(0), Ok(record)) => Answer::Record(Box::new(record)),
        (Some(0), Err(error)) => Answer::Nothing(format!("the load tool's record cannot be read: {error}")),
        // What it said last is why it ended.
        _ => Answer::Nothing(remarks.pop().unwrap_or_else(|| format!("the load tool ended with {}", end_of(*status)))),
    };
    Said { answer, remarks }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;
    use crate::record::sample;

    fn ask() -> Ask {
        Ask {
            url: "http://127.0.0.1:8101/1k.html".into(),
            connections: ConnectionKind::Short,
            concurrency: 50,
            requests: Some(1000),
            duration: None,
            warm_up: Duration::ZERO,
            abort_after: None,
            timeout: None,
            verify: None,
            watch: Vec::new(),
            client: Client::default(),
        }
    }

    fn line(ask: &Ask) -> String {
        let words: Vec<_> = ask.words().into_iter().map(|word| word.into_string().unwrap()).collect();
        words[1..].join(" ")
    }

    #[test]
    fn the_command_line() {
        let short = "load --output json -c 50 --connections short -n 1000 http://127.0.0.1:8101/1k.html";
        assert_eq!(line(&ask()), short);
        let all = Ask {
            connections: ConnectionKind::KeepAlive,
            requests: None,
            duration: Some(Duration::from_millis(1500)),
            warm_up: Duration::from_micros(1),
            abort_after: Some(500),
            timeout: Some(Duration::from_secs(5)),
            verify: Some("/tmp/a b".into()),
            watch: vec![7, 9],
            client: Client { threads: Some(2), cpus: "1-2".into(), sources: "127.0.0.2".into() },
            ..ask()
        };
        let expected = "load --output json -c 50 --connections keep-alive -t 1500ms --warm-up 1ms --abort-after 500 \
                        --timeout 5000ms --threads 2 --cpus 1-2 --source 127.0.0.2 --expect-status 200 \
                        --verify /tmp/a b --watch 7 --watch 9 http://127.0.0.1:8101/1k.html";
        assert_eq!(line(&all), expected);
    }

    #[test]
    fn no_more_threads_than_connections() {
        let client = Client { threads: Some(4), ..Client::default() };
        let threads = |concurrency, requests| Ask { concurrency, requests, client: client.clone(), ..ask() }.threads();
        assert_eq!([threads(50, Some(1000)), threads(3, None), threads(50, Some(2))], [Some(4), Some(3), Some(2)]);
        assert_eq!(ask().threads(), None);
    }

    fn told(code: i32, stdout: &str, stderr: &str) -> Said {
        let status = Some(ExitStatus::from_raw(code << 8));
        said(&Output { stdout: stdout.into(), stderr: stderr.into(), status })
    }

    #[test]
    fn what_the_load_tool_says() {
        let record = serde_json::to_string(&sample::record()).unwrap();
        let Said { answer: Answer::Record(read), remarks } = told(0, &record, " 10 %  5 requests/s\nquintain: mind\n")
        else {
            panic!("no record")
        };
        assert_eq!((*read, remarks), (sample::record(), vec!["mind".to_owned()]));
        let rows = [
            (told(1, "", "quintain: mind\nquintain: too few ports\n"), "too few ports"),
            (told(0, "{", ""), "the load tool's record cannot be read: EOF"),
            (told(137, "", ""), "the load tool ended with signal 9"),
            (told(2, &record, ""), "the load tool ended with exit code 2"),
        ];
        for (said, reason) in rows {
            let Answer::Nothing(sentence) = said.answer else { panic!("{reason}") };
            assert!(sentence.starts_with(reason), "{sentence}");
        }
    }
}
