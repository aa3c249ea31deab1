//! What a plan would measure, for people: grouped as it was written, and not one line for each of thousands of cells.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use crate::record::experiment::{Client, ConnectionKind, Document};
use crate::sweep::estimate::Estimate;
use crate::sweep::plan::{CoolDown, How, Plan, TargetPlan, WarmUp};

/// From how many levels on those in even steps are written as a range.
const LISTED: usize = 6;

/// The whole text.
pub(super) fn render(plan: &Plan, obstacles: &[String]) -> String {
    let mut text = format!("{}\n", plan.question);
    heading(&mut text, "Targets", plan.targets.iter().map(target));
    heading(&mut text, "Client", [client(&plan.client)]);
    heading(&mut text, "Documents", plan.documents.iter().map(document).chain([folder(plan)]));
    heading(&mut text, "Cells", groups(plan));
    heading(&mut text, "Course", course(plan));
    let obstacles = match obstacles {
        [] => vec!["nothing that can be seen from here".to_owned()],
        some => some.to_vec(),
    };
    heading(&mut text, "What this machine cannot do, or does in a way of its own", obstacles);
    text
}

fn heading(text: &mut String, name: &str, lines: impl IntoIterator<Item = String>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n{name}");
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
}

fn target(target: &TargetPlan) -> String {
    let TargetPlan { name, how, workers, cpus, .. } = target;
    let on = if cpus.is_empty() { "any CPU".to_owned() } else { format!("CPU {cpus}") };
    let workers = counted(*workers, "worker");
    match how {
        How::Ours { arguments } => {
            let arguments: String = arguments.iter().map(|word| format!(" {word}")).collect();
            format!("{name}: quintain serve{arguments}, {workers}, {on}")
        }
        How::Command { words, .. } => format!("{name}: {}, {workers}, {on}", words.join(" ")),
        How::Running { url, pid_file: Some(file) } => format!("{name}: {url}, watched by {}", file.display()),
        How::Running { url, pid_file: None } => format!("{name}: {url}, not watched: there is no pid_file"),
    }
}

fn client(Client { threads, cpus, sources }: &Client) -> String {
    let threads =
        threads.map_or("as many threads as the server leaves CPUs".to_owned(), |count| counted(count, "thread"));
    let on = if cpus.is_empty() { "any CPU".to_owned() } else { format!("CPU {cpus}") };
    let from = if sources.is_empty() { String::new() } else { format!(", from {sources}") };
    format!("quintain load, {threads}, {on}{from}")
}

fn document(Document { name, bytes }: &Document) -> String {
    format!("{name}: {}", counted(*bytes, "byte"))
}

fn folder(plan: &Plan) -> String {
    if plan.root.is_dir() { format!("in {}", plan.root.display()) } else { "made for the time of the sweep".to_owned() }
}

// === Cells ===

/// What ends a cell, and how it connects.
type Kind = (ConnectionKind, Option<u64>, Option<u64>);

/// What a line has in common: kind, targets, and levels of concurrency.
type Row<'a> = (Kind, Vec<&'a str>, Vec<u64>);

/// The cells of one repeat, in lines that have as much in common as the table that they come from.
fn groups(plan: &Plan) -> Vec<String> {
    let mut rows: Vec<(Row<'_>, Vec<&str>)> = Vec::new();
    for Document { name, .. } in &plan.documents {
        for row in rows_of(plan, name) {
            match rows.iter_mut().find(|(known, _)| *known == row) {
                Some((_, documents)) => documents.push(name),
                None => rows.push((row, vec![name])),
            }
        }
    }
    let all = plan.cells.len() as u64;
    let each = counted(all / plan.repeats.max(1), "cell");
    let sum = format!("{each} x {} = {}", counted(plan.repeats, "repeat"), counted(all, "measurement"));
    rows.iter().map(|(row, documents)| line(row, documents)).chain([sum]).collect()
}

/// The rows of one document.
fn rows_of<'a>(plan: &'a Plan, document: &str) -> Vec<Row<'a>> {
    let mut targets: BTreeMap<(u64, Kind), Vec<&str>> = BTreeMap::new();
    for cell in plan.cells.iter().filter(|cell| cell.repeat == 1 && cell.document == document) {
        let kind = (cell.connections, cell.requests, cell.duration_ms);
        targets.entry((cell.concurrency, kind)).or_default().push(&cell.target);
    }
    let mut levels: BTreeMap<(Kind, Vec<&str>), Vec<u64>> = BTreeMap::new();
    for ((concurrency, kind), targets) in targets {
        levels.entry((kind, targets)).or_default().push(concurrency);
    }
    levels.into_iter().map(|((kind, targets), levels)| (kind, targets, levels)).collect()
}

fn line(((connections, requests, duration_ms), targets, levels): &Row<'_>, documents: &[&str]) -> String {
    let count = counted((levels.len() * documents.len() * targets.len()) as u64, "cell");
    let requests = requests.map(|requests| counted(requests, "request"));
    let time = duration_ms.map(|millis| span(Duration::from_millis(millis)));
    let end: Vec<_> = requests.into_iter().chain(time).collect();
    let (documents, targets) = (documents.join(" "), targets.join(" "));
    let (connections, end) = (connections.name(), end.join(" or "));
    format!("{count}: {documents} ({targets}), c = {}, {connections}, {end}", ladder(levels))
}

/// `50, 500`, or `50 to 2000 in steps of 50`.
fn ladder(levels: &[u64]) -> String {
    let listed = || levels.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let [first, second, .., last] = levels else { return listed() };
    let step = second.saturating_sub(*first);
    let is_even = levels.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
    if levels.len() > LISTED && is_even { format!("{first} to {last} in steps of {step}") } else { listed() }
}

// === Course ===

fn course(plan: &Plan) -> Vec<String> {
    let WarmUp { cycles, duration, pause } = plan.warm_up;
    let CoolDown { time_wait_below, at_most } = plan.cool_down;
    let mut lines = vec![order(plan)];
    if cycles > 0 {
        let pause = if pause.is_zero() { String::new() } else { format!(", and a pause of {}", span(pause)) };
        let each = counted(cycles.into(), "cycle");
        lines.push(format!("warm-up of each target: {each} of {} over each document{pause}", span(duration)));
    }
    if !plan.cell_warm_up.is_zero() {
        lines.push(format!("warm-up of each cell: {}", span(plan.cell_warm_up)));
    }
    if !at_most.is_zero() {
        let most = span(at_most);
        lines.push(format!(
            "before each cell: until fewer than {time_wait_below} sockets are in TIME_WAIT, but at most {most}"
        ));
    }
    if !plan.gates.is_empty() {
        let gates: Vec<_> = plan.gates.iter().map(|gate| format!("'{gate}'")).collect();
        lines.push(format!("a measurement does not count if {}", gates.join(" or ")));
    }
    lines.push(format!("differences below {} % do not matter", plan.band * 100.0));
    if !plan.published.is_empty() {
        lines.push(format!("beside it: {}", counted(plan.published.len() as u64, "published figure")));
    }
    lines.push(expected(plan));
    lines
}

fn order(plan: &Plan) -> String {
    let seed = plan.seed;
    match plan.targets.len() {
        1 => format!("order: shuffled anew for each repeat, from seed {seed}"),
        _ => format!(
            "order: blocks of all targets, every second repeat backwards; shuffled anew for each repeat, from seed {seed}"
        ),
    }
}

fn expected(plan: &Plan) -> String {
    let estimate = Estimate::of(plan);
    let waits = match estimate.waiting_at_most {
        Duration::ZERO => String::new(),
        at_most => format!(", and at most {} more for TIME_WAIT", span(at_most)),
    };
    format!("time: about {}, of which {} are measured{waits}", span(estimate.without_waits()), span(estimate.measuring))
}

/// Two units are enough: `4 h 10 min`, `1 min 40 s`, `1.5 s`.
fn span(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..10 => format!("{} s", (time.as_secs_f64() * 10.0).round() / 10.0),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `1 worker`, `2 workers`.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
