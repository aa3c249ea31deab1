//! What may be typed after `quintain webbench`: the options of WebBench 1.5, in its getopt's ways.

use std::ffi::OsString;

use lexopt::{Arg, Parser, ValueExt};

/// What WebBench says of its options, in words of our own; `-f` tells what it does here.
pub const USAGE: &str = "\
webbench [option]... URL
  -f|--force               Accepted; answers are read all the same.
  -r|--reload              Ask a proxy to ask the server again: Pragma: no-cache.
  -t|--time <sec>          Run for <sec> seconds; 30 if not given.
  -p|--proxy <server:port> Ask a proxy.
  -c|--clients <n>         Connections at once; one if not given.
  -9|--http09              HTTP/0.9 requests; an answer without a head has failed.
  -1|--http10              HTTP/1.0 requests, if none of the three is given.
  -2|--http11              HTTP/1.1 requests.
  --get                    GET, if none of the four is given.
  --head                   HEAD.
  --options                OPTIONS.
  --trace                  TRACE.
  --threads <n>            Threads to share the connections between; one if not given (not in WebBench).
  -?|-h|--help             This text.
  -V|--version             Say which version this is.
";

/// Most connections: what ab's face allows too.
const MOST_CLIENTS: usize = 200_000;

/// WebBench's options and its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebbenchArgs {
    /// The URL, as typed.
    pub url: String,
    /// `-t`, at least 1.
    pub seconds: u32,
    /// `-c`, at least 1.
    pub clients: usize,
    /// `-9`, `-1` or `-2`.
    pub http: HttpVersion,
    /// One of GET, HEAD, OPTIONS and TRACE.
    pub method: &'static str,
    /// `-f`.
    pub force: bool,
    /// `-r`.
    pub reload: bool,
    /// `-p`, as typed.
    pub proxy: Option<String>,
    /// `--threads`, which WebBench does not have.
    pub threads: usize,
}

/// The version of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HttpVersion {
    /// A method and a path.
    V09,
    /// HTTP/1.0.
    V10,
    /// HTTP/1.1 with `Connection: close`.
    V11,
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebbenchCall {
    /// A run.
    Run(WebbenchArgs),
    /// `-V`.
    Version,
}

/// A command line that cannot be meant: exit code 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebbenchMistake {
    /// The usage text alone.
    Usage,
    /// A sentence, with the usage text behind it.
    Said(String),
}

/// Reads the words after the program's name. Options may stand behind the URL, as GNU's getopt has it.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<WebbenchCall, WebbenchMistake> {
    let said = |what: String| WebbenchMistake::Said(what);
    let mut parser = Parser::from_args(words);
    parser.set_short_equals(false);
    let mut args = WebbenchArgs {
        url: String::new(),
        seconds: 30,
        clients: 1,
        http: HttpVersion::V10,
        method: "GET",
        force: false,
        reload: false,
        proxy: None,
        threads: 1,
    };
    let mut urls = Vec::new();
    let mut words = 0;
    while let Some(argument) = parser.next().map_err(|error| said(error.to_string()))? {
        words += 1;
        match argument {
            Arg::Short('f') | Arg::Long("force") => args.force = true,
            Arg::Short('r') | Arg::Long("reload") => args.reload = true,
            Arg::Short('9') | Arg::Long("http09") => args.http = HttpVersion::V09,
            Arg::Short('1') | Arg::Long("http10") => args.http = HttpVersion::V10,
            Arg::Short('2') | Arg::Long("http11") => args.http = HttpVersion::V11,
            Arg::Long("get") => args.method = "GET",
            Arg::Long("head") => args.method = "HEAD",
            Arg::Long("options") => args.method = "OPTIONS",
            Arg::Long("trace") => args.method = "TRACE",
            // 0 is the default, as in WebBench.
            Arg::Short('t') | Arg::Long("time") => args.seconds = number(&mut parser, "--time", 30)?,
            Arg::Short('c') | Arg::Long("clients") => args.clients = number(&mut parser, "--clients", 1)? as usize,
            Arg::Long("threads") => args.threads = number(&mut parser, "--threads", 1)? as usize,
            Arg::Short('p') | Arg::Long("proxy") => args.proxy = Some(text(&mut parser, "--proxy")?),
            Arg::Short('V') | Arg::Long("version") => return Ok(WebbenchCall::Version),
            Arg::Short('h' | '?') | Arg::Long("help") => return Err(WebbenchMistake::Usage),
            Arg::Value(url) => urls.push(url.string().map_err(|_| said("the URL is not UTF-8".to_owned()))?),
            other => return Err(said(other.unexpected().to_string())),
        }
    }
    match urls.as_slice() {
        [] if words == 0 => return Err(WebbenchMistake::Usage),
        [] => return Err(said("Missing URL!".to_owned())),
        [url] => args.url.clone_from(url),
        [_, more, ..] => return Err(said(format!("'{more}' is one URL too many"))),
    }
    bounded(args)
}

fn bounded(args: WebbenchArgs) -> Result<WebbenchCall, WebbenchMistake> {
    if args.clients > MOST_CLIENTS {
        return Err(WebbenchMistake::Said(format!("--clients wants at most {MOST_CLIENTS}, not {}", args.clients)));
    }
    if args.threads > args.clients {
        let (threads, clients) = (args.threads, args.clients);
        let why = format!("--threads {threads} is more than the {clients} of --clients; each thread needs one");
        return Err(WebbenchMistake::Said(why));
    }
    Ok(WebbenchCall::Run(args))
}

fn text(parser: &mut Parser, name: &str) -> Result<String, WebbenchMistake> {
    let value = parser.value().map_err(|error| WebbenchMistake::Said(error.to_string()))?;
    value.string().map_err(|_| WebbenchMistake::Said(format!("the value of {name} is not UTF-8")))
}

fn number(parser: &mut Parser, name: &str, default: u32) -> Result<u32, WebbenchMistake> {
    let value = text(parser, name)?;
    let wrong = || WebbenchMistake::Said(format!("{name} wants a whole number, not '{value}'"));
    value.parse().map_err(|_| wrong()).map(|number| if number == 0 { default } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Result<WebbenchCall, WebbenchMistake> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[track_caller]
    fn run(line: &str) -> WebbenchArgs {
        match call(line) {
            Ok(WebbenchCall::Run(args)) => args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn defaults_and_zeros() {
        let args = run("http://h/");
        assert_eq!((args.seconds, args.clients, args.http, args.method), (30, 1, HttpVersion::V10, "GET"));
        assert_eq!(run("-c 0 -t 0 http://h/"), args);
    }

    #[test]
    fn options_in_any_order_long_and_short() {
        let expected = WebbenchArgs { clients: 5000, seconds: 60, http: HttpVersion::V11, ..run("http://h/") };
        for line in
            ["-c 5000 -t 60 -2 http://h/", "http://h/ -2t60 -c5000", "--clients=5000 --time 60 --http11 http://h/"]
        {
            assert_eq!(run(line), expected, "{line}");
        }
        let args = run("-9frp p:81 --trace --threads 1 http://h/");
        assert!(args.force && args.reload && args.http == HttpVersion::V09);
        assert_eq!((args.proxy.as_deref(), args.method), (Some("p:81"), "TRACE"));
        for (flag, method) in [("--get", "GET"), ("--head", "HEAD"), ("--options", "OPTIONS")] {
            assert_eq!(run(&format!("{flag} http://h/")).method, method);
        }
    }

    #[test]
    fn mistakes() {
        assert_eq!(call(""), Err(WebbenchMistake::Usage));
        assert_eq!(call("-h"), Err(WebbenchMistake::Usage));
        assert_eq!(call("-?"), Err(WebbenchMistake::Usage));
        assert_eq!(call("-V"), Ok(WebbenchCall::Version));
        let said = |line: &str| match call(line) {
            Err(WebbenchMistake::Said(what)) => what,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(said("-c 5"), "Missing URL!");
        assert_eq!(said("http://h/ http://i/"), "'http://i/' is one URL too many");
        assert_eq!(said("-t 1m http://h/"), "--time wants a whole number, not '1m'");
        assert_eq!(said("-c -5 http://h/"), "--clients wants a whole number, not '-5'");
        assert!(said("-c 200001 http://h/").starts_with("--clients wants at most 200000"));
        assert!(said("--threads 2 http://h/").contains("more than the 1 of --clients"));
        assert!(said("-x http://h/").contains("-x"));
        assert!(said("-c").contains("-c"));
    }
}
