//! What a reader has to know before believing a figure.

use super::*;

#[test]
fn the_warnings() {
    let warnings = sample::analysis().warnings;
    let expected = [
        "Only 359 of 360 measurements were made.",
        "jetty took no part at 100k.html: it answered 404 Not Found.",
        "A measurement of nginx was tried in vain: the load tool was killed by signal 9.",
        "tomcat died and was started again 1 time, the first time: killed by signal 11.",
        "8 of 30 points are not valid for requests/s and take no part in verdicts on it: 1 because requests failed, 1 because \
         the server had died and was started again and 6 because the client had no CPU left.",
        "Client and server ran on one machine, the client on CPU 1 and the servers on CPU 0: caches, memory and the kernel's \
         part of the network they still shared.",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn warnings_of_the_place_and_of_single_runs() {
    let (mut experiment, mut entries) = imagined(&ALIKE, 1).results();
    experiment.machine.governors = vec!["powersave".to_owned()];
    experiment.client.cpus = "0-1".to_owned();
    experiment.targets[1].cpus = String::new();
    experiment.gates.push("p99>fast".to_owned());
    change(
        &mut entries,
        |one| one.cell.repeat == 2,
        |one| {
            one.time_wait = 40_000;
            run_of(one).verdict.doubts = vec![Doubt::Short, Doubt::ClientMayBeTheLimit];
        },
    );
    let mut with = |tw_reuse: &str| {
        experiment.machine.sysctls.insert("net.ipv4.tcp_tw_reuse".to_owned(), tw_reuse.to_owned());
        Analysis::of(experiment.clone(), &entries).warnings
    };
    let warnings = with("0");
    for reused in ["1", "2"] {
        assert_eq!(with(reused).len(), warnings.len() - 1, "ports in TIME_WAIT are taken again");
    }
    let expected = [
        "Cells were measured only 5 times, which is few: of so many the exact Wilcoxon test has no p value below 0.0625, so it \
         was only asked whether all of them lie on one side.",
        "Client and server (one and other) shared CPUs of one machine: what one used the other lacked, so requests/s are those \
         of the pair. The server's CPU for each request tells more.",
        "The targets did not have the same CPUs: one on 0 and other on all.",
        "The CPUs' frequency was governed by powersave: it may have followed the load. 'performance' holds it.",
        "In 6 of 30 measurements, the client was busy for more than 80 % of the time and may have been the limit.",
        "In 6 of 30 measurements, the run took less than a second, which is mostly its beginning and its end.",
        "6 measurements with short connections began with more than half of the 64511 local ports in TIME_WAIT (40000 sockets \
         at most): the cool-down was too short, or ended before its time.",
        "The gate 'p99>fast' cannot be read and was not applied.",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn a_client_that_waits_for_its_own_cpu_has_neighbours() {
    let (mut experiment, mut entries) = imagined(&ALIKE, 1).results();
    change(
        &mut entries,
        |one| one.cell.repeat == 2,
        |one| {
            let thread = &mut run_of(one).client.threads[0];
            thread.run_delay_s = 0.2 * thread.wall_s;
        },
    );
    let told = |experiment: &Experiment| {
        let warnings = Analysis::of(experiment.clone(), &entries).warnings;
        warnings
            .iter()
            .any(|warning| warning.starts_with("In 6 of 30 measurements, the client waited for more than 10 %"))
    };
    assert!(told(&experiment));
    experiment.client.cpus = "0-1".to_owned();
    assert!(!told(&experiment), "the server may be what it waits for");
}

#[test]
fn servers_that_starve_and_sweeps_that_paused_are_told_of() {
    let (mut experiment, mut entries) = imagined(&ALIKE, 1).results();
    experiment.narrowed = Some("--targets: only one and other of the plan's 3 targets are measured".to_owned());
    change(
        &mut entries,
        |_| true,
        |one| {
            let (hours, is_other) = (one.cell.repeat / 4, one.cell.target == "other");
            let run = run_of(one);
            run.started_unix_s += 7200.0 * hours as f64;
            for process in &mut run.watched {
                (process.busiest_thread_delay, process.cpus_allowed) = (0.6, 1);
                process.cpus_used = if is_other { 0.15 } else { 0.5 };
            }
        },
    );
    let warnings = Analysis::of(experiment, &entries).warnings;
    assert_eq!(warnings[0], "--targets: only one and other of the plan's 3 targets are measured.");
    assert!(
        warnings[1].starts_with("The measurements were not made in one go: at the longest, 2.0 hours"),
        "{warnings:?}"
    );
    let starved = "Of 30 measurements, servers waited for CPUs that others had (other in 15): requests/s are then not those of \
                   the server, and its CPU for each request is dearer than alone.";
    assert!(warnings.iter().any(|warning| warning == starved), "{warnings:?}");
}

#[test]
fn pacing_is_told_of_where_a_document_is_large() {
    let paced = |control: &str, bytes: u64| {
        let (mut experiment, entries) = imagined(&ALIKE, 1).results();
        experiment.machine.sysctls.insert("net.ipv4.tcp_congestion_control".to_owned(), control.to_owned());
        experiment.documents[0].bytes = bytes;
        Analysis::of(experiment, &entries).warnings.iter().any(|warning| warning.contains("which paces"))
    };
    assert!(paced("bbr", 2 << 20) && !paced("bbr", 1024) && !paced("cubic", 2 << 20));
}
