//! A reading of `/metrics`, as Prometheus would take it.

use super::{Client, Endpoint};

/// Samples of one moment: name with labels, and value.
#[derive(Debug)]
pub struct Metrics(Vec<(String, f64)>);

impl Metrics {
    /// Scrapes and parses; every line must be a comment or a sample.
    #[track_caller]
    pub fn scrape(admin: &Endpoint) -> Self {
        let response = Client::connect(admin).get_with("/metrics", "Connection: close\r\n");
        assert_eq!(response.status, 200, "{}", response.text());
        let text = response.text();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(lines.map(sample).collect())
    }

    /// The sum over all series of a family that carry all of `labels` (`class="2xx"`).
    #[track_caller]
    pub fn sum(&self, family: &str, labels: &[&str]) -> f64 {
        let mut found = self.0.iter().filter(|(series, _)| {
            let (name, rest) = series.split_once('{').unwrap_or((series, ""));
            name == family && labels.iter().all(|label| rest.contains(label))
        });
        let first = found.next().unwrap_or_else(|| panic!("/metrics has no {family} with {labels:?}: {:#?}", self.0));
        first.1 + found.map(|(_, value)| value).sum::<f64>()
    }
}

#[track_caller]
fn sample(line: &str) -> (String, f64) {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line:?}"));
    (series.to_owned(), value.parse().unwrap_or_else(|_| panic!("no value: {line:?}")))
}
