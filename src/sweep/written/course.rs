//! `[order]`, `[gates]` and `[client]`: how it is measured.

use std::time::Duration;

use super::Surroundings;
use super::section::{At, Section};
use super::words::{Band, Cpus, Line};
use crate::config::units::{Count, HOUR, Period, SECOND};
use crate::record::Gate;
use crate::record::experiment::Client;
use crate::sweep::cpus::CpuSet;
use crate::sweep::plan::{CoolDown, WarmUp};

/// Six is the fewest with which the exact signed-rank test can reach 5 %.
const REPEATS: u64 = 6;
const SEED: u64 = 1;
const WARM_UP: WarmUp = WarmUp { cycles: 1, duration: Duration::from_secs(1), pause: Duration::ZERO };
/// Off. Where the server closes first, as it does with short connections, its port and not the client's waits, and
/// [`crate::sweep::order`] spreads what is left of it over all targets.
const COOL_DOWN: CoolDown = CoolDown { time_wait_below: 10_000, at_most: Duration::ZERO };
/// Two runs of one server on a quiet machine differ by so much.
const BAND: f64 = 0.02;

/// What `[order]` says.
pub(super) struct Order {
    pub(super) repeats: u64,
    pub(super) seed: u64,
    pub(super) warm_up: WarmUp,
    pub(super) cell_warm_up: Duration,
    pub(super) cool_down: CoolDown,
}

impl Order {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        type Minutes = Period<0, { HOUR }>;
        let warm_up = warm_up(section.section("warm_up"));
        let cool_down = cool_down(section.section("cool_down"));
        let order = Self {
            repeats: section.take::<Count<1, 1000>>("repeats").map_or(REPEATS, |at| at.value.0.into()),
            seed: section.take::<Count<0, { u32::MAX }>>("seed").map_or(SEED, |at| at.value.0.into()),
            warm_up,
            cell_warm_up: section.take::<Minutes>("cell_warm_up").map_or(Duration::ZERO, |at| at.value.0),
            cool_down,
        };
        section.finish();
        order
    }
}

fn warm_up(mut section: Section<'_>) -> WarmUp {
    type Each = Period<100, { 600 * SECOND }>;
    type Pause = Period<0, { 600 * SECOND }>;
    let warm_up = WarmUp {
        cycles: section.take::<Count<0, 100>>("cycles").map_or(WARM_UP.cycles, |at| at.value.0),
        duration: section.take::<Each>("duration").map_or(WARM_UP.duration, |at| at.value.0),
        pause: section.take::<Pause>("pause").map_or(WARM_UP.pause, |at| at.value.0),
    };
    section.finish();
    warm_up
}

fn cool_down(mut section: Section<'_>) -> CoolDown {
    type Wait = Period<0, { 600 * SECOND }>;
    let below = section.take::<Count<1, { u32::MAX }>>("time_wait_below");
    let cool_down = CoolDown {
        time_wait_below: below.map_or(COOL_DOWN.time_wait_below, |at| at.value.0.into()),
        at_most: section.take::<Wait>("at_most").map_or(COOL_DOWN.at_most, |at| at.value.0),
    };
    section.finish();
    cool_down
}

/// What makes a measurement invalid, and the band.
pub(super) fn gates(mut section: Section<'_>) -> (Vec<Gate>, f64) {
    let mut gates = Vec::new();
    if let Some(At { value, line }) = section.take::<Vec<Line>>("fail_if") {
        for Line(text) in value {
            match text.parse() {
                Ok(gate) => gates.push(gate),
                Err(error) => section.wrong(line, format!("gates.fail_if: {error}")),
            }
        }
    }
    let band = section.take::<Band>("band").map_or(BAND, |at| at.value.0);
    section.finish();
    (gates, band)
}

/// The load tool's side. What its source addresses mean is for the load tool to say.
pub(super) fn client(mut section: Section<'_>, around: &Surroundings) -> Client {
    let (_, other_half) = around.cpus.halves();
    let cpus = match section.take::<Cpus>("cpus").map(|at| at.value) {
        Some(Cpus::Only(set)) => set,
        Some(Cpus::All) => CpuSet::default(),
        None => other_half,
    };
    let threads = section.take::<Count<1, 1024>>("threads").map(|at| u64::from(at.value.0));
    let source = section.take::<Line>("source");
    if let Some(At { value: Line(text), line }) = &source
        && let Some(says) = (around.judges.source)(text)
    {
        section.wrong(*line, format!("client.source: {says}"));
    }
    section.finish();
    // One for each of its CPUs; where it has none of its own, the load tool knows what the server leaves.
    let own = Some(cpus.numbers().len() as u64).filter(|count| *count > 0);
    let sources = source.map_or(String::new(), |at| at.value.0);
    Client { threads: threads.or(own), cpus: cpus.to_string(), sources }
}
