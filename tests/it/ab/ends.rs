//! Runs that end before their time.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};

use rustix::process::{Pid, Signal, kill_process};

use crate::ab::scripted::{Scripted, answer, reset};
use crate::ab::{command, compare, ours, same, stderr, stdout};
use crate::harness::PATIENCE;
use crate::peers::{figure, skip};

/// A URL at which nobody listens.
fn refusing() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    format!("http://{}/", listener.local_addr().expect("its address"))
}

#[test]
fn a_port_that_refuses() {
    let url = refusing();
    for words in [&["-n", "20"][..], &["-n", "20", "-c", "5", "-k"], &["-n", "200"]] {
        let Some(output) = same(&[words, &[&url]].concat()) else { return };
        assert_eq!(
            (output.status.code(), stderr(&output).as_str()),
            (Some(111), "apr_socket_recv: Connection refused (111)\n")
        );
    }
}

/// Where ab counts a refused connection once or twice, depending on what epoll says of it, ours counts it once.
#[test]
fn a_port_that_refuses_is_measured_with_r() {
    let output = ours(&["-r", "-n", "20", "-c", "2", &refusing()]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(
        (figure(&text, "Complete requests:"), figure(&text, "Failed requests:")),
        (Some(20), Some(20)),
        "{text}"
    );
    assert!(text.contains("   (Connect: 20, Receive: 0, Length: 0, Exceptions: 0)\n"), "{text}");
}

#[test]
fn resets() {
    let always = Scripted::start(|_, stream| reset(stream));
    if same(&["-n", "6", &always.url("/")]).is_none() {
        return;
    }
    // What was answered before is counted on stdout.
    let every_third =
        Scripted::start(|number, stream| if number % 3 == 0 { reset(stream) } else { answer(stream, b"abc") });
    let output = same(&["-n", "6", &every_third.url("/")]).expect("ab is there");
    assert_eq!(output.status.code(), Some(104));
    assert!(stdout(&output).ends_with("(be patient)...Total of 2 requests completed\n"), "{}", stdout(&output));
}

/// ab counts each reset up to three times.
#[test]
fn resets_are_measured_with_r() {
    let server = Scripted::start(|number, stream| if number % 2 == 0 { reset(stream) } else { answer(stream, b"abc") });
    let output = ours(&["-r", "-n", "8", &server.url("/")]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!((figure(&text, "Complete requests:"), figure(&text, "Failed requests:")), (Some(8), Some(4)), "{text}");
    assert!(text.contains("   (Connect: 0, Receive: 4, Length: 0, Exceptions: 0)\n"), "{text}");
    assert!(text.contains("Document Length:        3 bytes\n"), "{text}");
}

/// Whoever connects is kept waiting.
fn silent() -> (Scripted, std::sync::mpsc::Receiver<()>) {
    let (asked, was_asked): (SyncSender<()>, _) = sync_channel(16);
    let mut kept = Vec::new();
    let server = Scripted::start(move |_, stream| {
        kept.push(stream);
        let _ = asked.try_send(());
    });
    (server, was_asked)
}

#[test]
fn silence() {
    let (server, _asked) = silent();
    let Some(output) = same(&["-n", "2", "-s", "1", &server.url("/")]) else { return };
    let said = "apr_pollset_poll: The timeout specified has expired (70007)\n";
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(119), said));
}

/// The report over what was done until then, and no `..done`.
#[test]
fn an_interrupt() {
    for words in [&["-n", "5"][..], &["-w", "-n", "5"], &["-n", "500"]] {
        let (server, asked) = silent();
        let url = server.url("/q");
        let words = [words, &[&url]].concat();
        let interrupted = |command: &mut Command| -> Option<Output> {
            let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
            asked.recv_timeout(PATIENCE).expect("a request");
            interrupt(&child);
            Some(child.wait_with_output().expect("it ends"))
        };
        let Some(theirs) = interrupted(Command::new("ab").args(&words)) else { return skip("ab is not installed") };
        let ours = interrupted(&mut command(&words)).expect("the binary under test can be executed");
        compare(&theirs, &ours, &words);
        assert_eq!(ours.status.code(), Some(1));
    }
}

fn interrupt(child: &Child) {
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a child's id is not zero");
    kill_process(pid, Signal::INT).expect("it runs");
}
