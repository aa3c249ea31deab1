//! Sweeps that did not end, and targets that did not stay: nothing is told of what was not made.

use super::*;

fn of(entry: &Entry) -> Option<(&str, u64)> {
    match entry {
        Entry::Measured(one) => Some((one.cell.target.as_str(), one.cell.repeat)),
        _ => None,
    }
}

#[test]
fn repeats_are_those_that_were_made() {
    let (experiment, mut entries) = imagined(&ALIKE, 1).results();
    entries.retain(|entry| of(entry).is_some_and(|(_, repeat)| repeat <= 2));
    // The sweep ended in the middle of the second one.
    entries.pop();
    let analysis = Analysis::of(experiment, &entries);
    assert_eq!(analysis.repeats(), Some((1, 2)));
    assert!(
        analysis.method[0].starts_with("Each cell was measured 1 to 2 times, of 5 that were planned."),
        "{:?}",
        analysis.method
    );
    assert!(
        analysis.warnings.iter().any(|words| words.starts_with("Cells were measured only once")),
        "{:?}",
        analysis.warnings
    );
    assert_eq!((analysis.measured, analysis.expected, analysis.untried), (11, 30, 19));
}

#[test]
fn whoever_dropped_out_in_the_middle_took_part_until_then() {
    let (experiment, mut entries) = imagined(&ALIKE, 1).results();
    // The other one was left out after its fourth repeat, and the sweep was killed in the fifth.
    entries.retain(|entry| of(entry).is_some_and(|(_, repeat)| repeat <= 4));
    let reason = "it died twice".to_owned();
    entries.push(Entry::LeftOut(LeftOut { target: "other".to_owned(), document: None, reason }));
    let analysis = Analysis::of(experiment, &entries);
    assert_eq!((analysis.measured, analysis.expected, analysis.untried), (24, 27, 3));
    let expected = ["Only 24 of 27 measurements were made.", "other took no further part: it died twice."];
    assert_eq!(analysis.warnings[..2], expected);
}

/// Colours and marks belong to targets, whoever else is there.
#[test]
fn a_target_keeps_its_place_where_others_are_missing() {
    let targets = [ALIKE[0], ALIKE[1], Behaviour { name: "third", ..ALIKE[1] }];
    let (experiment, mut entries) = imagined(&targets, 1).results();
    entries.retain(|entry| of(entry).is_some_and(|(target, _)| target != "one"));
    let analysis = Analysis::of(experiment, &entries);
    let places: Vec<_> = analysis.groups[0].series.iter().map(|one| (one.target.as_str(), one.place)).collect();
    assert_eq!(places, [("other", 1), ("third", 2)]);
    assert!(analysis.method.iter().any(|words| words.starts_with("other and third were measured in blocks")));
}

#[test]
fn figures_at_the_ends_of_what_can_be_written_are_compared_all_the_same() {
    let (experiment, mut entries) = imagined(&ALIKE, 1).results();
    change(&mut entries, |one| one.cell.target == "one", |one| run_of(one).answered_per_s *= 1e-250);
    change(&mut entries, |one| one.cell.target == "other", |one| run_of(one).answered_per_s *= 1e250);
    let analysis = Analysis::of(experiment, &entries);
    let rates = analysis.headline(&analysis.groups[0], "other", Metric::RequestsPerSecond).unwrap();
    assert_eq!(rates.estimate().map(|estimate| estimate.word), Some(Word::Better));
}

/// Of a fault that has a figure, that of one run alone might be the mildest.
#[test]
fn a_fault_tells_of_all_the_repeats_that_have_it() {
    let (experiment, mut entries) = imagined(&ALIKE, 1).results();
    change(
        &mut entries,
        |one| one.cell.target == "other" && one.cell.concurrency == 500 && one.cell.repeat > 3,
        |one| {
            let repeat = one.cell.repeat;
            let run = run_of(one);
            run.client.achieved_concurrency = 100.0 * repeat as f64;
            run.verdict.doubts = vec![Doubt::ConcurrencyNotAchieved];
        },
    );
    let analysis = Analysis::of(experiment, &entries);
    let point = analysis.groups[0].series_of("other").unwrap().at(500).unwrap();
    assert_eq!(point.broken, ["on average only 400 to 500 of 500 connections were busy, in 2 of 5 repeats"]);
}

#[test]
fn the_level_is_shared_where_there_is_something_to_share_it_with() {
    let shares = |levels: &[u64]| {
        let (experiment, entries) = Imagined { levels, ..imagined(&ALIKE, 1) }.results();
        Analysis::of(experiment, &entries).method.iter().any(|words| words.contains("half of it"))
    };
    assert!(shares(&[50, 500]) && !shares(&[50]));
}

#[test]
fn what_limited_a_point_is_counted_where_repeats_differ() {
    let (experiment, mut entries) = imagined(&ALIKE, 1).results();
    change(
        &mut entries,
        |_| true,
        |one| {
            let limit =
                if one.cell.target == "other" && one.cell.repeat > 3 { Limit::ClientCpu } else { Limit::ServerCpu };
            run_of(one).verdict.limit = limit;
        },
    );
    let analysis = Analysis::of(experiment, &entries);
    let limited_by = |target: &str| analysis.groups[0].series_of(target).unwrap().at(500).unwrap().limited_by();
    assert_eq!(["one", "other"].map(limited_by), ["server CPU", "server CPU 3, client CPU 2"]);
}
