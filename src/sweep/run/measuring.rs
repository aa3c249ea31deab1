//! One cell, and what becomes of its target.

use std::path::Path;
use std::time::Duration;

use super::super::cool_down::cool_down;
use super::super::error::{Cut, SweepError};
use super::super::measure::{Answer, Ask, Said, measure};
use super::super::observer::Event;
use super::super::target::{Out, Probe, WATCHED_MAX};
use super::Sweep;
use crate::record::Record;
use crate::record::experiment::{Cell, Entry, Measured, NotMeasured, Restarted};

/// How often a target that dies is started again.
const RESTARTS: u32 = 1;

/// How often a run is tried again because a process ended between the look at the target's processes and the run's own.
const TRIES: u32 = 3;

/// Failures in a row that end a run: nothing was answered for so long that nothing will be. In multiples of the connections,
/// of which each may fail once for one event, and at least so many.
const FAILURES_EACH: u64 = 10;
const FAILURES: u64 = 1000;

/// What is known of a cell beside its record.
#[derive(Debug, Clone, Copy)]
struct Before {
    restarted: bool,
    time_wait: u64,
}

impl Sweep<'_> {
    /// Measures a cell, or finds that there is nobody to measure.
    pub(super) fn cell(&mut self, cell: &Cell) -> Result<(), Cut> {
        let Some((at, restarted)) = self.ready_for(cell)? else { return self.skip(cell) };
        let time_wait = self.cool_down()?;
        self.observer.see(Event::Began(cell));
        let (said, end) = self.measure(at, cell)?;
        match (said.answer, end) {
            // It died before anything could be asked of it: that is no reason for a gap.
            (Answer::Nothing(_), Some(end)) if !restarted => {
                self.revive(at, &end)?;
                if self.roster.of(cell).is_none() {
                    return self.skip(cell);
                }
                let (said, end) = self.measure(at, cell)?;
                self.settle(at, cell, said.answer, Before { restarted: true, time_wait }, end)
            }
            (answer, end) => self.settle(at, cell, answer, Before { restarted, time_wait }, end),
        }
    }

    fn skip(&mut self, cell: &Cell) -> Result<(), Cut> {
        self.counts.skipped += 1;
        self.observer.see(Event::Skipped(cell));
        Ok(())
    }

    /// Who is to be measured, and whether it had died meanwhile; nobody if it takes no part.
    fn ready_for(&mut self, cell: &Cell) -> Result<Option<(usize, bool)>, Cut> {
        let Some(at) = self.roster.of(cell) else { return Ok(None) };
        let Some(end) = self.roster.seat(at).target.ended() else { return Ok(Some((at, false))) };
        self.revive(at, &end)?;
        Ok(self.roster.of(cell).map(|at| (at, true)))
    }

    fn cool_down(&mut self) -> Result<u64, Cut> {
        let plan = self.orders.plan.cool_down;
        let (stop, observer) = (self.ground.stop, &mut self.observer);
        let waited = cool_down(plan, stop, |time_wait| {
            observer.see(Event::CoolingDown { time_wait, below: plan.time_wait_below });
        });
        waited.ok_or(Cut::Stopped)
    }

    /// What the load tool says, and how the target ended if it has.
    fn measure(&mut self, at: usize, cell: &Cell) -> Result<(Said, Option<String>), Cut> {
        let mut tries = 0;
        loop {
            let ask = self.ask(at, cell);
            let said = measure(self.ground.program, &ask, self.ground.stop).map_err(SweepError::Start)?;
            said.remarks.iter().for_each(|remark| self.observer.see(Event::Remark(remark)));
            let end = self.roster.seat(at).target.ended();
            // A machine that goes down ends the target as well, and that says nothing of it.
            if end.is_some() && self.ground.stop.asked() {
                return Err(Cut::Stopped);
            }
            tries += 1;
            let somebody_went = || ask.watch.iter().any(|pid| !Path::new(&format!("/proc/{pid}")).exists());
            let is_worth_a_try = matches!(said.answer, Answer::Nothing(_)) && end.is_none() && somebody_went();
            if !is_worth_a_try || tries == TRIES {
                return Ok((said, end));
            }
        }
    }

    fn ask(&mut self, at: usize, cell: &Cell) -> Ask {
        let plan = self.orders.plan;
        let target = &self.roster.seat(at).target;
        let (watch, is_all) = target.processes();
        let url = format!("{}/{}", target.url(), cell.document);
        if !is_all {
            let remark = format!("{} has more than {WATCHED_MAX} processes; the others are not watched", cell.target);
            self.observer.see(Event::Remark(&remark));
        }
        Ask {
            url,
            connections: cell.connections,
            concurrency: cell.concurrency,
            requests: cell.requests,
            duration: cell.duration_ms.map(Duration::from_millis),
            warm_up: plan.cell_warm_up,
            abort_after: Some(cell.concurrency.saturating_mul(FAILURES_EACH).max(FAILURES)),
            timeout: None,
            verify: None,
            watch,
            client: plan.client.clone(),
        }
    }

    /// Writes down what came of it, and looks after the target.
    fn settle(
        &mut self,
        at: usize,
        cell: &Cell,
        answer: Answer,
        before: Before,
        end: Option<String>,
    ) -> Result<(), Cut> {
        let restarted = before.restarted || end.is_some();
        let has_answered = self.keep(cell, answer, Before { restarted, ..before })?;
        match end {
            Some(end) => self.revive(at, &end),
            None if has_answered => Ok(()),
            None => self.look_after(at),
        }
    }

    /// Writes it down, and says whether there is a record with an answer in it.
    fn keep(&mut self, cell: &Cell, answer: Answer, before: Before) -> Result<bool, Cut> {
        let (cell, Before { restarted, time_wait }) = (cell.clone(), before);
        match judged(answer)? {
            Ok(record) => {
                let has_answered = record.runs.iter().any(|run| run.endings.ok > 0);
                let measured = Box::new(Measured { cell, restarted, time_wait, record });
                self.observer.keep(&measured).map_err(SweepError::Keep)?;
                self.note(&Entry::Measured(measured))?;
                self.counts.measured += 1;
                Ok(has_answered)
            }
            Err(reason) => {
                self.note(&Entry::NotMeasured(NotMeasured { cell, reason }))?;
                self.counts.not_measured += 1;
                Ok(false)
            }
        }
    }

    /// Starts a target again that has died, and warms it up again, once; then it is out.
    fn revive(&mut self, at: usize, end: &str) -> Result<(), Cut> {
        let seat = self.roster.seat(at);
        if seat.restarts >= RESTARTS {
            return self.leave_out(at, None, format!("it was started again, and died again: {end}"));
        }
        seat.restarts += 1;
        self.observer.see(Event::Starting(seat.target.name()));
        match seat.target.come_up(seat.documents[0], &self.ground)? {
            Ok(()) => {
                let restarted = Restarted { target: seat.target.name().to_owned(), reason: end.to_owned() };
                self.note(&Entry::Restarted(restarted))?;
                self.warm_up_one(at)
            }
            Err(Out(reason)) => self.leave_out(at, None, format!("it died ({end}), and does not come back: {reason}")),
        }
    }

    /// One that has answered nothing may hang, or have gone without its process: each further cell would take as long as a
    /// run may. It counts as dead, and what was not started for this is left out.
    fn look_after(&mut self, at: usize) -> Result<(), Cut> {
        let seat = self.roster.seat(at);
        let Probe::Wrong { reason, .. } = seat.target.ask(seat.documents[0], &self.ground)? else {
            return Ok(());
        };
        if !seat.target.is_ours_to_start() {
            return self.leave_out(at, None, format!("it does not answer any more: {reason}"));
        }
        seat.target.stop();
        self.revive(at, &format!("it did not answer any more: {reason}"))
    }
}

/// The record, or why there is none that counts.
fn judged(answer: Answer) -> Result<Result<Record, String>, Cut> {
    match answer {
        Answer::Record(record) if record.runs.iter().any(|run| run.interrupted) => {
            Ok(Err("somebody interrupted the load tool".to_owned()))
        }
        Answer::Record(record) => Ok(Ok(*record)),
        Answer::Nothing(reason) => Ok(Err(reason)),
        Answer::Stopped => Err(Cut::Stopped),
    }
}
