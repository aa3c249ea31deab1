use std::collections::BTreeMap;

use regex_lite::Regex;
use roxmltree::{Document, Node};

use super::*;
use crate::analysis::Analysis;
use crate::analysis::sample::{self, Behaviour, Imagined};
use crate::record::experiment::ConnectionKind;

/// A chart as XML, which is stricter than HTML.
fn drawn(group: &Group, quantity: Quantity, size: Size) -> String {
    of(group, quantity, size).expect("it was measured").file()
}

fn with_class<'a>(svg: &'a Document<'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let has =
        |node: &Node<'_, '_>| node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class));
    svg.descendants().filter(has).collect()
}

fn texts<'a>(svg: &'a Document<'a>) -> Vec<&'a str> {
    svg.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect()
}

/// What a mark says when it is pointed at.
fn title(mark: &Node<'_, '_>) -> Option<String> {
    mark.parent()?.first_element_child()?.text().map(str::to_owned)
}

/// Of many targets at many concurrencies.
fn large() -> Analysis {
    let levels: Vec<u64> = (1..=40).map(|n| n * 50).collect();
    let names = ["a", "b", "c", "d", "e", "f"];
    let targets = names.map(|name| Behaviour { name, per_s: 20_000.0, cpu_us: 40.0 });
    let (experiment, entries) = Imagined {
        targets: &targets,
        documents: &[("1k.html", 1024)],
        kinds: &[ConnectionKind::Short],
        levels: &levels,
        repeats: 2,
        noise: 0.05,
        drift: 0.0,
        seed: 1,
    }
    .results();
    Analysis::of(experiment, &entries)
}

#[test]
fn every_point_has_a_mark_that_says_its_figures() {
    let analysis = sample::analysis();
    let svg = drawn(&analysis.groups[0], Quantity::Requests, WIDE);
    let svg = Document::parse(&svg).unwrap();
    let marks = with_class(&svg, "mark");
    assert_eq!(marks.len(), 3 * 3 + 3, "three targets and something published at three concurrencies");
    let titles: Vec<_> = marks.iter().filter_map(title).collect();
    let expected = "tomcat, 50 connections: 19,055 requests/s (median of 12 repeats, 16,858 to 19,998)";
    assert!(titles.iter().any(|title| title == expected), "{titles:?}");
    assert!(
        titles.iter().any(|title| title == "tomcat 7, published, 500 connections: 8,500 requests/s (a paper)"),
        "{titles:?}"
    );
}

#[test]
fn what_takes_no_part_in_a_verdict_is_hollow_and_says_why() {
    let analysis = sample::analysis();
    let hollow = |quantity| {
        let svg = drawn(&analysis.groups[0], quantity, SMALL);
        let svg = Document::parse(&svg).unwrap();
        with_class(&svg, "hollow").iter().filter_map(title).collect::<Vec<_>>()
    };
    let [only] = &hollow(Quantity::Requests)[..] else { panic!("jetty at 1000") };
    assert!(only.starts_with("jetty, 1,000 connections: "), "{only}");
    assert!(only.ends_with("Takes no part in a verdict: 20 of 20000 requests failed, in 2 of 12 repeats"), "{only}");
    // No line goes through it.
    let svg = drawn(&analysis.groups[0], Quantity::Requests, SMALL);
    let svg = Document::parse(&svg).unwrap();
    let line = with_class(&svg, "line").into_iter().find(|line| line.attribute("class") == Some("line c2")).unwrap();
    assert_eq!(line.attribute("d").unwrap().matches('L').count(), 1, "two points of three");
}

/// When the client had no CPU left, requests/s says little of the server, and its CPU for each request says as much as ever.
#[test]
fn a_fault_is_shown_where_it_matters() {
    let analysis = sample::analysis();
    let group = analysis
        .groups
        .iter()
        .find(|group| group.document.name == "100k.html" && group.connections == ConnectionKind::KeepAlive);
    let hollow = |quantity| drawn(group.unwrap(), quantity, SMALL).matches("mark hollow").count();
    assert_eq!([Quantity::Requests, Quantity::P99, Quantity::ServerCpu].map(hollow), [6, 6, 0]);
}

#[test]
fn one_or_two_concurrencies_are_rows() {
    let analysis = sample::portrait();
    let svg = drawn(&analysis.groups[0], Quantity::Requests, SMALL);
    let svg = Document::parse(&svg).unwrap();
    assert!(with_class(&svg, "line").is_empty());
    let texts = texts(&svg);
    for text in ["50 connections", "500 connections", "51,063"] {
        assert!(texts.contains(&text), "{text} in {texts:?}");
    }
}

#[test]
fn names_stand_beside_their_lines_where_there_is_room() {
    let analysis = sample::analysis();
    let names = |size| {
        let svg = drawn(&analysis.groups[0], Quantity::Requests, size);
        let svg = Document::parse(&svg).unwrap();
        texts(&svg)
            .into_iter()
            .filter(|text| ["tomcat", "nginx", "jetty", "tomcat 7, published"].contains(text))
            .count()
    };
    assert_eq!([names(WIDE), names(NARROW)], [4, 0]);
}

#[test]
fn nothing_is_drawn_outside_of_the_picture() {
    let number = Regex::new(r"[ML]\s*(-?[0-9.]+) (-?[0-9.]+)").unwrap();
    for (analysis, size) in
        [(large(), WIDE), (large(), SMALL), (sample::analysis(), NARROW), (sample::portrait(), SMALL)]
    {
        for quantity in Quantity::ALL {
            let drawing = of(&analysis.groups[0], quantity, size).unwrap();
            let inline = drawing.inline("id").into_string();
            let view: Vec<f64> = Regex::new(r#"viewBox="0 0 (\d+) (\d+)""#)
                .unwrap()
                .captures(&inline)
                .map(|found| [&found[1], &found[2]].map(|size| size.parse().unwrap()).to_vec())
                .unwrap();
            for found in number.captures_iter(&inline) {
                let [x, y]: [f64; 2] = [found[1].parse().unwrap(), found[2].parse().unwrap()];
                assert!(
                    (-1.0..=view[0] + 1.0).contains(&x) && (-1.0..=view[1] + 1.0).contains(&y),
                    "{quantity:?}: {x} {y}"
                );
            }
        }
    }
}

#[test]
fn files_stand_alone() {
    let analysis = sample::analysis();
    let files = crate::report::charts::files(&analysis);
    let files: BTreeMap<_, _> = files.into_iter().map(|file| (file.name, file.svg)).collect();
    assert_eq!(files.len(), 2 + 4 * 3, "ratios of both metrics, and three quantities of four groups");
    let names: Vec<_> = files.keys().map(String::as_str).collect();
    assert!(
        names.contains(&"charts/01-1k.html-short-requests.svg") && names.contains(&"charts/ratios-server-cpu.svg"),
        "{names:?}"
    );
    for (name, svg) in &files {
        let svg = Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(svg.root_element().descendants().any(|node| node.has_tag_name("style")), "{name}");
        assert!(
            texts(&svg).iter().any(|text| text.contains(": ") || text.contains(", as a ratio to tomcat")),
            "{name}"
        );
    }
}

/// The style sheet's values of one scheme.
fn colours(dark: bool) -> BTreeMap<String, [f64; 3]> {
    let (light, rest) = STYLE.split_once("@media").unwrap();
    let scheme = if dark { rest } else { light };
    let declared = Regex::new(r"--(\w+): #(\w{2})(\w{2})(\w{2});").unwrap();
    let channel = |text: &str| {
        let value = f64::from(u8::from_str_radix(text, 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    declared.captures_iter(scheme).map(|found| (found[1].to_owned(), [2, 3, 4].map(|at| channel(&found[at])))).collect()
}

/// WCAG 2.2: text needs 4.5, what is drawn 3.
#[test]
fn colours_can_be_seen_on_both_grounds() {
    let luminance = |[r, g, b]: [f64; 3]| 0.2126 * r + 0.7152 * g + 0.0722 * b;
    for dark in [false, true] {
        let colours = colours(dark);
        assert_eq!(colours.len(), 13);
        let ground = luminance(colours["surface"]);
        for (name, colour) in &colours {
            let least = match name.as_str() {
                "words" | "muted" => 4.5,
                // They are there to be overlooked.
                "surface" | "grid" | "band" | "axis" => continue,
                _ => 3.0,
            };
            let pair = [luminance(*colour) + 0.05, ground + 0.05];
            let contrast = pair[0].max(pair[1]) / pair[0].min(pair[1]);
            assert!(contrast >= least, "{name}, dark {dark}: {contrast:.2}");
        }
    }
}

/// Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15
/// (2009), severity 1.0: red-blind, green-blind, blue-blind; for linear RGB.
const DEFICIENCIES: [[[f64; 3]; 3]; 3] = [
    [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
    [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
    [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]],
];

#[test]
fn six_colours_differ_for_every_eye() {
    const SEEN: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for dark in [false, true] {
        let colours = colours(dark);
        let six: Vec<_> = (0..6).map(|place| colours[&format!("c{place}")]).collect();
        for eye in DEFICIENCIES.into_iter().chain([SEEN]) {
            let seen: Vec<_> =
                six.iter().map(|colour| oklab(eye.map(|row| dot(row, *colour).clamp(0.0, 1.0)))).collect();
            for (at, one) in seen.iter().enumerate() {
                for (other_at, other) in seen.iter().enumerate().skip(at + 1) {
                    let distance = one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    // 0.02 is about what can just be told apart side by side.
                    assert!(distance > 0.1, "c{at} and c{other_at}, dark {dark}: {distance:.3}");
                }
            }
        }
    }
}

fn dot(row: [f64; 3], colour: [f64; 3]) -> f64 {
    row.iter().zip(colour).map(|(a, b)| a * b).sum()
}

/// Björn Ottosson's space, in which distances are about what eyes see.
fn oklab(colour: [f64; 3]) -> [f64; 3] {
    let lms = [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
    ]
    .map(|row| dot(row, colour).cbrt());
    [
        [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
    ]
    .map(|row| dot(row, lms))
}
