//! How figures and words came about.

use super::words::{counted, list, ratio};
use super::{Analysis, LEVEL, course};
use crate::record::experiment::Course;

/// The sentences.
pub(super) fn sentences(analysis: &Analysis) -> Vec<String> {
    let mut method = vec![sample(analysis), validity()];
    method.extend(analysis.experiment.course.as_ref().map(around));
    if !analysis.comparisons.is_empty() {
        method.extend([blocks(analysis), intervals(), words(analysis)]);
    }
    if analysis.groups.iter().any(|group| group.published_beside().next().is_some()) {
        method.push(
            "Published figures are those of other machines: compare the shapes of the curves, not their heights."
                .to_owned(),
        );
    }
    method
}

fn sample(analysis: &Analysis) -> String {
    let planned = analysis.experiment.repeats;
    let repeats = match analysis.repeats() {
        Some((least, most)) if least < most => {
            format!("{least} to {}, of {planned} that were planned", counted(most as u64, "time"))
        }
        Some((made, _)) if (made as u64) < planned => {
            format!("{}, of {planned} that were planned", counted(made as u64, "time"))
        }
        _ => counted(planned, "time"),
    };
    format!(
        "Each cell was measured {repeats}. Figures are the median over these runs, with the lowest and the highest; the run is \
         the sample, never the request, since requests of one run share its luck."
    )
}

fn validity() -> String {
    "A point with a fault in any of its repeats is hollow. For requests/s these are failed requests, a server that died, a run \
     that was cut short, a client without CPU left, connections that were not busy, a rate that was not reached, and a broken \
     gate; for the server's CPU for each request only the first three, and a process that ended."
        .to_owned()
}

fn around(course: &Course) -> String {
    format!("Around the cells: {}.", course::words(course))
}

fn blocks(analysis: &Analysis) -> String {
    let took_part = |name: &str| analysis.groups.iter().any(|group| group.series_of(name).is_some());
    let names = analysis.experiment.targets.iter().map(|target| target.name.as_str());
    let names: Vec<&str> = names.filter(|name| took_part(name)).collect();
    format!(
        "{} were measured in blocks, one directly after the other, so that what changes with time meets all alike (seed {} of \
         the order). Each repeat of a block gives one ratio.",
        list(&names),
        analysis.experiment.seed
    )
}

fn intervals() -> String {
    "A ratio is the geometric mean over the repeats, with its 95 % interval (paired t on the logarithms). For a whole curve each \
     repeat counts once, with its mean over the concurrencies in which both targets are valid."
        .to_owned()
}

fn words(analysis: &Analysis) -> String {
    let band = analysis.experiment.band.max(0.0);
    let compared = counted(analysis.compared() as u64, "comparison");
    let has_curves = analysis.comparisons.iter().any(|one| one.concurrency.is_none() && one.estimate().is_some());
    let shares = if has_curves {
        ", half of it for those that speak for a target and half for the points of curves,"
    } else {
        ""
    };
    format!(
        "{compared} could be made. 'Better' and 'worse' need that the t test excludes ratios between {} and {} after Holm's correction \
         at {LEVEL}{shares} and that the exact Wilcoxon signed-rank test does not contradict; where these two disagree \
         the word is 'borderline', else 'no difference shown'.",
        ratio(1.0 / (1.0 + band)),
        ratio(1.0 + band)
    )
}
