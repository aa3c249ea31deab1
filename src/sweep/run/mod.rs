//! One sweep, from its first target started to its last stopped.
//!
//! All targets are started once and run side by side, idle but for the one that is measured: to start a Java server for each
//! cell would measure how it is compiled.

use super::child::Program;
use super::error::{Cut, SweepError};
use super::folder::{Before, Folder};
use super::history::{Counts, History};
use super::journal::Journal;
use super::observer::{Event, Observer};
use super::plan::Plan;
use super::target::{Ground, LogBound};
use super::wait::Stop;
use crate::record::experiment::{Entry, LeftOut, Machine};

mod begin;
mod measuring;
mod roster;

use roster::Roster;

/// What a sweep is given.
#[derive(Debug)]
pub struct Orders<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// Where it is kept.
    pub folder: &'a Folder,
    /// What was there already, of a sweep that is resumed.
    pub before: Option<&'a Before>,
    /// Where it is done.
    pub machine: &'a Machine,
    /// This program, which is the load tool too.
    pub program: &'a Program,
    /// Whether it has to stop.
    pub stop: &'a Stop,
}

/// How a sweep ended that could do what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Everything is measured that could be.
    Whole(Counts),
    /// Somebody wanted it to stop; it can be resumed.
    Stopped(Counts),
}

/// Measures every cell that is not in the journal yet. To be called on the main thread: see [`super::launcher`].
///
/// # Errors
///
/// [`SweepError`]. What stands in the journal is safe then, and the sweep can be resumed.
pub fn run(orders: &Orders<'_>, observer: &mut dyn Observer) -> Result<Ended, SweepError> {
    // Commands get it in their words, and may work in another folder than this.
    let folder = std::path::absolute(orders.folder.path());
    let folder = folder.map_err(|error| SweepError::write(orders.folder.path(), error))?;
    let ground = Ground { program: orders.program, folder: &folder, root: &orders.plan.root, stop: orders.stop };
    let history = orders.before.map_or(History::default(), |before| before.history.clone());
    if orders.plan.cells.iter().all(|cell| history.settles(cell)) {
        return Ok(Ended::Whole(history.counts(&orders.plan.cells)));
    }
    let roster = Roster::new(orders.plan, &history, orders.before, &ground)?;
    let logs = roster.seats().iter().filter_map(|seat| seat.target.log()).collect();
    let bound = LogBound::of(logs).map_err(SweepError::Start)?;
    let (counts, left_out) = (history.counts(&[]), history.left_out().to_vec());
    let (journal, unwritten) = (None, Vec::new());
    let mut sweep = Sweep { orders, ground, roster, history, journal, unwritten, left_out, counts, observer };
    let ended = sweep.all();
    sweep.observer.see(Event::Stopping);
    sweep.roster.stop();
    drop(bound);
    match ended {
        Ok(()) => Ok(Ended::Whole(sweep.counts)),
        Err(Cut::Stopped) => Ok(Ended::Stopped(sweep.counts)),
        Err(Cut::Failed(error)) => Err(error),
    }
}

struct Sweep<'a> {
    orders: &'a Orders<'a>,
    ground: Ground<'a>,
    roster: Roster<'a>,
    history: History,
    /// From the moment on at which the experiment stands in its folder.
    journal: Option<Journal>,
    /// What happened before that.
    unwritten: Vec<Entry>,
    left_out: Vec<LeftOut>,
    counts: Counts,
    observer: &'a mut dyn Observer,
}

impl Sweep<'_> {
    fn all(&mut self) -> Result<(), Cut> {
        self.bring_up()?;
        self.begin()?;
        self.warm_up()?;
        let orders = self.orders;
        for cell in &orders.plan.cells {
            if !self.history.is_done(cell) {
                self.cell(cell)?;
            }
        }
        Ok(())
    }

    /// Writes down what happened, and then says it.
    fn note(&mut self, entry: &Entry) -> Result<(), Cut> {
        match &mut self.journal {
            Some(journal) => journal.append(entry)?,
            None => self.unwritten.push(entry.clone()),
        }
        let event = match entry {
            Entry::Measured(measured) => Event::Measured(measured),
            Entry::NotMeasured(not_measured) => Event::NotMeasured(not_measured),
            Entry::LeftOut(left_out) => Event::LeftOut(left_out),
            Entry::Restarted(restarted) => Event::Restarted(restarted),
        };
        self.observer.see(event);
        Ok(())
    }
}
