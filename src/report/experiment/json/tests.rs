//! The schema that is published is the schema of the code, and summaries keep to it.

use std::path::PathBuf;

use serde_json::Value;

use super::*;
use crate::analysis::sample;

/// Set in the environment, it makes the test write the file instead of comparing it.
const RENEW: &str = "QUINTAIN_RENEW_SCHEMA";

fn schema() -> Value {
    schemars::schema_for!(shape::Summary).to_value()
}

#[test]
fn the_published_schema_is_that_of_the_code() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schema/summary.json");
    let made = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
    if std::env::var_os(RENEW).is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    // Not assert_eq: two long texts say less than the way out.
    assert!(
        std::fs::read_to_string(&file).unwrap_or_default() == made,
        "schema/summary.json is not what src/report/experiment/json says. Where the change is meant, renew the file: {RENEW}=1 \
         cargo test --lib experiment::json, and think of VERSION"
    );
}

#[test]
fn summaries_keep_to_the_schema() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for analysis in [sample::analysis(), sample::portrait(), sample::nothing()] {
        let text = render(&analysis).unwrap();
        assert!(text.ends_with("}\n"));
        let summary: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<_> = validator.iter_errors(&summary).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn it_says_what_the_analysis_says() {
    let analysis = sample::analysis();
    let summary: Value = serde_json::from_str(&render(&analysis).unwrap()).unwrap();
    assert_eq!(summary["version"], 1);
    assert_eq!(summary["answer"][0], analysis.answer[0].as_str());
    assert_eq!(summary["compared"], analysis.compared());
    let comparisons = summary["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), analysis.comparisons.len());
    for (written, meant) in comparisons.iter().zip(&analysis.comparisons) {
        assert_ne!(written["estimate"].is_null(), written["not_comparable"].is_null());
        assert_eq!(written["estimate"].is_null(), meant.estimate().is_none());
    }
    let words: std::collections::BTreeSet<_> =
        comparisons.iter().filter_map(|one| one["estimate"]["word"].as_str()).collect();
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["better", "borderline", "no-difference-shown", "worse"]);
    let hollow = &summary["groups"][3]["series"][0]["points"][0];
    assert_eq!((&hollow["valid_for_requests_per_s"], &hollow["valid_for_server_cpu"]), (&false.into(), &true.into()));
    assert_eq!(hollow["faults"][0], "the client had no CPU left, in all 12 repeats");
}
