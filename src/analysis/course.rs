//! What happened around the cells, in words.

use super::words::counted;
use crate::record::experiment::Course;

/// `warm-up of each target: 2 cycles of 2 s over each document, with pauses of 1 s; no warm-up of cells; no wait for TIME_WAIT`.
pub(super) fn words(course: &Course) -> String {
    let Course { warm_up_cycles, warm_up_ms, warm_up_pause_ms, cell_warm_up_ms, time_wait_below, cool_down_at_most_ms } =
        course;
    let targets = match warm_up_cycles {
        0 => "no warm-up of targets".to_owned(),
        cycles => format!(
            "warm-up of each target: {} of {} over each document{}",
            counted(u64::from(*cycles), "cycle"),
            seconds(*warm_up_ms),
            if *warm_up_pause_ms == 0 {
                String::new()
            } else {
                format!(", with pauses of {}", seconds(*warm_up_pause_ms))
            }
        ),
    };
    let cells = match cell_warm_up_ms {
        0 => "no warm-up of cells".to_owned(),
        ms => format!("warm-up of each cell: {}", seconds(*ms)),
    };
    let waits = match cool_down_at_most_ms {
        0 => "no wait for sockets in TIME_WAIT".to_owned(),
        ms => format!(
            "before each cell a wait until fewer than {time_wait_below} sockets were in TIME_WAIT, of {} at most",
            seconds(*ms)
        ),
    };
    [targets, cells, waits].join("; ")
}

fn seconds(ms: u64) -> String {
    format!("{} s", ms as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_or_none() {
        let mut course = Course {
            warm_up_cycles: 2,
            warm_up_ms: 1500,
            warm_up_pause_ms: 1000,
            cell_warm_up_ms: 200,
            time_wait_below: 10_000,
            cool_down_at_most_ms: 60_000,
        };
        let all = "warm-up of each target: 2 cycles of 1.5 s over each document, with pauses of 1 s; warm-up of each cell: 0.2 s; \
                   before each cell a wait until fewer than 10000 sockets were in TIME_WAIT, of 60 s at most";
        assert_eq!(words(&course), all);
        (course.warm_up_cycles, course.cell_warm_up_ms, course.cool_down_at_most_ms) = (0, 0, 0);
        assert_eq!(words(&course), "no warm-up of targets; no warm-up of cells; no wait for sockets in TIME_WAIT");
    }
}
