//! Descriptors: of the process, and of the system.

use super::Question;
use super::fact::{Fact, Mark, sysctl};
use crate::process::limits;
use crate::process::machine::Machine;

pub(super) fn facts(machine: &Machine, question: &Question) -> Vec<Fact> {
    const LISTENERS: usize = 1;
    let needed = question.connections + limits::reserve(question.cpus.get(), LISTENERS);
    // In the order in which they would have to be changed: the kernel refuses a limit beyond fs.nr_open.
    vec![nr_open(machine, needed), of_the_process(machine, needed), of_the_system(machine, question)]
}

fn of_the_process(machine: &Machine, needed: u64) -> Fact {
    const NAME: &str = "descriptors";
    let (Some(soft), Some(hard)) = (machine.descriptors_soft, machine.descriptors_hard) else {
        return Fact::hidden(NAME);
    };
    let value = format!("{} soft, {} hard", limit(soft), limit(hard));
    let each = format!("a connection takes one at either end, and {needed} are needed");
    if needed > hard {
        let means = format!(
            "{each}: the hard limit is too low, and only root can raise it, for this shell and what it starts."
        );
        let command =
            format!("ulimit -Hn {needed}; in a unit LimitNOFILE={needed}, of a container --ulimit nofile={needed}");
        return Fact::new(Mark::Problem, NAME, value, means).change(command);
    }
    if needed > soft {
        let means =
            format!("{each}: quintain raises its soft limit itself, but other programs of this shell stop at {soft}.");
        return Fact::new(Mark::Look, NAME, value, means).change(format!("ulimit -n {needed}"));
    }
    Fact::new(Mark::Ok, NAME, value, format!("{each}."))
}

fn limit(value: u64) -> String {
    if value == u64::MAX { "unlimited".to_owned() } else { value.to_string() }
}

fn nr_open(machine: &Machine, needed: u64) -> Fact {
    const NAME: &str = "fs.nr_open";
    let Some(most) = machine.nr_open else { return Fact::hidden(NAME) };
    let fact =
        Fact::new(Mark::problem_if(needed > most), NAME, most, "no hard limit of a process can be higher than this.");
    if needed > most { fact.change(sysctl(NAME, needed)) } else { fact }
}

fn of_the_system(machine: &Machine, question: &Question) -> Fact {
    const NAME: &str = "fs.file-max";
    let (Some(most), Some(open)) = (machine.file_max, machine.files_open) else { return Fact::hidden(NAME) };
    let ends = if question.loopback { 2 } else { 1 };
    let needed = open.saturating_add(question.connections * ends);
    let value = format!("{most}, {open} are open");
    let which = if question.loopback { "both ends of each connection" } else { "this end of each connection" };
    let means = format!("all processes together may open so many; with {which} it would be {needed}.");
    let fact = Fact::new(Mark::problem_if(needed > most), NAME, value, means);
    if needed > most { fact.change(sysctl(NAME, needed * 2)) } else { fact }
}
