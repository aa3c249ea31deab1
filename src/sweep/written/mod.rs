//! Plan files: from TOML to a [`Plan`].
//!
//! ```text
//! place.rs      where a plan lies, and where its relative paths begin
//! section.rs    tables whose keys are taken one by one; mistakes with their lines
//! words.rs      how values are written
//! target.rs     [[target]]
//! documents.rs  root, and the documents in it
//! matrix.rs     [[matrix]]
//! course.rs     [order], [gates], [client]
//! published.rs  [published]
//! ```

use std::path::PathBuf;

mod course;
mod documents;
mod matrix;
mod place;
mod published;
mod section;
mod target;
#[cfg(test)]
mod tests;
mod words;

pub use place::{Place, Text};

use course::Order;
use documents::{Documents, Root};
use section::{At, Section, Sheet};
use words::Question;

use super::cpus::CpuSet;
use super::order::{self, Block};
use super::plan::{Plan, TargetPlan};
use crate::config::{Mistake, Mistakes};
use crate::process::affinity::Pins;
use crate::record::Gate;
use crate::record::experiment::{Client, Document, Published};

/// Most measurements of a plan: some days of them.
const CELLS_MAX: u64 = 200_000;

/// What surrounds a plan, as an argument, so that a test can bring its own.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// CPUs that this process may use.
    pub cpus: CpuSet,
    /// The working directory.
    pub working: PathBuf,
    /// Who is asked about words that only they understand.
    pub judges: Judges,
}

/// Whoever will obey words of a plan that mean nothing here, and is asked about them while it is read: so what is wrong with those
/// is said together with everything else.
#[derive(Debug, Clone, Copy)]
pub struct Judges {
    /// What is wrong with these arguments of our own server.
    pub serve: fn(&[String]) -> Vec<String>,
    /// What is wrong with these source addresses of the load tool.
    pub source: fn(&str) -> Option<String>,
}

impl Default for Judges {
    /// Nobody finds anything wrong.
    fn default() -> Self {
        Self { serve: |_| Vec::new(), source: |_| None }
    }
}

/// What the command line wants to be otherwise than the plan has it.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// How often each cell is measured.
    pub repeats: Option<u64>,
    /// Only these targets; empty for all.
    pub targets: Vec<String>,
}

/// Reads a plan. Where its `root` is no folder the bundled documents are meant, and have to be made: see
/// [`crate::sweep::documents`].
///
/// # Errors
///
/// Everything that is wrong with it, each with its line.
pub fn read(text: &Text, around: &Surroundings, wishes: &Wishes) -> Result<Plan, Mistakes> {
    let sheet = Sheet::new(&text.place.file, &text.content);
    let parts = Parts::read(sheet.parse()?, &text.place, around);
    sheet.verdict()?;
    // What follows is of a file without mistakes.
    let parts = parts.wished(wishes)?;
    parts.understood(text)
}

/// What stands in a file.
struct Parts {
    question: Option<Question>,
    root: PathBuf,
    targets: Vec<At<TargetPlan>>,
    documents: Vec<Document>,
    blocks: Vec<At<Block>>,
    order: Order,
    gates: Vec<Gate>,
    band: f64,
    client: Client,
    published: Vec<Published>,
    narrowed: Option<String>,
}

impl Parts {
    fn read(mut file: Section<'_>, place: &Place, around: &Surroundings) -> Self {
        let question = file.need::<Question>("question").map(|at| at.value);
        let root = Root::read(&mut file, place, &around.working);
        let targets = targets(&mut file, place, around);
        let mut names: Vec<String> = Vec::with_capacity(targets.len());
        for At { value: TargetPlan { name, .. }, .. } in &targets {
            // A name that is there twice was complained of; what is measured of it need not be.
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let mut documents = Documents::of(&root);
        let blocks = blocks(&mut file, &names, &mut documents);
        let documents = documents.found;
        let order = Order::read(file.section("order"));
        let (gates, band) = course::gates(file.section("gates"));
        let client = course::client(file.section("client"), around);
        let published = published::read(file.section("published"), place, &blocks);
        file.finish();
        let root = root.folder().to_owned();
        let narrowed = None;
        Self { question, root, targets, documents, blocks, order, gates, band, client, published, narrowed }
    }

    /// The same with what the command line wants.
    fn wished(mut self, wishes: &Wishes) -> Result<Self, Mistakes> {
        self.order.repeats = wishes.repeats.unwrap_or(self.order.repeats);
        if wishes.targets.is_empty() {
            return Ok(self);
        }
        let names: Vec<_> = self.targets.iter().map(|target| target.value.name.clone()).collect();
        if let Some(name) = wishes.targets.iter().find(|name| !names.contains(name)) {
            let says = matrix::no_such("target", name, &names);
            return Err(Mistake { place: "--targets".to_owned(), says }.into());
        }
        let is_wanted = |name: &String| wishes.targets.contains(name);
        self.targets.retain(|target| is_wanted(&target.value.name));
        self.narrowed = narrowed(&self.targets, names.len());
        for block in &mut self.blocks {
            block.value.targets.retain(is_wanted);
        }
        self.blocks.retain(|block| !block.value.targets.is_empty());
        self.documents.retain(|document| self.blocks.iter().any(|block| block.value.document == document.name));
        if self.blocks.is_empty() {
            let says = "the plan measures nothing of these alone".to_owned();
            return Err(Mistake { place: "--targets".to_owned(), says }.into());
        }
        Ok(self)
    }

    fn understood(self, text: &Text) -> Result<Plan, Mistakes> {
        let blocks: Vec<_> = self.blocks.into_iter().map(|block| block.value).collect();
        let each: u64 = blocks.iter().map(|block| block.targets.len() as u64).sum();
        let count = each.saturating_mul(self.order.repeats);
        if count > CELLS_MAX {
            let times = self.order.repeats;
            let says = format!("{each} cells {times} times are {count} measurements, and at most {CELLS_MAX} are made");
            return Err(Mistake { place: text.place.file.clone(), says }.into());
        }
        let Order { repeats, seed, warm_up, cell_warm_up, cool_down } = self.order;
        Ok(Plan {
            name: text.place.name.clone(),
            question: self.question.map_or(String::new(), |question| question.0),
            targets: self.targets.into_iter().map(|target| target.value).collect(),
            documents: self.documents,
            root: self.root,
            cells: order::cells(&blocks, repeats, seed),
            repeats,
            seed,
            warm_up,
            cell_warm_up,
            cool_down,
            gates: self.gates,
            band: self.band,
            client: self.client,
            published: self.published,
            narrowed: self.narrowed,
        })
    }
}

/// `--targets: only a and b of the plan's 5 targets are measured`
fn narrowed(left: &[At<TargetPlan>], all: usize) -> Option<String> {
    let names: Vec<_> = left.iter().map(|target| target.value.name.as_str()).collect();
    let (last, others) = names.split_last().filter(|_| names.len() < all)?;
    let (names, are) = match others {
        [] => ((*last).to_owned(), "is"),
        others => (format!("{} and {last}", others.join(", ")), "are"),
    };
    Some(format!("--targets: only {names} of the plan's {all} targets {are} measured"))
}

fn targets(file: &mut Section<'_>, place: &Place, around: &Surroundings) -> Vec<At<TargetPlan>> {
    if !file.has("target") {
        file.wrong(file.line, "a plan without a [[target]] measures nobody");
    }
    let sections = file.sections("target");
    let targets: Vec<_> = sections.into_iter().flat_map(|section| target::read(section, place, around)).collect();
    for (at, target) in targets.iter().enumerate() {
        if let Some(other) = targets[..at].iter().find(|other| other.value.name == target.value.name) {
            let name = &target.value.name;
            file.wrong(target.line, format!("target.name: {name} is the name of another one, in line {}", other.line));
        }
    }
    targets
}

fn blocks(file: &mut Section<'_>, targets: &[String], documents: &mut Documents<'_>) -> Vec<At<Block>> {
    if !file.has("matrix") {
        file.wrong(file.line, "a plan without a [[matrix]] measures nothing");
    }
    let sections = file.sections("matrix");
    let mut blocks = Vec::new();
    let mut room = CELLS_MAX;
    for section in sections {
        blocks.extend(matrix::read(section, targets, documents, &mut room));
    }
    for At { value, line } in matrix::doubles(&blocks) {
        file.wrong(line, value);
    }
    blocks
}

impl Surroundings {
    /// Those of this process.
    ///
    /// # Errors
    ///
    /// The working directory is gone.
    pub fn of_this_process(judges: Judges) -> std::io::Result<Self> {
        let cpus = CpuSet::of(Pins::allowed().cpus().to_vec());
        Ok(Self { cpus, working: std::env::current_dir()?, judges })
    }
}
