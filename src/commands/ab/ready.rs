//! Whether the run can begin: an address to connect to, one to connect from, descriptors and ports.

use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};

use super::failure::Failure;
use crate::load::plan::Plan;
use crate::load::preflight::{self, Facts, Needs, Shortage};
use crate::load::target::{self, HostPort, TargetError};

/// Files beside connections: reports, what spills to disk, the kernel's counters.
const FILES: u64 = 8;

/// The address of `-B`, which may be a name, and must be one of this machine.
pub fn source(name: &str) -> Result<IpAddr, Failure> {
    let address = (name, 0).to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    let address = address.ok_or_else(|| Failure::unknown_host(name))?;
    match TcpListener::bind(address) {
        Ok(_) => Ok(address.ip()),
        Err(error) => Err(Failure::system("bind", error.raw_os_error().unwrap_or(libc::EADDRNOTAVAIL))),
    }
}

/// Where connections go.
pub fn address(to: &HostPort, sources: &[IpAddr]) -> Result<SocketAddr, Failure> {
    target::resolve(to, sources).map_err(|error| match error {
        TargetError::Unknown { .. } | TargetError::Family { .. } => Failure::unknown_host(&to.host),
        TargetError::NoneAccepts { tried, .. } => {
            let errno = tried.last().and_then(|(_, error)| error.raw_os_error());
            Failure::system("apr_socket_recv", errno.unwrap_or(libc::ETIMEDOUT))
        }
    })
}

/// Refuses what this machine has too little for, with the exit code that ab would have ended with in the middle of the run.
pub fn check(plan: &Plan, address: SocketAddr) -> Result<(), Failure> {
    let needs = Needs {
        connections: plan.connections as u64,
        threads: plan.threads,
        files: FILES,
        sources: plan.sources.len().max(1) as u64,
        loopback: address.ip().is_loopback(),
        connects_a_minute: None,
    };
    preflight::check(&Facts::of_this_machine(), &needs).map_err(|shortage| {
        let errno = match shortage {
            Shortage::Descriptors { .. } => libc::EMFILE,
            Shortage::Ports { .. } => libc::EADDRNOTAVAIL,
        };
        Failure::sentence(errno as u8, format_args!("quintain: {shortage}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_words_of_ab() {
        assert_eq!(source("127.0.0.2"), Ok("127.0.0.2".parse().unwrap()));
        // TEST-NET-1 (RFC 5737) is nobody's.
        assert_eq!(source("192.0.2.7"), Err(Failure::system("bind", libc::EADDRNOTAVAIL)));
        assert_eq!(source("quintain.invalid"), Err(Failure::unknown_host("quintain.invalid")));
        let to = |host: &str| HostPort { host: host.to_owned(), port: 80 };
        assert_eq!(address(&to("127.0.0.1"), &[]), Ok("127.0.0.1:80".parse().unwrap()));
        assert_eq!(address(&to("quintain.invalid"), &[]), Err(Failure::unknown_host("quintain.invalid")));
    }
}
