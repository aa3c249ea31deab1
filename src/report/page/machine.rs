//! The machine, and what its settings mean for such tests. They are shown and never changed.

use maud::{Markup, html};

use super::super::units;
use super::chart::{grouped, shown};
use super::table::{Column, Kind, table};
use crate::record::experiment::Machine;

/// What the settings that published tests tune do to a load test.
const MEANINGS: &[(&str, &str)] = &[
    ("fs.file-max", "The most files that may be open on the whole machine. Each connection is one, at either end."),
    (
        "net.core.netdev_max_backlog",
        "Packets that may wait for a CPU to take them; what comes beyond is dropped. The loopback's wait there, too.",
    ),
    (
        "net.core.rmem_max",
        "The largest receive buffer that a program may ask for. One that asks for none has tcp_rmem.",
    ),
    (
        "net.core.somaxconn",
        "The longest queue of connections that wait to be accepted: a server asks for a length and gets no more than this. \
         What finds it full is dropped, and tried again by the client's kernel after a second.",
    ),
    ("net.core.wmem_max", "The largest send buffer that a program may ask for. One that asks for none has tcp_wmem."),
    (
        "net.ipv4.ip_local_port_range",
        "The client's ports: so many connections are possible between two addresses. A short connection keeps its pair of ports \
         for another minute (TIME_WAIT), at the side that closed first.",
    ),
    (
        "net.ipv4.tcp_congestion_control",
        "How fast a connection may send, by what it has seen of losses and delays. Where nothing is lost, as on the loopback, \
         it matters little.",
    ),
    (
        "net.ipv4.tcp_fin_timeout",
        "Seconds that a closed connection waits for the other side's FIN. It does not shorten TIME_WAIT, whatever guides \
         to tuning say: that is 60 seconds on Linux, always.",
    ),
    (
        "net.ipv4.tcp_keepalive_time",
        "Idle seconds after which connections are probed whose program asked for it. It has nothing to do with HTTP's keep-alive, \
         and no effect on a test that is shorter.",
    ),
    (
        "net.ipv4.tcp_max_syn_backlog",
        "Half-open connections that a listener remembers before it drops SYNs, or answers with cookies.",
    ),
    ("net.ipv4.tcp_max_tw_buckets", "The most sockets in TIME_WAIT; what comes beyond is closed at once."),
    (
        "net.ipv4.tcp_rmem",
        "Least, first and largest receive buffer of a connection, in bytes; the kernel grows it as far as data need it.",
    ),
    (
        "net.ipv4.tcp_syncookies",
        "1: a listener whose queue of half-open connections is full answers with cookies. 0: it drops them, so that a burst of \
         short connections loses a second. 2: always cookies.",
    ),
    (
        "net.ipv4.tcp_tw_recycle",
        "Gone since Linux 4.12: it broke clients behind address translation. Guides still name it.",
    ),
    (
        "net.ipv4.tcp_tw_reuse",
        "Whether a client may take a pair of ports again that is in TIME_WAIT: 0 never, 1 after a second, 2 (the default) so on \
         the loopback alone.",
    ),
    (
        "net.ipv4.tcp_wmem",
        "Least, first and largest send buffer of a connection, in bytes. A document that fits is handed over in one go.",
    ),
];

/// Facts and settings.
pub(super) fn render(machine: &Machine) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts(machine) { div { dt { (name) } dd { (value) } } }
        }
        @if !machine.sysctls.is_empty() { (settings(machine)) }
    }
}

fn facts(machine: &Machine) -> Vec<(&'static str, String)> {
    let Machine { kernel, cpu_model, cpus, memory_bytes, governors, descriptors, sysctls: _ } = machine;
    let governors = match governors.as_slice() {
        [] => "none that the kernel shows, as in virtual machines".to_owned(),
        some => shown(&some.join(", ")),
    };
    // What the kernel does not show is empty, or zero.
    let known = |text: String| if text.is_empty() { "not known".to_owned() } else { text };
    let memory = if *memory_bytes == 0 { String::new() } else { units::bytes(*memory_bytes as f64) };
    vec![
        ("CPU", known(shown(cpu_model))),
        ("CPUs of the sweep", cpus.to_string()),
        ("Frequency governor", governors),
        ("Memory", known(memory)),
        ("Kernel", known(shown(kernel))),
        ("Descriptors of a process", grouped(*descriptors as f64, 0)),
    ]
}

fn settings(machine: &Machine) -> Markup {
    let columns =
        [Column("Setting", Kind::Words), Column("Value", Kind::Figures), Column("What it means here", Kind::Words)];
    let rows = html! {
        @for (name, value) in &machine.sysctls {
            tr {
                th.whole scope="row" { code { (shown(name)) } }
                td.figures { (shown(&value.replace('\t', " "))) }
                td.prose { (meaning(name)) }
            }
        }
    };
    table("machine-table", "Settings that published tests tune. They were read and not changed.", &columns, &rows)
}

fn meaning(name: &str) -> &'static str {
    MEANINGS.iter().find(|(known, _)| *known == name).map_or("–", |(_, meaning)| meaning)
}
