//! The targets of a sweep, and which of them still take part.

use std::collections::HashSet;

use super::super::error::SweepError;
use super::super::folder::Before;
use super::super::history::History;
use super::super::plan::Plan;
use super::super::ports::Free;
use super::super::target::{Ground, Target};
use crate::record::experiment::{Cell, Document, Experiment};

/// The targets, in the order of the plan.
#[derive(Debug)]
pub struct Roster<'a>(Vec<Seat<'a>>);

/// One of them.
#[derive(Debug)]
pub struct Seat<'a> {
    pub target: Target<'a>,
    /// What it is asked for, in the order of the plan; nothing once it is left out.
    pub documents: Vec<&'a Document>,
    /// How often it has been started again.
    pub restarts: u32,
}

impl<'a> Roster<'a> {
    /// Gives each of them a port: the same as before, if it is free.
    pub fn new(
        plan: &'a Plan,
        history: &History,
        before: Option<&Before>,
        ground: &Ground<'_>,
    ) -> Result<Self, SweepError> {
        let mut free = Free::of_this_machine();
        let experiment = before.and_then(|before| before.experiment.as_ref());
        let seats = plan.targets.iter().map(|target| {
            let port = free.take(port_before(experiment, &target.name)).map_err(SweepError::Start)?;
            let asked: HashSet<_> = asked_of(&plan.cells, &target.name).collect();
            let takes_part = |document: &&Document| {
                let name = document.name.as_str();
                asked.contains(name) && !history.is_left_out(&target.name, Some(name))
            };
            Ok(Seat {
                target: Target::new(target, port, ground),
                documents: plan.documents.iter().filter(takes_part).collect(),
                restarts: history.restarts(&target.name),
            })
        });
        seats.collect::<Result<_, _>>().map(Self)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them.
    pub fn seats(&self) -> &[Seat<'a>] {
        &self.0
    }

    /// One of them.
    pub fn seat(&mut self, at: usize) -> &mut Seat<'a> {
        &mut self.0[at]
    }

    /// Which one a cell is about, if that takes part.
    pub fn of(&self, cell: &Cell) -> Option<usize> {
        let takes_part = |seat: &Seat<'_>| seat.documents.iter().any(|document| document.name == cell.document);
        self.0.iter().position(|seat| seat.target.name() == cell.target && takes_part(seat))
    }

    /// Whether nobody takes part any more.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Seat::is_out)
    }

    /// Ends everybody who was started: all are asked before one is waited for.
    pub fn stop(&mut self) {
        self.0.iter_mut().for_each(|seat| seat.target.ask_to_stop());
        self.0.iter_mut().for_each(|seat| seat.target.stop());
    }
}

impl Seat<'_> {
    /// Whether it takes no part.
    pub fn is_out(&self) -> bool {
        self.documents.is_empty()
    }

    /// It takes no further part, or one of its documents does not. Without a document left it has no part either.
    pub fn leave_out(&mut self, document: Option<&str>) {
        self.documents.retain(|one| document.is_some_and(|document| one.name != document));
        if self.is_out() {
            self.target.stop();
        }
    }
}

fn asked_of<'a>(cells: &'a [Cell], target: &str) -> impl Iterator<Item = &'a str> {
    cells.iter().filter(move |cell| cell.target == target).map(|cell| cell.document.as_str())
}

fn port_before(experiment: Option<&Experiment>, target: &str) -> Option<u16> {
    let known = experiment?.targets.iter().find(|known| known.name == target)?;
    known.url.rsplit_once(':')?.1.parse().ok()
}
