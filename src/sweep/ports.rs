//! A port for each target.

use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use crate::process::machine::{Machine, Ports};

/// Ports below are often taken by services that may not be running just now.
const LOWEST: u16 = 10_000;

/// How many are tried.
const ATTEMPTS: u32 = 200;

/// Gives each target a port that nobody listens on.
///
/// Not one of those that the kernel gives to connections: under load thousands of them are in use, and a target that has to be
/// started again might find its own among them.
#[derive(Debug)]
pub struct Free {
    given: HashSet<u16>,
    candidates: std::ops::Range<u16>,
}

impl Free {
    /// Of this machine.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let ports = Machine::read(Path::new("/")).ports;
        Self { given: HashSet::new(), candidates: candidates(ports) }
    }

    /// Another one; `wanted`, if it is free.
    ///
    /// # Errors
    ///
    /// None is.
    pub fn take(&mut self, wanted: Option<u16>) -> io::Result<u16> {
        let random = || (!self.candidates.is_empty()).then(|| fastrand::u16(self.candidates.clone()));
        let tries = wanted.into_iter().chain((0..ATTEMPTS).filter_map(|_| random()));
        // Where the whole range is for connections, the kernel knows best.
        let port = tries.chain([0]).find_map(|port| Some(port_of(port)?).filter(|port| !self.given.contains(port)));
        let port = port.ok_or_else(|| io::Error::new(io::ErrorKind::AddrInUse, "there is no free port"))?;
        self.given.insert(port);
        Ok(port)
    }
}

fn candidates(given_to_connections: Option<Ports>) -> std::ops::Range<u16> {
    match given_to_connections {
        Some(Ports { low, .. }) if low > LOWEST => LOWEST..low,
        Some(Ports { high, .. }) => high.saturating_add(1).max(LOWEST)..u16::MAX,
        None => LOWEST..u16::MAX,
    }
}

/// The port, if it can be listened on; one that the kernel chooses for zero.
fn port_of(port: u16) -> Option<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
    listener.local_addr().ok().map(|address| address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_that_connections_do_not_get() {
        let range = |low, high| candidates(Some(Ports { low, high, reserved: 0 }));
        assert_eq!(range(32_768, 60_999), 10_000..32_768);
        assert_eq!(range(1024, 60_999), 61_000..65_535);
        assert!(range(1024, 65_535).is_empty());
        assert_eq!(candidates(None), 10_000..65_535);
    }

    #[test]
    fn each_is_given_once_and_none_that_is_taken() {
        let mut free = Free::of_this_machine();
        let first = free.take(None).unwrap();
        assert_ne!(free.take(Some(first)).unwrap(), first);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken = listener.local_addr().unwrap().port();
        assert_ne!(free.take(Some(taken)).unwrap(), taken);
        let mut nowhere = Free { given: HashSet::new(), candidates: 1..1 };
        assert!(nowhere.take(None).unwrap() > 0);
    }
}
