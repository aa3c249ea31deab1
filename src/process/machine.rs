//! What the kernel says of this machine that matters for many connections: proc(5), sysctl(8), sysfs.

use std::fs;
use std::path::Path;

use super::cgroup::Held;

/// Read once, from one root. What the kernel does not show is not there: an older kernel lacks a setting, a container a folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Machine {
    /// Descriptors that this process may open now (`RLIMIT_NOFILE`, soft).
    pub descriptors_soft: Option<u64>,
    /// As many as it may allow itself (`RLIMIT_NOFILE`, hard).
    pub descriptors_hard: Option<u64>,
    /// The most that a hard limit can be: `fs.nr_open`.
    pub nr_open: Option<u64>,
    /// Open files of all processes: `fs.file-nr`, first field.
    pub files_open: Option<u64>,
    /// The most of these: `fs.file-max`.
    pub file_max: Option<u64>,
    /// Ports that the kernel gives to connections: `net.ipv4.ip_local_port_range` without the reserved ones.
    pub ports: Option<Ports>,
    /// Sockets in TIME_WAIT: `/proc/net/sockstat`.
    pub time_wait: Option<u64>,
    /// The most of these: `net.ipv4.tcp_max_tw_buckets`.
    pub time_wait_max: Option<u64>,
    /// `net.ipv4.tcp_tw_reuse`.
    pub tw_reuse: Option<u64>,
    /// `net.ipv4.tcp_tw_recycle`, which Linux had up to 4.11.
    pub tw_recycle: Option<u64>,
    /// `net.ipv4.tcp_fin_timeout`, in seconds.
    pub fin_timeout_s: Option<u64>,
    /// `net.core.somaxconn`.
    pub somaxconn: Option<u64>,
    /// `net.ipv4.tcp_max_syn_backlog`.
    pub syn_backlog: Option<u64>,
    /// `net.ipv4.tcp_syncookies`.
    pub syncookies: Option<u64>,
    /// `net.core.netdev_max_backlog`, in packets for each CPU.
    pub netdev_backlog: Option<u64>,
    /// Packets that found that queue full since the system started: `/proc/net/softnet_stat`, second column.
    pub netdev_dropped: Option<u64>,
    /// `net.ipv4.tcp_congestion_control`.
    pub congestion: Option<String>,
    /// Frequency governors of the CPUs, each once.
    pub governors: Vec<String>,
    /// Present and highest frequency of the first CPU, in kHz.
    pub frequency_khz: Option<(u64, u64)>,
    /// What control groups allow.
    pub held: Held,
}

/// Ports for connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// The first one.
    pub low: u16,
    /// The last one.
    pub high: u16,
    /// Those between them that are reserved.
    pub reserved: u64,
}

impl Ports {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        (u64::from(self.high - self.low) + 1).saturating_sub(self.reserved)
    }
}

impl Machine {
    /// Reads what is below `/`, or below the root of a test.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let (proc, sys) = (root.join("proc"), root.join("proc/sys"));
        let number = |name: &str| first_number(&text(&sys.join(name))?);
        let limits = text(&proc.join("self/limits")).unwrap_or_default();
        let (descriptors_soft, descriptors_hard) = open_files(&limits);
        Self {
            descriptors_soft,
            descriptors_hard,
            nr_open: number("fs/nr_open"),
            files_open: number("fs/file-nr"),
            file_max: number("fs/file-max"),
            ports: ports(&sys.join("net/ipv4")),
            time_wait: text(&proc.join("net/sockstat")).and_then(|text| time_wait(&text)),
            time_wait_max: number("net/ipv4/tcp_max_tw_buckets"),
            tw_reuse: number("net/ipv4/tcp_tw_reuse"),
            tw_recycle: number("net/ipv4/tcp_tw_recycle"),
            fin_timeout_s: number("net/ipv4/tcp_fin_timeout"),
            somaxconn: number("net/core/somaxconn"),
            syn_backlog: number("net/ipv4/tcp_max_syn_backlog"),
            syncookies: number("net/ipv4/tcp_syncookies"),
            netdev_backlog: number("net/core/netdev_max_backlog"),
            netdev_dropped: text(&proc.join("net/softnet_stat")).and_then(|text| dropped(&text)),
            congestion: text(&sys.join("net/ipv4/tcp_congestion_control")),
            governors: governors(&root.join("sys/devices/system/cpu")),
            frequency_khz: frequency(&root.join("sys/devices/system/cpu/cpu0/cpufreq")),
            held: Held::read(root),
        }
    }
}

fn text(file: &Path) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

fn first_number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

/// `Max open files            1024                 1048576              files`
fn open_files(limits: &str) -> (Option<u64>, Option<u64>) {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap_or_default();
    let mut values = line.split_whitespace().map(|value| match value {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    });
    (values.next().flatten(), values.next().flatten())
}

fn ports(ipv4: &Path) -> Option<Ports> {
    let range = text(&ipv4.join("ip_local_port_range"))?;
    let (low, high) = range.split_once(char::is_whitespace)?;
    let (low, high) = (low.parse::<u16>().ok()?, high.trim().parse::<u16>().ok()?);
    let listed = text(&ipv4.join("ip_local_reserved_ports")).unwrap_or_default();
    let within = |item: &str| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (first.parse::<u16>().ok()?.max(low), last.parse::<u16>().ok()?.min(high));
        (first <= last).then(|| u64::from(last - first) + 1)
    };
    (low <= high).then(|| Ports { low, high, reserved: listed.split(',').filter_map(within).sum() })
}

/// `TCP: inuse 5 orphan 0 tw 12 alloc 7 mem 1`
fn time_wait(sockstat: &str) -> Option<u64> {
    let line = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_whitespace().skip_while(|word| *word != "tw");
    words.nth(1)?.parse().ok()
}

/// One line for each CPU, in hexadecimal columns.
fn dropped(softnet_stat: &str) -> Option<u64> {
    let second = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    softnet_stat.lines().map(second).sum()
}

fn governors(cpus: &Path) -> Vec<String> {
    let entries = fs::read_dir(cpus).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| text(&entry.path().join("cpufreq/scaling_governor"))).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn frequency(cpufreq: &Path) -> Option<(u64, u64)> {
    let number = |name: &str| first_number(&text(&cpufreq.join(name))?);
    Some((number("scaling_cur_freq")?, number("cpuinfo_max_freq")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> Machine {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{content}\n")).unwrap();
        }
        Machine::read(root.path())
    }

    #[test]
    fn a_machine_that_shows_nothing() {
        assert_eq!(machine(&[]), Machine::default());
    }

    #[test]
    fn a_machine_that_shows_everything() {
        let files = [
            (
                "proc/self/limits",
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max processes             100                  200                  processes\n\
                 Max open files            1024                 unlimited            files",
            ),
            ("proc/sys/fs/nr_open", "1048576"),
            ("proc/sys/fs/file-nr", "922\t0\t2466161"),
            ("proc/sys/fs/file-max", "2466161"),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999"),
            ("proc/sys/net/ipv4/ip_local_reserved_ports", "8080,32768-32777,60990-65535"),
            ("proc/net/sockstat", "sockets: used 27\nTCP: inuse 1 orphan 0 tw 12 alloc 1 mem 0\nUDP: inuse 0 mem 0"),
            ("proc/sys/net/ipv4/tcp_max_tw_buckets", "131072"),
            ("proc/sys/net/ipv4/tcp_tw_reuse", "2"),
            ("proc/sys/net/ipv4/tcp_tw_recycle", "0"),
            ("proc/sys/net/ipv4/tcp_fin_timeout", "60"),
            ("proc/sys/net/core/somaxconn", "4096"),
            ("proc/sys/net/ipv4/tcp_max_syn_backlog", "2048"),
            ("proc/sys/net/ipv4/tcp_syncookies", "1"),
            ("proc/sys/net/core/netdev_max_backlog", "1000"),
            ("proc/net/softnet_stat", "0001 00000000 0000\n0001 0000001f 0000"),
            ("proc/sys/net/ipv4/tcp_congestion_control", "cubic"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance"),
            ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000"),
            ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3600000"),
        ];
        let expected = Machine {
            descriptors_soft: Some(1024),
            descriptors_hard: Some(u64::MAX),
            nr_open: Some(1_048_576),
            files_open: Some(922),
            file_max: Some(2_466_161),
            // Ten at each end; 8080 lies outside.
            ports: Some(Ports { low: 32_768, high: 60_999, reserved: 20 }),
            time_wait: Some(12),
            time_wait_max: Some(131_072),
            tw_reuse: Some(2),
            tw_recycle: Some(0),
            fin_timeout_s: Some(60),
            somaxconn: Some(4096),
            syn_backlog: Some(2048),
            syncookies: Some(1),
            netdev_backlog: Some(1000),
            netdev_dropped: Some(31),
            congestion: Some("cubic".into()),
            governors: vec!["performance".into(), "powersave".into()],
            frequency_khz: Some((800_000, 3_600_000)),
            held: Held::default(),
        };
        assert_eq!(machine(&files), expected);
        assert_eq!(expected.ports.unwrap().count(), 28_212);
    }

    #[test]
    fn what_is_garbled_is_not_there() {
        let files = [
            ("proc/self/limits", "Max open files            many"),
            ("proc/sys/net/ipv4/ip_local_port_range", "60999 32768"),
            ("proc/net/sockstat", "TCP: inuse 1 tw"),
            ("proc/net/softnet_stat", "0001 xyz"),
        ];
        assert_eq!(machine(&files), Machine::default());
    }

    #[test]
    fn of_this_machine() {
        let machine = Machine::read(Path::new("/"));
        assert!(machine.descriptors_hard >= machine.descriptors_soft && machine.descriptors_soft.is_some());
        assert!(machine.ports.is_some_and(|ports| ports.count() > 0), "{machine:?}");
    }
}
