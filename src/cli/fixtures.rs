//! What may be typed after `quintain fixtures`.

use std::path::PathBuf;

use clap::Args;

use crate::fixtures::Document;

/// What may be typed after `quintain fixtures`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  quintain fixtures                                   1k, 10k, 30k, 100k, 300k and 7.5m into fixtures/
  quintain fixtures --out docs --size 64k,1m          two documents of 65,536 and 1,048,576 bytes")]
pub struct FixturesArgs {
    /// Folder to write to; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "fixtures")]
    pub out: PathBuf,

    /// Lengths of the documents in bytes, or with k, m or g as in config.toml [default: the usual six]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub size: Vec<Document>,

    /// Seed of the text; the same seed writes the same bytes
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Cli, Command};
    use super::*;

    #[test]
    fn documents_of_these_sizes() {
        let parse = |arguments: &[&str]| Cli::try_parse_from(["quintain", "fixtures"].iter().chain(arguments));
        let Command::Fixtures(args) = parse(&["--size", "64k,1m", "--size", "700", "--seed", "3"]).unwrap().command
        else {
            panic!("not fixtures")
        };
        let sizes: Vec<_> = args.size.iter().map(Document::bytes).collect();
        assert_eq!((args.out, sizes, args.seed), ("fixtures".into(), vec![65_536, 1_048_576, 700], Some(3)));
        for wrong in [["--size", "1x"], ["--size", "5"], ["--size", "1,,2"], ["--seed", "-1"], ["--set", "a"]] {
            assert_eq!(parse(&wrong).unwrap_err().exit_code(), 2, "{wrong:?}");
        }
    }
}
