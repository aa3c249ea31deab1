use super::*;
use crate::analysis::sample::{BOTH, Behaviour, Imagined};
use crate::analysis::{Outcome, Word};
use crate::record::experiment::{Entry, Experiment};

const SERVERS: [Behaviour; 2] = [
    Behaviour { name: "nginx", per_s: 26_000.0, cpu_us: 24.0 },
    Behaviour { name: "tomcat", per_s: 20_000.0, cpu_us: 40.0 },
];

fn results(targets: &[Behaviour], seed: u64) -> (Experiment, Vec<Entry>) {
    Imagined {
        targets,
        documents: &[("1k.html", 1024), ("100k.html", 102_400)],
        kinds: &BOTH[..1],
        levels: &[50, 500],
        repeats: 6,
        noise: 0.01,
        drift: 0.01,
        seed,
    }
    .results()
}

fn side(name: &str, (experiment, entries): (Experiment, Vec<Entry>)) -> Side {
    Side { name: name.to_owned(), analysis: Analysis::of(experiment, &entries) }
}

fn words(across: &Across) -> Vec<Word> {
    across.changes.iter().filter_map(|change| change.comparison.estimate()).map(|estimate| estimate.word).collect()
}

#[test]
fn the_same_again_shows_no_difference() {
    let across = Across::of(side("a", results(&SERVERS, 1)), side("b", results(&SERVERS, 2)));
    // Two documents, two targets, two figures; a curve and two concurrencies.
    assert_eq!((across.compared(), across.changes.len()), (24, 24));
    assert_eq!(words(&across), [Word::NoDifferenceShown; 24]);
    assert!(across.differences.is_empty(), "{:?}", across.differences);
    let expected = "The two were measured one after the other, begun 0.0 hours apart, and not in blocks: whatever changed with time \
                    between them is in the ratios.";
    assert_eq!(across.warnings[0], expected);
    assert!(across.warnings[1].starts_with("a: Client and server ran on one machine"), "{:?}", across.warnings);
}

#[test]
fn one_result_beside_itself_is_called_that() {
    let across = Across::of(side("a", results(&SERVERS, 1)), side("b", results(&SERVERS, 1)));
    assert_eq!(across.warnings, ["a and b are one and the same result: every ratio is 1, and says nothing."]);
}

#[test]
fn an_order_that_is_not_that_of_time_is_told() {
    let (mut later, entries) = results(&SERVERS, 2);
    later.started_unix_s += 60.0;
    let [old, new] = [("old", results(&SERVERS, 1)), ("new", (later, entries))].map(|(name, of)| side(name, of));
    let told = |across: &Across| across.warnings.iter().filter(|words| words.contains("the other way round")).count();
    assert_eq!(told(&Across::of(old.clone(), new.clone())), 0);
    let across = Across::of(new, old);
    assert!(across.warnings[1].starts_with("old, which is called the later one here, was begun before new: "));
    assert_eq!(told(&across), 1);
}

#[test]
fn a_new_kernel_that_helps_one_of_them() {
    let faster = [SERVERS[0], Behaviour { per_s: 26_000.0, cpu_us: 30.0, ..SERVERS[1] }];
    let (mut experiment, entries) = results(&faster, 2);
    experiment.machine.kernel = "6.18.0".to_owned();
    experiment.started_unix_s += 3.0 * 86_400.0;
    let across = Across::of(side("old", results(&SERVERS, 1)), side("new", (experiment, entries)));
    let difference = Difference { what: "kernel".into(), before: "6.12.0".into(), after: "6.18.0".into() };
    assert_eq!(across.differences, [difference]);
    let headline = "nginx in new against old, in 2 cases (documents and kinds of connections): requests/s no difference shown in \
                    2 (";
    assert!(across.answer[0].starts_with(headline), "{:#?}", across.answer);
    let headline =
        "tomcat in new against old, in 2 cases (documents and kinds of connections): requests/s more in 2 (1.2";
    assert!(across.answer[1].starts_with(headline), "{:#?}", across.answer);
    let tomcat = across
        .answer
        .iter()
        .find(|sentence| sentence.starts_with("tomcat at 1k.html with short connections: "))
        .unwrap();
    assert!(tomcat.contains(" the requests/s of old over all 2 concurrencies, and took 0.7"), "{tomcat}");
    assert!(across.warnings[0].contains(" begun 3 days apart"), "{:?}", across.warnings);
    assert_eq!(across.warnings[1], "What is known to differ between them is one thing: kernel.");
}

#[test]
fn what_differs_is_listed() {
    let (mut experiment, entries) = results(&SERVERS, 2);
    experiment.machine.sysctls.insert("net.core.somaxconn".to_owned(), "4096".to_owned());
    experiment.machine.sysctls.insert("net.ipv4.tcp_tw_reuse".to_owned(), "1".to_owned());
    // Less than a tenth of a GiB is the kernel's own.
    experiment.machine.memory_bytes += 1 << 20;
    experiment.targets[0].version = "nginx/1.28".to_owned();
    // Another port is no difference, another flag is one.
    experiment.targets[0].url = "http://127.0.0.1:9000".to_owned();
    experiment.targets[0].command = ["/opt/nginx", "--port", "9000"].map(String::from).to_vec();
    experiment.targets[1].command.push("--fast".to_owned());
    experiment.client.threads = None;
    for cell in &mut experiment.cells {
        (cell.requests, cell.duration_ms) = (None, Some(1500));
    }
    let across = Across::of(side("a", results(&SERVERS, 1)), side("b", (experiment, entries)));
    let found: Vec<_> =
        across.differences.iter().map(|one| (one.what.as_str(), one.before.as_str(), one.after.as_str())).collect();
    let expected = [
        ("end of a run", "10000 requests", "1.5 s"),
        ("net.core.somaxconn", "", "4096"),
        ("net.ipv4.tcp_tw_reuse", "2", "1"),
        ("threads of the client", "1", "its own choice"),
        ("version of nginx", "nginx/1.0", "nginx/1.28"),
        ("command of tomcat", "--port {port}", "--port {port} --fast"),
    ];
    assert_eq!(found, expected);
    let warning = "6 things differ between them (end of a run, net.core.somaxconn, net.ipv4.tcp_tw_reuse, threads of the client, \
                   version of nginx and command of tomcat): which of these a change comes from cannot be told.";
    assert!(across.warnings.contains(&warning.to_owned()), "{:?}", across.warnings);
}

#[test]
fn only_what_both_have_is_compared() {
    let (experiment, mut entries) = results(&SERVERS, 2);
    let keep = |entry: &Entry| match entry {
        Entry::Measured(one) => one.cell.target == "nginx" && (one.cell.concurrency == 50 || one.cell.repeat == 1),
        _ => true,
    };
    entries.retain(keep);
    let across = Across::of(side("a", results(&SERVERS, 1)), side("b", (experiment, entries)));
    assert!(across.changes.iter().all(|change| change.target == "nginx"));
    let at = |level| across.changes.iter().find(|change| change.comparison.concurrency == level).unwrap();
    assert_eq!(at(Some(50)).comparison.pairs, 6);
    let one_only = "one of them has only one repeat, and one cannot show how much results vary";
    assert_eq!(at(Some(500)).comparison.outcome, Outcome::NotComparable(one_only.to_owned()));
    assert!(across.warnings.contains(&"Of 8 points of a and 4 of b, 4 can be laid beside each other.".to_owned()));
}

#[test]
fn two_that_have_nothing_in_common() {
    let other = [Behaviour { name: "jetty", ..SERVERS[1] }];
    let across = Across::of(side("a", results(&SERVERS, 1)), side("b", results(&other, 2)));
    assert!(across.changes.is_empty());
    assert!(across.answer[0].starts_with("Nothing can be compared: "), "{:?}", across.answer);
    let targets = Difference { what: "targets".into(), before: "nginx, tomcat".into(), after: "jetty".into() };
    assert_eq!(across.differences, [targets]);
}

#[test]
fn invalid_points_take_no_part() {
    let (experiment, mut entries) = results(&SERVERS, 2);
    for entry in &mut entries {
        if let Entry::Measured(one) = entry {
            one.record.runs[0].endings.reset = 1;
        }
    }
    let across = Across::of(side("a", results(&SERVERS, 1)), side("b", (experiment, entries)));
    assert_eq!(across.compared(), 0);
    let expected = "nginx at 1k.html with short connections: not comparable: at no concurrency are both valid; at 50, b: 6 of \
                    60006 requests failed, in all 6 repeats.";
    assert!(across.answer.contains(&expected.to_owned()), "{:?}", across.answer);
}
