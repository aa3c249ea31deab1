//! What may be typed after `quintain ab`: ApacheBench 2.4's options, read as it reads them.
//!
//! Not by clap: ab's options cluster and take attached values (`-kc100`), end at the first word that is none, and depend on
//! their order (`-t` sets `-n`). Where ab would go on with something nobody can have meant, such as `-n 10k` as 10 or an
//! option that it does not know, this stops with the same exit code as any other mistake.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};

mod usage;

pub use usage::usage;

/// Requests that `-t` stands for if no `-n` follows it.
const REQUESTS_OF_A_TIME_LIMIT: u64 = 50_000;

/// Most connections: the limit of Debian's ab 2.4 (upstream's is 20,000).
const MOST_CONNECTIONS: usize = 200_000;

/// ApacheBench's options and its URL, checked as far as can be without looking anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbArgs {
    /// The URL, as typed.
    pub url: String,
    /// `-n`, or what `-t` sets.
    pub requests: u64,
    /// `-c`.
    pub connections: usize,
    /// `-t`.
    pub time_limit: Option<Duration>,
    /// `-s`.
    pub timeout: Duration,
    /// `-b`.
    pub buffer_bytes: Option<usize>,
    /// `-B`.
    pub source: Option<String>,
    /// File of `-p` or `-u`.
    pub body: Option<PathBuf>,
    /// `-T`.
    pub content_type: String,
    /// GET, or that of `-i`, `-p`, `-u`, `-m`.
    pub method: String,
    /// `-v`.
    pub verbosity: u32,
    /// `-w`, and attributes of `-x`, `-y` and `-z`.
    pub html: Option<TableAttributes>,
    /// `-C`: the last one, as in ab, whose usage text says otherwise.
    pub cookie: Option<String>,
    /// `-A` and `-P` in their order.
    pub credentials: Vec<Credentials>,
    /// `-H` in their order.
    pub lines: Vec<String>,
    /// `-X`, as typed.
    pub proxy: Option<String>,
    /// `-k`.
    pub keep_alive: bool,
    /// Without `-d`.
    pub percentiles: bool,
    /// Without `-S`.
    pub confidence: bool,
    /// `-q`.
    pub quiet: bool,
    /// `-l`.
    pub variable_length: bool,
    /// `-e`.
    pub csv: Option<PathBuf>,
    /// `-g`.
    pub gnuplot: Option<PathBuf>,
    /// `-r`.
    pub survives_errors: bool,
    /// `--threads`, which ab does not have.
    pub threads: usize,
}

/// Attributes of the elements of `-w`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableAttributes {
    /// `-x`, of `table`.
    pub table: String,
    /// `-y`, of `tr`.
    pub row: String,
    /// `-z`, of `td` and `th`.
    pub cell: String,
}

impl Default for TableAttributes {
    fn default() -> Self {
        Self { table: String::new(), row: String::new(), cell: "bgcolor=white".to_owned() }
    }
}

/// A `user:password` and whom it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// `-A`.
    Server(String),
    /// `-P`.
    Proxy(String),
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AbCall {
    /// A run.
    Run(Box<AbArgs>),
    /// `-V`: who this is, as HTML after a `-w`.
    Version {
        /// As HTML.
        html: bool,
    },
}

/// A command line that cannot be meant, in ab's words where it has some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AbMistake {
    /// Said with the program's name before it and the usage text behind it: exit code 22.
    Usage(String),
    /// `-h`: the usage text alone, with the same exit code.
    Help,
    /// Said with the program's name before it: exit code 22.
    Refused(String),
    /// Said alone and with an empty line behind it: exit code 1.
    Plain(&'static str),
}

/// Reads the words after the program's name.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<AbCall, AbMistake> {
    let mut parser = Parser::from_args(words);
    // A value that begins with an equals sign is one: `-C=` is ab's `-C =`.
    parser.set_short_equals(false);
    let mut reading = Reading::default();
    while let Some(argument) = parser.next().map_err(|error| AbMistake::Usage(error.to_string()))? {
        match argument {
            Arg::Short('V') => return Ok(AbCall::Version { html: reading.args.html.is_some() }),
            Arg::Short('h') => return Err(AbMistake::Help),
            Arg::Short(letter) if reading.flag(letter)? => {}
            Arg::Short(letter) => reading.option(letter, &mut parser)?,
            Arg::Long("threads") => reading.args.threads = threads(&mut parser)?,
            Arg::Long(name) => return Err(AbMistake::Usage(format!("illegal option -- {name}"))),
            Arg::Value(url) => {
                reading.args.url = text(url, "the URL")?;
                // What follows the URL is no option any more.
                if parser.raw_args().is_ok_and(|mut rest| rest.next().is_some()) {
                    return Err(AbMistake::Usage("wrong number of arguments".to_owned()));
                }
                return reading.finish();
            }
        }
    }
    Err(AbMistake::Usage("wrong number of arguments".to_owned()))
}

/// The options read so far.
struct Reading {
    args: AbArgs,
    /// Whether one of `-i`, `-p`, `-u` and `-m` was there.
    has_method: bool,
}

impl Default for Reading {
    fn default() -> Self {
        let args = AbArgs {
            url: String::new(),
            requests: 1,
            connections: 1,
            time_limit: None,
            timeout: Duration::from_secs(30),
            buffer_bytes: None,
            source: None,
            body: None,
            content_type: "text/plain".to_owned(),
            method: "GET".to_owned(),
            verbosity: 0,
            html: None,
            cookie: None,
            credentials: Vec::new(),
            lines: Vec::new(),
            proxy: None,
            keep_alive: false,
            percentiles: true,
            confidence: true,
            quiet: false,
            variable_length: false,
            csv: None,
            gnuplot: None,
            survives_errors: false,
            threads: 1,
        };
        Self { args, has_method: false }
    }
}

impl Reading {
    /// An option without a value; false if it is none.
    fn flag(&mut self, letter: char) -> Result<bool, AbMistake> {
        let args = &mut self.args;
        match letter {
            'k' => args.keep_alive = true,
            'q' => args.quiet = true,
            'd' => args.percentiles = false,
            'S' => args.confidence = false,
            'l' => args.variable_length = true,
            'r' => args.survives_errors = true,
            'w' => drop(args.html.get_or_insert_default()),
            'i' => self.method("HEAD", "Cannot mix HEAD with other methods")?,
            // Says nothing about TLS that is not there.
            'I' => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// An option with a value.
    fn option(&mut self, letter: char, parser: &mut Parser) -> Result<(), AbMistake> {
        if !"nctsbBpuTvxyzCHAPXgemZfE".contains(letter) {
            return Err(AbMistake::Usage(format!("illegal option -- {letter}")));
        }
        let value = parser.value().map_err(|_| AbMistake::Usage(format!("option requires an argument -- {letter}")))?;
        match letter {
            'e' => self.args.csv = Some(value.into()),
            'g' => self.args.gnuplot = Some(value.into()),
            'p' => self.body("POST", "Cannot mix POST with other methods", value)?,
            'u' => self.body("PUT", "Cannot mix PUT with other methods", value)?,
            _ => self.text_option(letter, text(value, &format!("the value of -{letter}"))?)?,
        }
        Ok(())
    }

    /// An option whose value is a text or a number. (A file's name need not be UTF-8.)
    fn text_option(&mut self, letter: char, value: String) -> Result<(), AbMistake> {
        let args = &mut self.args;
        match letter {
            'n' => args.requests = requests(&value)?,
            'c' => args.connections = value.parse().map_err(|_| invalid_concurrency())?,
            't' => (args.time_limit, args.requests) = (time_limit(&value)?, REQUESTS_OF_A_TIME_LIMIT),
            's' => args.timeout = Duration::from_secs(number(letter, &value, "at least 1 second", |n| n > 0)?),
            'b' => args.buffer_bytes = Some(number(letter, &value, "0 or more bytes", |_| true)?).filter(|n| *n > 0),
            'v' => args.verbosity = number(letter, &value, "a level from 0 on", |_| true)?,
            'T' => args.content_type = value,
            'x' => args.html.get_or_insert_default().table = value,
            'y' => args.html.get_or_insert_default().row = value,
            'z' => args.html.get_or_insert_default().cell = value,
            'C' => args.cookie = Some(value),
            'H' => args.lines.push(value),
            'A' => args.credentials.push(Credentials::Server(value.trim_start().to_owned())),
            'P' => args.credentials.push(Credentials::Proxy(value.trim_start().to_owned())),
            'X' => args.proxy = Some(value),
            'B' => args.source = Some(value),
            // Of all that name a method this alone may follow another.
            'm' => (args.method, self.has_method) = (value, true),
            _ => {
                let why =
                    format!("-{letter} is about TLS, which this program does not have; leave it out, and use http://");
                return Err(AbMistake::Refused(why));
            }
        }
        Ok(())
    }

    fn method(&mut self, method: &str, mistake: &'static str) -> Result<(), AbMistake> {
        if self.has_method {
            return Err(AbMistake::Plain(mistake));
        }
        (self.args.method, self.has_method) = (method.to_owned(), true);
        Ok(())
    }

    fn body(&mut self, method: &str, mistake: &'static str, file: OsString) -> Result<(), AbMistake> {
        self.method(method, mistake)?;
        self.args.body = Some(file.into());
        Ok(())
    }

    fn finish(self) -> Result<AbCall, AbMistake> {
        let Self { args, .. } = self;
        if !(1..=MOST_CONNECTIONS).contains(&args.connections) {
            return Err(invalid_concurrency());
        }
        if args.connections as u64 > args.requests {
            let why = "Cannot use concurrency level greater than total number of requests";
            return Err(AbMistake::Usage(why.to_owned()));
        }
        if args.threads > args.connections {
            let why = format!(
                "--threads {} is more than the {} connections of -c; each thread needs one",
                args.threads, args.connections
            );
            return Err(AbMistake::Refused(why));
        }
        Ok(AbCall::Run(Box::new(args)))
    }
}

fn text(value: OsString, what: &str) -> Result<String, AbMistake> {
    value.string().map_err(|_| AbMistake::Refused(format!("{what} is not UTF-8")))
}

fn requests(value: &str) -> Result<u64, AbMistake> {
    value.parse().ok().filter(|n| *n > 0).ok_or(AbMistake::Plain("Invalid number of requests"))
}

fn invalid_concurrency() -> AbMistake {
    AbMistake::Usage(format!("Invalid Concurrency [Range 1..{MOST_CONNECTIONS}]"))
}

/// As in ab, 0 is no limit.
fn time_limit(value: &str) -> Result<Option<Duration>, AbMistake> {
    let seconds = number('t', value, "0 or more seconds", |_| true)?;
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}

fn threads(parser: &mut Parser) -> Result<usize, AbMistake> {
    let wrong = || AbMistake::Refused("--threads wants a number from 1 on".to_owned());
    parser.value().ok().and_then(|value| value.parse().ok()).filter(|n| *n > 0).ok_or_else(wrong)
}

/// A whole number, of which ab would take the digits in front.
fn number<N: std::str::FromStr + Copy>(
    letter: char,
    value: &str,
    wanted: &str,
    fits: fn(N) -> bool,
) -> Result<N, AbMistake> {
    let wrong = || AbMistake::Refused(format!("-{letter} wants {wanted}, not '{value}'"));
    value.parse().ok().filter(|n| fits(*n)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests;
