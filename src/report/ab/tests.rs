//! Against real ab 2.4: the golden text is what it printed for six requests, the runs are built from what it measured.

use super::*;
use crate::record::{FirstAnswer, Transfer, sample};

/// `ab -n 6 -c 1 -k -p FILE -T text/plain` on a server that waits 0, 20, 40 or 60 ms in turn, answers 404, and sends 10 bytes
/// instead of 1000 every third time. The total times are from ab's `-e` file. One request connected, in 8.47 ms: `-g` says
/// `8`, and the deviation 3.5 leaves no other hundredth. Waiting is short of processing by what `-g` rounds away.
pub(in crate::report) fn measured_by_ab() -> Run {
    let mut run = sample::run();
    run.elapsed_s = 0.195_066;
    run.settings.connections = 1;
    run.target.port = 18_777;
    run.target.path = "/404klenslow".to_owned();
    run.endings = Endings { ok: 4, length_differs: 2, ..Endings::default() };
    run.statuses = [(404, 6)].into();
    run.connections.said_keep_alive = 6;
    run.transfer = Transfer { received_bytes: 4_580, received_body_bytes: 4_020, sent_bytes: 1_014 };
    run.first_answer = Some(FirstAnswer {
        status: 404,
        server: "tiny/1.0 (x)".to_owned(),
        body_bytes: 1_000,
        head: "HTTP/1.1 404 Not Found\r\n\r\n".to_owned(),
    });
    let total_us = [263, 20_366, 33_164, 40_404, 40_416, 60_398];
    let processing_us = [263, 20_366, 33_164 - 8_470, 40_404, 40_416, 60_398];
    let distribution = |times_us: &[u64]| sample::distribution(times_us.iter().map(|us| us * 1000));
    run.latency.total = distribution(&total_us);
    run.latency.service = distribution(&processing_us);
    run.latency.first_byte = distribution(&processing_us.map(|us| us - 20));
    run.latency.connect = distribution(&[8_470]);
    run
}

const OF_AB: &str = "

Server Software:        tiny/1.0
Server Hostname:        127.0.0.1
Server Port:            18777

Document Path:          /404klenslow
Document Length:        1000 bytes

Concurrency Level:      1
Time taken for tests:   0.195 seconds
Complete requests:      6
Failed requests:        2
   (Connect: 0, Receive: 0, Length: 2, Exceptions: 0)
Non-2xx responses:      6
Keep-Alive requests:    6
Total transferred:      4580 bytes
Total body sent:        1014
HTML transferred:       4020 bytes
Requests per second:    30.76 [#/sec] (mean)
Time per request:       32.511 [ms] (mean)
Time per request:       32.511 [ms] (mean, across all concurrent requests)
Transfer rate:          22.93 [Kbytes/sec] received
                        5.08 kb/s sent
                        28.01 kb/s total

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    1   3.5      0       8
Processing:     0   31  20.7     40      60
Waiting:        0   31  20.7     40      60
Total:          0   33  20.4     40      60

Percentage of the requests served within a certain time (ms)
  50%     40
  66%     40
  75%     40
  80%     40
  90%     60
  95%     60
  98%     60
  99%     60
 100%     60 (longest request)
";

fn lines_with(text: &str, beginning: &str) -> Vec<String> {
    text.lines().filter(|line| line.starts_with(beginning)).map(str::to_owned).collect()
}

#[test]
fn the_report_is_that_of_ab() {
    let options = Options { keep_alive: true, body_sent: true, ..Options::default() };
    assert_eq!(render(&measured_by_ab(), &options).unwrap(), OF_AB);
}

#[test]
fn what_was_not_asked_for_is_not_there() {
    let mut run = measured_by_ab();
    run.endings = Endings { ok: 6, aborted: 1, ..Endings::default() };
    run.statuses = [(200, 5), (206, 1)].into();
    let text = render(&run, &Options { variable_length: true, no_percentages: true, ..Options::default() }).unwrap();
    for absent in ["   (Connect", "Non-2xx", "Keep-Alive", "Total body", "kb/s", "Percentage"] {
        assert!(!text.contains(absent), "{absent}");
    }
    assert_eq!(lines_with(&text, "Document Length"), ["Document Length:        Variable"]);
    assert_eq!(lines_with(&text, "Complete"), ["Complete requests:      6"]);
    // A literal that scripts grep for.
    assert!(text.contains("Failed requests:        0\n"));
    assert!(text.ends_with("Total:          0   33  20.4     40      60\n"));
}

/// The rows of `ab -S` have no blank before the last column; the figures are those of the run above.
#[test]
fn without_medians() {
    let text = render(&measured_by_ab(), &Options { no_medians: true, ..Options::default() }).unwrap();
    let expected = "
Connection Times (ms)
              min   avg   max
Connect:        0     1    8
Processing:     0    31   60
Waiting:        0    31   60
Total:          0    33   60

Percentage";
    assert!(text.contains(expected), "{text}");
}

/// Two requests of ab, whose notes came from these figures: mean 0 and median 1 ms, with a deviation of 0.3.
#[test]
fn notes_on_medians_far_from_their_mean() {
    let mut run = measured_by_ab();
    run.latency.connect = sample::distribution([50_000, 150_000]);
    run.latency.service = sample::distribution([250_000, 650_000]);
    run.latency.first_byte = sample::distribution([240_000, 640_000]);
    run.latency.total = sample::distribution([420_000, 700_000]);
    let text = render(&run, &Options::default()).unwrap();
    let expected = "
Connect:        0    0   0.1      0       0
Processing:     0    0   0.3      1       1
Waiting:        0    0   0.3      1       1
Total:          0    1   0.2      1       1
ERROR: The median and mean for the processing time are more than twice the standard
       deviation apart. These results are NOT reliable.
ERROR: The median and mean for the waiting time are more than twice the standard
       deviation apart. These results are NOT reliable.

Percentage";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_milder_note() {
    let mut run = measured_by_ab();
    // Mean 2 and median 1 ms, with a deviation of 0.8 ms.
    run.latency.total = sample::distribution([1_000_000, 1_000_000, 1_400_000, 1_400_000, 3_000_000]);
    let text = render(&run, &Options::default()).unwrap();
    let expected = "WARNING: The median and mean for the total time are not within a normal deviation
        These results are probably not that reliable.\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn each_failure_is_in_one_class() {
    let endings = Endings {
        ok: 1,
        connect_failed: 2,
        connect_timed_out: 4,
        sent_nothing: 8,
        reset: 16,
        closed_early: 32,
        malformed: 64,
        length_differs: 128,
        content_differs: 256,
        timed_out: 512,
        status_refused: 1024,
        aborted: 2048,
    };
    let failures = Failures::of(&endings);
    assert_eq!(failures, Failures { connect: 6, receive: 568, length: 384, exceptions: 64 });
    // A status is no failure to ab, and what was cut off is not complete.
    assert_eq!((failures.all(), complete(&endings)), (1022, 2047));
}

/// ab -r on a port that refuses counts the requests as complete and lists times of nothing as zeros.
#[test]
fn nothing_was_answered() {
    let mut run = measured_by_ab();
    run.endings = Endings { connect_failed: 4, ..Endings::default() };
    run.statuses.clear();
    run.first_answer = None;
    run.latency.total = sample::distribution([]);
    let text = render(&run, &Options::default()).unwrap();
    assert!(text.starts_with("\n\nServer Software:        \nServer Hostname:"));
    assert!(text.contains("Document Length:        0 bytes\n"));
    assert!(text.contains("Complete requests:      4\nFailed requests:        4\n   (Connect: 4, Receive: 0,"));
    assert!(!text.contains("Connection Times"));
    run.endings = Endings { aborted: 4, ..Endings::default() };
    assert!(!render(&run, &Options::default()).unwrap().contains("Requests per second"));
}

#[test]
fn one_request_has_no_percentages() {
    let mut run = measured_by_ab();
    run.latency.total = sample::distribution([774_000]);
    run.latency.connect = sample::distribution([]);
    let text = render(&run, &Options::default()).unwrap();
    assert!(text.ends_with("Total:          1    1   0.0      1       1\n"), "{text}");
}

#[test]
fn what_scripts_cut_out_of_the_report() {
    let text = render(&measured_by_ab(), &Options::default()).unwrap();
    // cut -f 7 -d " ", and awk '{print $4}' on the first of two lines.
    let rate = &lines_with(&text, "Requests per second:")[0];
    assert_eq!(rate.split(' ').nth(6), Some("30.76"));
    let slot = &lines_with(&text, "Time per request:")[0];
    assert_eq!(slot.split_whitespace().nth(3), Some("32.511"));
    let p95 = &lines_with(&text, "  95%")[0];
    assert_eq!(p95.split_whitespace().nth(1), Some("60"));
}

#[test]
fn a_record_with_a_broken_histogram_is_refused() {
    let mut run = measured_by_ab();
    run.latency.total.histogram = "?".to_owned();
    assert!(render(&run, &Options::default()).is_err());
}
