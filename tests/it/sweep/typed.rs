//! What is typed after `quintain sweep`, and who it names.

use std::fs;
use std::process::Command;

use super::plans::{dry_run_in, package, printed};

#[test]
fn the_command_line_may_want_less_or_more() {
    let text = printed(package(), &["netty-tomcat", "--repeats", "2", "--targets", "netty,quintain-netty"]);
    assert!(text.contains("\n  320 cells x 2 repeats = 640 measurements\n"), "{text}");
    assert!(
        text.contains(" (netty quintain-netty), c = 50 to 2000 in steps of 50, short, 100000 requests\n"),
        "{text}"
    );
    assert!(!text.contains("tomcat: "), "{text}");

    let refused = |arguments: &[&str]| {
        let (code, out, err) = dry_run_in(package(), arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        err
    };
    let err = refused(&["netty-tomcat", "--targets", "nety"]);
    assert_eq!(err, "quintain: --targets: there is no target nety; did you mean netty?\n");
    assert!(refused(&["--repeats", "0"]).contains("'--repeats <N>'"));
    let no_plan = |name: &str| {
        let err = refused(&[name]);
        let says = err.strip_prefix(&format!("quintain: plan {name:?}: there is no plan of this name; "));
        says.unwrap_or_else(|| panic!("{err}")).to_owned()
    };
    assert!(no_plan("quck").starts_with("did you mean quick? A file's name ends in .toml"));
    assert!(no_plan("netty-tomcat-smal").starts_with("did you mean netty-tomcat-small?"));
    assert!(no_plan("zzz").starts_with("built in are quick, netty-tomcat, "));
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("manual.toml"), "").expect("a file");
    let (_, _, err) = dry_run_in(folder.path(), &["manual"]);
    assert!(err.ends_with("; did you mean the file manual.toml?\n"), "{err}");
    let err = refused(&["no/such/plan"]);
    assert_eq!(err, "quintain: no/such/plan: cannot be read as a plan: No such file or directory (os error 2)\n");
}

/// Whoever names a folder wants what is in it, and was told of an I/O error; a pipe that nobody writes to was waited for.
#[test]
fn a_plan_is_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["results", "other"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    fs::write(folder.path().join("results/experiment.json"), "{}").expect("a file");
    let pipe = Command::new("mkfifo").arg(folder.path().join("pipe.toml")).status().expect("mkfifo can be run");
    assert!(pipe.success());
    let rows = [
        (
            "results",
            "plan \"results\": this is the folder of a sweep, and no plan; `quintain sweep --resume results` goes on with it, and \
             `quintain report results` reads what is there",
        ),
        (
            "./results",
            "./results: this is the folder of a sweep, and no plan; `quintain sweep --resume ./results` goes on with it, and \
             `quintain report ./results` reads what is there",
        ),
        (
            "other",
            "plan \"other\": this is a folder, and a plan is a file: its name ends in .toml, or has a slash in it",
        ),
        ("pipe.toml", "pipe.toml: cannot be read as a plan: it is no regular file"),
        ("/dev/null", "/dev/null: cannot be read as a plan: it is no regular file"),
    ];
    for (name, says) in rows {
        let (code, out, err) = dry_run_in(folder.path(), &[name]);
        assert_eq!((code, out.as_str(), err), (Some(2), "", format!("quintain: {says}\n")), "{name}");
    }
}

/// A resumed sweep is the one that was begun: what would make it another one is refused, and not passed over.
#[test]
fn what_cannot_stand_beside_resume() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: [(&[&str], &str); 5] = [
        (&["quick"], "[PLAN]"),
        (&["--repeats", "3"], "--repeats <N>"),
        (&["--targets", "a"], "--targets <NAME,NAME>"),
        (&["--dry-run"], "--dry-run"),
        (&["--out", "x"], "--out <DIR>"),
    ];
    for (words, name) in rows {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
        let output = command.args(["sweep", "--resume", "x"]).args(words).current_dir(folder.path()).output();
        let output = output.expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(&format!("'--resume <DIR>' cannot be used with '{name}'")), "{err}");
    }
}
