use super::*;

fn call(line: &str) -> Result<AbCall, AbMistake> {
    parse(line.split_whitespace().map(OsString::from))
}

#[track_caller]
fn run(line: &str) -> AbArgs {
    match call(line) {
        Ok(AbCall::Run(args)) => *args,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn defaults_are_those_of_ab() {
    let args = run("h/");
    assert_eq!((args.requests, args.connections, args.timeout), (1, 1, Duration::from_secs(30)));
    assert_eq!((args.method.as_str(), args.threads, args.time_limit), ("GET", 1, None));
    assert!(args.percentiles && args.confidence && !args.quiet && !args.keep_alive && args.html.is_none());
}

#[test]
fn options_cluster_and_values_attach() {
    let expected = AbArgs { keep_alive: true, quiet: true, connections: 100, requests: 1000, ..run("h/") };
    for line in ["-k -q -c 100 -n 1000 h/", "-kqc100 -n1000 h/", "-n1000 -qkc 100 -- h/", "-n 7 -n1000 -kqc100 h/"] {
        assert_eq!(run(line), expected, "{line}");
    }
}

#[test]
fn a_time_limit_sets_the_requests_unless_they_follow() {
    let rows = [("-t 3 h/", 50_000), ("-n 10 -t 3 h/", 50_000), ("-t3 -n10 h/", 10), ("-t 9 -n 1 -t 3 h/", 50_000)];
    for (line, requests) in rows {
        let args = run(line);
        assert_eq!((args.requests, args.time_limit), (requests, Some(Duration::from_secs(3))), "{line}");
    }
    assert_eq!(run("-t 0 h/").time_limit, None);
}

#[test]
fn every_option_has_its_place() {
    let args = run("-s 5 -b 4096 -B 127.0.0.2 -T a/b -v 3 -C a=b -C c=d -A u:p -P x:y -H X:1 -H Y:2 -X p:81 \
                    -e csv -g tsv -m PATCH -dSlrI --threads 1 h/p");
    assert_eq!((args.timeout, args.buffer_bytes), (Duration::from_secs(5), Some(4096)));
    assert_eq!((args.source.as_deref(), args.proxy.as_deref()), (Some("127.0.0.2"), Some("p:81")));
    assert_eq!((args.content_type.as_str(), args.verbosity, args.method.as_str()), ("a/b", 3, "PATCH"));
    assert_eq!(args.cookie.as_deref(), Some("c=d"), "ab forgets the first");
    assert_eq!(args.credentials, [Credentials::Server("u:p".into()), Credentials::Proxy("x:y".into())]);
    assert_eq!(args.lines, ["X:1", "Y:2"]);
    assert_eq!((args.csv, args.gnuplot), (Some("csv".into()), Some("tsv".into())));
    assert!(!args.percentiles && !args.confidence && args.variable_length && args.survives_errors);
    assert_eq!(run("-b 0 h/").buffer_bytes, None);
}

#[test]
fn table_attributes_ask_for_a_table() {
    assert_eq!(run("-w h/").html, Some(TableAttributes::default()));
    let html = run("-x a -y b -z c h/").html.unwrap();
    assert_eq!((html.table.as_str(), html.row.as_str(), html.cell.as_str()), ("a", "b", "c"));
    assert_eq!(run("-xborder=1 h/").html.unwrap().table, "border=1");
    assert_eq!(call("-V").unwrap(), AbCall::Version { html: false });
    assert_eq!(call("-n 5 -wV -Q").unwrap(), AbCall::Version { html: true });
}

#[test]
fn methods_do_not_mix_but_with_m() {
    let mixed = |line: &str| match call(line) {
        Err(AbMistake::Plain(mistake)) => mistake,
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(mixed("-i -p f h/"), "Cannot mix POST with other methods");
    assert_eq!(mixed("-p f -u f h/"), "Cannot mix PUT with other methods");
    assert_eq!(mixed("-m PUT -i h/"), "Cannot mix HEAD with other methods");
    let args = run("-p f -m PATCH h/");
    assert_eq!((args.method.as_str(), args.body), ("PATCH", Some("f".into())));
    assert_eq!(run("-u f h/").method, "PUT");
    assert_eq!(run("-i h/").method, "HEAD");
}

#[test]
fn mistakes_in_the_words_of_ab() {
    let usage = [
        ("", "wrong number of arguments"),
        ("-n 5", "wrong number of arguments"),
        ("h/ g/", "wrong number of arguments"),
        ("h/ -n 5", "wrong number of arguments"),
        ("-Q h/", "illegal option -- Q"),
        ("--quiet h/", "illegal option -- quiet"),
        ("-n", "option requires an argument -- n"),
        ("-n 5 -c 6 h/", "Cannot use concurrency level greater than total number of requests"),
        ("-c 2 h/", "Cannot use concurrency level greater than total number of requests"),
        ("-c 0 h/", "Invalid Concurrency [Range 1..200000]"),
        ("-c -1 h/", "Invalid Concurrency [Range 1..200000]"),
        ("-c x h/", "Invalid Concurrency [Range 1..200000]"),
        ("-n 300000 -c 200001 h/", "Invalid Concurrency [Range 1..200000]"),
    ];
    for (line, mistake) in usage {
        assert_eq!(call(line), Err(AbMistake::Usage(mistake.into())), "{line}");
    }
    for line in ["-n 0 h/", "-n -3 h/", "-n x h/", "-n 10k h/"] {
        assert_eq!(call(line), Err(AbMistake::Plain("Invalid number of requests")), "{line}");
    }
    assert_eq!(call("-h"), Err(AbMistake::Help));
}

#[test]
fn what_ab_takes_for_something_else_is_refused() {
    let refused = |line: &str| match call(line) {
        Err(AbMistake::Refused(why)) => why,
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(refused("-s 0 h/"), "-s wants at least 1 second, not '0'");
    assert_eq!(refused("-t 1m h/"), "-t wants 0 or more seconds, not '1m'");
    assert_eq!(refused("-v -1 h/"), "-v wants a level from 0 on, not '-1'");
    assert_eq!(refused("--threads 0 h/"), "--threads wants a number from 1 on");
    assert!(refused("--threads 2 h/").starts_with("--threads 2 is more than the 1 connections of -c"));
    for line in ["-Z ALL h/", "-f TLS1.2 h/", "-E cert h/"] {
        assert!(refused(line).contains("TLS"), "{line}");
    }
}

#[test]
fn the_usage_text_has_a_line_for_each_option() {
    let usage = usage("ab");
    assert!(usage.starts_with("Usage: ab [options] "), "{usage}");
    for letter in "nctsbBpuTvwixyzCHAPXVkdSqlgermhIZfE".chars() {
        let lines = usage.lines().filter(|line| line.starts_with(&format!("    -{letter} ")));
        assert_eq!(lines.count(), 1, "-{letter}");
    }
}
