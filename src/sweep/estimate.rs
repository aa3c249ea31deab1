//! How long a plan will take, as far as anybody can know before.

use std::time::Duration;

use super::plan::{How, Plan, TargetPlan, WarmUp};
use crate::record::experiment::{Cell, ConnectionKind};

/// Requests per second of a measurement that ends by requests: what the slower ones of the servers in `peers/` reach on one
/// CPU. A guess, and said to be one.
const SHORT_PER_S: f64 = 8_000.0;
const KEPT_PER_S: f64 = 25_000.0;
/// Bytes per second over the loopback between two CPUs; it is what counts for large documents.
const BYTES_PER_S: f64 = 2e9;

/// Around each measurement, measured: the load tool starts, connects, and writes its record, and the journal is written.
const AROUND_CELL: Duration = Duration::from_millis(150);
/// Our own server is ready at once.
const OURS_READY: Duration = Duration::from_millis(300);
/// A Java server is not.
const COMMAND_READY: Duration = Duration::from_secs(4);

/// Where the time goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Under load, figures of which count.
    pub measuring: Duration,
    /// Starting, warming up, and around the measurements.
    pub preparing: Duration,
    /// Waiting for sockets to leave TIME_WAIT, if each wait is as long as it may be.
    pub waiting_at_most: Duration,
}

impl Estimate {
    /// Of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let bytes =
            |cell: &Cell| plan.documents.iter().find(|document| document.name == cell.document).map_or(0, |d| d.bytes);
        let cells = u32::try_from(plan.cells.len()).unwrap_or(u32::MAX);
        let each_cell = plan.cell_warm_up + AROUND_CELL;
        Self {
            measuring: plan.cells.iter().map(|cell| of_cell(cell, bytes(cell))).sum(),
            preparing: plan.targets.iter().map(|target| of_target(target, plan)).sum::<Duration>() + each_cell * cells,
            waiting_at_most: plan.cool_down.at_most * cells.saturating_sub(1),
        }
    }

    /// All of it but the waits, which mostly are none.
    #[must_use]
    pub fn without_waits(&self) -> Duration {
        self.measuring + self.preparing
    }
}

/// One measurement, of a document of so many bytes.
#[must_use]
pub fn of_cell(cell: &Cell, bytes: u64) -> Duration {
    let by_time = cell.duration_ms.map(Duration::from_millis);
    let by_requests = cell.requests.map(|requests| {
        let per_s = match cell.connections {
            ConnectionKind::Short => SHORT_PER_S,
            ConnectionKind::KeepAlive => KEPT_PER_S,
        };
        let each = (1.0 / per_s).max(bytes as f64 / BYTES_PER_S);
        Duration::try_from_secs_f64(requests as f64 * each).unwrap_or(Duration::MAX)
    });
    [by_time, by_requests].into_iter().flatten().min().unwrap_or(Duration::ZERO)
}

fn of_target(target: &TargetPlan, plan: &Plan) -> Duration {
    let ready = match target.how {
        How::Ours { .. } => OURS_READY,
        How::Command { .. } => COMMAND_READY,
        How::Running { .. } => Duration::ZERO,
    };
    let WarmUp { cycles, duration, pause } = plan.warm_up;
    let documents = u32::try_from(plan.documents.len()).unwrap_or(u32::MAX);
    ready + ((duration + AROUND_CELL) * documents + pause) * cycles
}
