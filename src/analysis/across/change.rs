//! Each target against itself in the other result.

use super::{Change, Comparison, Metric, Side};
use crate::analysis::compare::{Open, closed};
use crate::analysis::judge::{Scope, Values};
use crate::analysis::{Group, Outcome, Point, Series};

/// Logarithms of what is compared, by repeat, or the clause that says why there are none.
type Logs = Result<Vec<(u64, f64)>, String>;

/// All changes, judged together, against the wider of the two bands.
pub(super) fn all(before: &Side, after: &Side) -> Vec<Change> {
    let (mut targets, mut open) = (Vec::new(), Vec::new());
    for group in &after.analysis.groups {
        let Some(earlier) = counterpart(before, group) else { continue };
        for series in &group.series {
            let Some(earlier_series) = earlier.series_of(&series.target) else { continue };
            let names = [before.name.as_str(), after.name.as_str()];
            for metric in Metric::ALL {
                let curves = Curves { group, earlier: earlier_series, later: series, names, metric };
                let of_both = curves.all(&earlier.levels);
                targets.extend(of_both.iter().map(|_| series.target.clone()));
                open.extend(of_both);
            }
        }
    }
    let band = before.analysis.experiment.band.max(after.analysis.experiment.band);
    let closed = closed(open, band).into_iter();
    targets.into_iter().zip(closed).map(|(target, comparison)| Change { target, comparison }).collect()
}

/// The same document, of the same length, over the same kind of connections.
fn counterpart<'a>(side: &'a Side, group: &Group) -> Option<&'a Group> {
    let same = |other: &&Group| other.document == group.document && other.connections == group.connections;
    side.analysis.groups.iter().find(same)
}

/// A target in both results, in one group and by one figure.
struct Curves<'a> {
    group: &'a Group,
    earlier: &'a Series,
    later: &'a Series,
    /// Of the results, the earlier one first.
    names: [&'a str; 2],
    metric: Metric,
}

impl Curves<'_> {
    /// The whole curve, if both have more than one concurrency, and each of these.
    fn all(&self, levels_before: &[u64]) -> Vec<Open> {
        let both = self.group.levels.iter().copied().filter(|level| levels_before.contains(level));
        let levels: Vec<(u64, [Logs; 2])> = both.map(|level| (level, self.logs(level))).collect();
        let curve = (levels.len() > 1).then(|| self.curve(&levels));
        let scope = if curve.is_some() { Scope::Point } else { Scope::Verdict };
        let cells = levels.into_iter().map(|(level, logs)| self.open(scope, Some(level), vec![level], logs));
        curve.into_iter().chain(cells).collect()
    }

    /// Of each repeat the mean over the concurrencies at which both results are valid.
    fn curve(&self, levels: &[(u64, [Logs; 2])]) -> Open {
        let valid = levels.iter().filter(|(_, logs)| logs.iter().all(Result::is_ok));
        let valid: Vec<&(u64, [Logs; 2])> = valid.collect();
        let used = valid.iter().map(|(level, _)| *level).collect();
        let reason = nowhere(levels);
        let means = [0, 1].map(|side| {
            let logs: Vec<_> = valid.iter().filter_map(|(_, logs)| logs[side].as_ref().ok()).collect();
            means(&logs).ok_or_else(|| reason.clone())
        });
        self.open(Scope::Verdict, None, used, means)
    }

    fn logs(&self, level: u64) -> [Logs; 2] {
        [(self.names[0], self.earlier), (self.names[1], self.later)].map(|(name, series)| {
            let point = series.at(level).ok_or_else(|| format!("{name}: not measured"))?;
            self.logs_of(point).map_err(|reason| format!("{name}: {reason}"))
        })
    }

    fn logs_of(&self, point: &Point) -> Logs {
        if let Some(fault) = point.faults_of(self.metric).next() {
            return Err(fault.words.clone());
        }
        let figure = point.figure(self.metric).ok_or("no process was watched")?;
        if figure.min <= 0.0 || !figure.max.is_finite() {
            return Err("too little to be measured".to_owned());
        }
        let logs = figure.values.iter().map(|value| value.ln());
        Ok(point.numbers.iter().copied().zip(logs).collect())
    }

    fn open(&self, scope: Scope, concurrency: Option<u64>, levels: Vec<u64>, [earlier, later]: [Logs; 2]) -> Open {
        let values = earlier.and_then(|earlier| later.and_then(|later| both(&earlier, &later)));
        let (pairs, reason) = match &values {
            Ok((later, earlier)) => (later.len().min(earlier.len()), String::new()),
            Err(reason) => (0, reason.clone()),
        };
        let comparison = Comparison {
            document: self.group.document.name.clone(),
            connections: self.group.connections,
            concurrency,
            levels,
            metric: self.metric,
            target: self.names[1].to_owned(),
            baseline: self.names[0].to_owned(),
            pairs,
            outcome: Outcome::NotComparable(reason),
        };
        Open { comparison, scope, values: values.ok().map(|(later, earlier)| Values::Apart(later, earlier)) }
    }
}

/// Why a curve cannot be compared: the reason of the first concurrency, which mostly is that of all.
fn nowhere(levels: &[(u64, [Logs; 2])]) -> String {
    let reason = |(level, logs): &(u64, [Logs; 2])| {
        let reason = logs.iter().find_map(|logs| logs.as_ref().err())?;
        Some(format!("; at {level}, {reason}"))
    };
    format!("at no concurrency are both valid{}", levels.iter().find_map(reason).unwrap_or_default())
}

/// The values of both sides, of which each must have a spread.
fn both(earlier: &[(u64, f64)], later: &[(u64, f64)]) -> Result<(Vec<f64>, Vec<f64>), String> {
    let values = |logs: &[(u64, f64)]| logs.iter().map(|(_, log)| *log).collect::<Vec<_>>();
    if earlier.len() < 2 || later.len() < 2 {
        return Err("one of them has only one repeat, and one cannot show how much results vary".to_owned());
    }
    Ok((values(later), values(earlier)))
}

/// Means over the concurrencies, of the repeats that have all of them; `None` without a concurrency.
fn means(levels: &[&Vec<(u64, f64)>]) -> Option<Vec<(u64, f64)>> {
    let (first, rest) = levels.split_first()?;
    let sum = |(repeat, log): &(u64, f64)| {
        let others = rest.iter().map(|level| level.iter().find(|(other, _)| other == repeat).map(|(_, log)| log));
        Some((*repeat, others.sum::<Option<f64>>()? + log))
    };
    let mean = |(repeat, sum): (u64, f64)| (repeat, sum / levels.len() as f64);
    Some(first.iter().filter_map(sum).map(mean).collect())
}
