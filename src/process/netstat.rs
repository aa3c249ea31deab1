//! What the kernel counted of this machine's connections, and how it paces them.

use std::fs;
use std::os::fd::AsFd;

use socket2::SockRef;

/// Counters of `/proc/net/netstat` since the network namespace began: of everybody in it, whoever asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    /// SYN and SYN-ACK segments that were sent again (`TCPSynRetrans`).
    pub syn_retransmits: u64,
    /// Connections that found an accept queue full (`ListenOverflows`).
    pub listen_overflows: u64,
    /// SYNs that a listener dropped for any reason, a full accept queue included (`ListenDrops`).
    pub listen_drops: u64,
}

impl NetworkCounters {
    /// Until now; what the kernel does not tell is zero.
    #[must_use]
    pub fn now() -> Self {
        Self::parse(&fs::read_to_string("/proc/net/netstat").unwrap_or_default())
    }

    /// Lines come in pairs, names and then values, both with the same word in front: `TcpExt: A B` and `TcpExt: 1 2`.
    /// Which names there are, and in which order, differs between kernels.
    fn parse(text: &str) -> Self {
        let mut counters = Self::default();
        let mut lines = text.lines();
        while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
            if !names.starts_with("TcpExt:") {
                continue;
            }
            for (name, value) in names.split_ascii_whitespace().zip(values.split_ascii_whitespace()) {
                let counter = match name {
                    "TCPSynRetrans" => &mut counters.syn_retransmits,
                    "ListenOverflows" => &mut counters.listen_overflows,
                    "ListenDrops" => &mut counters.listen_drops,
                    _ => continue,
                };
                *counter = value.parse().unwrap_or(0);
            }
        }
        counters
    }

    /// What came since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            syn_retransmits: self.syn_retransmits.saturating_sub(earlier.syn_retransmits),
            listen_overflows: self.listen_overflows.saturating_sub(earlier.listen_overflows),
            listen_drops: self.listen_drops.saturating_sub(earlier.listen_drops),
        }
    }
}

/// The congestion control of a TCP socket, `cubic` for one; empty for a socket that is not TCP.
///
/// It belongs into a report because bbr paces even loopback, and large documents then come equally fast from all servers.
#[must_use]
pub fn congestion_control(socket: &impl AsFd) -> String {
    let name = SockRef::from(socket).tcp_congestion().unwrap_or_default();
    // The kernel fills its buffer up with zeros.
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};
    use std::os::unix::net::UnixStream;

    use super::*;

    const TEXT: &str = "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPTimeouts TCPSynRetrans\n\
                        TcpExt: 1 20 30 4 500\n\
                        IpExt: InNoRoutes ListenDrops\n\
                        IpExt: 7 8\n";

    #[test]
    fn pairs_of_lines() {
        let expected = NetworkCounters { syn_retransmits: 500, listen_overflows: 20, listen_drops: 30 };
        assert_eq!(NetworkCounters::parse(TEXT), expected);
        let (first, last) = TEXT.split_at(TEXT.find("IpExt").expect("it is there"));
        assert_eq!(NetworkCounters::parse(&format!("{last}{first}")), expected, "the order of pairs does not matter");
    }

    #[test]
    fn what_is_missing_is_zero() {
        let none = NetworkCounters::default();
        assert_eq!(NetworkCounters::parse(""), none);
        assert_eq!(NetworkCounters::parse("TcpExt: ListenDrops\n"), none, "names without values");
        assert_eq!(NetworkCounters::parse("TcpExt: A ListenDrops\nTcpExt: 1\n"), none, "fewer values than names");
        assert_eq!(NetworkCounters::parse("TcpExt: ListenDrops\nTcpExt: many\n"), none);
    }

    #[test]
    fn differences() {
        let before = NetworkCounters { syn_retransmits: 1, listen_overflows: 2, listen_drops: 3 };
        let after = NetworkCounters { syn_retransmits: 11, listen_overflows: 2, listen_drops: 2 };
        let expected = NetworkCounters { syn_retransmits: 10, listen_overflows: 0, listen_drops: 0 };
        assert_eq!(after.since(before), expected);
    }

    #[test]
    fn this_kernel_has_the_counters() {
        let text = fs::read_to_string("/proc/net/netstat").expect("Linux has it");
        for name in ["TCPSynRetrans", "ListenOverflows", "ListenDrops"] {
            assert!(text.contains(name), "{name}");
        }
    }

    #[test]
    fn congestion_control_is_a_name_of_the_system() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
        let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("Linux has it");
        let name = congestion_control(&socket);
        assert!(known.split_whitespace().any(|one| one == name), "{name:?} is not of {known:?}");
        let (unix, _peer) = UnixStream::pair().expect("a pair");
        assert_eq!(congestion_control(&unix), "");
        assert_eq!(congestion_control(&UdpSocket::bind("127.0.0.1:0").expect("a port")), "");
    }
}
