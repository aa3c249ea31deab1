//! What a reader has to know before believing a figure.

use std::collections::{BTreeMap, BTreeSet};

use super::journal::Journal;
use super::words::{counted, list, sentence};
use super::{Analysis, FaultKind, Metric, Point, place};
use crate::record::experiment::{Cell, ConnectionKind, Experiment, LeftOut};
use crate::record::{ClientThread, Doubt, Gate, Run};
use crate::statistics::SignedRank;

/// The sentences, from what leaves the least standing on.
pub(super) fn sentences(analysis: &Analysis, journal: &Journal<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(analysis.experiment.narrowed.as_deref().map(sentence));
    warnings.extend(incomplete(analysis));
    warnings.extend(pauses(journal));
    warnings.extend(left_out(analysis, journal));
    warnings.extend(other_baselines(analysis));
    warnings.extend(not_measured(analysis));
    warnings.extend(restarted(analysis));
    warnings.extend(neighbours(analysis, journal));
    warnings.extend(starved(journal));
    warnings.extend(invalid(analysis));
    warnings.extend(few_repeats(analysis));
    warnings.extend(place::sentences(&analysis.experiment));
    warnings.extend(doubts(journal));
    warnings.extend(time_wait(analysis, journal));
    warnings.extend(unreadable_gates(analysis));
    warnings
}

/// A sweep that was interrupted and went on: what changes with time did not meet the cells before and after alike.
fn pauses(journal: &Journal<'_>) -> Option<String> {
    /// More than any start again, warm-up and cool-down of a plan that comes with the program, in seconds.
    const LONG: f64 = 900.0;
    let mut runs: Vec<(f64, f64)> = journal
        .measured
        .values()
        .filter_map(|measured| measured.record.runs.first())
        .map(|run| (run.started_unix_s, run.started_unix_s + run.elapsed_s))
        .collect();
    runs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let gaps = runs.windows(2).map(|pair| pair[1].0 - pair[0].1);
    let longest = gaps.filter(|gap| *gap > LONG).fold(0.0, f64::max);
    (longest > 0.0).then(|| {
        format!(
            "The measurements were not made in one go: at the longest, {:.1} hours lie between two of them, and what has changed \
             meanwhile is in the ranges.",
            longest / 3600.0
        )
    })
}

/// Of what was to be measured: who takes no part is told of by itself.
fn incomplete(analysis: &Analysis) -> Option<String> {
    let Analysis { measured, expected, .. } = *analysis;
    (measured < expected).then(|| format!("Only {measured} of {} were made.", counted(expected as u64, "measurement")))
}

/// One that drops out in the middle has figures, up to then.
fn left_out(analysis: &Analysis, journal: &Journal<'_>) -> Vec<String> {
    let told = analysis.left_out.iter().map(|LeftOut { target, document, reason: _ }| {
        let concerns =
            |cell: &Cell| cell.target == *target && document.as_ref().is_none_or(|name| *name == cell.document);
        let part = if journal.measured.keys().any(|cell| concerns(cell)) { "no further part" } else { "no part" };
        match document {
            Some(document) => format!("{target} took {part} at {document}"),
            None => format!("{target} took {part}"),
        }
    });
    let told = told.zip(&analysis.left_out).map(|(what, out)| sentence(&format!("{what}: {}", out.reason)));
    told.collect()
}

/// Who stands below the line because the one that was to stand there was not measured.
fn other_baselines(analysis: &Analysis) -> Vec<String> {
    let Experiment { targets, cells, .. } = &analysis.experiment;
    let instead = analysis.groups.iter().filter_map(|group| {
        let is_planned = |name: &str| {
            let here = |cell: &&Cell| cell.document == group.document.name && cell.connections == group.connections;
            cells.iter().filter(here).any(|cell| cell.target == name)
        };
        let first = targets.iter().find(|target| is_planned(&target.name))?;
        let has_others = group.series.len() > 1;
        (has_others && first.name != group.baseline).then_some(((&first.name, &group.baseline), &group.document.name))
    });
    let mut pairs: BTreeMap<(&String, &String), BTreeSet<&String>> = BTreeMap::new();
    for (pair, document) in instead {
        pairs.entry(pair).or_default().insert(document);
    }
    let all: BTreeSet<&String> = analysis.groups.iter().map(|group| &group.document.name).collect();
    let told = pairs.into_iter().map(|((first, baseline), documents)| {
        let at = if documents == all {
            String::new()
        } else {
            format!(" at {}", list(&documents.into_iter().collect::<Vec<_>>()))
        };
        format!("{first} was not measured{at}, so the others are compared with {baseline} there.")
    });
    told.collect()
}

/// One sentence for all of them: a server that is down would else fill the page.
fn not_measured(analysis: &Analysis) -> Option<String> {
    let first = analysis.not_measured.first()?;
    let words = match analysis.not_measured.len() {
        1 => format!("A measurement of {} was tried in vain: {}", first.cell.target, first.reason),
        all => format!("{all} measurements were tried in vain, the first of {}: {}", first.cell.target, first.reason),
    };
    Some(sentence(&words))
}

fn restarted(analysis: &Analysis) -> Vec<String> {
    let mut by_target: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for restarted in &analysis.restarted {
        by_target.entry(&restarted.target).or_default().push(&restarted.reason);
    }
    let told = by_target.into_iter().map(|(target, reasons)| {
        let times = counted(reasons.len() as u64, "time");
        sentence(&format!("{target} died and was started again {times}, the first time: {}", reasons[0]))
    });
    told.collect()
}

/// Where client and servers have CPUs of their own, a client that waits for one waits for strangers.
fn neighbours(analysis: &Analysis, journal: &Journal<'_>) -> Option<String> {
    /// Parts of its time; what the kernel does on the client's CPU takes some 3 %.
    const WORTH_A_WORD: f64 = 0.1;
    if place::shares_cpus(&analysis.experiment) {
        return None;
    }
    let waited = |thread: &ClientThread| thread.run_delay_s > WORTH_A_WORD * thread.wall_s;
    let runs = journal.measured.values().filter_map(|measured| measured.record.runs.first());
    let disturbed = runs.filter(|run| run.client.threads.iter().any(waited)).count();
    let all = counted(journal.measured.len() as u64, "measurement");
    (disturbed > 0).then(|| {
        format!(
            "In {disturbed} of {all}, the client waited for more than {:.0} % of the time for a CPU that it shares with no server \
             of the experiment: something else was running on the machine. Repeat it when that has ended.",
            WORTH_A_WORD * 100.0
        )
    })
}

/// A server whose threads wait for CPUs that it does not use up shares them with strangers, or with the client. Threads that
/// wait for each other use them up.
fn starved(journal: &Journal<'_>) -> Option<String> {
    /// Part of the time for which the busiest thread waited.
    const WAITED: f64 = 0.2;
    /// Part of its CPUs that a server must have had, or it was not by itself that it waited.
    const HAD: f64 = 0.8;
    let is_starved = |run: &Run| {
        let waited = run.watched.iter().map(|process| process.busiest_thread_delay).fold(0.0, f64::max);
        let used: f64 = run.watched.iter().map(|process| process.cpus_used).sum();
        let allowed = run.watched.iter().map(|process| process.cpus_allowed).max().unwrap_or(0);
        waited > WAITED && used < HAD * allowed as f64
    };
    let mut by_target: BTreeMap<&str, usize> = BTreeMap::new();
    for measured in journal.measured.values() {
        if measured.record.runs.first().is_some_and(is_starved) {
            *by_target.entry(&measured.cell.target).or_default() += 1;
        }
    }
    let told: Vec<String> = by_target.iter().map(|(target, count)| format!("{target} in {count}")).collect();
    (!told.is_empty()).then(|| {
        format!(
            "Of {}, servers waited for CPUs that others had ({}): requests/s are then not those of the server, and its CPU for each \
             request is dearer than alone.",
            counted(journal.measured.len() as u64, "measurement"),
            list(&told)
        )
    })
}

/// How many points are hollow, and why.
fn invalid(analysis: &Analysis) -> Option<String> {
    let points: Vec<&Point> =
        analysis.groups.iter().flat_map(|group| &group.series).flat_map(|series| &series.points).collect();
    let hollow = points.iter().filter(|point| !point.broken.is_empty()).count();
    let with = |kind: FaultKind| points.iter().filter(|point| point.faults.iter().any(|one| one.kind == kind)).count();
    let kinds = FaultKind::ALL.into_iter().filter(|kind| kind.concerns(Metric::RequestsPerSecond));
    let counts: Vec<(FaultKind, usize)> =
        kinds.map(|kind| (kind, with(kind))).filter(|(_, count)| *count > 0).collect();
    let told: usize = counts.iter().map(|(_, count)| count).sum();
    let reasons: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} because {}", kind.name())).collect();
    (hollow > 0).then(|| {
        format!(
            "{hollow} of {} are not valid for requests/s and take no part in verdicts on it: {}{}.",
            counted(points.len() as u64, "point"),
            list(&reasons),
            if told > hollow { " (some for several reasons)" } else { "" }
        )
    })
}

fn few_repeats(analysis: &Analysis) -> Option<String> {
    /// From here on Wilcoxon's test can be significant by itself.
    const ENOUGH: u64 = 6;
    let repeats = analysis.repeats().map_or(analysis.experiment.repeats, |(least, _)| least as u64);
    let several = analysis.experiment.targets.len() > 1;
    match repeats {
        0 | 1 => Some(
            "Cells were measured only once, so nothing is known of how much results vary, and no difference can be shown."
                .to_owned(),
        ),
        few if few < ENOUGH && several => Some(format!(
            "Cells were measured only {few} times, which is few: of so many the exact Wilcoxon test has no p value below {}, so it \
             was only asked whether all of them lie on one side.",
            SignedRank::smallest_p(usize::try_from(few).unwrap_or(usize::MAX))
        )),
        few if few < ENOUGH => {
            Some(format!("Cells were measured only {few} times, which shows a range and not how far the next one may lie."))
        }
        _ => None,
    }
}

/// What the load tool doubted of runs that count all the same.
fn doubts(journal: &Journal<'_>) -> Vec<String> {
    let all = journal.measured.len();
    let with = |doubt: Doubt| {
        let runs = journal.measured.values().filter_map(|measured| measured.record.runs.first());
        runs.filter(|run| run.verdict.doubts.contains(&doubt)).count()
    };
    let told = [
        (Doubt::ClientMayBeTheLimit, "the client was busy for more than 80 % of the time and may have been the limit"),
        (Doubt::ConnectionsRetried, "connections had to be tried again, each of them a second or more late"),
        (Doubt::LoopLag, "answers waited more than 1 ms for the client, which is in the latencies"),
        (Doubt::Short, "the run took less than a second, which is mostly its beginning and its end"),
    ];
    let sentences = told.into_iter().filter_map(|(doubt, what)| {
        let count = with(doubt);
        (count > 0).then(|| format!("In {count} of {}, {what}.", counted(all as u64, "measurement")))
    });
    sentences.collect()
}

/// A short connection leaves its port in TIME_WAIT for a minute. A run that begins with half of them taken is not like one
/// that begins with none, unless the kernel takes such ports again (after a second, tcp(7) on `tcp_tw_reuse`).
fn time_wait(analysis: &Analysis, journal: &Journal<'_>) -> Option<String> {
    let sysctls = &analysis.experiment.machine.sysctls;
    let is_reused = match sysctls.get("net.ipv4.tcp_tw_reuse").map_or("", |setting| setting.trim()) {
        "1" => true,
        "2" => place::is_local_only(&analysis.experiment),
        _ => false,
    };
    if is_reused {
        return None;
    }
    let range = sysctls.get("net.ipv4.ip_local_port_range")?;
    let (first, last) = range.split_once(char::is_whitespace)?;
    let ports = last.trim().parse::<u64>().ok()?.saturating_sub(first.trim().parse().ok()?);
    let short = journal.measured.values().filter(|measured| measured.cell.connections == ConnectionKind::Short);
    let crowded: Vec<u64> = short.map(|measured| measured.time_wait).filter(|sockets| *sockets > ports / 2).collect();
    let most = crowded.iter().max()?;
    Some(format!(
        "{} with short connections began with more than half of the {ports} local ports in TIME_WAIT ({most} sockets at most): \
         the cool-down was too short, or ended before its time.",
        counted(crowded.len() as u64, "measurement")
    ))
}

fn unreadable_gates(analysis: &Analysis) -> Vec<String> {
    let unreadable = analysis.experiment.gates.iter().filter(|gate| gate.parse::<Gate>().is_err());
    unreadable.map(|gate| format!("The gate '{gate}' cannot be read and was not applied.")).collect()
}
