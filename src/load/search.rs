//! The search for the highest rate that passes, as a state machine: answers in, rates out, no I/O.
//!
//! Double until a rate breaks, bisect between the last that passed and the first that broke, hold what was found for
//! longer. Every part of it is bounded: [`Search::stages_max`] is known before the first request.

use std::time::Duration;

use crate::record::Purpose;

/// The lowest rate that is tried after the first one broke.
const FLOOR_PER_S: f64 = 1.0;

/// Most times that the first rate is doubled, or halved: a factor of a million.
const RANGING_MAX: usize = 20;

/// Most rates that are held, the found one and those a little below it.
const HOLDS_MAX: usize = 8;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The first rate, in requests per second: finite and more than 0.
    pub start_per_s: f64,
    /// The search ends when the gap between the highest rate that passed and the lowest that broke is at most this share
    /// of the former; from 0.001 to 0.5.
    pub resolution: f64,
    /// How long each rate is tried.
    pub stage: Duration,
    /// How long the found rate is held.
    pub hold: Duration,
}

impl Options {
    /// From this rate on, with this much time for each stage and three times as much for a hold: a limit that was crossed
    /// only a little shows in a queue that grows slowly.
    #[must_use]
    pub fn new(start_per_s: f64, stage: Duration) -> Self {
        Self { start_per_s, stage, hold: stage * 3, ..Self::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        let stage = Duration::from_secs(5);
        Self { start_per_s: 1000.0, resolution: 0.02, stage, hold: stage * 3 }
    }
}

/// A run that the search wants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// Requests per second.
    pub rate_per_s: f64,
    /// What it is for.
    pub purpose: Purpose,
    /// How long.
    pub duration: Duration,
}

/// How a stage went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// No gate broke.
    Passed,
    /// A gate broke.
    Broke,
    /// A gate broke in a run in which the client was the limit.
    ClientBroke,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// This run.
    Measure(Stage),
    /// Nothing: this was found.
    Found(Found),
    /// Nothing, and nothing was found.
    NotFound(NotFound),
}

/// The highest rate that was held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Requests per second.
    pub rate_per_s: f64,
    /// The lowest rate that broke.
    pub broke_at_per_s: f64,
    /// It was the client that broke there, so the server takes at least `rate_per_s`.
    pub lower_bound: bool,
}

/// Why there is no such rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NotFound {
    /// No rate passed, down to this one.
    AllBroke {
        /// The lowest rate that was tried.
        lowest_per_s: f64,
    },
    /// Every rate passed, up to this one.
    AllPassed {
        /// The highest rate that was tried.
        highest_per_s: f64,
    },
    /// A rate passed, but neither it nor those a little below it passed for the time of a hold.
    NoneHeld {
        /// The first rate that was to be held.
        highest_per_s: f64,
        /// The last one.
        lowest_per_s: f64,
    },
}

/// A search that goes on, or has ended.
#[derive(Debug, Clone)]
pub struct Search {
    options: Options,
    state: State,
    ended: usize,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Nothing has broken. So many more doublings are allowed.
    Doubling {
        rate: f64,
        passed: Option<f64>,
        left: usize,
    },
    /// Nothing has passed. So many more halvings are allowed.
    Halving {
        rate: f64,
        broke: Broke,
        left: usize,
    },
    /// One rate has passed, and a higher one has broken.
    Bisecting {
        passed: f64,
        broke: Broke,
    },
    /// The gap is small enough. So many more holds are allowed.
    Holding {
        rate: f64,
        first: f64,
        broke: Broke,
        left: usize,
    },
    Found(Found),
    NotFound(NotFound),
}

/// The lowest rate that broke: rates are tried below it from then on, so it is always the last that did.
#[derive(Debug, Clone, Copy)]
struct Broke {
    rate: f64,
    by_client: bool,
}

impl Search {
    /// Before the first stage.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let state = State::Doubling { rate: options.start_per_s, passed: None, left: RANGING_MAX };
        Self { options, state, ended: 0 }
    }

    /// Most stages that a search with these options takes.
    #[must_use]
    pub fn stages_max(&self) -> usize {
        // Bisecting begins with a gap of at most the rate that passed, and halves it each time; one for rounding.
        let bisections = (1.0 / self.options.resolution).log2().ceil() as usize + 1;
        1 + RANGING_MAX + bisections + HOLDS_MAX
    }

    /// Stages that have ended.
    #[must_use]
    pub const fn ended(&self) -> usize {
        self.ended
    }

    /// What to do now. It stays the same until [`Search::took`].
    #[must_use]
    pub fn next(&self) -> Next {
        let Options { stage, hold, .. } = self.options;
        let measure = |rate_per_s, purpose, duration| Next::Measure(Stage { rate_per_s, purpose, duration });
        match self.state {
            State::Doubling { rate, .. } => measure(rate, Purpose::Double, stage),
            State::Halving { rate, .. } => measure(rate, Purpose::Halve, stage),
            State::Bisecting { passed, broke } => measure(passed.midpoint(broke.rate), Purpose::Bisect, stage),
            State::Holding { rate, .. } => measure(rate, Purpose::Hold, hold),
            State::Found(found) => Next::Found(found),
            State::NotFound(reason) => Next::NotFound(reason),
        }
    }

    /// Takes the answer to the stage that [`Search::next`] gave. After the end of the search it means nothing.
    pub fn took(&mut self, judged: Judged) {
        let Next::Measure(Stage { rate_per_s: rate, .. }) = self.next() else { return };
        self.ended += 1;
        self.state = match judged {
            Judged::Passed => self.after_pass(rate),
            Judged::Broke => self.after_break(Broke { rate, by_client: false }),
            Judged::ClientBroke => self.after_break(Broke { rate, by_client: true }),
        };
    }

    fn after_pass(&self, rate: f64) -> State {
        match self.state {
            State::Doubling { left: 0, .. } => State::NotFound(NotFound::AllPassed { highest_per_s: rate }),
            State::Doubling { left, .. } => State::Doubling { rate: rate * 2.0, passed: Some(rate), left: left - 1 },
            State::Halving { broke, .. } | State::Bisecting { broke, .. } => self.between(rate, broke),
            State::Holding { broke, .. } => {
                State::Found(Found { rate_per_s: rate, broke_at_per_s: broke.rate, lower_bound: broke.by_client })
            }
            ended => ended,
        }
    }

    fn after_break(&self, broke: Broke) -> State {
        match self.state {
            State::Doubling { passed: Some(passed), .. } | State::Bisecting { passed, .. } => {
                self.between(passed, broke)
            }
            State::Doubling { passed: None, .. } => halve(broke, RANGING_MAX),
            State::Halving { left, .. } => halve(broke, left),
            State::Holding { first, left: 0, .. } => {
                State::NotFound(NotFound::NoneHeld { highest_per_s: first, lowest_per_s: broke.rate })
            }
            State::Holding { first, left, .. } => {
                State::Holding { rate: broke.rate * (1.0 - self.options.resolution), first, broke, left: left - 1 }
            }
            ended => ended,
        }
    }

    fn between(&self, passed: f64, broke: Broke) -> State {
        if broke.rate - passed <= self.options.resolution * passed {
            return State::Holding { rate: passed, first: passed, broke, left: HOLDS_MAX - 1 };
        }
        State::Bisecting { passed, broke }
    }
}

fn halve(broke: Broke, left: usize) -> State {
    if left == 0 || broke.rate <= FLOOR_PER_S {
        return State::NotFound(NotFound::AllBroke { lowest_per_s: broke.rate });
    }
    State::Halving { rate: (broke.rate / 2.0).max(FLOOR_PER_S), broke, left: left - 1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Asks until the end, and returns the stages in their order and what the search ended with.
    fn run(options: Options, mut answer: impl FnMut(Stage) -> Judged) -> (Vec<Stage>, Next) {
        let mut search = Search::new(options);
        let mut stages = Vec::new();
        while let Next::Measure(stage) = search.next() {
            stages.push(stage);
            assert!(stages.len() <= search.stages_max(), "{stages:?}");
            search.took(answer(stage));
            assert_eq!(search.ended(), stages.len());
        }
        (stages, search.next())
    }

    fn from(start_per_s: f64) -> Options {
        Options { start_per_s, ..Options::default() }
    }

    fn up_to(capacity: f64) -> impl Fn(Stage) -> Judged {
        move |stage| if stage.rate_per_s <= capacity { Judged::Passed } else { Judged::Broke }
    }

    #[test]
    fn a_search_from_its_first_stage_to_its_last() {
        let (stages, end) = run(Options::default(), up_to(5000.0));
        let rates: Vec<_> = stages.iter().map(|stage| stage.rate_per_s).collect();
        assert_eq!(rates, [1000.0, 2000.0, 4000.0, 8000.0, 6000.0, 5000.0, 5500.0, 5250.0, 5125.0, 5062.5, 5000.0]);
        let purposes: Vec<_> = stages.iter().map(|stage| stage.purpose).collect();
        assert_eq!(purposes[..4], [Purpose::Double; 4]);
        assert_eq!(purposes[4..10], [Purpose::Bisect; 6]);
        assert_eq!(purposes[10], Purpose::Hold);
        assert_eq!((stages[0].duration, stages[10].duration), (Duration::from_secs(5), Duration::from_secs(15)));
        assert_eq!(end, Next::Found(Found { rate_per_s: 5000.0, broke_at_per_s: 5062.5, lower_bound: false }));
    }

    #[test]
    fn a_first_rate_that_breaks_is_halved() {
        let (stages, end) = run(from(1000.0), up_to(30.0));
        let halved: Vec<_> = stages.iter().filter(|stage| stage.purpose == Purpose::Halve).collect();
        assert_eq!((halved.len(), halved[5].rate_per_s), (6, 15.625));
        let Next::Found(found) = end else { panic!("{end:?}") };
        assert!(found.rate_per_s <= 30.0 && found.rate_per_s * 1.02 >= 30.0, "{found:?}");
    }

    #[test]
    fn nothing_passes() {
        let (stages, end) = run(from(10.0), |_| Judged::Broke);
        let rates: Vec<_> = stages.iter().map(|stage| stage.rate_per_s).collect();
        assert_eq!(rates, [10.0, 5.0, 2.5, 1.25, 1.0]);
        assert_eq!(end, Next::NotFound(NotFound::AllBroke { lowest_per_s: 1.0 }));
        // Below the floor there is nothing to halve.
        assert_eq!(run(from(0.5), |_| Judged::Broke).1, Next::NotFound(NotFound::AllBroke { lowest_per_s: 0.5 }));
    }

    #[test]
    fn nothing_breaks() {
        let highest_per_s = 1000.0 * f64::from(1 << 20);
        assert_eq!(run(from(1000.0), |_| Judged::Passed).1, Next::NotFound(NotFound::AllPassed { highest_per_s }));
    }

    #[test]
    fn a_hold_that_breaks_steps_down() {
        let passes = |stage: Stage| stage.rate_per_s <= if stage.purpose == Purpose::Hold { 4700.0 } else { 5000.0 };
        let (stages, end) = run(from(1000.0), |stage| if passes(stage) { Judged::Passed } else { Judged::Broke });
        let held: Vec<_> = stages.iter().filter(|stage| stage.purpose == Purpose::Hold).collect();
        assert_eq!(held.len(), 5);
        let Next::Found(found) = end else { panic!("{end:?}") };
        assert_eq!(found.rate_per_s, held[4].rate_per_s);
        assert_eq!(found.broke_at_per_s, held[3].rate_per_s);
        assert!(found.rate_per_s <= 4700.0 && found.rate_per_s > 4700.0 * 0.98, "{found:?}");
    }

    #[test]
    fn nothing_holds() {
        let (stages, end) = run(from(1000.0), |stage| match stage.purpose {
            Purpose::Hold => Judged::Broke,
            _ => up_to(5000.0)(stage),
        });
        let Next::NotFound(NotFound::NoneHeld { highest_per_s, lowest_per_s }) = end else { panic!("{end:?}") };
        let holds = stages.iter().filter(|stage| stage.purpose == Purpose::Hold).count();
        assert_eq!((holds, highest_per_s), (HOLDS_MAX, 5000.0));
        assert!((lowest_per_s - 5000.0 * 0.98_f64.powi(7)).abs() < 1e-6, "{lowest_per_s}");
    }

    #[test]
    fn where_the_client_broke_the_rate_is_a_lower_bound() {
        let broke = |stage: Stage| if stage.rate_per_s > 7000.0 { Judged::ClientBroke } else { Judged::Broke };
        let (_, end) = run(from(1000.0), |stage| match up_to(9000.0)(stage) {
            Judged::Passed => Judged::Passed,
            _ => broke(stage),
        });
        assert!(matches!(end, Next::Found(Found { lower_bound: true, .. })), "{end:?}");
        // The client broke far above only: the server's own limit was found below.
        let (_, end) = run(from(1000.0), |stage| match up_to(5000.0)(stage) {
            Judged::Passed => Judged::Passed,
            _ => broke(stage),
        });
        assert!(matches!(end, Next::Found(Found { lower_bound: false, .. })), "{end:?}");
    }

    proptest! {
        /// A server whose capacity is a little different each time one looks.
        #[test]
        fn finds_the_capacity(capacity in 3.0..1e6_f64, start in 1.0..1e5_f64, noise in 0.0..0.01_f64, seed: u64) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut now = || capacity * (1.0 + noise * (2.0 * random.f64() - 1.0));
            let (_, end) = run(from(start), |stage| up_to(now())(stage));
            let Next::Found(found) = end else { return Err(TestCaseError::fail(format!("{end:?}"))) };
            let nearly = 1.0 + 1e-9;
            prop_assert!(found.rate_per_s <= capacity * (1.0 + noise) * nearly, "{found:?}");
            // A hold that broke has cost at most one step below the least capacity there was.
            prop_assert!(found.rate_per_s * nearly >= capacity * (1.0 - noise) * 0.98, "{found:?}");
            prop_assert!(found.broke_at_per_s > found.rate_per_s, "{found:?}");
        }

        #[test]
        fn ends_whatever_the_answers_are(
            answers in prop::collection::vec(0..3_u8, 64),
            start in 1e-3..1e9_f64,
            resolution in 0.001..0.5_f64,
        ) {
            let options = Options { start_per_s: start, resolution, ..Options::default() };
            let mut answers = answers.into_iter();
            let mut lowest_broke = f64::INFINITY;
            let (stages, end) = run(options, |stage| {
                assert!(stage.rate_per_s.is_finite() && stage.rate_per_s > 0.0);
                // What is above a rate that broke is never tried again.
                assert!(stage.rate_per_s < lowest_broke);
                let judged = match answers.next().expect("fewer stages than answers") {
                    0 => Judged::Passed,
                    1 => Judged::Broke,
                    _ => Judged::ClientBroke,
                };
                if judged != Judged::Passed {
                    lowest_broke = stage.rate_per_s;
                }
                judged
            });
            if let Next::Found(found) = end {
                let last = stages.last().unwrap();
                prop_assert_eq!((last.purpose, last.rate_per_s), (Purpose::Hold, found.rate_per_s));
                prop_assert_eq!(found.broke_at_per_s, lowest_broke);
            }
        }
    }
}
