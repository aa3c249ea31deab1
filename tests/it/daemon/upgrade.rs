//! One server after another on the same port, with `ab` at work.

use std::process::Command;

use super::activation::{self, Activated};
use super::{Ab, none_failed};
use crate::harness::{Client, Endpoint, Site, machine_to_myself, say_skipped};

/// The socket outlives each server, so nobody is refused and no connection is reset: whoever comes between two servers waits.
#[test]
fn restarts_behind_an_inherited_socket_fail_no_request() {
    let _alone = machine_to_myself();
    const REQUESTS: u64 = 20_000;
    let site = Site::small();
    let (listener, address) = activation::listener();
    let start = || {
        let server = Activated::start(&activation::launch(&site), vec![activation::copy(&listener)], "");
        Client::connect(&Endpoint::Tcp(address)).get_with("/ten.txt", "Connection: close\r\n");
        server
    };
    let mut server = start();
    let url = format!("http://{address}/ten.txt");
    let Some(mut ab) = Ab::start(&["-q", "-n", &REQUESTS.to_string(), "-c", "8", &url]) else { return };
    let mut during = 0;
    for _ in 0..5 {
        server.stop();
        server = start();
        during += usize::from(ab.is_running());
    }
    none_failed(&ab.finish(), REQUESTS);
    assert!(during > 0, "ab had ended before the first restart");
}

/// Six servers after one another beside each other, in a network of their own, whose kernel setting is the first argument.
const SIDE_BY_SIDE: &str = r#"
set -eu
program=$1 root=$2 logs=$3 migrate=$4 requests=$5
ip link set lo up
sysctl -qw net.ipv4.tcp_migrate_req="$migrate"
start() {
  "$program" serve --root "$root" --listen 127.0.0.1:8080 --workers 2 --set server.share_port=true \
    --set log.file="$logs/$1.log" --pid-file "$logs/$1.pid" --daemon
}
start 0
ab -q -r -n "$requests" -c 8 http://127.0.0.1:8080/ten.txt > "$logs/ab" 2>&1 &
ab=$!
for next in 1 2 3 4 5 6; do
  start $next
  "$program" stop --pid-file "$logs/$((next - 1)).pid"
done
wait $ab
"$program" stop --pid-file "$logs/6.pid"
cat "$logs/ab"
"#;

/// What docs/operations.md says of `server.share_port`: nobody is refused. Some may be reset, fewer with the kernel's help, but
/// how many is the kernel's matter and the moment's.
#[test]
fn a_new_server_beside_the_old_one_lets_nobody_be_refused() {
    const REQUESTS: u64 = 20_000;
    let _alone = machine_to_myself();
    let possible = Command::new("unshare").args(["-n", "sysctl", "net.ipv4.tcp_migrate_req"]).output();
    if !possible.is_ok_and(|output| output.status.success()) || Command::new("ab").arg("-V").output().is_err() {
        say_skipped("only root can make a network, and ab, ip and a kernel from 5.14 on are needed");
        return;
    }
    for migrate in ["1", "0"] {
        let site = Site::small();
        let mut script = Command::new("unshare");
        script.args(["-n", "bash", "-c", SIDE_BY_SIDE, "bash", env!("CARGO_BIN_EXE_quintain")]);
        script.arg(site.root()).arg(site.outer()).args([migrate, &REQUESTS.to_string()]);
        let output = script.output().expect("bash");
        let report = crate::peers::text(&output);
        assert!(output.status.success(), "{report}");
        assert!(report.contains(&format!("Complete requests:      {REQUESTS}")), "{report}");
        // A connection that nobody accepts would be counted as one of `Connect`.
        assert!(
            !report.contains("(Connect:") || report.contains("(Connect: 0,"),
            "tcp_migrate_req={migrate}: {report}"
        );
    }
}
