//! Queues between a client's connect and the server's accept.

use super::Question;
use super::fact::{Fact, Mark, sysctl};
use crate::process::machine::Machine;

/// Name of the setting that caps the backlog of every listener.
pub(super) const ACCEPT: &str = "net.core.somaxconn";

pub(super) fn facts(machine: &Machine, question: &Question) -> Vec<Fact> {
    vec![accept(machine, question), syn(machine, question), cookies(machine), packets(machine)]
}

pub(super) fn accept(machine: &Machine, question: &Question) -> Fact {
    const NAME: &str = ACCEPT;
    let Some(cap) = machine.somaxconn else { return Fact::hidden(NAME) };
    let Question { connections, backlog, .. } = *question;
    let queue = cap.min(backlog);
    let value = format!("{cap}, the server asks for {backlog}");
    let holds = format!("each listener holds {queue} connections that wait to be accepted");
    let tried_again =
        "what finds the queue full tries again after a second, and a run of short connections shows that as its tail";
    if connections > queue {
        let means = format!("{holds}, and {connections} may begin at once: {tried_again}.");
        let kernel = (cap < connections).then(|| sysctl(NAME, connections));
        let server = (backlog < connections).then(|| format!("quintain serve --set server.backlog={connections}"));
        let command = kernel.into_iter().chain(server).collect::<Vec<_>>().join("; ");
        return Fact::new(Mark::Look, NAME, value, means).change(command);
    }
    if cap < backlog {
        let means = format!("{holds}: the kernel caps what the server asks for, and {connections} fit.");
        return Fact::new(Mark::Ok, NAME, value, means).change(sysctl(NAME, backlog));
    }
    Fact::new(Mark::Ok, NAME, value, format!("{holds}: {connections} that begin at once fit."))
}

fn syn(machine: &Machine, question: &Question) -> Fact {
    const NAME: &str = "net.ipv4.tcp_max_syn_backlog";
    let Some(most) = machine.syn_backlog else { return Fact::hidden(NAME) };
    let counts = machine.syncookies == Some(0);
    let few = counts && most < question.connections;
    let means = match (counts, few) {
        (false, _) => "it counts only while net.ipv4.tcp_syncookies is 0.".to_owned(),
        (true, false) => "so many connections may be half open at once, which is enough.".to_owned(),
        (true, true) => {
            "so many connections may be half open at once; a SYN beyond is dropped and sent again after a second."
                .to_owned()
        }
    };
    let fact = Fact::new(Mark::look_if(few), NAME, most, means);
    if few { fact.change(sysctl(NAME, question.connections)) } else { fact }
}

fn cookies(machine: &Machine) -> Fact {
    const NAME: &str = "net.ipv4.tcp_syncookies";
    let Some(value) = machine.syncookies else { return Fact::hidden(NAME) };
    match value {
        0 => Fact::new(
            Mark::Look,
            NAME,
            0,
            "SYNs that find a full queue are dropped and come again after a second: bursts of new connections show it.",
        )
        .change(sysctl(NAME, 1)),
        1 => Fact::new(
            Mark::Ok,
            NAME,
            1,
            "SYNs that find a full queue are answered with a cookie instead of being dropped; kept-alive connections never meet it.",
        ),
        other => Fact::new(
            Mark::Look,
            NAME,
            other,
            "every SYN is answered with a cookie, which is for testing: such connections may lack window scaling and other options.",
        )
        .change(sysctl(NAME, 1)),
    }
}

fn packets(machine: &Machine) -> Fact {
    const NAME: &str = "net.core.netdev_max_backlog";
    let Some(most) = machine.netdev_backlog else { return Fact::hidden(NAME) };
    let dropped = machine.netdev_dropped.unwrap_or(0);
    let value = format!("{most}, {dropped} dropped since the start");
    let means = "packets that each CPU may have before it, loopback's too; what is dropped is sent again and shows in the \
                 tail. The second column of /proc/net/softnet_stat must not grow during a run.";
    let fact = Fact::new(Mark::look_if(dropped > 0), NAME, value, means);
    if dropped > 0 { fact.change(sysctl(NAME, most * 2)) } else { fact }
}
