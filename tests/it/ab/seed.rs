//! The loop that people run ab in, and the pipeline that they read its reports with.

use std::fs;
use std::process::Command;

use crate::ab::{ours, stderr};
use crate::harness::{Launch, machine_to_myself};
use crate::peers::fixtures;

/// Concurrency levels: two of the loop's range of 50 to 500, and one with three digits that sorts behind by number only.
const LEVELS: [&str; 3] = ["50", "100", "450"];

#[test]
fn the_pipeline_reads_one_line_of_each_file() {
    let _alone = machine_to_myself();
    let server = Launch::over(&fixtures()).start();
    let folder = tempfile::tempdir().expect("a temporary folder");
    for document in ["1k", "300k"] {
        for level in LEVELS {
            let output = ours(&["-n", "450", "-c", level, &server.url(&format!("/{document}.html"))]);
            assert!(output.status.success(), "{document} {level}: {}", stderr(&output));
            fs::write(folder.path().join(format!("{document}_{level}")), &output.stdout).expect("a file");
        }
    }
    let pipeline = r#"grep "Requests per second:" 300k_* | awk -F':' '{print substr($1,6),$3}' | sort -n"#;
    let output = Command::new("sh").args(["-c", pipeline]).current_dir(&folder).output().expect("a shell");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let levels: Vec<_> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(levels, LEVELS, "{text}");
    for row in rows {
        assert_eq!(row[2..], ["[#/sec]", "(mean)"], "{text}");
        assert!(row[1].parse::<f64>().is_ok_and(|rate| rate > 0.0), "{text}");
    }
}
