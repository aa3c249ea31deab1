//! How the faces of other tools are called: as commands, or by a file name of theirs that leads to this program.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Args;

/// A tool whose face this program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// ApacheBench.
    Ab,
    /// WebBench.
    Webbench,
}

impl Face {
    /// The face that the program's own name asks for, as the shell passed it.
    pub fn called_as(program: &OsStr) -> Option<Self> {
        match Path::new(program).file_name()?.to_str()? {
            "ab" => Some(Self::Ab),
            "webbench" => Some(Self::Webbench),
            _ => None,
        }
    }
}

/// Words that the face reads itself, in its own way.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct FaceArgs {
    /// Options and the URL, as the tool has them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS AND URL")]
    pub words: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Cli, Command};
    use super::*;

    #[test]
    fn the_file_name_decides() {
        let called_as = |name: &str| Face::called_as(OsStr::new(name));
        assert_eq!(called_as("ab"), Some(Face::Ab));
        assert_eq!(called_as("/usr/local/bin/ab"), Some(Face::Ab));
        assert_eq!(called_as("./webbench"), Some(Face::Webbench));
        for name in ["quintain", "abc", "ab/quintain", "/", ""] {
            assert_eq!(called_as(name), None, "{name}");
        }
    }

    #[test]
    fn all_words_reach_the_face() {
        for line in
            ["-h", "-V", "--help", "-kc100 -n 1000 http://h/", "-n 5 -- http://h/", "http://h/ -V", "-X p:1 -H A:b h/"]
        {
            let typed: Vec<_> = line.split(' ').collect();
            let words = |face| match Cli::try_parse_from(["quintain", face].iter().chain(&typed)).unwrap().command {
                Command::Ab(args) | Command::Webbench(args) => args.words,
                other => panic!("{other:?}"),
            };
            assert_eq!(words("ab"), typed);
            assert_eq!(words("webbench"), typed);
        }
    }
}
