//! The page as it is seen: on a desk and on a phone, light and dark.

use std::fs;

use super::browser::{Browser, Scheme, Seen};
use super::folder::Shape;
use super::{report, reported};
use crate::harness::{Answer, TruthServer};

const DESK: u32 = 1280;
const PHONE: u32 = 390;
/// WCAG 2.2, 1.4.3, for text of any size.
const CONTRAST: f64 = 4.5;

/// The page of a folder like this.
fn page(shape: &Shape) -> String {
    let folder = shape.folder();
    reported(folder.path());
    fs::read_to_string(folder.path().join("report.html")).expect("it is there")
}

/// Looks at a page in all ways, and requires of each what holds for all: at least so many charts.
#[track_caller]
fn look_well(browser: &Browser, page: &str, charts: usize) {
    let ways = [(DESK, Scheme::Light), (DESK, Scheme::Dark), (PHONE, Scheme::Light), (PHONE, Scheme::Dark)];
    let seen = ways.map(|(width, scheme)| (width, scheme, browser.look(page, width, scheme)));
    for (width, scheme, seen) in &seen {
        let way = format!("{width} px, {scheme:?}");
        assert_eq!(seen.console, Vec::<String>::new(), "{way}");
        assert_eq!(seen.loaded, Vec::<String>::new(), "{way}");
        assert_eq!(seen.window_width, f64::from(*width), "{way}: the frame is as wide as it was asked for");
        assert!(seen.content_width <= seen.window_width, "{way}: it scrolls sideways, {} px", seen.content_width);
        assert!(seen.texts > 100, "{way}: {} texts", seen.texts);
        let Seen { least_contrast, faintest, .. } = seen;
        assert!(*least_contrast >= CONTRAST, "{way}: {faintest:?} has a contrast of {least_contrast:.2}");
        assert_eq!(seen.overlaps, Vec::<String>::new(), "{way}");
        charts_are_there(seen, &way, charts);
    }
    let [ground, dark] = [&seen[0].2.background, &seen[1].2.background];
    assert_ne!(ground, dark, "dark is not light");
}

#[track_caller]
fn charts_are_there(seen: &Seen, way: &str, least: usize) {
    assert!(seen.charts.len() >= least, "{way}: {} charts", seen.charts.len());
    assert!(seen.hidden_charts > 0, "{way}: there is one for the other width, which is not shown");
    for chart in &seen.charts {
        assert!(chart.width > 250.0 && chart.height > 50.0 && chart.marks > 0, "{way}: {chart:?}");
        assert!(chart.left >= 0.0 && chart.right <= seen.window_width, "{way}: {chart:?}");
        assert_eq!(chart.cut_off, Vec::<String>::new(), "{way}: {}", chart.id);
    }
}

#[test]
fn several_servers() {
    let Some(browser) = Browser::find() else { return };
    look_well(&browser, &page(&Shape::usual()), 2 + 2 * 7);
}

#[test]
fn one_server_and_two_concurrencies() {
    let Some(browser) = Browser::find() else { return };
    look_well(&browser, &page(&Shape::alone()), 4 * 7);
}

#[test]
fn forty_concurrencies_and_six_servers() {
    let Some(browser) = Browser::find() else { return };
    look_well(&browser, &page(&Shape::large()), 2 + 7);
}

#[test]
fn two_results_beside_each_other() {
    let Some(browser) = Browser::find() else { return };
    let [before, after] = [Shape::usual(), Shape::usual().faster("jetty", 1.2)].map(|shape| shape.folder());
    let ran = report(&[before.path(), after.path()]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let page = fs::read_to_string(after.path().join("comparison.html")).expect("it is there");
    look_well(&browser, &page, 2);
}

#[test]
fn names_that_would_be_more_than_names() {
    let Some(browser) = Browser::find() else { return };
    let page = page(&Shape::hostile());
    look_well(&browser, &page, 2 + 2 * 7);
    assert_eq!(browser.look(&page, DESK, Scheme::Light).title, "Which of these servers answers more requests?");
}

/// What the tests above look for can be seen at all: without this they might pass for want of eyes.
#[test]
fn a_bad_page_is_seen_to_be_bad() {
    let Some(browser) = Browser::find() else { return };
    let elsewhere = TruthServer::answering(|_| Answer::ok("no picture"));
    let bad = format!(
        "<!DOCTYPE html><title>bad</title><style>p {{ color: #999; width: 700px }}</style><p>faint</p>\
        <svg class='chart' id='c' width='300' height='100'><text x='280' y='50'>far out</text>\
        <text x='10' y='50'>one over</text><text x='12' y='52'>the other</text><path class='mark' d='M-90 0h5v5h-5z'/></svg>\
        <script>console.error('an error'); document.title = 'run'</script><img src='{}'>",
        elsewhere.url("/picture.png")
    );
    let seen = browser.look(&bad, PHONE, Scheme::Light);
    assert_eq!(seen.title, "run");
    assert!(seen.console.iter().any(|line| line.contains("an error")), "{seen:?}");
    assert!(seen.content_width > 700.0 && seen.least_contrast < 3.0 && seen.faintest == "faint", "{seen:?}");
    assert!(seen.overlaps.iter().any(|pair| pair == "c: one over and the other"), "{seen:?}");
    assert!(seen.loaded.iter().any(|name| name.ends_with("/picture.png")), "{seen:?}");
    let [chart] = &seen.charts[..] else { panic!("{seen:?}") };
    assert_eq!((chart.marks, chart.cut_off.as_slice()), (0, &["far out".to_owned()][..]), "{seen:?}");
}
