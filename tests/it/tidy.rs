//! The architecture, as far as text can show it. What fails here compiles and works; it is only in the wrong place.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

/// Most lines of a file, without its unit tests.
const FILE_LINES: usize = 450;

/// The modules and what each may use besides itself. Whatever is not listed is up or sideways.
const USES: &[(&str, &[&str])] = &[
    ("main", &["cli", "commands", "config", "fixtures", "process", "server", "site", "telemetry"]),
    (
        "commands",
        &[
            "analysis",
            "cli",
            "config",
            "fixtures",
            "load",
            "process",
            "record",
            "report",
            "server",
            "site",
            "sweep",
            "telemetry",
        ],
    ),
    ("cli", &["config", "fixtures", "load", "process", "record", "server", "sweep", "telemetry"]),
    ("load", &["process", "record"]),
    ("report", &["analysis", "record"]),
    ("sweep", &["config", "fixtures", "process", "record"]),
    ("analysis", &["record", "statistics"]),
    ("statistics", &[]),
    ("record", &[]),
    ("server", &["config", "fixtures", "process", "site"]),
    ("site", &["config"]),
    ("telemetry", &["config", "process"]),
    ("config", &[]),
    ("fixtures", &["config"]),
    ("process", &[]),
];

/// Where unsafe code may stand.
const UNSAFE: &[&str] = &[
    "src/site/root.rs",
    "src/server/link.rs",
    "src/server/transport.rs",
    "src/server/sendfile.rs",
    "src/server/listen.rs",
    "src/load/socket.rs",
    "src/process/activation.rs",
    "src/process/daemon.rs",
];

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder of the package: path from the package's root, and text.
fn sources(folder: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![package().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")).flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(package()).expect("below the package").to_str().expect("UTF-8");
                files.insert(name.to_owned(), fs::read_to_string(&path).expect("UTF-8"));
            }
        }
    }
    assert!(!files.is_empty(), "{folder} has no sources");
    files
}

/// The module of a file: the first folder or file name below `src`.
fn module_of(path: &str) -> &str {
    let below = path.strip_prefix("src/").unwrap_or(path);
    below.split('/').next().map_or(below, |first| first.strip_suffix(".rs").unwrap_or(first))
}

/// Lines with their numbers, without comments and without what follows the unit tests' `#[cfg(test)]`.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let before_tests = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    before_tests.enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")).map(|(at, line)| (at + 1, line))
}

/// Fails with all findings at once.
#[track_caller]
fn none_of(what: &str, findings: Vec<String>) {
    assert!(findings.is_empty(), "{what}:\n{}", findings.join("\n"));
}

#[test]
fn modules_use_only_what_stands_below_them() {
    let import = Regex::new(r"\b(?:crate|quintain)::(\w+)").expect("a pattern");
    let mut findings = Vec::new();
    for (path, text) in sources("src") {
        let module = module_of(&path);
        // Unit tests may come in by the front door.
        if module == "lib" || path.ends_with("/tests.rs") {
            continue;
        }
        let allowed = USES.iter().find(|(name, _)| *name == module).map(|(_, uses)| *uses);
        let Some(allowed) = allowed else {
            findings.push(format!("{path}: the module {module} has no place in the order"));
            continue;
        };
        for (line, text) in code(&text) {
            for used in import.captures_iter(text).map(|found| found.get(1).expect("a group").as_str()) {
                let known = USES.iter().any(|(name, _)| *name == used);
                if known && used != module && !allowed.contains(&used) {
                    findings.push(format!("{path}:{line}: {module} must not use {used}"));
                }
            }
        }
    }
    none_of("imports that go up or sideways", findings);
}

#[test]
fn the_site_knows_no_sockets() {
    let names = Regex::new(r"\b(hyper|tokio|tokio_util|socket2|std::net|rustix::net|http_body)\b").expect("a pattern");
    let mut findings = Vec::new();
    for (path, text) in sources("src/site") {
        for (line, text) in code(&text).filter(|(_, text)| names.is_match(text)) {
            findings.push(format!("{path}:{line}: {text}"));
        }
    }
    none_of("sockets in src/site", findings);
}

#[test]
fn unsafe_code_stands_in_few_files_and_gives_its_reasons() {
    let block = Regex::new(r"\bunsafe\s*(\{|impl\b|fn\b|extern\b)").expect("a pattern");
    let mut findings = Vec::new();
    for (path, text) in sources("src") {
        let lines: Vec<_> = text.lines().collect();
        for (line, _) in code(&text).filter(|(_, text)| block.is_match(text)) {
            if !UNSAFE.contains(&path.as_str()) {
                findings.push(format!("{path}:{line}: unsafe outside of {UNSAFE:?}"));
            }
            if !is_argued_for(&lines[..line]) {
                findings.push(format!("{path}:{line}: unsafe without a SAFETY comment"));
            }
        }
    }
    none_of("unsafe code", findings);
}

/// Whether the comment above the statement that these lines end with holds the argument.
fn is_argued_for(lines: &[&str]) -> bool {
    // A statement may have begun some lines above its unsafe block.
    const STATEMENT: usize = 6;
    let is_comment = |line: &&&str| line.trim_start().starts_with("//");
    let statement = lines.iter().rev().take_while(|line| !is_comment(line)).count();
    let comment = lines.iter().rev().skip(statement).take_while(is_comment);
    statement <= STATEMENT && comment.map(|line| line.trim_start()).any(|line| line.starts_with("// SAFETY:"))
}

#[test]
fn files_are_of_one_idea() {
    let mut findings = Vec::new();
    for (path, text) in sources("src").into_iter().chain(sources("tests")) {
        let unit_tests = path.starts_with("src/") && path.ends_with("tests.rs");
        let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count();
        if lines > FILE_LINES && !unit_tests {
            findings.push(format!("{path}: {lines} lines"));
        }
    }
    none_of("files of more than one idea", findings);
}

#[test]
fn nothing_is_left_to_do() {
    // Put together here, so that this file does not find itself.
    let words = ["TO".to_owned() + "DO", "FIX".to_owned() + "ME", "X".repeat(3)];
    let macros = ["to".to_owned() + "do!", "unimple".to_owned() + "mented!", "db".to_owned() + "g!"];
    let pattern = format!(r"\b({})\b|\b({})", words.join("|"), macros.join("|"));
    let pattern = Regex::new(&pattern).expect("a pattern");
    let mut findings = Vec::new();
    for (path, text) in sources("src").into_iter().chain(sources("tests")) {
        let lines = text.lines().enumerate().filter(|(_, line)| pattern.is_match(line));
        findings.extend(lines.map(|(at, line)| format!("{path}:{}: {line}", at + 1)));
    }
    none_of("left to do", findings);
}

/// The text of a document of the package, if it is there.
fn document(name: &str) -> Option<String> {
    fs::read_to_string(package().join(name)).ok()
}

#[test]
fn the_architecture_names_what_exists() {
    let Some(text) = document("ARCHITECTURE.md") else { return };
    let path =
        Regex::new(r"\b(?:src|tests|fixtures|fuzz|bench|benches)/[A-Za-z0-9_./-]*[A-Za-z0-9_]").expect("a pattern");
    let named: Vec<PathBuf> = path.find_iter(&text).map(|found| PathBuf::from(found.as_str())).collect();
    assert!(!named.is_empty(), "ARCHITECTURE.md names no path");
    let missing = named.iter().filter(|path| !package().join(path).exists());
    none_of("ARCHITECTURE.md names", missing.map(|path| path.display().to_string()).collect());
}

#[test]
fn the_readme_names_commands_that_exist() {
    let Some(text) = document("README.md") else { return };
    assert!(text.contains("cargo test"), "README.md does not say how to test");
    let command = Regex::new(r"(?:cargo run --release --|\bquintain) ([a-z]+)(?: |$)").expect("a pattern");
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_quintain")).arg("--help").output().expect("it runs");
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    let blocks: Vec<_> = text.split("```").skip(1).step_by(2).flat_map(str::lines).collect();
    let named = blocks.iter().filter_map(|line| command.captures(line)).map(|found| found[1].to_owned());
    let unknown = named.filter(|name| !help.lines().any(|line| line.split_whitespace().next() == Some(name.as_str())));
    none_of("README.md names commands that do not exist", unknown.collect());
}
