//! Plan files, from outside: `quintain sweep --dry-run` prints what would be measured, or all that is wrong with a plan.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs a dry run in a folder: exit code, stdout, stderr.
pub fn dry_run_in(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let binary = env!("CARGO_BIN_EXE_quintain");
    let mut command = Command::new(binary);
    let output = command.arg("sweep").arg("--dry-run").args(arguments).current_dir(folder).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// What a dry run of a plan prints, which has to be fine.
#[track_caller]
pub fn printed(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = dry_run_in(folder, arguments);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
    out
}

/// A text without its last part: what the machine does (sockets in TIME_WAIT, say) is another thing a moment later.
fn of_the_plan(text: &str) -> &str {
    text.split("\nWhat this machine ").next().unwrap_or_default()
}

pub fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names of the plans in `plans/`.
fn shipped() -> Vec<String> {
    let entries = fs::read_dir(package().join("plans")).expect("the folder of the plans").flatten();
    let names = entries.map(|entry| entry.file_name().into_string().expect("UTF-8"));
    let mut names: Vec<_> = names.filter_map(|name| name.strip_suffix(".toml").map(str::to_owned)).collect();
    names.sort_unstable();
    names
}

#[test]
fn every_shipped_plan_is_built_in_and_means_the_same_as_its_file() {
    let names = shipped();
    assert!(names.len() >= 13, "{names:?}");
    for name in names {
        let built_in = printed(package(), &[&name]);
        let of_file = printed(package(), &[&format!("plans/{name}.toml")]);
        assert_eq!(of_the_plan(&built_in), of_the_plan(&of_file), "{name}");
        for part in ["?\n\nTargets\n", "\nCells\n", " measurements\n", "  time: about ", "\nWhat this machine "] {
            assert!(built_in.contains(part), "{name}: {part:?} is not in\n{built_in}");
        }
        assert!(built_in.lines().count() < 50, "{name} is not grouped:\n{built_in}");
    }
}

#[test]
fn a_plan_that_nobody_named_is_the_quick_one() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (usual, quick) = (printed(package(), &[]), printed(package(), &["quick"]));
    assert_eq!(of_the_plan(&usual), of_the_plan(&quick));
    let text = printed(elsewhere.path(), &[]);
    assert!(text.contains("\n  made for the time of the sweep\n"), "{text}");
    assert!(text.contains("\n  20 cells x 3 repeats = 60 measurements\n"), "{text}");
    assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 0);
}

/// The example of docs/sweep.md is a plan, and means what stands below it there.
#[test]
fn the_worked_example_of_the_documentation_is_a_plan() {
    let text = fs::read_to_string(package().join("docs/sweep.md")).expect("docs/sweep.md");
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("site")).expect("a folder");
    fs::write(folder.path().join("site/logo.svg"), [b'x'; 4000]).expect("a file");
    fs::write(folder.path().join("site/manual.pdf"), [b'x'; 900_000]).expect("a file");
    fs::write(folder.path().join("manual.toml"), example).expect("a file");
    let out = printed(folder.path(), &["manual.toml"]);
    let cells = out.split("\nCells\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("cells");
    assert!(!cells.is_empty() && text.contains(cells), "docs/sweep.md does not have\n{cells}");
}

const TARGET: &str = "[[target]]\nname = 'a'\nserve = []\n";
pub const MATRIX: &str = "[[matrix]]\ndocuments = ['1k.html']\nconcurrency = 50\nconnections = 'short'\nrequests = 9\n";

/// What is said of a plan that is right but for some lines, which stand in place of `target`, of `matrix`, or behind both.
/// The question is line 1.
#[track_caller]
fn says(target: &str, matrix: &str, rest: &str, expected: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!("question = 'Is it?'\n{target}{matrix}{rest}");
    fs::write(folder.path().join("a.toml"), &plan).expect("a file");
    let (code, out, err) = dry_run_in(folder.path(), &["a.toml"]);
    let expected: String = expected.iter().map(|line| format!("quintain: a.toml:{line}\n")).collect();
    assert_eq!(err, expected, "{plan}");
    assert_eq!((code, out.as_str()), (Some(2), ""), "{plan}");
}

#[test]
fn what_is_wrong_with_a_file_as_a_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = [
        (
            "",
            "a.toml:1: a plan without a [[matrix]] measures nothing\n\
             a.toml:1: a plan without a [[target]] measures nobody\n\
             a.toml:1: question is missing; expected one sentence of up to 300 characters that ends with a question mark\n",
        ),
        ("question = \n", "a.toml:1: not TOML: string values must be quoted, expected literal string\n"),
        ("a = 1\na = 2\n", "a.toml:2: not TOML: duplicate key\n"),
    ];
    for (plan, expected) in rows {
        fs::write(folder.path().join("a.toml"), plan).expect("a file");
        let (code, _, err) = dry_run_in(folder.path(), &["a.toml"]);
        assert_eq!((code, err.replace("quintain: ", "").as_str()), (Some(2), expected), "{plan}");
    }
    fs::write(folder.path().join("a.toml"), [b'#'; (1 << 20) + 1]).expect("a file");
    let (_, _, err) = dry_run_in(folder.path(), &["a.toml"]);
    assert_eq!(err, "quintain: a.toml: cannot be read as a plan: it is longer than 1 MiB\n");
}

#[test]
fn what_is_wrong_with_a_target() {
    let rows: &[(&str, &[&str])] = &[
        (
            "[[target]]\nname = 'a'\n",
            &[
                "2: target: where does it come from? Write profile, model or serve (our own server), command, or url; serve = [] is our \
             own server as it is",
            ],
        ),
        (
            "[[target]]\nname = 'a'\nprofile = 'nginx'\nurl = 'http://h:1'\n",
            &[
                "2: target: it comes from one place; our own server (profile, model, serve), command and url exclude one another",
            ],
        ),
        (
            "[[target]]\nname = 'a/b'\nserve = []\n",
            &[
                "3: target.name: expected a name: up to 64 letters, digits, '.', '-' and '_', no '.' or '-' in front, got \"a/b\"",
            ],
        ),
        (
            "[[target]]\nname = 'a'\nprofile = 'ngnix'\n",
            &[
                "4: target.profile: expected \"none\", \"nginx\", \"netty\", \"tomcat\", \"tomcat-bio\" or \"jetty\", or a list of them, each of \
             which is a target of its own, got \"ngnix\"; did you mean nginx?",
            ],
        ),
        (
            "[[target]]\nname = 'a'\nserve = ['--sett', 'a=1']\n",
            &["2: target.serve: unexpected argument '--sett' found; a similar argument exists: '--set'"],
        ),
        (
            "[[target]]\nname = 'a'\nserve = ['--set', 'server.wokers=1', '--set', 'server.backlog=0']\n",
            &[
                "2: target.serve: --set: server.backlog: expected a number from 1 to 1000000, got \"0\"",
                "2: target.serve: --set: server.wokers is not a setting; did you mean server.workers?",
            ],
        ),
        (
            "[[target]]\nname = 'a'\nserve = ['--listen=80']\n",
            &["4: target.serve: --listen cannot stand there; the sweep takes a port that is free"],
        ),
        (
            "[[target]]\nname = 'a'\ncommand = 'nginx -p {root}'\n",
            &[
                "4: target.command: expected a program and its arguments as a list, such as [\"nginx\", \"-c\", \"{root}/nginx.conf\"] (no \
             shell reads it), got \"nginx -p {root}\"",
            ],
        ),
        (
            "[[target]]\nname = 'a'\ncommand = ['nginx']\n",
            &[
                "4: target.command: {port} stands in none of its words, and the sweep has to say where it listens; a server with a port \
             of its own is started by you, and has a url here",
            ],
        ),
        (
            "[[target]]\nname = 'a'\nurl = 'https://h/'\n",
            &["4: target.url: expected http://HOST:PORT without a path, such as \"http://127.0.0.1:8080\""],
        ),
        (
            "[[target]]\nname = 'a'\nurl = 'http://h:1'\nworkers = 1\ncpus = 0\nstop_within = '1s'\nversion = ['a']\n",
            &[
                "5: target.workers: what runs already has the workers that it has",
                "6: target.cpus: what runs already stays where it is",
                "7: target.stop_within: what runs already is not ended",
                "8: target.version: only a command has one; everybody else is asked over HTTP",
            ],
        ),
        (
            "[[target]]\nname = 'a'\nserve = []\npid_file = 'x'\nready_in = '1s'\nready_within = 5\n",
            &[
                "5: target.pid_file: only a url needs one; whatever is started here is known",
                "6: target.ready_in is no key of a plan; did you mean target.ready_within?",
                "7: target.ready_within: expected a duration from 1s to 600s with its unit (ms, s, m, h), got 5",
            ],
        ),
        (
            "[[target]]\nname = 'a'\nserve = []\n[[target]]\nname = 'a'\nprofile = 'jetty'\n",
            &["5: target.name: a is the name of another one, in line 2"],
        ),
        ("[target]\nname = 'a'\n", &["2: target: there may be several, each of which begins with [[target]]"]),
        (
            "[[target]]\nname = 'a'\nserve = []\ncpus = '1-0'\nworkers = [1, 0]\n",
            &[
                "5: target.cpus: expected \"all\" or CPUs by number, each below 1024, such as \"0\" or \"0,2-3\", got \"1-0\"",
                "6: target.workers: expected a number from 1 to 1024, or a list of them, each of which is a target of its own, got [1, 0]",
            ],
        ),
    ];
    for (target, expected) in rows {
        says(target, MATRIX, "", expected);
    }
}

/// What only the server and the load tool understand was looked at when everything else was right.
#[test]
fn what_others_understand_is_said_with_the_rest() {
    let targets = "[[target]]\nname = 'a'\nprofile = ['nginx', 'none']\nserve = ['--set', 'server.bcklog=511']\n\
                   [[target]]\nname = 'b'\nurl = '127.0.0.1:80'\n";
    let matrix =
        format!("{}targets = ['a-none', 'b']\n", MATRIX.replace("1k.html", "9k.html").replace("= 9", "= '50k'"));
    let document = "9k.html is none of the bundled documents, which are 1k.html, 10k.html, 30k.html, 100k.html, 300k.html, 7.5m.html; \
                    did you mean 1k.html?";
    let expected = [
        "2: target.serve: --set: server.bcklog is not a setting; did you mean server.backlog?",
        "8: target.url: expected http://HOST:PORT without a path, such as \"http://127.0.0.1:8080\"",
        &format!("10: matrix.documents: {document}"),
        "13: matrix.requests: expected a number from 1 to 4294967295, or one for each document, such as { \"1k.html\" = …, \
         \"7.5m.html\" = … }, got \"50k\"; did you mean 50000?",
        "16: client.source: ",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!("question = 'Is it?'\n{targets}{matrix}[client]\nsource = 'here'\n");
    fs::write(folder.path().join("a.toml"), plan).expect("a file");
    let (code, _, err) = dry_run_in(folder.path(), &["a.toml"]);
    let said: Vec<_> = err.lines().collect();
    assert_eq!((code, said.len()), (Some(2), expected.len()), "{err}");
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(&format!("quintain: a.toml:{expected}")), "{expected} is not {said}");
    }
}

/// The kernel refused to start it, which ended the sweep at its turn.
#[test]
fn a_word_that_the_kernel_does_not_take() {
    let word = "x".repeat(128 << 10);
    let says_of = |lines: &str, key: &str| {
        let expected = format!(
            "4: target.{key}: a word of it has 131072 bytes, and the kernel takes at most 131071 (MAX_ARG_STRLEN)"
        );
        says(&format!("[[target]]\nname = 'a'\n{lines}\n"), MATRIX, "", &[&expected]);
    };
    says_of(&format!("command = ['true', '{{port}}', '{word}']"), "command");
    says_of(&format!("version = ['true', '{word}']\ncommand = ['true', '{{port}}']"), "version");
    says_of(&format!("serve = ['--config', '{word}']"), "serve");
}

#[test]
fn what_is_wrong_with_a_matrix() {
    let line = |key: &str, value: &str| {
        let keep = |line: &&str| !line.starts_with(key);
        let kept: String = MATRIX.lines().filter(keep).map(|line| format!("{line}\n")).collect();
        format!("{kept}{key} = {value}\n")
    };
    let rows: &[(String, &[&str])] = &[
        (
            "[[matrix]]\n".into(),
            &[
                "5: matrix.concurrency is missing; expected a number from 1 to 1000000, a list of them, or { from = 50, to = 2000, step = 50 }, \
             at most 1000 together",
                "5: matrix.connections is missing; expected \"short\", \"keep-alive\" or a list of both",
                "5: matrix.documents is missing; expected a list of 1 to 64, each a name: up to 64 letters, digits, '.', '-' and '_', no '.' \
             or '-' in front",
                "5: matrix: when does a measurement end? Write requests, duration, or both: the first to come ends it",
            ],
        ),
        (
            line("documents", "['1kb.html']"),
            &[
                "9: matrix.documents: 1kb.html is none of the bundled documents, which are 1k.html, 10k.html, 30k.html, 100k.html, \
             300k.html, 7.5m.html; did you mean 1k.html?",
            ],
        ),
        (
            line("documents", "['index']"),
            &[
                "9: matrix.documents: index is none of the bundled documents, which are 1k.html, 10k.html, 30k.html, 100k.html, 300k.html, \
             7.5m.html; a folder of your own is named by root",
            ],
        ),
        (
            line("concurrency", "{ from = 50, to = 10, step = 5 }"),
            &[
                "9: matrix.concurrency: expected a number from 1 to 1000000, a list of them, or { from = 50, to = 2000, step = 50 }, at most \
             1000 together, got { from = 50, step = 5, to = 10 }",
            ],
        ),
        (
            line("connections", "'keepalive'"),
            &[
                "9: matrix.connections: expected \"short\", \"keep-alive\" or a list of both, got \"keepalive\"; did you mean keep-alive?",
            ],
        ),
        (
            line("requests", "{ '1k.htm' = 9 }"),
            &[
                "9: matrix.requests: 1k.htm is none of the documents of this table",
                "9: matrix.requests: there is none for 1k.html, which is one of the documents",
            ],
        ),
        (
            format!("{MATRIX}durations = '1s'\ntargets = ['b']\n"),
            &[
                "10: matrix.durations is no key of a plan; did you mean matrix.duration?",
                "11: matrix.targets: there is no target b; there are a",
            ],
        ),
        (
            format!("{MATRIX}{MATRIX}"),
            &["10: matrix: 1k.html over 50 short connections of a is measured twice; repeats are order.repeats"],
        ),
        (line("requests", "99999999999999999999"), &["9: matrix.requests: a number is beyond 64 bits"]),
    ];
    for (matrix, expected) in rows {
        says(TARGET, matrix, "", expected);
    }
}

#[test]
fn what_is_wrong_with_the_rest() {
    let rows: &[(&str, &[&str])] = &[
        (
            "[order]\nrepeat = 3\nseed = -1\n",
            &[
                "11: order.repeat is no key of a plan; did you mean order.repeats?",
                "12: order.seed: expected a number from 0 to 4294967295, got -1",
            ],
        ),
        ("repeats = 3\n", &["10: matrix.repeats is no key of a plan; did you mean order.repeats?"]),
        (
            "[order.warmup]\n[order.cool_down]\nat_most = 'long'\n",
            &[
                "10: order.warmup is no key of a plan; did you mean order.warm_up?",
                "12: order.cool_down.at_most: expected a duration from 0s to 600s with its unit (ms, s, m, h), got \"long\"",
            ],
        ),
        ("order = 1\n", &["10: matrix.order is no key of a plan; did you mean order?"]),
        (
            "[gates]\nfail_if = ['p99', 'p98>5ms', 'faild>0']\nband = 2\n",
            &[
                "11: gates.fail_if: 'p99' has no < or >; write what breaks the run as METRIC>BOUND or METRIC<BOUND, such as 'p99>5ms'",
                "11: gates.fail_if: there is no metric 'faild'; did you mean 'failed'? Known are percentiles (p0 to p100, such \
             as p99.9), mean, min, max, failed, non2xx, rate, achieved_rate, client, cpu_per_request",
                "12: gates.band: expected a share from 0 to 0.5, such as 0.02 for 2 %, got 2",
            ],
        ),
        (
            "[client]\nsource = 'lo'\n",
            &["11: client.source: 'lo' is no address, no range (127.0.0.2-127.0.0.17) and no prefix (127.0.0.0/28)"],
        ),
        (
            "[client]\nthreads = 0\ncpus = ''\n",
            &[
                "11: client.threads: expected a number from 1 to 1024, got 0",
                "12: client.cpus: expected \"all\" or CPUs by number, each below 1024, such as \"0\" or \"0,2-3\", got \"\"",
            ],
        ),
        ("[published]\nservers = ['nginx']\n", &["11: published: of which file? Write file"]),
        ("[published]\nfile = 'none.csv'\n", &["11: published.file: none.csv: No such file or directory (os error 2)"]),
        (
            "[html]\ntitle = 'x'\n",
            &[
                "10: html is no key of a plan; a plan has client, gates, matrix, order, published, question, root, target",
            ],
        ),
    ];
    for (rest, expected) in rows {
        says(TARGET, MATRIX, rest, expected);
    }
    let says_of_root =
        |root: &str, expected: &str| says(&format!("root = '{root}'\n{TARGET}"), MATRIX, "", &[expected]);
    says_of_root("", "2: root: expected a path, got \"\"");
}

#[test]
fn documents_are_looked_at_before_anything_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let top = folder.path().canonicalize().expect("a path");
    let refused = |plan: &str| {
        fs::write(top.join("a.toml"), plan).expect("a file");
        let (code, _, err) = dry_run_in(&top, &["a.toml"]);
        assert_eq!(code, Some(2), "{plan}: {err}");
        err
    };
    let plan = format!("question = 'Is it?'\n{TARGET}{MATRIX}");
    fs::create_dir(top.join("fixtures")).expect("a folder");
    fs::write(top.join("fixtures/1k.html"), "short").expect("a file");
    let expected = format!(
        "quintain: a.toml:6: matrix.documents: {}/fixtures/1k.html has 5 bytes, and 1024 as it is bundled; `quintain fixtures` writes \
         it anew\n",
        top.display()
    );
    assert_eq!(refused(&plan), expected);

    fs::create_dir(top.join("site")).expect("a folder");
    let expected = format!(
        "quintain: a.toml:7: matrix.documents: {}/site/1k.html cannot be found: No such file or directory (os error 2)\n",
        top.display()
    );
    assert_eq!(refused(&plan.replacen('\n', "\nroot = 'site'\n", 1)), expected);
    let expected = format!("quintain: a.toml:2: root: there is no folder {}/sight\n", top.display());
    assert!(refused(&plan.replacen('\n', "\nroot = 'sight'\n", 1)).starts_with(&expected));
}
