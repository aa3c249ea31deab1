//! What the process takes of the machine, as proc(5) tells it.

use std::fs;

/// Threads, memory and descriptors of this process now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Threads, those of the runtime and the main thread included.
    pub threads: u64,
    /// Memory that is really in use, the touched part of all stacks included.
    pub resident_bytes: u64,
    /// Address space; a thread's whole stack counts here before it is touched.
    pub virtual_bytes: u64,
    /// Open descriptors.
    pub descriptors: u64,
}

impl Usage {
    /// Asks the kernel; what it does not tell is zero.
    #[must_use]
    pub fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let descriptors = fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
        Self::parse(&status, descriptors)
    }

    fn parse(status: &str, descriptors: u64) -> Self {
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        const KIB: u64 = 1024;
        Self {
            threads: number("Threads"),
            resident_bytes: number("VmRSS") * KIB,
            virtual_bytes: number("VmSize") * KIB,
            descriptors,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_file() {
        let status = "Name:\tx\nVmSize:\t  2048 kB\nVmRSS:\t    12 kB\nThreads:\t7\n";
        let expected = Usage { threads: 7, resident_bytes: 12_288, virtual_bytes: 2_097_152, descriptors: 3 };
        assert_eq!(Usage::parse(status, 3), expected);
    }

    #[test]
    fn of_this_process() {
        let usage = Usage::now();
        assert!(usage.threads >= 1 && usage.resident_bytes > 0 && usage.descriptors >= 3, "{usage:?}");
        assert!(usage.virtual_bytes > usage.resident_bytes);
    }
}
