//! A real sweep of a server against itself.

use quintain::analysis::{Analysis, Word};

use super::bench::Bench;

/// Two targets that differ in nothing but their names.
const TWINS: &str = r#"
    [[target]]
    name = "one"
    serve = []

    [[target]]
    name = "other"
    serve = []
"#;

/// Six repeats are the fewest with which ranks can speak. The band is wider than the usual one, since the other tests
/// run beside this one and each run is short.
const SIX_TIMES: &str = r#"
    concurrency = [4, 16]
    requests = 300

    [order]
    repeats = 6
    warm_up = { cycles = 1, duration = "100ms" }

    [gates]
    band = 0.05
"#;

/// What is said of one sweep, and of how many comparisons.
fn words_of_a_sweep() -> Vec<Word> {
    let bench = Bench::new(TWINS, SIX_TIMES);
    bench.begin().finish().requires(0, "");
    let results = bench.results();
    let analysis = Analysis::of(results.experiment, &results.entries);
    assert_eq!(analysis.measured, 2 * 2 * 2 * 6, "{:?}", analysis.warnings);
    analysis.comparisons.iter().filter_map(|comparison| comparison.estimate()).map(|estimate| estimate.word).collect()
}

/// By its own rules a report finds something in nothing once in twenty times at most; twice in a row it may not.
#[test]
fn a_server_against_itself_shows_no_difference() {
    let is_silent = |words: &[Word]| words.iter().all(|word| *word == Word::NoDifferenceShown);
    let first = words_of_a_sweep();
    // The server's CPU can be compared whatever the client had left: a curve and two levels, of two documents.
    assert!(first.len() >= 6, "{first:?}");
    if !is_silent(&first) {
        let second = words_of_a_sweep();
        assert!(is_silent(&second), "{first:?}, and then {second:?}");
    }
}
