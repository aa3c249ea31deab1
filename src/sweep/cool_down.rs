//! The wait until what the last cell left in the kernel's tables is gone.

use std::path::Path;
use std::time::{Duration, Instant};

use super::plan::CoolDown;
use super::wait::Stop;
use crate::process::machine::Machine;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// Sockets in TIME_WAIT now, on the whole machine; zero where the kernel does not say.
#[must_use]
pub fn time_wait() -> u64 {
    Machine::read(Path::new("/")).time_wait.unwrap_or(0)
}

/// Waits, and returns how many sockets are in TIME_WAIT then; nothing if the sweep has to stop. `look` is told of each count
/// that is still too high.
pub fn cool_down(plan: CoolDown, stop: &Stop, mut look: impl FnMut(u64)) -> Option<u64> {
    let CoolDown { time_wait_below, at_most } = plan;
    let until = Instant::now() + at_most;
    loop {
        let count = time_wait();
        let left = until.saturating_duration_since(Instant::now());
        if count < time_wait_below || left.is_zero() {
            return (!stop.asked()).then_some(count);
        }
        look(count);
        if stop.within(LOOK.min(left)) {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_by_count_or_by_time() {
        let (reader, writer) = std::io::pipe().unwrap();
        let stop = Stop::by(reader);
        let plan = |time_wait_below, millis| CoolDown { time_wait_below, at_most: Duration::from_millis(millis) };
        let looks = |plan: CoolDown| {
            let mut looks = 0;
            let count = cool_down(plan, &stop, |_| looks += 1);
            (count.is_some(), looks > 0)
        };
        assert_eq!(looks(plan(u64::MAX, 600_000)), (true, false), "below the bound at once");
        assert_eq!(looks(plan(0, 0)), (true, false), "no wait is wanted");
        assert!(looks(plan(0, 1)).0, "nothing is below zero, and the time is over");
        drop(writer);
        assert_eq!(looks(plan(0, 600_000)), (false, true), "stopped");
    }
}
