//! Ports of the client, and what keeps them from being used again.

use std::net::Ipv4Addr;

use super::Question;
use super::fact::{Fact, Mark, sysctl};
use crate::process::machine::{Machine, Ports};

/// How long a port pair is kept: `TCP_TIMEWAIT_LEN`, a constant of Linux.
const TIME_WAIT_S: u64 = 60;

pub(super) fn facts(machine: &Machine, question: &Question) -> Vec<Fact> {
    vec![range(machine, question), time_wait(machine), reuse(machine, question), recycle(machine), fin_timeout(machine)]
}

fn range(machine: &Machine, question: &Question) -> Fact {
    const NAME: &str = "net.ipv4.ip_local_port_range";
    let Some(ports) = machine.ports else { return Fact::hidden(NAME) };
    let (count, connections) = (ports.count(), question.connections);
    let Ports { low, high, .. } = ports;
    let value = format!("{low} {high}, {count} ports");
    let each = format!("one source address can hold {count} connections towards one address and port");
    if connections <= count {
        return Fact::new(Mark::Ok, NAME, value, format!("{each}, kept alive or short."));
    }
    let widest = Ports { low: LOWEST, high: HIGHEST, ..ports }.count();
    let (now, then) = (connections.div_ceil(count.max(1)), connections.div_ceil(widest.max(1)));
    let wider = sysctl(NAME, format_args!("\"{LOWEST} {HIGHEST}\""));
    let (means, command) = if then == 1 {
        (
            format!("{each}, and {connections} need more: a wider range, or {now} source addresses (load --source)."),
            wider,
        )
    } else {
        let means = format!(
            "{each}, and {connections} need more than there are: with the widest range {then} source addresses, or {now} as it is."
        );
        let sources = if question.loopback {
            loopback_addresses(then)
        } else {
            format!("LIST, {then} addresses of this machine")
        };
        (means, format!("{wider}; quintain load --source {sources}"))
    };
    Fact::new(Mark::Problem, NAME, value, means).change(command)
}

/// Ports that need no right to be used, and those that there are.
const LOWEST: u16 = 1024;
const HIGHEST: u16 = 65_535;

/// So many of the addresses that a machine has for itself, as `load --source` takes them; they begin beside the usual one.
fn loopback_addresses(count: u64) -> String {
    let nth = |nth: u64| {
        Ipv4Addr::from(u32::from(Ipv4Addr::LOCALHOST).saturating_add(u32::try_from(nth).unwrap_or(u32::MAX)))
    };
    format!("{}-{}", nth(1), nth(count))
}

fn time_wait(machine: &Machine) -> Fact {
    const NAME: &str = "TIME_WAIT";
    let Some(now) = machine.time_wait else { return Fact::hidden(NAME) };
    let most = machine.time_wait_max.map_or(String::new(), |most| format!(" of {most} (net.ipv4.tcp_max_tw_buckets)"));
    let value = format!("{now}{most}");
    let kept = format!("after a short connection the side that closed first keeps its two ports for {TIME_WAIT_S} s");
    // Half of the ports: a run that starts now could meet them.
    let many = machine.ports.is_some_and(|ports| now > ports.count() / 2);
    let means = if many {
        format!("{kept}, and an earlier run has left many: wait {TIME_WAIT_S} s before the next one.")
    } else {
        format!("{kept}; kept-alive connections leave next to none.")
    };
    Fact::new(Mark::look_if(many), NAME, value, means)
}

fn reuse(machine: &Machine, question: &Question) -> Fact {
    const NAME: &str = "net.ipv4.tcp_tw_reuse";
    let Some(value) = machine.tw_reuse else { return Fact::hidden(NAME) };
    let taken_over = match value {
        0 => false,
        1 => true,
        _ => question.loopback,
    };
    let which = match value {
        0 => "a client never takes over a port that waits in TIME_WAIT",
        1 => "a client takes over a port that has waited in TIME_WAIT for a second",
        _ => "on loopback, and only there, a client takes over a port that has waited in TIME_WAIT for a second",
    };
    let sustained = machine.ports.map_or(0, |ports| ports.count() / TIME_WAIT_S);
    let means = match taken_over {
        true => format!("{which}; kept-alive connections do not need it."),
        false => format!(
            "{which}: if the client closes first, one source address sustains {sustained} short connections a second towards \
             one address and port. Kept-alive connections do not need it."
        ),
    };
    let fact = Fact::new(Mark::look_if(!taken_over), NAME, value, means);
    if taken_over { fact } else { fact.change(sysctl(NAME, 1)) }
}

fn recycle(machine: &Machine) -> Fact {
    const NAME: &str = "net.ipv4.tcp_tw_recycle";
    match machine.tw_recycle {
        None => Fact::new(
            Mark::Ok,
            NAME,
            "does not exist",
            "Linux 4.12 removed it: guides that set it change nothing here.",
        ),
        Some(0) => Fact::new(Mark::Ok, NAME, 0, "it is off, as it should be; Linux 4.12 removed it."),
        Some(value) => Fact::new(
            Mark::Look,
            NAME,
            value,
            "it refuses connections of several clients behind one address translation; Linux 4.12 removed it.",
        )
        .change(sysctl(NAME, 0)),
    }
}

fn fin_timeout(machine: &Machine) -> Fact {
    const NAME: &str = "net.ipv4.tcp_fin_timeout";
    let Some(seconds) = machine.fin_timeout_s else { return Fact::hidden(NAME) };
    let means = format!(
        "how long a closed socket waits for the other side to close too (FIN_WAIT_2). It does not shorten TIME_WAIT, as many \
         guides have it: that is always {TIME_WAIT_S} s. Neither short nor kept-alive connections gain by changing it."
    );
    Fact::new(Mark::Ok, NAME, format!("{seconds} s"), means)
}
