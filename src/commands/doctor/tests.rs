use super::*;
use crate::process::cgroup::{Held, Limit};
use crate::process::machine::Ports;

type Change = fn(&mut Machine);

/// A machine on which nothing is in the way of a thousand connections.
fn healthy() -> Machine {
    Machine {
        descriptors_soft: Some(1 << 20),
        descriptors_hard: Some(1 << 20),
        nr_open: Some(1 << 20),
        files_open: Some(1000),
        file_max: Some(2_000_000),
        ports: Some(Ports { low: 32_768, high: 60_999, reserved: 0 }),
        time_wait: Some(0),
        time_wait_max: Some(131_072),
        tw_reuse: Some(2),
        tw_recycle: None,
        fin_timeout_s: Some(60),
        somaxconn: Some(4096),
        syn_backlog: Some(2048),
        syncookies: Some(1),
        netdev_backlog: Some(1000),
        netdev_dropped: Some(0),
        congestion: Some("cubic".into()),
        governors: vec!["performance".into()],
        frequency_khz: Some((3_600_000, 3_600_000)),
        held: Held::default(),
    }
}

fn question(connections: u64) -> Question {
    Question { connections, loopback: true, backlog: 4096, cpus: NonZeroUsize::new(2).unwrap() }
}

/// The facts that are not ok, as mark and name.
fn remarks(machine: &Machine, question: &Question) -> Vec<(Mark, &'static str)> {
    let facts = examine(machine, question);
    facts.iter().filter(|fact| fact.mark != Mark::Ok).map(|fact| (fact.mark, fact.name)).collect()
}

/// The one fact that is not ok after this change of a healthy machine.
#[track_caller]
fn remark(question: &Question, change: impl FnOnce(&mut Machine)) -> Fact {
    let mut machine = healthy();
    change(&mut machine);
    let mut facts = examine(&machine, question);
    facts.retain(|fact| fact.mark != Mark::Ok);
    assert_eq!(facts.len(), 1, "{facts:?}");
    facts.remove(0)
}

#[test]
fn nothing_is_in_the_way() {
    assert_eq!(remarks(&healthy(), &question(1000)), []);
    // What the kernel hides is not guessed.
    assert_eq!(remarks(&Machine::default(), &question(1000)), []);
}

/// A sweep said it of every plan, and of most of them nothing would show.
#[test]
fn congestion_control_is_worth_a_look_where_documents_are_large() {
    let machine = Machine { congestion: Some("bbr".into()), ..healthy() };
    let looks = |bytes| looks(examine(&machine, &question(1000)), bytes);
    assert_eq!(looks((1 << 20) - 1), Vec::<String>::new());
    let [says] = looks(1 << 20).try_into().unwrap();
    assert!(says.starts_with("net.ipv4.tcp_congestion_control is bbr: it paces what it sends"), "{says}");
    assert!(says.contains(" Change: sysctl -w net.ipv4.tcp_congestion_control=cubic, or "), "{says}");
}

#[test]
fn what_makes_connections_impossible() {
    use Mark::Problem;
    let rows: [(u64, Change, &str, &str); 4] = [
        (
            2000,
            |machine| (machine.descriptors_soft, machine.descriptors_hard) = (Some(1024), Some(2000)),
            "descriptors",
            "ulimit -Hn 2036",
        ),
        (2000, |machine| machine.nr_open = Some(2000), "fs.nr_open", "sysctl -w fs.nr_open=2036"),
        (1000, |machine| machine.file_max = Some(2999), "fs.file-max", "sysctl -w fs.file-max=6000"),
        (
            2000,
            |machine| machine.ports = Some(Ports { low: 60_000, high: 60_999, reserved: 1 }),
            "net.ipv4.ip_local_port_range",
            "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"",
        ),
    ];
    for (connections, change, name, command) in rows {
        let fact = remark(&question(connections), change);
        let begins = fact.change.as_deref().is_some_and(|change| change.starts_with(command));
        assert!((fact.mark, fact.name, begins) == (Problem, name, true), "{fact:?}");
    }
    let ports =
        remark(&question(2000), |machine| machine.ports = Some(Ports { low: 60_000, high: 60_999, reserved: 1 }));
    assert!(ports.means.contains("or 3 source addresses"), "{}", ports.means);
}

/// The doctor prescribed the widest range alone, which has 64,512 ports and is the same problem again.
#[test]
fn more_connections_than_one_address_has_ports() {
    let facts = examine(&healthy(), &question(200_000));
    let ports = facts.iter().find(|fact| fact.mark == Mark::Problem).expect("ports");
    assert!(ports.means.contains("with the widest range 4 source addresses, or 8 as it is"), "{}", ports.means);
    let command = "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"; quintain load --source 127.0.0.2-127.0.0.5";
    assert_eq!(ports.change.as_deref(), Some(command));
}

/// The kernel refuses `ulimit -Hn` beyond fs.nr_open, so that goes first.
#[test]
fn commands_stand_in_the_order_in_which_they_work() {
    let machine =
        Machine { descriptors_soft: Some(1024), descriptors_hard: Some(4096), nr_open: Some(4096), ..healthy() };
    assert_eq!(
        remarks(&machine, &question(5000))[..2],
        [(Mark::Problem, "fs.nr_open"), (Mark::Problem, "descriptors")]
    );
}

#[test]
fn what_may_change_what_is_measured() {
    let rows: [(Change, &str, &str); 12] = [
        (|machine| machine.descriptors_soft = Some(1024), "descriptors", "ulimit -n 1036"),
        (|machine| machine.time_wait = Some(20_000), "TIME_WAIT", ""),
        (|machine| machine.tw_reuse = Some(0), "net.ipv4.tcp_tw_reuse", "sysctl -w net.ipv4.tcp_tw_reuse=1"),
        (|machine| machine.tw_recycle = Some(1), "net.ipv4.tcp_tw_recycle", "sysctl -w net.ipv4.tcp_tw_recycle=0"),
        (|machine| machine.somaxconn = Some(128), "net.core.somaxconn", "sysctl -w net.core.somaxconn=1000"),
        (|machine| machine.syncookies = Some(0), "net.ipv4.tcp_syncookies", "sysctl -w net.ipv4.tcp_syncookies=1"),
        (|machine| machine.syncookies = Some(2), "net.ipv4.tcp_syncookies", "sysctl -w net.ipv4.tcp_syncookies=1"),
        (
            |machine| machine.netdev_dropped = Some(7),
            "net.core.netdev_max_backlog",
            "sysctl -w net.core.netdev_max_backlog=2000",
        ),
        (
            |machine| machine.congestion = Some("bbr".into()),
            "net.ipv4.tcp_congestion_control",
            "sysctl -w net.ipv4.tcp_congestion_control=cubic, or for the server alone serve --set socket.congestion=cubic",
        ),
        (
            |machine| machine.governors.push("powersave".into()),
            "CPU frequency",
            "cpupower frequency-set -g performance",
        ),
        (
            |machine| machine.held.cpus = Some(Limit { value: 1.5, file: "cpu.max".into() }),
            "CPUs",
            "of a container without --cpus, or with --cpuset-cpus instead; of a unit without CPUQuota",
        ),
        (
            |machine| machine.held.memory_bytes = Some(Limit { value: 32 << 20, file: "memory.max".into() }),
            "memory limit",
            "of a container --memory; of a unit MemoryMax",
        ),
    ];
    for (change, name, command) in rows {
        let fact = remark(&question(1000), change);
        assert_eq!((fact.mark, fact.name, fact.change.as_deref().unwrap_or_default()), (Mark::Look, name, command));
    }
}

#[test]
fn beyond_the_backlog_of_the_server() {
    let fact = remark(&question(5000), |_| {});
    assert_eq!(fact.value, "4096, the server asks for 4096");
    let both = "sysctl -w net.core.somaxconn=5000; quintain serve --set server.backlog=5000";
    assert_eq!((fact.name, fact.change.as_deref()), ("net.core.somaxconn", Some(both)));
    let fact = remark(&question(5000), |machine| machine.somaxconn = Some(65_535));
    assert_eq!(fact.change.as_deref(), Some("quintain serve --set server.backlog=5000"));
}

#[test]
fn without_cookies_the_syn_queue_counts() {
    let names: Vec<_> = remarks(&Machine { syncookies: Some(0), ..healthy() }, &question(3000))
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_syncookies"]);
}

#[test]
fn another_machine_is_not_loopback() {
    let far = Question { loopback: false, ..question(1000) };
    // 28,232 ports over 60 s.
    let fact = remark(&far, |_| {});
    assert_eq!(fact.name, "net.ipv4.tcp_tw_reuse");
    assert!(fact.means.contains("sustains 470 short connections a second"), "{}", fact.means);
    // One end only: 1,000 descriptors of the system are enough.
    assert_eq!(remarks(&Machine { tw_reuse: Some(1), file_max: Some(2000), ..healthy() }, &far), []);
}

#[test]
fn one_cpu_for_both() {
    let one = Question { cpus: NonZeroUsize::MIN, ..question(1000) };
    assert_eq!(remark(&one, |_| {}).name, "CPUs");
    assert_eq!(remarks(&Machine { tw_reuse: Some(1), ..healthy() }, &Question { loopback: false, ..one }), []);
}

#[test]
fn a_table_then_sentences_then_the_sum() {
    let facts = [
        Fact::new(Mark::Ok, "CPUs", 2, "there are two."),
        Fact::new(Mark::Look, "TIME_WAIT", 7, "seven wait.").change("wait"),
    ];
    let text = render(&facts, &question(10));
    let expected = "ok       CPUs       2\n\
                    look     TIME_WAIT  7\n\
                    \n\
                    CPUs: there are two.\n\
                    \n\
                    TIME_WAIT: seven wait.\n  change: wait\n\
                    \n\
                    10 connections are possible; worth a look: TIME_WAIT.\n";
    assert_eq!(text, expected);
    assert_eq!(sum(&facts[..1], &question(10)), "10 connections are possible.");
    let problem = [Fact::new(Mark::Problem, "descriptors", 5, "five.")];
    assert_eq!(sum(&problem, &question(10)), "10 connections are not possible as it is: see descriptors.");
}
