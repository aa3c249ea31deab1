//! The whole way from what was written to a plan, over files in a temporary folder and a given environment.

use std::fs;

use clap::Parser;

use super::plan::CachePlan;
use super::written::Choice;
use super::*;
use crate::cli::{Cli, Command};

/// What somebody wrote, in each layer.
#[derive(Debug, Default, Clone, Copy)]
struct Wrote<'a> {
    config_toml: Option<&'a str>,
    environment: &'a [(&'a str, &'a str)],
    /// After `quintain serve`.
    arguments: &'a [&'a str],
    /// What the control group allows.
    memory_bytes: Option<u64>,
}

impl Wrote<'_> {
    fn load(self) -> Result<Configuration, String> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = self.config_toml {
            fs::write(folder.path().join("config.toml"), text).unwrap();
        }
        self.load_in(folder.path())
    }

    fn load_in(self, folder: &Path) -> Result<Configuration, String> {
        let around = Surroundings {
            environment: self.environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            folder: folder.into(),
            cpus: NonZeroUsize::new(4).unwrap(),
            memory_bytes: self.memory_bytes,
        };
        let command = Cli::parse_from(["quintain", "serve"].iter().chain(self.arguments)).command;
        let Command::Serve(args) = command else { panic!("not serve") };
        load(args.config.as_deref(), &args.flags(), &around).map_err(|mistakes| mistakes.to_string())
    }

    fn mistakes(self) -> String {
        self.load().err().unwrap_or_default()
    }

    fn origin_of_workers(self) -> (usize, String) {
        let configuration = self.load().unwrap();
        (configuration.plan.threads.workers.get(), configuration.merged.origin("server.workers").to_string())
    }
}

fn file(text: &str) -> Wrote<'_> {
    Wrote { config_toml: Some(text), ..Wrote::default() }
}

const CONFIG_TOML: &str = include_str!("../../config.toml");

/// config.toml as it is after somebody has taken the `#` away from every setting. Prose has a space behind it.
fn config_toml_uncommented() -> String {
    let is_setting = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase());
    let lines = CONFIG_TOML.lines().map(|line| match line.strip_prefix('#') {
        Some(text) if is_setting(text) => text,
        _ => line,
    });
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn config_toml_shows_exactly_the_defaults() {
    let configuration = file(&config_toml_uncommented()).load().unwrap();
    assert_eq!(configuration.merged.settings, Settings::default());
    for key in Settings::KEYS {
        let origin = configuration.merged.origin(key);
        assert!(matches!(origin, Origin::File { .. }), "config.toml leaves out {key}");
    }
}

/// Otherwise it would take back all that a profile sets, in the very folder where people try profiles.
#[test]
fn config_toml_sets_nothing() {
    let configuration = file(CONFIG_TOML).load().unwrap();
    for key in Settings::KEYS {
        assert_eq!(configuration.merged.origin(key), &Origin::Default, "{key}");
    }
}

#[test]
fn config_toml_explains_each_setting_in_its_order() {
    let mut section = "";
    let mut keys = Vec::new();
    let mut before = "";
    let text = config_toml_uncommented();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            assert!(before.starts_with("# ") && before.ends_with(['.', ']']), "{section}.{key} has no sentence");
            keys.push(format!("{section}.{key}"));
        }
        before = line;
    }
    assert_eq!(keys, Settings::KEYS);
}

#[test]
fn a_later_layer_counts_more_for_each_pair() {
    let in_file = Some("[server]\n\nworkers = 1\n");
    let in_environment: &[_] = &[("QUINTAIN_SERVER__WORKERS", "2")];
    let nothing = Wrote::default();
    let rows = [
        (nothing, 4, "default"),
        (Wrote { config_toml: in_file, ..nothing }, 1, "config.toml:3"),
        (Wrote { environment: in_environment, ..nothing }, 2, "environment QUINTAIN_SERVER__WORKERS"),
        (Wrote { arguments: &["--set", "server.workers=3"], ..nothing }, 3, "--set"),
        (Wrote { arguments: &["--workers", "5"], ..nothing }, 5, "--workers"),
        (
            Wrote { config_toml: in_file, environment: in_environment, ..nothing },
            2,
            "environment QUINTAIN_SERVER__WORKERS",
        ),
        (Wrote { config_toml: in_file, arguments: &["--workers", "5"], ..nothing }, 5, "--workers"),
        (Wrote { environment: in_environment, arguments: &["--workers", "5"], ..nothing }, 5, "--workers"),
        (Wrote { environment: in_environment, arguments: &["--set", "server.workers=3"], ..nothing }, 3, "--set"),
        (Wrote { arguments: &["--workers", "5", "--set", "server.workers=3"], ..nothing }, 5, "--workers"),
        // A later layer can take back what an earlier one set.
        (Wrote { config_toml: in_file, arguments: &["--workers", "auto"], ..nothing }, 4, "--workers"),
    ];
    for (wrote, workers, origin) in rows {
        assert_eq!(wrote.origin_of_workers(), (workers, origin.to_string()));
    }
}

/// (keep_alive.max_requests, its origin)
fn quota(wrote: Wrote<'_>) -> (usize, String) {
    let configuration = wrote.load().unwrap();
    let quota = configuration.plan.live.connection.max_requests.map_or(0, NonZeroUsize::get);
    (quota, configuration.merged.origin("keep_alive.max_requests").to_string())
}

#[test]
fn a_profile_counts_more_than_defaults_and_less_than_what_is_written() {
    let nothing = Wrote::default();
    let tomcat = Wrote { arguments: &["--profile", "tomcat"], ..nothing };
    let rows = [
        (tomcat, 100, "profile tomcat"),
        (file("server.profile = 'nginx'"), 1000, "profile nginx"),
        (Wrote { environment: &[("QUINTAIN_SERVER__PROFILE", "tomcat-bio")], ..nothing }, 100, "profile tomcat-bio"),
        (Wrote { arguments: &["--set", "server.profile=jetty"], ..nothing }, 0, "profile jetty"),
        // The last who names one, and wherever it stands in a file.
        (Wrote { config_toml: Some("server.profile = 'nginx'"), ..tomcat }, 100, "profile tomcat"),
        (Wrote { arguments: &["--profile", "none"], ..file("server.profile = 'nginx'") }, 0, "default"),
        (file("keep_alive.max_requests = 7\nserver.profile = 'nginx'"), 7, "config.toml:1"),
        (Wrote { config_toml: Some("keep_alive.max_requests = 7"), ..tomcat }, 7, "config.toml:1"),
        (
            Wrote { environment: &[("QUINTAIN_KEEP_ALIVE__MAX_REQUESTS", "8")], ..tomcat },
            8,
            "environment QUINTAIN_KEEP_ALIVE__MAX_REQUESTS",
        ),
        (Wrote { arguments: &["--profile", "tomcat", "--set", "keep_alive.max_requests=9"], ..nothing }, 9, "--set"),
        // The very default, said by somebody.
        (Wrote { config_toml: Some("keep_alive.max_requests = 0"), ..tomcat }, 0, "config.toml:1"),
        // The shipped file is where people try profiles.
        (Wrote { config_toml: Some(CONFIG_TOML), ..tomcat }, 100, "profile tomcat"),
    ];
    for (wrote, expected, origin) in rows {
        assert_eq!(quota(wrote), (expected, origin.to_string()), "{wrote:?}");
    }
    let unknown = Wrote { arguments: &["--profile", "apache"], ..nothing };
    let says = "--profile: server.profile: expected \"none\", \"nginx\", \"netty\", \"tomcat\", \"tomcat-bio\" or \
                \"jetty\", got \"apache\"";
    assert_eq!(unknown.mistakes(), says);
    for (typed, meant) in [("ngnix", "nginx"), ("Nginx", "nginx"), ("tomcatbio", "tomcat-bio")] {
        let misspelt = Wrote { arguments: &["--profile", typed], ..nothing }.mistakes();
        assert!(misspelt.ends_with(&format!("got \"{typed}\"; did you mean {meant}?")), "{misspelt}");
    }
}

#[test]
fn a_profile_is_in_the_listing_with_all_that_it_sets() {
    for (name, profile) in plan::Profile::CHOICES {
        let arguments = ["--profile", name];
        let listing = Wrote { arguments: &arguments, ..Wrote::default() }.load().unwrap().listing();
        let from_profile: Vec<_> = profiles::layer(*profile).map(|entry| entry.key).collect();
        for line in listing.lines() {
            let key = line.split_once(" = ").unwrap().0;
            let is_its = from_profile.iter().any(|of| of == key);
            assert_eq!(line.ends_with(&format!("  # profile {name}")), is_its, "{line}");
        }
    }
}

#[test]
fn a_list_may_be_typed_as_config_toml_writes_it() {
    let affinity = |wrote: Wrote<'_>| wrote.load().unwrap().plan.threads.affinity;
    let nothing = Wrote::default();
    for text in ["0,1", "0, 1", "[0, 1]", "[0,1]"] {
        let argument = format!("server.affinity={text}");
        let typed = Wrote { arguments: &["--set", &argument], ..nothing };
        assert_eq!(affinity(typed), plan::Affinity::Cpus(vec![0, 1]), "{text}");
        let exported = Wrote { environment: &[("QUINTAIN_SERVER__AFFINITY", text)], ..nothing };
        assert_eq!(affinity(exported), plan::Affinity::Cpus(vec![0, 1]), "{text}");
    }
    let listen = Wrote { arguments: &["--set", "server.listen=[\"[::1]:80\", \"8080\"]"], ..nothing };
    let addresses = listen.load().unwrap().plan.listen.addresses;
    assert_eq!(addresses.iter().map(ToString::to_string).collect::<Vec<_>>(), ["[::1]:80", "0.0.0.0:8080"]);
    let one = Wrote { arguments: &["--set", "server.listen=[::1]:80"], ..nothing };
    assert_eq!(one.load().unwrap().plan.listen.addresses.len(), 1);
}

#[test]
fn a_later_layer_replaces_a_list() {
    let wrote = Wrote {
        config_toml: Some("server.listen = ['127.0.0.1:1', '127.0.0.1:2']"),
        arguments: &["--listen", "[::1]:3", "--listen", "unix:/q"],
        ..Wrote::default()
    };
    let addresses = wrote.load().unwrap().plan.listen.addresses;
    assert_eq!(addresses.iter().map(ToString::to_string).collect::<Vec<_>>(), ["[::1]:3", "unix:/q"]);
}

/// Each mistake, as it is printed.
#[test]
fn mistakes_in_the_file() {
    let rows = [
        ("[server]\nwokers = 2", "config.toml:2: server.wokers is not a setting; did you mean server.workers?"),
        ("# one\n# two\nworkers = 2", "config.toml:3: workers is not a setting; did you mean server.workers?"),
        ("[sever]\nworkers = 2", "config.toml:2: sever.workers is not a setting; did you mean server.workers?"),
        (
            "\n[tls]\n",
            "config.toml:2: tls is not a setting; the sections are server, keep_alive, timeouts, limits, files, transfer, socket, site, headers, log, process, admin",
        ),
        ("log.x = 1", "config.toml:1: log.x is not a setting; log has level, format, file, access, access_format"),
        (
            "[server.workers]\nn = 2",
            "config.toml:1: server.workers: expected \"auto\" or a number from 1 to 1024, got { n = 2 }",
        ),
        (
            "[server]\nworkers = \"many\"",
            "config.toml:2: server.workers: expected \"auto\" or a number from 1 to 1024, got \"many\"",
        ),
        ("server.workers = 0", "config.toml:1: server.workers: expected \"auto\" or a number from 1 to 1024, got 0"),
        ("[socket]\nnodelay = 1", "config.toml:2: socket.nodelay: expected true or false, got 1"),
        (
            "[keep_alive]\ntimeout = 75",
            "config.toml:2: keep_alive.timeout: expected a duration from 1ms to 24h with its unit (ms, s, m, h), got 75",
        ),
        ("[limits]\nhead_bytes = '4k'", "config.toml:2: limits.head_bytes: expected a size from 8k to 1m, got \"4k\""),
        ("[log]\nformat = 'xml'", "config.toml:2: log.format: expected \"text\" or \"json\", got \"xml\""),
        (
            "[log]\naccess = true",
            "config.toml:2: log.access: expected \"off\", \"stdout\", \"stderr\" or a path with a dot or slash in it, got true",
        ),
        (
            "[server]\nlisten = [\"nowhere\"]",
            "config.toml:2: server.listen: expected a list of 1 to 64, each an address (no host name) such as \"127.0.0.1:8080\", \
             \"[::1]:8080\", \"8080\" (on every IPv4 address) or \"unix:/path\", got [\"nowhere\"]",
        ),
        (
            "[headers.extra]\n\"X Run\" = \"7\"",
            "config.toml:1: headers.extra: expected at most 64 lines, each name once, as { X-Name = \"value\" } or as text \
             X-Name=value,X-Other=value, got { \"X Run\" = \"7\" }; \"X Run\" is no name of a header line",
        ),
        (
            "server.listen = ['127.0.0.1:80', 'localhost:80']",
            "config.toml:1: server.listen: expected a list of 1 to 64, each an address (no host name) such as \"127.0.0.1:8080\", \
             \"[::1]:8080\", \"8080\" (on every IPv4 address) or \"unix:/path\", got [\"127.0.0.1:80\", \"localhost:80\"]; \
             \"localhost:80\" is not",
        ),
        (
            "[limits]\n\ntarget_bytes = '16k'",
            "config.toml:3: limits.target_bytes is 16k, which is not less than limits.head_bytes, 16k: the target is a part \
             of the head, so set both",
        ),
        ("[server]\nworkers = 1\nworkers = 2", "config.toml:3: not TOML: duplicate key"),
        ("[server]\n\nworkers == 2", "config.toml:3: not TOML: extra `=`, expected nothing"),
        ("[server", "config.toml:1: not TOML: unclosed table, expected `]`"),
        ("server.workers = 99999999999999999999", "config.toml:1: server.workers: a number is beyond 64 bits"),
    ];
    for (text, says) in rows {
        assert_eq!(file(text).mistakes(), says, "{text}");
    }
}

#[test]
fn mistakes_in_the_environment_and_in_flags() {
    let nothing = Wrote::default();
    let expected = "expected \"auto\" or a number from 1 to 1024, got \"many\"";
    let rows = [
        (
            Wrote { environment: &[("QUINTAIN_SERVER__WOKERS", "2")], ..nothing },
            "environment QUINTAIN_SERVER__WOKERS: server.wokers is not a setting; did you mean QUINTAIN_SERVER__WORKERS?",
        ),
        (
            Wrote { environment: &[("QUINTAIN_server__workers", "2")], ..nothing },
            "environment QUINTAIN_server__workers: server__workers is not a setting; did you mean QUINTAIN_SERVER__WORKERS?",
        ),
        (
            Wrote { environment: &[("QUINTAIN_SERVER_WORKERS", "2")], ..nothing },
            "environment QUINTAIN_SERVER_WORKERS: server_workers is not a setting; did you mean QUINTAIN_SERVER__WORKERS?",
        ),
        (
            Wrote { environment: &[("QUINTAIN_SERVER__WORKERS", "many")], ..nothing },
            &format!("environment QUINTAIN_SERVER__WORKERS: server.workers: {expected}"),
        ),
        (Wrote { arguments: &["--workers", "many"], ..nothing }, &format!("--workers: server.workers: {expected}")),
        (
            Wrote { arguments: &["--set", "server.workers=many"], ..nothing },
            &format!("--set: server.workers: {expected}"),
        ),
        (
            Wrote { arguments: &["--set", "server.wokers=2"], ..nothing },
            "--set: server.wokers is not a setting; did you mean server.workers?",
        ),
        (
            Wrote { arguments: &["--workers", "8", "--max-connections", "7"], ..nothing },
            "--workers: server.max_connections is 7, which 8 workers cannot share: each needs at least one",
        ),
    ];
    for (wrote, says) in rows {
        assert_eq!(wrote.mistakes(), says);
    }
}

#[test]
fn every_mistake_is_told_in_one_go() {
    let wrote = Wrote {
        config_toml: Some("[site]\nlisting = 'yes'\n[log]\nlevel = 'loud'\n[admin]\nlisten = 1"),
        environment: &[("QUINTAIN_A__B", "")],
        arguments: &["--workers", "0"],
        memory_bytes: None,
    };
    let places: Vec<_> = wrote.mistakes().lines().map(|line| line.split_once(": ").unwrap().0.to_string()).collect();
    assert_eq!(places, ["config.toml:2", "config.toml:4", "environment QUINTAIN_A__B", "--workers"]);
}

#[test]
fn variables_that_are_not_settings_are_left_alone() {
    let wrote = Wrote {
        environment: &[
            ("QUINTAIN_REQUIRE_PEERS", "1"),
            ("QUINTAIN_SERVICE_HOST", "10.0.0.1"),
            ("quintain_server__workers", "7"),
            ("SERVER__WORKERS", "7"),
        ],
        ..Wrote::default()
    };
    assert_eq!(wrote.origin_of_workers(), (4, "default".into()));
}

#[test]
fn the_file_is_the_one_that_was_named_last() {
    let folder = tempfile::tempdir().unwrap();
    for (name, workers) in [("config.toml", 1), ("variable.toml", 2), ("flag.toml", 3)] {
        fs::write(folder.path().join(name), format!("server.workers = {workers}")).unwrap();
    }
    let nothing = Wrote::default();
    let variable = Wrote { environment: &[("QUINTAIN_CONFIG", "variable.toml")], ..nothing };
    let flag = Wrote { arguments: &["--config", "flag.toml"], ..nothing };
    let both = Wrote { environment: variable.environment, ..flag };
    let empty = Wrote { environment: &[("QUINTAIN_CONFIG", "")], ..nothing };
    for (wrote, workers) in [(nothing, 1), (variable, 2), (flag, 3), (both, 3), (empty, 1)] {
        assert_eq!(wrote.load_in(folder.path()).unwrap().plan.threads.workers.get(), workers, "{wrote:?}");
    }
}

#[test]
fn a_file_that_was_named_must_be_readable() {
    let missing = "missing.toml: cannot be read as configuration: No such file or directory (os error 2); name the file that is meant";
    let by_flag = Wrote { arguments: &["--config", "missing.toml"], ..Wrote::default() };
    assert_eq!(by_flag.mistakes(), format!("{missing} with --config, or leave that away"));
    let by_variable = Wrote { environment: &[("QUINTAIN_CONFIG", "missing.toml")], ..Wrote::default() };
    assert_eq!(by_variable.mistakes(), format!("{missing} in QUINTAIN_CONFIG, or unset it"));
    let endless = Wrote { arguments: &["--config", "/dev/zero"], ..Wrote::default() };
    assert_eq!(
        endless.mistakes(),
        "/dev/zero: cannot be read as configuration: it is longer than 1 MiB; name a file of settings with --config"
    );
    let empty = Wrote { arguments: &["--config", "/dev/null"], config_toml: Some("broken"), ..Wrote::default() };
    assert_eq!(empty.mistakes(), "");
}

#[test]
fn only_a_folder_that_somebody_named_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    let bundled = plan::Root::Bundled(folder.path().join("fixtures"));
    let named = plan::Root::Folder(folder.path().join("fixtures"));
    let root = |wrote: Wrote<'_>| wrote.load_in(folder.path()).unwrap().plan.live.site.root;
    let file = |text: &str| {
        fs::write(folder.path().join("config.toml"), text).unwrap();
        root(Wrote::default())
    };
    assert_eq!(root(Wrote::default()), bundled);
    // What --check prints spells the default out.
    assert_eq!(file("server.root = 'fixtures'"), bundled);
    let elsewhere = plan::Root::Folder(folder.path().join("documents"));
    assert_eq!(file("server.root = 'documents'"), elsewhere);
    assert_eq!(root(Wrote { arguments: &["--root", "fixtures"], ..Wrote::default() }), named);
}

#[test]
fn the_listing_has_every_setting_with_its_origin() {
    let wrote = Wrote {
        config_toml: Some("# two lines\n[limits]\nhead_bytes = 32768"),
        environment: &[("QUINTAIN_HEADERS__EXTRA", "X-Run=7")],
        arguments: &["--listen", "8080", "--set", "site.hidden=true"],
        memory_bytes: None,
    };
    let listing = wrote.load().unwrap().listing();
    let lines: Vec<_> = listing.lines().map(|line| line.split_once("  # ").unwrap()).collect();
    assert_eq!(lines.iter().map(|(set, _)| set.split_once(" = ").unwrap().0).collect::<Vec<_>>(), Settings::KEYS);
    let rows = [
        ("server.listen = [\"0.0.0.0:8080\"]", "--listen"),
        ("server.workers = \"auto\"", "default"),
        ("limits.head_bytes = \"32k\"", "config.toml:3"),
        ("site.hidden = true", "--set"),
        ("headers.extra = { x-run = \"7\" }", "environment QUINTAIN_HEADERS__EXTRA"),
    ];
    for (set, origin) in rows {
        assert!(lines.iter().any(|line| (line.0.trim_end(), line.1) == (set, origin)), "{set}\n{listing}");
    }
}

#[test]
fn the_listing_is_a_configuration_file_for_the_same() {
    let first = Wrote {
        arguments: &["--set", "headers.extra=X-Run=a\"b", "--set", "timeouts.header=1500ms"],
        ..Wrote::default()
    };
    let first = first.load().unwrap();
    let second = file(&first.listing()).load().unwrap();
    assert_eq!(second.merged.settings, first.merged.settings);
    assert_ne!(second.merged.settings, Settings::default());
}

/// What each cache gets, the largest file in it, and the note, with 4 workers in the control group of a container.
fn caches_within(memory_bytes: u64, arguments: &[&str]) -> (u64, u64, String) {
    let wrote = Wrote { arguments, memory_bytes: Some(memory_bytes), ..Wrote::default() };
    let Configuration { plan, bounded, .. } = wrote.load().unwrap();
    let CachePlan { capacity_bytes, file_max_bytes, .. } = plan.live.site.cache;
    (capacity_bytes, file_max_bytes, bounded.map_or(String::new(), |bounded| bounded.to_string()))
}

#[test]
fn caches_fit_the_memory_of_a_container() {
    let (m, k) = (units::M, units::K);
    assert_eq!(caches_within(512 * m, &[]), (64 * m, 24 * k - 1, String::new()));
    let note = "files.cache_bytes is 64m, but each of 4 caches gets 32m: together no more than half of 256m, the memory limit \
                of the control group";
    assert_eq!(caches_within(256 * m, &[]), (32 * m, 24 * k - 1, note.to_owned()));
    // A pool of workers shares one cache.
    let together = ["--set", "server.model=work-stealing", "--set", "files.cache_bytes=200m"];
    let note = "files.cache_bytes is 200m, but the cache gets 128m: together no more than half of 256m, the memory limit of \
                the control group";
    assert_eq!(caches_within(256 * m, &together), (128 * m, 24 * k - 1, note.to_owned()));
    // The largest file shrinks with the cache; a cache is never smaller than it may be configured.
    let large_files = ["--set", "transfer.path=memory", "--workers", "1"];
    assert_eq!(caches_within(m, &large_files).1, 512 * k);
    assert_eq!(caches_within(1, &large_files).0, 64 * k);
    // Without a cache there is nothing to say.
    assert_eq!(caches_within(m, &["--set", "files.mode=per-request"]).2, "");
}

#[test]
fn what_check_prints_says_that_caches_are_smaller() {
    let listing = Wrote { memory_bytes: Some(256 * units::M), ..Wrote::default() }.load().unwrap().listing();
    let note = listing.lines().last().unwrap();
    assert!(note.starts_with("# files.cache_bytes is 64m, but each of 4 caches gets 32m"), "{note}");
    assert_eq!(file(&listing).load().unwrap().merged.settings, Settings::default());
}

/// A daemon leaves its working directory, and reads its configuration again later.
#[test]
fn relative_paths_begin_at_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--listen", "unix:s", "--access-log", "./a.log", "--pid-file", "p", "--set", "log.file=/l.log"];
    let plan = Wrote { arguments: &arguments, ..Wrote::default() }.load_in(folder.path()).unwrap().plan;
    let below = |name: &str| folder.path().join(name);
    assert_eq!(plan.listen.addresses, [plan::Address::Unix(below("s"))]);
    assert_eq!(plan.live.log.access, plan::AccessLog::File(below("./a.log")));
    assert_eq!(plan.live.log.file, plan::LogFile::File("/l.log".into()));
    assert_eq!(plan.process.pid_file, Some(below("p")));
}

#[test]
fn users_have_names_and_perhaps_a_group() {
    let user =
        |text: &str| Wrote { arguments: &["--user", text], ..Wrote::default() }.load().map(|c| c.plan.process.user);
    let name = |user: &str, group: Option<&str>| plan::UserName { user: user.into(), group: group.map(Into::into) };
    assert_eq!(user("www-data"), Ok(Some(name("www-data", None))));
    assert_eq!(user("1000:adm"), Ok(Some(name("1000", Some("adm")))));
    assert_eq!(user("off"), Ok(None));
    for wrong in ["", ":adm", "www-data:", "a:b:c", "a b"] {
        assert!(
            user(wrong).is_err_and(|says| says.starts_with("--user: process.user: expected \"off\" or a user")),
            "{wrong}"
        );
    }
}
