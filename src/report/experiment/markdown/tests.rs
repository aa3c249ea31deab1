use super::*;
use crate::analysis::sample;

/// Lines below a heading, up to the next one.
fn below<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.starts_with("## ")).collect()
}

#[test]
fn the_page_has_its_parts_in_order() {
    let text = render(&sample::analysis(), &[]);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    let expected = [
        "# Which of these servers answers more requests?",
        "## Answer",
        "## Warnings",
        "## 1k.html (1.00 KiB), short connections",
        "## 1k.html (1.00 KiB), keep-alive connections",
        "## 100k.html (100 KiB), short connections",
        "## 100k.html (100 KiB), keep-alive connections",
        "## How it was measured",
        "## Machine",
    ];
    assert_eq!(headings, expected);
    let origin =
        "Plan imagined, 359 of 432 measurements, 12 repeats planned, by quintain 0.1.0, begun 2026-12-01 06:18 UTC.";
    assert_eq!(text.lines().nth(2), Some(origin));
}

#[test]
fn a_document_has_figures_comparisons_and_faults() {
    let text = render(&sample::analysis(), &[]);
    let short = below(&text, "## 1k.html (1.00 KiB), short connections");
    let has = |line: &str| assert!(short.contains(&line), "{short:#?}");
    has(
        "| 50 | nginx | 24679 | 21528 to 26379 (13 %) | 1.29 better | 25.1 us | 0.601 better | 2.02 ms | 4.01 ms | 40.0 MiB | 0 \
         |",
    );
    has(
        "- requests/s, jetty to tomcat: 1.003 (0.994 to 1.011), **no difference shown**, p = 1.0000 (t, Holm), p = 1.0000 \
         (Wilcoxon), 12 pairs over c = 50, 500",
    );
    has("- \\* not valid for requests/s: 20 of 20000 requests failed, in 2 of 12 repeats: jetty at 1000");
    has("- \\* not valid for server CPU: 20 of 20000 requests failed, in 2 of 12 repeats: jetty at 1000");
    has("- jetty at 1000 failed: 20 reset");
    let hollow = short.iter().find(|line| line.starts_with("| 1000 | jetty |")).unwrap();
    assert!(hollow.contains("| 18835 \\* |") && hollow.contains(" | - | "), "{hollow}");
}

#[test]
fn cpu_that_takes_no_part_has_a_star_too() {
    let text = render(&sample::lost_process(), &[]);
    assert!(text.contains("| 50 | b | 26000 | 26000 to 26000 (0 %) | 1.30 better | 24.0 us \\* | - |"), "{text}");
    assert!(text.contains("\n- \\* not valid for server CPU: a process of the server ended"), "{text}");
}

#[test]
fn rows_of_a_table_have_the_columns_of_its_head() {
    for analysis in [sample::analysis(), sample::portrait()] {
        let mut columns = 0;
        for line in render(&analysis, &[]).lines() {
            let here = line.replace("\\|", "").matches('|').count();
            assert!(columns == 0 || here == 0 || columns == here, "{line}");
            columns = here;
        }
    }
}

#[test]
fn charts_stand_where_their_figures_are() {
    let chart = Chart {
        document: "100k.html".to_owned(),
        connections: ConnectionKind::Short,
        title: "Requests per second [100k.html]".to_owned(),
        file: "rate-100k-short.svg".to_owned(),
    };
    let text = render(&sample::analysis(), &[chart]);
    let line = "![Requests per second \\[100k.html\\]](rate-100k-short.svg)";
    assert_eq!(below(&text, "## 100k.html (100 KiB), short connections")[1], line);
    assert_eq!(text.matches("![").count(), 1);
}

/// A server says what it likes in its `Server` line, which is its version here.
#[test]
fn what_servers_and_plans_say_is_no_markup() {
    let mut analysis = sample::portrait();
    analysis.experiment.targets[0].version = "x | <img src=y>\n# z".to_owned();
    analysis.warnings = vec!["*bold* [link](to) &lt; \u{202e}turned".to_owned()];
    (analysis.experiment.plan, analysis.experiment.tool) = ("`\n\n# x".to_owned(), "<b>tool</b>".to_owned());
    let text = render(&analysis, &[]);
    assert!(text.contains("| x \\| \\<img src=y\\> \\# z |"), "{text}");
    assert!(text.contains("\nPlan \\`  \\# x, 24 of 24"), "{text}");
    assert!(text.contains(", by \\<b\\>tool\\</b\\>, begun"), "{text}");
    assert!(text.contains("- \\*bold\\* \\[link\\](to) \\&lt; \u{fffd}turned\n"), "{text}");
}

#[test]
fn nothing_has_no_tables_of_figures() {
    let text = render(&sample::nothing(), &[]);
    assert!(text.contains("- Nothing was measured, so nothing is answered.\n"), "{text}");
    assert!(!text.contains("| c |"), "{text}");
}
