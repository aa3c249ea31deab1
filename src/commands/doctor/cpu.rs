//! Congestion control, CPUs and memory: what makes the same work slower than it was yesterday.

use super::Question;
use super::fact::{Fact, Mark, sysctl};
use crate::process::machine::Machine;

/// Name of the setting, which only large documents show.
pub(super) const CONGESTION: &str = "net.ipv4.tcp_congestion_control";

/// From which length on a document shows that what is sent is paced.
pub(super) const PACED_BYTES: u64 = 1 << 20;

pub(super) fn facts(machine: &Machine, question: &Question) -> Vec<Fact> {
    vec![congestion(machine), governor(machine), cpus(machine, question), memory(machine, question)]
}

fn congestion(machine: &Machine) -> Fact {
    const NAME: &str = CONGESTION;
    let Some(name) = &machine.congestion else { return Fact::hidden(NAME) };
    if !name.starts_with("bbr") {
        return Fact::new(Mark::Ok, NAME, name, "it sends as fast as the other side takes it, and does not pace.");
    }
    let means = "it paces what it sends, on loopback too: large documents arrive at its pace and not at the server's. Where it was \
                 measured, 7.5 MB went out at 300 requests per second instead of 1,100, with every server. Documents of a few \
                 kilobytes do not show it.";
    let command = format!("{}, or for the server alone serve --set socket.congestion=cubic", sysctl(NAME, "cubic"));
    Fact::new(Mark::Look, NAME, name, means).change(command)
}

fn governor(machine: &Machine) -> Fact {
    const NAME: &str = "CPU frequency";
    let frequency = machine.frequency_khz.map(|(now, most)| format!("{} of {} MHz", now / 1000, most / 1000));
    let parts: Vec<_> = machine.governors.iter().cloned().chain(frequency).collect();
    if parts.is_empty() {
        let means = "no governor is to be seen, as in most virtual machines: the host decides, and may change its mind between two \
                     runs. Compare only what was measured in turn.";
        return Fact::new(Mark::Ok, NAME, "not shown", means);
    }
    let value = parts.join(", ");
    if machine.governors.iter().all(|name| name == "performance") {
        return Fact::new(Mark::Ok, NAME, value, "the frequency does not depend on the load.");
    }
    let means =
        "the frequency follows the load: a server with few connections is measured on a slower CPU than one with many.";
    Fact::new(Mark::Look, NAME, value, means).change("cpupower frequency-set -g performance")
}

fn cpus(machine: &Machine, question: &Question) -> Fact {
    const NAME: &str = "CPUs";
    let (mask, workers) = (question.cpus, machine.held.workers(question.cpus));
    if let Some(quota) = &machine.held.cpus {
        let value = format!("{mask}, with a quota of {:.2} ({})", quota.value, quota.file.display());
        let means = format!(
            "server.workers \"auto\" is {workers}. When a control group has used up its quota, all its threads stand still until the \
             next period, up to 100 ms later: that is a tail which the server did not make."
        );
        let command = "of a container without --cpus, or with --cpuset-cpus instead; of a unit without CPUQuota";
        return Fact::new(Mark::Look, NAME, value, means).change(command);
    }
    let alone = mask.get() == 1 && question.loopback;
    let means = if alone {
        "client and server share one CPU, and each measures the other as well: run the client elsewhere.".to_owned()
    } else {
        format!(
            "server.workers \"auto\" is {workers}; on one machine client and server want CPUs of their own (server.affinity)."
        )
    };
    Fact::new(Mark::look_if(alone), NAME, mask, means)
}

fn memory(machine: &Machine, question: &Question) -> Fact {
    /// hyper's two buffers and the connection itself, while it is not parked.
    const EACH_CONNECTION: u64 = 20 << 10;
    const NAME: &str = "memory limit";
    const MIB: u64 = 1 << 20;
    let needed = question.connections * EACH_CONNECTION;
    let needed_text = format!(
        "{} connections that are all busy take the server about {} MiB",
        question.connections,
        needed.div_ceil(MIB)
    );
    let Some(limit) = &machine.held.memory_bytes else {
        return Fact::new(
            Mark::Ok,
            NAME,
            "none",
            format!("no control group limits the memory; {needed_text}, without the kernel's buffers."),
        );
    };
    let value = format!("{} MiB ({})", limit.value / MIB, limit.file.display());
    // The caches may take the other half.
    let tight = needed > limit.value / 2;
    let means = format!(
        "the server's caches take at most half of it; {needed_text}, and the kernel's buffers count too. What is beyond the limit is \
         killed, not slowed down."
    );
    let fact = Fact::new(Mark::look_if(tight), NAME, value, means);
    if tight { fact.change("of a container --memory; of a unit MemoryMax") } else { fact }
}
