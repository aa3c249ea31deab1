//! The search over real runs: each is judged by the gates, and what comes of it is put into words.

use super::part::{PerSecond, at_rate};
use super::{Cut, Part, Runs};
use crate::load::plan::{End, Plan};
use crate::load::search::{Found, Judged, Next, NotFound, Options, Search};
use crate::record::{Doubt, Finding, Gate, Limit, Run, Stage};

/// Gates of every search, unless `--fail-if` has another bound for the same metric. Without the first, a server that is
/// asked for more than it can give would pass for as long as its latency may grow, and the search would find the client's limit.
const GATES: [&str; 2] = ["achieved_rate<0.99", "failed>0"];

/// A search that goes on.
pub(super) struct Seeking<'a> {
    plan: &'a Plan,
    gates: Vec<Gate>,
    options: Options,
    search: Search,
    stages: Vec<Stage>,
}

impl<'a> Seeking<'a> {
    pub(super) fn new(plan: &'a Plan, gates: &[Gate], options: Options) -> Self {
        let defaults = GATES.map(|text| text.parse::<Gate>().expect("a gate"));
        let is_asked = |default: &Gate| gates.iter().any(|gate| gate.metric() == default.metric());
        let gates = defaults.into_iter().filter(|default| !is_asked(default)).chain(gates.iter().copied()).collect();
        Self { plan, gates, options, search: Search::new(options), stages: Vec::new() }
    }

    /// Runs until the search has ended.
    pub(super) fn run<E>(&mut self, runs: &mut Runs<'_, E>) -> Result<(), Cut<E>> {
        while let Next::Measure(stage) = self.search.next() {
            let broke_before = self.stages.last().and_then(|before| before.broke.first().cloned());
            let part = Part::Stage { number: self.stages.len() + 1, stage, broke_before };
            let end = End { requests: None, duration: Some(stage.duration), ..self.plan.end };
            let (rate_per_s, purpose) = (stage.rate_per_s, stage.purpose);
            self.stages.push(Stage { rate_per_s, purpose, broke: Vec::new() });
            let run = runs.one(Plan { end, ..at_rate(self.plan, rate_per_s) }, &part)?;
            let broke = broken(run, &self.gates);
            self.search.took(judged(run, &broke));
            if let Some(stage) = self.stages.last_mut() {
                stage.broke = broke;
            }
        }
        Ok(())
    }

    /// What came of it after so many runs: the rate, and how it was found.
    pub(super) fn end(mut self, runs: usize) -> (Option<f64>, Option<Finding>) {
        // The last stage may have been begun without a run that came of it.
        self.stages.truncate(runs);
        let (found, lower_bound, words) = match self.search.next() {
            Next::Found(found) => (Some(found.rate_per_s), found.lower_bound, self.found(found)),
            Next::NotFound(reason) => (None, false, self.not_found(reason)),
            Next::Measure(_) => (None, false, self.cut_short()),
        };
        (found, Some(Finding { lower_bound, words, stages: self.stages }))
    }

    fn found(&self, found: Found) -> String {
        let Found { rate_per_s, broke_at_per_s, lower_bound } = found;
        let held = format!("{} held for {:?}", PerSecond(rate_per_s), self.options.hold);
        let broke = format!("at {} {}", PerSecond(broke_at_per_s), self.what_broke(broke_at_per_s));
        if lower_bound {
            return format!("{held}, which is a lower bound: {broke}, and the client was the limit there");
        }
        format!("{held}; {broke}")
    }

    fn not_found(&self, reason: NotFound) -> String {
        match reason {
            NotFound::AllBroke { lowest_per_s } => {
                format!("no rate passed: even at {} {}", PerSecond(lowest_per_s), self.what_broke(lowest_per_s))
            }
            NotFound::AllPassed { highest_per_s } => {
                format!("no rate broke a gate, up to {}", PerSecond(highest_per_s))
            }
            NotFound::NoneHeld { highest_per_s, lowest_per_s } => {
                let (highest, lowest, stage) = (PerSecond(highest_per_s), PerSecond(lowest_per_s), self.options.stage);
                let broke = self.what_broke(lowest_per_s);
                format!("{highest} passed for {stage:?}, but neither it nor less held, down to {lowest}, where {broke}")
            }
        }
    }

    fn cut_short(&self) -> String {
        let passed = self.stages.iter().take(self.search.ended()).filter(|stage| stage.broke.is_empty());
        let highest = passed.map(|stage| stage.rate_per_s).reduce(f64::max);
        match highest {
            Some(rate) => format!("the search was cut short; until then {} had passed", PerSecond(rate)),
            None => "the search was cut short before any rate had passed".to_owned(),
        }
    }

    fn what_broke(&self, rate_per_s: f64) -> &str {
        let at_rate = |stage: &&Stage| stage.rate_per_s == rate_per_s && !stage.broke.is_empty();
        self.stages.iter().rfind(at_rate).and_then(|stage| stage.broke.first()).map_or("a gate broke", String::as_str)
    }
}

fn broken(run: &Run, gates: &[Gate]) -> Vec<String> {
    let broken = gates.iter().filter_map(|gate| gate.broken(run));
    let mut broke: Vec<_> = broken.map(|broken| format!("{} ({})", broken.fact(), broken.gate)).collect();
    if run.aborted {
        broke.push("too many requests failed in a row (--abort-after)".to_owned());
    }
    broke
}

fn judged(run: &Run, broke: &[String]) -> Judged {
    let verdict = &run.verdict;
    let by_client = verdict.limit == Limit::ClientCpu
        || verdict.doubts.iter().any(|doubt| matches!(doubt, Doubt::ClientWasTheLimit | Doubt::SentLate));
    match (broke.is_empty(), by_client) {
        (true, _) => Judged::Passed,
        (false, true) => Judged::ClientBroke,
        (false, false) => Judged::Broke,
    }
}
