//! The command that starts a target.

use std::path::{Path, PathBuf};

use super::super::child::Program;
use super::super::plan::{How, TargetPlan};

/// Where a target may write, below its own folder: `{dir}` of its command.
pub(super) fn work_folder(folder: &Path) -> PathBuf {
    folder.join("work")
}

/// The words, with everything in its place; empty for a target that runs.
pub(super) fn words(how: &How, plan: &TargetPlan, port: u16, root: &Path, folder: &Path) -> Vec<String> {
    let (root, workers) = (root.to_string_lossy(), plan.workers.to_string());
    match how {
        How::Ours { arguments } => ours(arguments, port, &root, &workers),
        How::Command { words, .. } => {
            let (port, dir) = (port.to_string(), work_folder(folder));
            let places = [
                ("{port}", port.as_str()),
                ("{root}", &root),
                ("{workers}", &workers),
                ("{dir}", &dir.to_string_lossy()),
            ];
            words.iter().map(|word| filled(word, &places)).collect()
        }
        How::Running { .. } => Vec::new(),
    }
}

/// Our own server, with nothing but what the plan says: `config.toml` of the folder in which the sweep was started is none of
/// it, and the environment neither.
fn ours(arguments: &[String], port: u16, root: &str, workers: &str) -> Vec<String> {
    let listen = format!("127.0.0.1:{port}");
    let mut words = vec![own_name(), "serve".to_owned()];
    let is_config = |word: &String| word == "--config" || word.starts_with("--config=");
    if !arguments.iter().any(is_config) {
        words.extend(["--config", "/dev/null"].map(str::to_owned));
    }
    words.extend(["--root", root, "--listen", &listen, "--workers", workers].map(str::to_owned));
    words.extend_from_slice(arguments);
    words
}

/// The server is called by its name and not as [`Program::ITSELF`]: the kernel would show, and records would keep, `exe`.
fn own_name() -> String {
    let name = std::env::current_exe().ok().filter(|path| path.exists());
    name.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| Program::ITSELF.to_owned())
}

/// A word with its places filled in, each once: what is filled in is not looked at again.
fn filled(word: &str, places: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let place = places.iter().find(|(name, _)| rest.starts_with(name));
        let (name, value) = place.copied().unwrap_or(("{", "{"));
        filled.push_str(value);
        rest = &rest[name.len()..];
    }
    filled + rest
}

/// The words as people would type them: our own program by its name.
pub(super) fn shown(words: &[String]) -> Vec<String> {
    let own = own_name();
    words.iter().map(|word| if *word == own { "quintain".to_owned() } else { word.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn words_of(how: How) -> Vec<String> {
        let plan = TargetPlan {
            name: "t".into(),
            how: how.clone(),
            workers: 3,
            cpus: String::new(),
            ready_within: Duration::ZERO,
            stop_within: Duration::ZERO,
        };
        words(&how, &plan, 8101, Path::new("/a {port}"), Path::new("/r/targets/t"))
    }

    #[test]
    fn a_command_with_its_places() {
        let written = ["x", "--port={port}", "{root}", "{workers}{workers}", "{dir}/c", "{", "{other}{port", "é{port}"];
        let words = words_of(How::Command { words: written.map(str::to_owned).to_vec(), version: Vec::new() });
        let expected = ["x", "--port=8101", "/a {port}", "33", "/r/targets/t/work/c", "{", "{other}{port", "é8101"];
        assert_eq!(words, expected);
    }

    #[test]
    fn our_own_server_reads_no_configuration_but_the_plans() {
        let words = |arguments: &[&str]| {
            let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
            shown(&words_of(How::Ours { arguments })).join(" ")
        };
        let usual = "--root /a {port} --listen 127.0.0.1:8101 --workers 3";
        assert_eq!(
            words(&["--profile", "nginx"]),
            format!("quintain serve --config /dev/null {usual} --profile nginx")
        );
        assert_eq!(words(&["--config", "c"]), format!("quintain serve {usual} --config c"));
        assert_eq!(words(&["--config=c"]), format!("quintain serve {usual} --config=c"));
    }
}
