//! Each target of a group against its first one: at each concurrency, and over the whole curve.

use std::collections::BTreeMap;

use crate::record::experiment::Experiment;

use super::judge::{Sample, Scope, Values, judge};
use super::{Comparison, Group, Metric, Outcome, Point, Series};

/// Log ratios by repeat, or the clause that says why there are none.
type Pairs = Result<BTreeMap<u64, f64>, String>;

/// A comparison of which the word is still open.
pub(super) struct Open {
    pub(super) comparison: Comparison,
    pub(super) scope: Scope,
    /// Nothing where the comparison says why it cannot be made.
    pub(super) values: Option<Values>,
}

/// All comparisons of a report, judged together.
pub(super) fn all(experiment: &Experiment, groups: &[Group]) -> Vec<Comparison> {
    let mut open = Vec::new();
    for group in groups {
        // Who took no part is told of elsewhere.
        for target in group.series.iter().filter(|series| series.target != group.baseline) {
            for metric in Metric::ALL {
                open.extend(Against { group, target, metric }.all());
            }
        }
    }
    closed(open, experiment.band)
}

/// All words at once, since each depends on how many comparisons there are.
pub(super) fn closed(open: Vec<Open>, band: f64) -> Vec<Comparison> {
    let (mut comparisons, mut samples, mut at) = (Vec::new(), Vec::new(), Vec::new());
    for Open { comparison, scope, values } in open {
        if let Some(values) = values {
            at.push(comparisons.len());
            samples.push(Sample { metric: comparison.metric, scope, values });
        }
        comparisons.push(comparison);
    }
    for (at, estimate) in at.into_iter().zip(judge(&samples, band)) {
        if let Some(estimate) = estimate {
            comparisons[at].outcome = Outcome::Compared(estimate);
        }
    }
    comparisons
}

/// One target against the baseline, in one group and by one figure.
#[derive(Clone, Copy)]
struct Against<'a> {
    group: &'a Group,
    target: &'a Series,
    metric: Metric,
}

impl Against<'_> {
    /// The curve, if there is more than one concurrency, and then each of these.
    fn all(self) -> Vec<Open> {
        let levels: Vec<(u64, Pairs)> = self.group.levels.iter().map(|level| (*level, self.pairs(*level))).collect();
        let curve = (levels.len() > 1).then(|| self.curve(&levels));
        let cells = levels.into_iter().map(|(level, pairs)| self.open(Some(level), vec![level], pairs));
        curve.into_iter().chain(cells).collect()
    }

    /// Each repeat's mean over the concurrencies in which both are valid. A repeat that was not measured at one of these
    /// would weigh the others differently, so it takes no part.
    fn curve(self, levels: &[(u64, Pairs)]) -> Open {
        let valid: Vec<_> = levels.iter().filter_map(|(level, pairs)| Some((*level, pairs.as_ref().ok()?))).collect();
        let Some(((_, first), rest)) = valid.split_first() else {
            return self.open(None, Vec::new(), Err(nowhere(levels)));
        };
        let everywhere = first.keys().filter(|repeat| rest.iter().all(|(_, pairs)| pairs.contains_key(repeat)));
        let mean = |repeat: &u64| {
            let sum: f64 = valid.iter().filter_map(|(_, pairs)| pairs.get(repeat)).sum();
            (*repeat, sum / valid.len() as f64)
        };
        let pairs = enough(everywhere.map(mean).collect());
        self.open(None, valid.iter().map(|(level, _)| *level).collect(), pairs)
    }

    /// The log ratios at a concurrency.
    fn pairs(self, level: u64) -> Pairs {
        let name = &self.group.baseline;
        let baseline = self.group.series_of(name).and_then(|series| series.at(level));
        let baseline = baseline.ok_or_else(|| format!("{name} was not measured"))?;
        let target = self.target.at(level).ok_or_else(|| format!("{} was not measured", self.target.target))?;
        let mut below = self.figures(name, baseline)?;
        let above = self.figures(&self.target.target, target)?;
        let pair = |(repeat, above): (u64, f64)| Some((repeat, above.ln() - below.remove(&repeat)?.ln()));
        enough(above.into_iter().filter_map(pair).collect())
    }

    /// What is compared of a point, by repeat.
    fn figures(self, target: &str, point: &Point) -> Pairs {
        if let Some(fault) = point.faults_of(self.metric).next() {
            return Err(format!("{target}: {}", fault.words));
        }
        let figure = point.figure(self.metric).ok_or_else(|| format!("no process of {target} was watched"))?;
        if figure.min <= 0.0 || !figure.max.is_finite() {
            return Err(format!("{target}: too little to be measured"));
        }
        Ok(point.numbers.iter().copied().zip(figure.values.iter().copied()).collect())
    }

    fn open(self, concurrency: Option<u64>, levels: Vec<u64>, pairs: Pairs) -> Open {
        let (count, values, reason) = match pairs {
            Ok(pairs) => (pairs.len(), Some(Values::Pairs(pairs.into_values().collect())), String::new()),
            Err(reason) => (0, None, reason),
        };
        let comparison = Comparison {
            document: self.group.document.name.clone(),
            connections: self.group.connections,
            concurrency,
            levels,
            metric: self.metric,
            target: self.target.target.clone(),
            baseline: self.group.baseline.clone(),
            pairs: count,
            outcome: Outcome::NotComparable(reason),
        };
        let speaks = concurrency.is_none() || self.group.levels.len() == 1;
        Open { comparison, scope: if speaks { Scope::Verdict } else { Scope::Point }, values }
    }
}

/// One pair has no spread, and that of two is a matter of luck: their interval may span four powers of ten.
fn enough(pairs: BTreeMap<u64, f64>) -> Pairs {
    match pairs.len() {
        0 => Err("no repeat has both".to_owned()),
        1 => Err("only one repeat has both, and one cannot show how much results vary".to_owned()),
        2 => Err("only two repeats have both, and two cannot show how much results vary".to_owned()),
        _ => Ok(pairs),
    }
}

/// Why a curve cannot be compared: the reason of the first concurrency, which mostly is that of all.
fn nowhere(levels: &[(u64, Pairs)]) -> String {
    let mut reasons = levels.iter().filter_map(|(level, pairs)| Some((level, pairs.as_ref().err()?)));
    match reasons.next() {
        Some((_, reason)) if reasons.clone().all(|(_, other)| other == reason) => reason.clone(),
        Some((level, reason)) => format!("at no concurrency is enough valid; at {level}, {reason}"),
        None => "nothing was planned".to_owned(),
    }
}
