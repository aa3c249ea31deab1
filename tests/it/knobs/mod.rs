//! No dead knobs: for each setting of config.toml one small test that the server behaves differently with it. The
//! tests are named after the settings, and [`every_setting_has_a_test`] holds the two together.

mod connections;
mod documents;
mod logs;
mod process;
mod socket;
mod threads;
mod transfer;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::harness::{Launch, Server, Site};

const TESTS: [&str; 7] = [
    include_str!("connections.rs"),
    include_str!("documents.rs"),
    include_str!("logs.rs"),
    include_str!("process.rs"),
    include_str!("socket.rs"),
    include_str!("threads.rs"),
    include_str!("transfer.rs"),
];

#[test]
fn every_setting_has_a_test() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config.toml");
    // Each setting stands there as `#key = default`; prose has a space behind its `#`.
    let is_setting = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase());
    let text = fs::read_to_string(path).expect("config.toml");
    let lines = text.lines().map(|line| line.strip_prefix('#').filter(|text| is_setting(text)).unwrap_or(line));
    let config: toml::Table = lines.collect::<Vec<_>>().join("\n").parse().expect("TOML");
    let settings: BTreeSet<_> = config
        .iter()
        .flat_map(|(section, keys)| {
            keys.as_table().expect("a section").keys().map(move |key| format!("{section}_{key}"))
        })
        .collect();
    assert!(settings.len() > 20, "{settings:?}");
    let tested = |name: &&String| TESTS.iter().any(|source| source.contains(&format!("#[test]\nfn {name}()")));
    let missing: Vec<_> = settings.iter().filter(|name| !tested(name)).collect();
    assert!(missing.is_empty(), "no test here for {missing:?}");
}

/// A server over `site` with one setting.
fn with(site: &Site, key: &str, value: &str) -> Server {
    Launch::over(site.root()).set(key, value).with_admin().start()
}
