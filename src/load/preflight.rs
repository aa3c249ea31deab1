//! What would run out, said before the start and not by a thousand failed connects.
//!
//! A client runs out of two things: descriptors, and ports of one source address towards one destination. What counts are pure
//! functions over [`Facts`]; a thin reader asks the kernel for them.

use std::fs;

use crate::process::limits;

/// What the kernel says of descriptors and ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Descriptors that this process may have, after the soft limit was raised.
    pub descriptors: u64,
    /// Ports that the kernel hands out to connections.
    pub ports: u64,
    /// When it hands one out again that a closed connection still holds.
    pub reuse: Reuse,
}

/// `net.ipv4.tcp_tw_reuse`: whether a new connection may take over the port of one that waits in TIME_WAIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// 0: never.
    Never,
    /// 1: after a second.
    Always,
    /// 2, the default: after a second, towards this machine itself.
    Loopback,
}

/// What a run asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// Connections at once.
    pub connections: u64,
    /// Threads.
    pub threads: usize,
    /// Files and processes that are open beside connections: outputs and watched processes.
    pub files: u64,
    /// Source addresses; 1 if none were named; 0 over a unix socket, which has no ports.
    pub sources: u64,
    /// Whether the target is a loopback address.
    pub loopback: bool,
    /// Connections that are expected to be begun within a minute; unknown for a closed loop that ends by time.
    pub connects_a_minute: Option<u64>,
}

/// What there is too little of for a run to begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Shortage {
    /// Descriptors.
    #[error(
        "{connections} connections need {needed} descriptors and {allowed} are allowed (RLIMIT_NOFILE, hard limit); raise it \
         with `ulimit -Hn {needed}` as root, or ask for at most {room} connections"
    )]
    Descriptors {
        /// Asked for.
        connections: u64,
        /// What that needs.
        needed: u64,
        /// What there is.
        allowed: u64,
        /// Connections that would fit.
        room: u64,
    },
    /// Ports.
    #[error(
        "{connections} connections at once do not fit: one source address has {ports} ports towards one destination \
         (net.ipv4.ip_local_port_range) and there {are} {sources}; {enough} source addresses would do (--source)"
    )]
    Ports {
        /// Asked for.
        connections: u64,
        /// Of one address.
        ports: u64,
        /// Addresses.
        sources: u64,
        /// `is` or `are`.
        are: &'static str,
        /// Addresses that are needed.
        enough: u64,
    },
}

/// Reasons to expect that ports will run out during the run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{connects} connections within a minute may not find a free port: the side that closes first keeps its port for 60 s \
     (TIME_WAIT), net.ipv4.tcp_tw_reuse does not let it be taken over, and the {sources} source address(es) have {ports} ports \
     each; {enough} addresses would do (--source)"
)]
pub struct PortsMayRunOut {
    connects: u64,
    sources: u64,
    ports: u64,
    enough: u64,
}

impl Facts {
    /// Asks the kernel, and raises the soft descriptor limit to the hard one first.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let setting = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
        Self {
            descriptors: limits::raise(),
            ports: ports(&setting("ip_local_port_range"), &setting("ip_local_reserved_ports")),
            reuse: reuse(&setting("tcp_tw_reuse")),
        }
    }
}

/// Whether the run can begin at all.
pub fn check(facts: &Facts, needs: &Needs) -> Result<(), Shortage> {
    let Needs { connections, threads, files, sources, .. } = *needs;
    let reserve = limits::reserve(threads, 0) + files;
    let needed = reserve.saturating_add(connections);
    if needed > facts.descriptors {
        let (allowed, room) = (facts.descriptors, facts.descriptors.saturating_sub(reserve));
        return Err(Shortage::Descriptors { connections, needed, allowed, room });
    }
    if sources > 0 && connections > facts.ports.saturating_mul(sources) {
        let are = if sources == 1 { "is" } else { "are" };
        let enough = connections.div_ceil(facts.ports);
        return Err(Shortage::Ports { connections, ports: facts.ports, sources, are, enough });
    }
    Ok(())
}

/// Whether short connections may use up the ports faster than they come back.
#[must_use]
pub fn doubt(facts: &Facts, needs: &Needs) -> Option<PortsMayRunOut> {
    let taken_over = match facts.reuse {
        Reuse::Never => false,
        Reuse::Always => true,
        Reuse::Loopback => needs.loopback,
    };
    let connects = needs.connects_a_minute.filter(|_| !taken_over && needs.sources > 0)?;
    let (sources, ports) = (needs.sources, facts.ports);
    let too_many = connects > ports.saturating_mul(sources);
    too_many.then(|| PortsMayRunOut { connects, sources, ports, enough: connects.div_ceil(ports) })
}

/// Ports of a range (`32768 60999`) without the reserved ones (`8080,9148-9150`); at least 1, so that one can divide by it.
fn ports(range: &str, reserved: &str) -> u64 {
    /// What Linux is shipped with.
    const DEFAULT: (u16, u16) = (32_768, 60_999);
    let mut numbers = range.split_whitespace().map(str::parse::<u16>);
    let (low, high) = match (numbers.next(), numbers.next()) {
        (Some(Ok(low)), Some(Ok(high))) if low <= high => (low, high),
        _ => DEFAULT,
    };
    let span = |item: &str| {
        let (first, last) = item.trim().split_once('-').unwrap_or((item.trim(), item.trim()));
        Some((first.parse::<u16>().ok()?.max(low), last.parse::<u16>().ok()?.min(high)))
    };
    let taken = reserved.split(',').filter_map(span).filter(|(first, last)| first <= last);
    let taken: u64 = taken.map(|(first, last)| u64::from(last - first) + 1).sum();
    (u64::from(high - low) + 1).saturating_sub(taken).max(1)
}

fn reuse(text: &str) -> Reuse {
    match text.trim() {
        "0" => Reuse::Never,
        "1" => Reuse::Always,
        _ => Reuse::Loopback,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts { descriptors: 100_000, ports: 28_232, reuse: Reuse::Loopback };
    const NEEDS: Needs =
        Needs { connections: 50, threads: 1, files: 0, sources: 1, loopback: true, connects_a_minute: None };

    #[test]
    fn settings_as_the_kernel_writes_them() {
        let rows = [
            (("32768\t60999\n", "\n"), 28_232),
            (("1024\t65535\n", ""), 64_512),
            (("1024 1033", "1030,1032-1040,80"), 7),
            (("10 10", "10"), 1),
            (("", ""), 28_232),
            (("9 8", ""), 28_232),
        ];
        for ((range, reserved), expected) in rows {
            assert_eq!(ports(range, reserved), expected, "{range:?} {reserved:?}");
        }
        assert_eq!(
            ["0\n", "1\n", "2\n", ""].map(reuse),
            [Reuse::Never, Reuse::Always, Reuse::Loopback, Reuse::Loopback]
        );
        let facts = Facts::of_this_machine();
        assert!(facts.descriptors > 0 && facts.ports > 0, "{facts:?}");
    }

    #[test]
    fn descriptors() {
        let reserve = limits::reserve(2, 0) + 3;
        let facts = Facts { descriptors: reserve + 1000, ..FACTS };
        let needs = Needs { connections: 1000, threads: 2, files: 3, ..NEEDS };
        assert_eq!(check(&facts, &needs), Ok(()));
        let error = check(&facts, &Needs { connections: 1001, ..needs }).unwrap_err();
        let (needed, allowed) = (reserve + 1001, reserve + 1000);
        assert_eq!(error, Shortage::Descriptors { connections: 1001, needed, allowed, room: 1000 });
        assert!(error.to_string().ends_with("or ask for at most 1000 connections"), "{error}");
    }

    #[test]
    fn ports_at_once() {
        let check = |connections, sources| check(&FACTS, &Needs { connections, sources, ..NEEDS });
        for (connections, sources) in [(28_232, 1), (56_464, 2), (90_000, 0)] {
            assert_eq!(check(connections, sources), Ok(()), "{connections} over {sources}");
        }
        let error = check(28_233, 1).unwrap_err().to_string();
        let expected = "28233 connections at once do not fit: one source address has 28232 ports towards one destination \
                        (net.ipv4.ip_local_port_range) and there is 1; 2 source addresses would do (--source)";
        assert_eq!(error, expected);
        let error = check(90_000, 2).unwrap_err().to_string();
        assert!(error.contains("and there are 2; 4 source addresses would do"), "{error}");
    }

    #[test]
    fn ports_over_a_minute() {
        let rows = [
            // Reuse, loopback, sources, connects within a minute: whether it is doubtful.
            ((Reuse::Never, true, 1, Some(28_232)), false),
            ((Reuse::Never, true, 1, Some(28_233)), true),
            ((Reuse::Never, true, 2, Some(28_233)), false),
            ((Reuse::Never, true, 0, Some(100_000)), false),
            ((Reuse::Always, false, 1, Some(100_000)), false),
            ((Reuse::Loopback, true, 1, Some(100_000)), false),
            ((Reuse::Loopback, false, 1, Some(100_000)), true),
            ((Reuse::Never, false, 1, None), false),
        ];
        for ((reuse, loopback, sources, connects_a_minute), doubtful) in rows {
            let facts = Facts { reuse, ..FACTS };
            let needs = Needs { sources, loopback, connects_a_minute, ..NEEDS };
            assert_eq!(doubt(&facts, &needs).is_some(), doubtful, "{reuse:?} {needs:?}");
        }
        let facts = Facts { reuse: Reuse::Never, ..FACTS };
        let said = doubt(&facts, &Needs { connects_a_minute: Some(100_000), ..NEEDS }).unwrap().to_string();
        assert!(said.starts_with("100000 connections within a minute may not find a free port"), "{said}");
        assert!(said.ends_with("4 addresses would do (--source)"), "{said}");
    }
}
