//! Whether a URL answers, and over which way.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::fact::{Fact, Mark};
use crate::commands::question::{self, Question};
use crate::load::url::Url;

/// Longest wait for a connect, and for the head of the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a URL said.
pub(super) struct Answer {
    pub(super) facts: Vec<Fact>,
    /// It is on this machine, as far as can be told.
    pub(super) loopback: bool,
}

/// Sends one request.
pub(super) fn ask(url: &Url) -> Answer {
    const NAME: &str = "URL";
    let failed = |error: io::Error, loopback| {
        let means = format!("{} does not answer: {error}.", url.shown());
        Answer { facts: vec![Fact::new(Mark::Problem, NAME, "no answer", means)], loopback }
    };
    let (stream, resolved) = match question::connect(url, PATIENCE) {
        Ok(connected) => connected,
        Err(error) => return failed(error, true),
    };
    let ends = stream.local_addr().and_then(|local| Ok((local, stream.peer_addr()?)));
    let (local, peer) = match ends {
        Ok(ends) => ends,
        Err(error) => return failed(error, true),
    };
    let loopback = peer.ip().is_loopback();
    let (path, host) = (&url.path, &url.authority());
    match question::status(&stream, &Question { path, host, agent: "quintain-doctor", patience: PATIENCE }) {
        Ok(status) => {
            let facts = vec![answered(url, status, peer, &resolved), way(&stream, local, peer)];
            Answer { facts, loopback }
        }
        Err(error) => failed(error, loopback),
    }
}

fn answered(url: &Url, status: u16, peer: SocketAddr, resolved: &[SocketAddr]) -> Fact {
    let others: Vec<_> = resolved.iter().filter(|address| **address != peer).map(ToString::to_string).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(" The name has other addresses too ({}), which a load tool may take.", others.join(", ")),
    };
    let fine = (200..400).contains(&status);
    let means =
        if fine { "it answers" } else { "it answers, but with an error, and errors are what would be measured" };
    Fact::new(Mark::look_if(!fine), "URL", status, format!("{}: {means}.{others}", url.shown()))
}

fn way(stream: &TcpStream, local: SocketAddr, peer: SocketAddr) -> Fact {
    const NAME: &str = "way to it";
    let congestion = rustix::net::sockopt::tcp_congestion(stream).unwrap_or_else(|_| "unknown".to_owned());
    let which_way = if peer.ip().is_loopback() {
        "over loopback: no network is measured, and client and server share the CPUs"
    } else if peer.ip() == local.ip() {
        "through this machine's own address: no network is measured, but rules for loopback (tcp_tw_reuse=2) do not hold"
    } else {
        "over the network: its bandwidth and round trip are measured too, and the server's limits are not those shown here"
    };
    let means = format!(
        "{which_way}. What this side sends is controlled by {congestion}; the server chooses for what it sends."
    );
    Fact::new(Mark::Ok, NAME, format!("{local} to {peer}, {congestion}"), means)
}
