//! Before the first measurement: targets that answer as they should, what the experiment is, and the warm-up.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::super::error::{Cut, SweepError};
use super::super::folder::TOOL;
use super::super::journal::Journal;
use super::super::observer::Event;
use super::super::plan::{CoolDown, Plan, WarmUp};
use super::super::target::{Out, Probe};
use super::super::warm_up::warm_up;
use super::Sweep;
use crate::record::experiment::{Course, Entry, Experiment, LeftOut, VERSION};

impl Sweep<'_> {
    /// Starts everybody and compares every document, once. Who answers something else takes no part.
    pub(super) fn bring_up(&mut self) -> Result<(), Cut> {
        self.documents_are_there()?;
        for at in 0..self.roster.len() {
            if self.roster.seat(at).is_out() {
                continue;
            }
            let seat = self.roster.seat(at);
            self.observer.see(Event::Starting(seat.target.name()));
            match seat.target.come_up(seat.documents[0], &self.ground)? {
                Ok(()) => self.compare_documents(at)?,
                Err(Out(reason)) => self.absent(at, None, reason)?,
            }
            self.tell_of(at);
        }
        self.tell_of_the_baseline();
        Ok(())
    }

    /// Who is compared with whom is not what the plan says any more if its first target takes no part.
    fn tell_of_the_baseline(&mut self) {
        let seats = self.roster.seats();
        let Some(first) = seats.first().filter(|first| first.is_out() && !self.history.has_seen(first.target.name()))
        else {
            return;
        };
        let first = first.target.name();
        let names: Vec<_> = seats.iter().filter(|seat| !seat.is_out()).map(|seat| seat.target.name()).collect();
        let says = match names.as_slice() {
            [] => return,
            [only] => format!("{only} is left alone, and nothing is compared"),
            [next, ..] => format!("they are compared with {next}"),
        };
        let remark = format!("{first}, which the others would be compared with, takes no part: {says}");
        self.observer.see(Event::Remark(&remark));
    }

    /// The files are what the plan was made for. A resumed sweep may find others.
    fn documents_are_there(&self) -> Result<(), Cut> {
        let plan = self.orders.plan;
        for document in &plan.documents {
            let path = plan.root.join(&document.name);
            let changed = |what: String| SweepError::Changed { folder: self.orders.folder.path().to_owned(), what };
            let length = path.metadata().map(|facts| facts.len());
            match length {
                Ok(length) if length == document.bytes => {}
                Ok(length) => {
                    let (path, bytes) = (path.display(), document.bytes);
                    Err(changed(format!("{path} has {length} bytes now, and had {bytes} when it began")))?;
                }
                Err(error) => Err(changed(format!("{}: {error}", path.display())))?,
            }
        }
        Ok(())
    }

    fn compare_documents(&mut self, at: usize) -> Result<(), Cut> {
        let documents = self.roster.seat(at).documents.clone();
        for document in documents {
            let probe = self.roster.seat(at).target.ask(document, &self.ground)?;
            if !matches!(probe, Probe::Right { .. }) {
                self.absent(at, Some(document.name.clone()), probe.reason().to_owned())?;
            }
        }
        Ok(())
    }

    /// A target that does not come up is left out of a new sweep. If it took part in what is resumed, half of its cells would
    /// be missing for what may be a slip: then nothing goes on.
    fn absent(&mut self, at: usize, document: Option<String>, reason: String) -> Result<(), Cut> {
        let target = self.roster.seat(at).target.name().to_owned();
        if self.history.has_seen(&target) {
            let reason = document.map_or(reason.clone(), |document| format!("for /{document} {reason}"));
            return Err(SweepError::NotBack { target, reason }.into());
        }
        self.leave_out(at, document, reason)
    }

    fn tell_of(&mut self, at: usize) {
        let seat = &self.roster.seats()[at];
        if seat.is_out() {
            return;
        }
        let (target, url, version) = (seat.target.name(), seat.target.url(), seat.target.version());
        self.observer.see(Event::Ready { target, url, version });
        if seat.target.is_unwatched() {
            let remark = format!("{target} is not watched: what it takes of the machine will not be known");
            self.observer.see(Event::Remark(&remark));
        }
    }

    /// Writes down what the experiment is, or finds that it still is what it was.
    pub(super) fn begin(&mut self) -> Result<(), Cut> {
        let now = self.experiment();
        let folder = self.orders.folder;
        match self.orders.before.and_then(|before| before.experiment.as_ref()) {
            Some(before) => folder.goes_on_with(before, &now)?,
            None => folder.begin(&now)?,
        }
        let mut journal = Journal::open(folder.path())?;
        for entry in std::mem::take(&mut self.unwritten) {
            journal.append(&entry)?;
        }
        self.journal = Some(journal);
        Ok(())
    }

    fn experiment(&self) -> Experiment {
        let plan = self.orders.plan;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Experiment {
            version: VERSION,
            tool: TOOL.to_owned(),
            plan: plan.name.clone(),
            question: plan.question.clone(),
            started_unix_s: started.as_secs_f64(),
            seed: plan.seed,
            repeats: plan.repeats,
            targets: self.roster.seats().iter().map(|seat| seat.target.described()).collect(),
            documents: plan.documents.clone(),
            cells: plan.cells.clone(),
            gates: plan.gates.iter().map(ToString::to_string).collect(),
            band: plan.band,
            client: plan.client.clone(),
            machine: self.orders.machine.clone(),
            published: plan.published.clone(),
            narrowed: plan.narrowed.clone(),
            course: Some(course(plan)),
        }
    }

    /// Of everybody, one after the other.
    pub(super) fn warm_up(&mut self) -> Result<(), Cut> {
        for at in 0..self.roster.len() {
            self.warm_up_one(at)?;
        }
        Ok(())
    }

    pub(super) fn warm_up_one(&mut self, at: usize) -> Result<(), Cut> {
        let plan = self.orders.plan;
        let seat = self.roster.seat(at);
        if seat.is_out() || plan.warm_up.cycles == 0 {
            return Ok(());
        }
        self.observer.see(Event::WarmingUp(seat.target.name()));
        warm_up(&seat.target, plan, &self.ground)
    }

    /// Leaves a target out, or one of its documents. Without anybody the sweep is over.
    pub(super) fn leave_out(&mut self, at: usize, document: Option<String>, reason: String) -> Result<(), Cut> {
        let seat = self.roster.seat(at);
        seat.leave_out(document.as_deref());
        let left_out = LeftOut { target: seat.target.name().to_owned(), document, reason };
        self.left_out.push(left_out.clone());
        self.note(&Entry::LeftOut(left_out))?;
        if self.roster.is_empty() {
            return Err(SweepError::NobodyLeft(self.left_out.clone()).into());
        }
        Ok(())
    }
}

fn course(plan: &Plan) -> Course {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let WarmUp { cycles, duration, pause } = plan.warm_up;
    let CoolDown { time_wait_below, at_most } = plan.cool_down;
    Course {
        warm_up_cycles: cycles,
        warm_up_ms: millis(duration),
        warm_up_pause_ms: millis(pause),
        cell_warm_up_ms: millis(plan.cell_warm_up),
        time_wait_below,
        cool_down_at_most_ms: millis(at_most),
    }
}
