//! The schema that is published is the schema of the code, and it holds what it promises.

use std::path::PathBuf;

use serde_json::Value;

use super::*;

/// Set in the environment, it makes the test write the file instead of comparing it.
const RENEW: &str = "QUINTAIN_RENEW_SCHEMA";

fn schema() -> Value {
    schemars::schema_for!(Record).to_value()
}

fn schema_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schema/load-record.json")
}

#[test]
fn the_published_schema_is_that_of_the_code() {
    let made = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
    if std::env::var_os(RENEW).is_some() {
        std::fs::create_dir_all(schema_file().parent().unwrap()).unwrap();
        std::fs::write(schema_file(), &made).unwrap();
    }
    let published = std::fs::read_to_string(schema_file()).unwrap_or_default();
    // Not assert_eq: two texts of 900 lines say less than the way out.
    assert!(
        published == made,
        "schema/load-record.json is not what src/record says. Where the change is meant, renew the file: \
         {RENEW}=1 cargo test --lib record, and think of VERSION"
    );
}

#[test]
fn records_keep_to_the_schema() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let steps = sample::curve(Kind::FindMax, vec![sample::open_run(1_000.0, 1.0), sample::run()]);
    for record in [sample::record(), Record { found_rate_per_s: Some(1_000.0), ..steps }] {
        let json = serde_json::to_value(record).unwrap();
        let errors: Vec<_> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn the_schema_refuses_what_is_no_record() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let with = |pointer: &str, value: Option<Value>| {
        let mut json = serde_json::to_value(sample::record()).unwrap();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = json.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
        match value {
            Some(value) => parent.insert(name.to_owned(), value),
            None => parent.remove(name),
        };
        validator.is_valid(&json)
    };
    assert!(with("/version", Some(1.into())));
    assert!(!with("/version", None));
    assert!(!with("/version", Some("1".into())));
    assert!(!with("/kind", Some("none-of-them".into())));
    assert!(!with("/runs/0/elapsed_s", None));
    assert!(!with("/runs/0/endings/ok", Some((-1).into())));
    assert!(!with("/runs/0/latency/total/percentiles_ns", Some("50".into())));
    assert!(!with("/runs/0/verdict/limit", Some("moon".into())));
}
