//! Experiments: plans, and how they are run.

mod obstacles;
mod plans;
mod run;
mod typed;
