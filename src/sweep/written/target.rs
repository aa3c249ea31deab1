//! `[[target]]`: who is compared.

use std::path::PathBuf;
use std::time::Duration;

use super::place::Place;
use super::section::{At, Section};
use super::words::{Arguments, Command, Cpus, Line, Name, OneOrEach};
use super::{Judges, Surroundings};
use crate::config::plan::{Model, Profile};
use crate::config::units::{Count, Period, SECOND};
use crate::config::written::Choice;
use crate::sweep::cpus::CpuSet;
use crate::sweep::plan::{How, TargetPlan};

type Workers = Count<1, 1024>;
type Wait = Period<SECOND, { 600 * SECOND }>;

/// A Java server on one busy CPU has taken 20 s to be ready.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// Answers that are running may finish: our own server gives them 10 s.
const STOP_WITHIN: Duration = Duration::from_secs(15);

/// Most targets that the lists of one table may make.
const SHAPES_MAX: usize = 64;

/// Longest word of a command: execve's MAX_ARG_STRLEN is 128 KiB with the NUL behind it.
const WORD_BYTES_MAX: usize = (128 << 10) - 1;

/// Arguments of `quintain serve` that the plan gives in its own words.
const GIVEN: [(&str, &str); 6] = [
    ("--root", "it is the plan's root"),
    ("--listen", "the sweep takes a port that is free"),
    ("--workers", "write workers"),
    ("--profile", "write profile"),
    ("--daemon", "the sweep waits for it"),
    ("--check", "it has to serve"),
];

/// The targets of one table: several where it has lists.
pub(super) fn read(mut section: Section<'_>, place: &Place, around: &Surroundings) -> Vec<At<TargetPlan>> {
    let line = section.line;
    // What is misspelt is still a way: one mistake is enough.
    let any = |keys: &[&str]| keys.iter().any(|key| section.has(key));
    let ways = [any(&["profile", "model", "serve"]), any(&["command"]), any(&["url"])];
    let name = section.need::<Name>("name");
    let typed = Typed {
        ways,
        profile: section.take("profile"),
        model: section.take("model"),
        serve: section.take("serve"),
        command: section.take("command"),
        version: section.take("version"),
        url: section.take("url"),
        pid_file: section.take("pid_file"),
        workers: section.take("workers"),
        cpus: section.take("cpus"),
    };
    let ready_within = section.take::<Wait>("ready_within").map_or(READY_WITHIN, |at| at.value.0);
    let stop_within = section.take::<Wait>("stop_within");
    typed.contradictions(&section);
    typed.too_long(&section);
    if let (Some(_), Some(stop)) = (&typed.url, &stop_within) {
        section.wrong(stop.line, "target.stop_within: what runs already is not ended");
    }
    let set = typed.cpu_set(&around.cpus);
    let hows = typed.hows(&section, place, &around.judges);
    section.finish();
    let Some(name) = name else { return Vec::new() };
    let target = |(suffix, how, workers): (String, How, Option<u64>)| TargetPlan {
        name: format!("{}{suffix}", name.value.0),
        how,
        workers: workers.unwrap_or(set.1),
        cpus: set.0.clone(),
        ready_within,
        stop_within: stop_within.as_ref().map_or(STOP_WITHIN, |at| at.value.0),
    };
    hows.into_iter().map(|how| At { value: target(how), line }).collect()
}

/// What was typed, before it is known to fit together.
struct Typed {
    /// Whether something stands there of our own server, of a command, of what runs already.
    ways: [bool; 3],
    profile: Option<At<OneOrEach<Profile>>>,
    model: Option<At<OneOrEach<Model>>>,
    serve: Option<At<Arguments>>,
    command: Option<At<Command>>,
    version: Option<At<Command>>,
    url: Option<At<Line>>,
    pid_file: Option<At<PathBuf>>,
    workers: Option<At<OneOrEach<Workers>>>,
    cpus: Option<At<Cpus>>,
}

impl Typed {
    /// What cannot stand together, or has nobody who would obey it.
    fn contradictions(&self, section: &Section<'_>) {
        let [is_ours, is_command, is_running] = self.ways;
        match self.ways.iter().filter(|way| **way).count() {
            0 => section.wrong(
                section.line,
                "target: where does it come from? Write profile, model or serve (our own server), command, or url; \
                 serve = [] is our own server as it is",
            ),
            1 => {}
            _ => section.wrong(
                section.line,
                "target: it comes from one place; our own server (profile, model, serve), command and url exclude one another",
            ),
        }
        let refuse = |line: Option<usize>, says: &str| {
            line.into_iter().for_each(|line| section.wrong(line, says));
        };
        if !is_command {
            let says = "target.version: only a command has one; everybody else is asked over HTTP";
            refuse(self.version.as_ref().map(|at| at.line), says);
        }
        if is_running {
            let says = "target.workers: what runs already has the workers that it has";
            refuse(self.workers.as_ref().map(|at| at.line), says);
            refuse(self.cpus.as_ref().map(|at| at.line), "target.cpus: what runs already stays where it is");
        } else {
            let says = "target.pid_file: only a url needs one; whatever is started here is known";
            refuse(self.pid_file.as_ref().map(|at| at.line), says);
        }
        if let (Some(At { value: OneOrEach::Each(_), line }), false) = (&self.workers, is_ours) {
            let says = "target.workers: a list makes several targets of our own server only; repeat [[target]]";
            section.wrong(*line, says);
        }
    }

    /// Words that the kernel takes of nobody: what is begun would end when it comes to them.
    fn too_long(&self, section: &Section<'_>) {
        let of = |command: &At<Command>| (command.line, command.value.0.clone());
        let lists = [
            ("command", self.command.as_ref().map(of)),
            ("version", self.version.as_ref().map(of)),
            ("serve", self.serve.as_ref().map(|at| (at.line, at.value.0.clone()))),
        ];
        for (key, list) in lists {
            let Some((line, words)) = list else { continue };
            if let Some(word) = words.iter().find(|word| word.len() > WORD_BYTES_MAX) {
                let says = format!(
                    "target.{key}: a word of it has {} bytes, and the kernel takes at most {WORD_BYTES_MAX} (MAX_ARG_STRLEN)",
                    word.len()
                );
                section.wrong(line, says);
            }
        }
    }

    /// The CPUs as a target has them, and the workers that suit so many.
    fn cpu_set(&self, all: &CpuSet) -> (String, u64) {
        let (servers, _) = all.halves();
        let set = match &self.cpus {
            Some(At { value: Cpus::Only(set), .. }) => set.clone(),
            Some(At { value: Cpus::All, .. }) => CpuSet::default(),
            None if self.ways[2] => CpuSet::default(),
            None => servers,
        };
        let free = if set == CpuSet::default() { all } else { &set };
        (set.to_string(), (free.numbers().len() as u64).max(1))
    }

    /// Each shape of it, with what its name gets and its workers.
    fn hows(&self, section: &Section<'_>, place: &Place, judges: &Judges) -> Vec<(String, How, Option<u64>)> {
        if let Some(url) = &self.url {
            return vec![(String::new(), self.running(url, section, place), None)];
        }
        if let Some(command) = &self.command {
            let workers = self.workers.iter().flat_map(|at| choices(&at.value)).next();
            let workers = workers.map(|(_, workers)| u64::from(workers.0));
            return vec![(String::new(), self.started(command, section, place), workers)];
        }
        let shapes = self.ours(section);
        self.judged(&shapes, section, judges);
        shapes
    }

    /// What the server itself says of its arguments. Those that cannot stand there were complained of already, and may
    /// be wrong only because of that.
    fn judged(&self, shapes: &[(String, How, Option<u64>)], section: &Section<'_>, judges: &Judges) {
        let words = self.serve.as_ref().map_or(&[][..], |at| &at.value.0);
        let is_too_long = words.iter().any(|word| word.len() > WORD_BYTES_MAX);
        if is_too_long || GIVEN.iter().any(|(flag, _)| is_given(words, flag)) {
            return;
        }
        for (_, how, _) in shapes {
            let How::Ours { arguments } = how else { continue };
            for says in (judges.serve)(arguments) {
                section.wrong(section.line, format!("target.serve: {says}"));
            }
        }
    }

    fn ours(&self, section: &Section<'_>) -> Vec<(String, How, Option<u64>)> {
        let serve = self.serve.as_ref();
        let words = serve.map_or(&[][..], |at| &at.value.0);
        for (flag, why) in GIVEN {
            if let (Some(at), true) = (serve, is_given(words, flag)) {
                section.wrong(at.line, format!("target.serve: {flag} cannot stand there; {why}"));
            }
        }
        let profiles = named(&self.profile);
        let models = named(&self.model);
        let workers = self.workers.as_ref().map_or(Vec::new(), |at| choices(&at.value));
        let count = profiles.len().max(1) * models.len().max(1) * workers.len().max(1);
        if count > SHAPES_MAX {
            let says = format!("target: its lists make {count} targets of it, and at most {SHAPES_MAX} are compared");
            section.wrong(section.line, says);
            return Vec::new();
        }
        let mut shapes = vec![(String::new(), Vec::new(), None)];
        shapes = multiply(&shapes, profiles, |profile, (_, words, _)| {
            words.extend(["--profile".to_owned(), profile.name().to_owned()]);
        });
        shapes = multiply(&shapes, models, |model, (_, words, _)| {
            words.extend(["--set".to_owned(), format!("server.model={}", model.name())]);
        });
        let suffixed = workers.into_iter().map(|(suffix, workers)| (suffix.then(|| workers.0.to_string()), workers));
        shapes = multiply(&shapes, suffixed.collect(), |workers, (_, _, count)| *count = Some(u64::from(workers.0)));
        let how = |(suffix, mut arguments, workers): Shape| {
            arguments.extend_from_slice(words);
            (suffix, How::Ours { arguments }, workers)
        };
        shapes.into_iter().map(how).collect()
    }

    fn started(&self, command: &At<Command>, section: &Section<'_>, place: &Place) -> How {
        let words = place.program(&command.value.0);
        if !words.iter().any(|word| word.contains("{port}")) {
            section.wrong(
                command.line,
                "target.command: {port} stands in none of its words, and the sweep has to say where it listens; a server with a \
                 port of its own is started by you, and has a url here",
            );
        }
        How::Command { words, version: self.version.as_ref().map_or(Vec::new(), |at| place.program(&at.value.0)) }
    }

    /// One whose URL is wrong is a target all the same: a matrix that names it makes no mistake.
    fn running(&self, url: &At<Line>, section: &Section<'_>, place: &Place) -> How {
        let base = base_url(&url.value.0);
        if base.is_none() {
            section.wrong(
                url.line,
                "target.url: expected http://HOST:PORT without a path, such as \"http://127.0.0.1:8080\"",
            );
        }
        let pid_file = self.pid_file.as_ref().map(|at| place.below(&at.value));
        How::Running { url: base.unwrap_or_default(), pid_file }
    }
}

/// Whether a flag stands among arguments, with its value behind it or not.
fn is_given(words: &[String], flag: &str) -> bool {
    words.iter().any(|word| word == flag || word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
}

/// What a name gets, arguments, workers.
type Shape = (String, Vec<String>, Option<u64>);

/// Each shape with each of the choices; without choices they stay as they are.
fn multiply<T: Copy>(shapes: &[Shape], choices: Vec<(Option<String>, T)>, apply: impl Fn(T, &mut Shape)) -> Vec<Shape> {
    if choices.is_empty() {
        return shapes.to_vec();
    }
    let with = |shape: &Shape, (suffix, choice): &(Option<String>, T)| {
        let mut shape = shape.clone();
        shape.0.extend(suffix.iter().flat_map(|suffix| ["-", suffix]));
        apply(*choice, &mut shape);
        shape
    };
    shapes.iter().flat_map(|shape| choices.iter().map(move |choice| with(shape, choice))).collect()
}

/// Choices with their words, where there are several.
fn named<T: Choice>(typed: &Option<At<OneOrEach<T>>>) -> Vec<(Option<String>, T)> {
    let word = |choice: T| T::CHOICES.iter().find(|(_, known)| *known == choice).map(|(word, _)| (*word).to_owned());
    let choices = typed.as_ref().map_or(Vec::new(), |at| choices(&at.value));
    choices.into_iter().map(|(suffix, choice)| (word(choice).filter(|_| suffix), choice)).collect()
}

/// The choices, and whether the name has to tell them apart.
fn choices<T: Copy>(typed: &OneOrEach<T>) -> Vec<(bool, T)> {
    match typed {
        OneOrEach::One(one) => vec![(false, *one)],
        OneOrEach::Each(all) => all.iter().map(|one| (true, *one)).collect(),
    }
}

/// `http://HOST:PORT`, if that is what it is.
fn base_url(text: &str) -> Option<String> {
    let uri: http::Uri = text.parse().ok()?;
    let authority = uri.authority()?;
    let is_plain = uri.scheme_str() == Some("http") && matches!(uri.path(), "" | "/") && uri.query().is_none();
    let has_user = authority.as_str().contains('@');
    (is_plain && !has_user && !authority.host().is_empty()).then(|| format!("http://{authority}"))
}
