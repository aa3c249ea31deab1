use std::collections::BTreeSet;

use regex_lite::Regex;

use super::*;
use crate::analysis::Spread;
use crate::analysis::across::{Across, Side};
use crate::analysis::sample::{self, Behaviour, Imagined};
use crate::record::experiment::{ConnectionKind, Entry, LeftOut};

/// All that a pattern's first group finds.
fn found<'a>(pattern: &str, page: &'a str) -> Vec<&'a str> {
    let pattern = Regex::new(pattern).unwrap();
    pattern.captures_iter(page).map(|found| found.get(1).unwrap().as_str()).collect()
}

fn pages() -> [String; 4] {
    let [several, alone, nothing] = [sample::analysis(), sample::portrait(), sample::nothing()];
    let across = Across::of(side("results/old", sample::analysis()), side("results/new", later()));
    [render(&several), render(&alone), render(&nothing), across::render(&across)]
}

fn side(name: &str, analysis: Analysis) -> Side {
    Side { name: name.to_owned(), analysis }
}

/// The usual sample on another kernel, with the CPU of all twice as dear.
fn later() -> Analysis {
    let mut analysis = sample::analysis();
    analysis.experiment.machine.kernel = "6.18.0".to_owned();
    for series in analysis.groups.iter_mut().flat_map(|group| &mut group.series) {
        for cpu in series.points.iter_mut().filter_map(|point| point.server_cpu_us.as_mut()) {
            *cpu = Spread::of(cpu.values.iter().map(|us| us * 2.0).collect()).expect("as many as before");
        }
    }
    analysis
}

#[test]
fn every_reference_leads_somewhere_and_no_id_is_there_twice() {
    for page in pages() {
        let ids = found(r#" id="([^"]*)""#, &page);
        let known: BTreeSet<_> = ids.iter().copied().collect();
        assert_eq!(known.len(), ids.len(), "an id is there twice");
        let labels = found(r#"aria-labelledby="([^"]*)""#, &page).into_iter().flat_map(|label| label.split(' '));
        let links = found(r##"href="#([^"]*)""##, &page).into_iter();
        let lost: Vec<_> = labels.chain(links).filter(|id| !known.contains(id)).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}

#[test]
fn headings_go_down_by_one() {
    for page in pages() {
        let levels: Vec<u32> = found(r"<h([1-6])", &page).iter().map(|level| level.parse().unwrap()).collect();
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    }
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    for page in pages() {
        let loaded =
            Regex::new(r#"(?i)<script|<iframe|<object|<embed|<img|<base|@import|url\(|\son\w+=|src=|srcset="#).unwrap();
        assert_eq!(loaded.find(&page).map(|found| found.as_str()), None);
        let links: BTreeSet<_> = found(r##"href="([^"#][^"]*)""##, &page).into_iter().collect();
        assert_eq!(links, BTreeSet::from(["data:,"]), "the icon is the only link that does not stay in the page");
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn the_parts_are_those_that_have_something_to_say() {
    let parts = |page: &str| found(r#"<section id="([^"]*)""#, page).join(" ");
    let [several, alone, nothing, across] = pages();
    assert_eq!(parts(&several), "glance targets charts figures endings machine method warnings comparisons");
    assert_eq!(parts(&alone), "glance targets charts figures endings machine method warnings");
    assert_eq!(parts(&nothing), "targets machine method warnings");
    assert_eq!(parts(&across), "glance differences warnings method comparisons");
}

#[test]
fn question_and_answer_come_first_and_what_is_missing_is_told() {
    let analysis = sample::analysis();
    let page = render(&analysis);
    let body = page.split_once("<body>").unwrap().1;
    let places =
        ["<h1>Which of these servers", "class=\"lead\"", "<strong>Incomplete: </strong>359 of 432", "warnings</a>"];
    let places = places.map(|text| body.find(text).unwrap_or_else(|| panic!("{text}")));
    assert!(places.is_sorted() && places[3] < body.find("<main>").unwrap(), "{places:?}");
    assert!(!body.contains("sweep --resume"), "all that is missing was tried or left out");
    assert!(render(&sample::nothing()).contains("sweep --resume"));
    assert!(!render(&sample::portrait()).contains("Incomplete"));
}

#[test]
fn figures_reasons_and_verdicts_are_there() {
    let page = render(&sample::analysis());
    let texts = [
        "20 of 20,000 requests failed, in 2 of 12 repeats",
        "the client had no CPU left",
        "38 comparisons with tomcat could be made, of 48",
        ">faster<",
        ">slower<",
        ">cheaper<",
        ">dearer<",
        ">borderline<",
        ">no difference shown<",
        "tomcat 7, published (a paper)",
        "net.ipv4.tcp_tw_reuse",
        "jetty took no part at 100k.html",
    ];
    for text in texts {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn cpu_that_takes_no_part_is_hollow_and_has_its_reason() {
    let hollow = r#"<td class="figures hollow"><span class="sign" title="takes no part in a verdict">○ </span>24.0 µs"#;
    let page = render(&sample::lost_process());
    assert_eq!(page.matches(hollow).count(), 1);
    assert!(page.contains("a process of the server ended, in 1 of 6 repeats (CPU only)</td>"), "no reason");
    let mut alone = sample::lost_process();
    alone.experiment.targets.remove(0);
    alone.groups[0].series.remove(0);
    alone.comparisons.clear();
    assert_eq!(render(&alone).matches(hollow).count(), 2, "at a glance, and in the figures");
}

#[test]
fn what_was_published_of_other_concurrencies_has_no_part() {
    let listed = |analysis: &Analysis| render(analysis).contains("tomcat 7, published (a paper)");
    let mut analysis = sample::analysis();
    assert!(listed(&analysis));
    for figure in analysis.groups.iter_mut().flat_map(|group| &mut group.published) {
        figure.concurrency += 5000;
    }
    assert!(!listed(&analysis), "it is not drawn");
}

/// Server lines, plan files and reasons are what somebody else wrote.
#[test]
fn hostile_names_stay_text() {
    const EVIL: &str = "<script>alert(1)</script>\"><img src=x onerror=alert(1)>'&lt;\u{202e}\u{0}";
    let mut imagined = Imagined {
        targets: &[
            Behaviour { name: EVIL, per_s: 20_000.0, cpu_us: 40.0 },
            Behaviour { name: "b", per_s: 26_000.0, cpu_us: 24.0 },
        ],
        documents: &[(EVIL, 1024)],
        kinds: &[ConnectionKind::Short],
        levels: &[1, 2, 3],
        repeats: 6,
        noise: 0.01,
        drift: 0.0,
        seed: 1,
    };
    imagined.seed += 1;
    let (mut experiment, mut entries) = imagined.results();
    experiment.question = EVIL.to_owned();
    experiment.plan = EVIL.to_owned();
    experiment.tool = EVIL.to_owned();
    experiment.machine.kernel = EVIL.to_owned();
    experiment.machine.sysctls.insert(EVIL.to_owned(), EVIL.to_owned());
    experiment.gates.push(EVIL.to_owned());
    for target in &mut experiment.targets {
        (target.version, target.url, target.command) = (EVIL.to_owned(), EVIL.to_owned(), vec![EVIL.to_owned()]);
    }
    let reason = EVIL.to_owned();
    entries.push(Entry::LeftOut(LeftOut { target: EVIL.to_owned(), document: Some(EVIL.to_owned()), reason }));
    let page = render(&Analysis::of(experiment, &entries));
    let tags: BTreeSet<_> = found(r"<([a-zA-Z]+)", &page).into_iter().collect();
    for tag in ["script", "img"] {
        assert!(!tags.contains(tag), "{tag}");
    }
    // In text a quotation mark is escaped, so that what stands between two of them is an attribute's value.
    let without_values = Regex::new(r#""[^"]*""#).unwrap().replace_all(&page, "");
    assert!(!Regex::new(r"<[^>]*onerror").unwrap().is_match(&without_values));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;&lt;img src=x"));
    assert!(!page.contains(['\u{202e}', '\u{0}']));
}

#[test]
fn every_chart_says_in_words_what_it_shows() {
    let page = render(&sample::analysis());
    let charts = page.matches("<svg class=\"chart\"").count();
    assert_eq!(charts, page.matches("<desc").count());
    assert_eq!(charts, 2 * 2 + 4 * (2 + 6), "two charts at a glance in two widths; four groups of one such and six");
    assert!(page.contains("<desc id=\"group-1-requests-words\">tomcat: 19,055 at 50"), "words of the first chart");
}

#[test]
fn two_results_say_what_changed_and_what_else_differs() {
    let [_, _, _, page] = pages();
    let texts = [
        "<h1>results/new beside results/old</h1>",
        "<th scope=\"row\">kernel</th><td>6.12.0</td><td>6.18.0</td>",
        ">dearer<",
        "2.00×",
        "results/new beside results/old</title>",
        "Ratios of results/new to results/old",
    ];
    for text in texts {
        assert!(page.contains(text), "{text}");
    }
    let text = crate::report::across::render(&Across::of(side("old", sample::analysis()), side("new", later())));
    assert!(text.starts_with("new beside old\n\n1k.html, short connections\n"), "{text}");
    assert!(text.contains("\n  nginx ") && text.contains(" worse\n"), "{text}");
    assert!(text.contains("\nDiffers     kernel: 6.12.0, now 6.18.0\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100 && line.trim_end() == line), "{text}");
}
