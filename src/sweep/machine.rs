//! The machine as an experiment records it: what two results have to have in common before their difference means anything.
//!
//! Nothing is changed, and nothing here fails: what the kernel does not show is left out, because a container or a virtual
//! machine shows less than a server does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::process::{affinity, machine};
use crate::record::experiment::Machine;

/// The settings that the published tests tune, and those that decide about connections beside them, by their sysctl(8) names.
const SYSCTLS: [&str; 16] = [
    "fs.file-max",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_recycle",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
];

/// Reads what is below `/`, or below the root of a test.
#[must_use]
pub fn read(root: &Path) -> Machine {
    let seen = machine::Machine::read(root);
    let memory = memory_bytes(root).unwrap_or(u64::MAX);
    let held = seen.held.memory_bytes.map_or(u64::MAX, |limit| limit.value);
    Machine {
        kernel: text(&root.join("proc/sys/kernel/osrelease")).unwrap_or_default(),
        cpu_model: cpu_model(root).unwrap_or_default(),
        cpus: affinity::allowed().get() as u64,
        // Neither is known: no memory is what nobody has, so that it is not taken for a fact.
        memory_bytes: Some(memory.min(held)).filter(|bytes| *bytes < u64::MAX).unwrap_or(0),
        governors: seen.governors,
        descriptors: seen.descriptors_hard.unwrap_or(0),
        sysctls: sysctls(&root.join("proc/sys")),
    }
}

fn text(file: &Path) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// `model name` on x86, and on other architectures whatever comes nearest to it.
fn cpu_model(root: &Path) -> Option<String> {
    const NAMES: [&str; 5] = ["model name", "Model", "cpu model", "cpu", "Hardware"];
    let info = text(&root.join("proc/cpuinfo"))?;
    let value = |name: &str| {
        let of_line = |line: &str| {
            line.split_once(':').filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
        };
        info.lines().find_map(of_line)
    };
    let arm = || Some(format!("ARM implementer {}, part {}", value("CPU implementer")?, value("CPU part")?));
    NAMES.iter().find_map(|name| value(name)).or_else(arm)
}

/// `MemTotal:       24597428 kB`
fn memory_bytes(root: &Path) -> Option<u64> {
    let info = text(&root.join("proc/meminfo"))?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Several values of one setting stand apart by a single space: the kernel writes tabs.
fn sysctls(sys: &Path) -> BTreeMap<String, String> {
    let value = |name: &str| text(&sys.join(name.replace('.', "/")));
    let plain = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    SYSCTLS.iter().filter_map(|name| Some(((*name).to_owned(), plain(value(name)?)))).collect()
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
        read(root.path())
    }

    #[test]
    fn a_machine_that_shows_nothing() {
        let nothing = machine(&[]);
        assert_eq!(nothing, Machine { cpus: nothing.cpus, ..Machine::default() });
    }

    #[test]
    fn a_machine_that_shows_everything() {
        let shown = machine(&[
            ("proc/sys/kernel/osrelease", "6.1.0-18-amd64"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2.00GHz\n\nprocessor\t: 1\nmodel name\t: Other",
            ),
            ("proc/meminfo", "MemTotal:       24597428 kB\nMemFree:        1 kB"),
            ("proc/self/limits", "Max open files            1024                 20000                files"),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999"),
            ("proc/sys/net/ipv4/tcp_syncookies", "1"),
            ("proc/sys/net/core/somaxconn", "4096"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
        ]);
        let sysctls = [
            ("net.core.somaxconn", "4096"),
            ("net.ipv4.ip_local_port_range", "32768 60999"),
            ("net.ipv4.tcp_syncookies", "1"),
        ];
        let expected = Machine {
            kernel: "6.1.0-18-amd64".into(),
            cpu_model: "Some CPU @ 2.00GHz".into(),
            cpus: shown.cpus,
            memory_bytes: 24_597_428 * 1024,
            governors: vec!["performance".into()],
            descriptors: 20_000,
            sysctls: sysctls.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_control_group_allows_less_memory_than_there_is() {
        let files = [
            ("proc/meminfo", "MemTotal:       24597428 kB"),
            ("proc/self/cgroup", "0::/box"),
            ("sys/fs/cgroup/box/memory.max", "1073741824"),
        ];
        assert_eq!(machine(&files).memory_bytes, 1 << 30);
        assert_eq!(machine(&files[1..]).memory_bytes, 1 << 30);
    }

    #[test]
    fn models_of_other_architectures() {
        let rows = [
            ("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c", "ARM implementer 0x41, part 0xd0c"),
            ("processor\t: 0\nCPU part\t: 0xd0c\nModel\t\t: Raspberry Pi 4", "Raspberry Pi 4"),
            ("processor\t: 0\ncpu\t\t: POWER9", "POWER9"),
            ("garbage", ""),
        ];
        for (text, expected) in rows {
            assert_eq!(machine(&[("proc/cpuinfo", text)]).cpu_model, expected, "{text}");
        }
    }

    #[test]
    fn of_this_machine() {
        let machine = read(Path::new("/"));
        assert!(!machine.kernel.is_empty() && machine.cpus > 0 && machine.memory_bytes > 0, "{machine:?}");
        assert!(machine.descriptors > 0, "{machine:?}");
    }
}
