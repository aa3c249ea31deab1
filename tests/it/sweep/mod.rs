//! Experiments: plans, and how they are run.

mod plans;
mod run;
mod typed;
