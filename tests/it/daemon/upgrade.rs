//! One server after another on the same port, with `ab` at work.

use super::activation::{self, Activated};
use super::{Ab, none_failed};
use crate::harness::{Client, Endpoint, Site, machine_to_myself};

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
