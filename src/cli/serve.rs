//! What may be typed after `quintain serve`.

use std::path::PathBuf;

use clap::Args;

use crate::config::Flag;

const SERVE_HELP: &str = "\
Every setting, with its default and what it does, stands in config.toml. Where one is set in several places, the later
of these counts: default, profile, configuration file, environment (QUINTAIN_SERVER__WORKERS=2), --set, other flags.

An ADDR is ADDRESS:PORT, [IPV6]:PORT, unix:/PATH, or PORT alone (as *:PORT and :PORT) for every IPv4 address.

Examples:
  quintain serve                                      the documents of fixtures/ on 127.0.0.1:8080
  quintain serve --root /var/www --listen 8080        a folder, on every IPv4 address
  quintain serve --listen 127.0.0.1:8080 --listen '[::1]:8080' --listen unix:/run/quintain.sock
  quintain serve --workers 1 --set keep_alive.max_requests=100 --set socket.congestion=cubic
  quintain serve --profile tomcat --workers 2         as Tomcat is shipped: model, limits, quota and heads
  quintain serve --set admin.listen=127.0.0.1:8081    /healthz, /metrics and /status on a port of their own
  quintain serve --daemon --pid-file /run/quintain.pid --set log.file=/var/log/quintain.log
  quintain serve --config bench.toml --check          what would count, and where it comes from";

/// What may be typed after `quintain serve`.
#[derive(Debug, Default, Args)]
#[command(after_help = SERVE_HELP)]
pub struct ServeArgs {
    /// Configuration file [default: $QUINTAIN_CONFIG, else ./config.toml if it is there]
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,

    /// Set any setting of config.toml, for example log.format=json; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = assignment, help_heading = "Configuration")]
    pub set: Vec<(String, String)>,

    /// Print what counts with where each value came from, say what a start would refuse, and stop
    #[arg(long, help_heading = "Configuration")]
    pub check: bool,

    /// Folder to serve (server.root) [default: fixtures if it is there, else the same documents made anew]
    #[arg(long, value_name = "DIR", help_heading = "What is served")]
    pub root: Option<String>,

    /// Server to stand in for (server.profile): nginx, netty, tomcat, tomcat-bio or jetty [default: none]
    #[arg(long, value_name = "NAME", help_heading = "How it is served")]
    pub profile: Option<String>,

    /// Address to listen on (server.listen); may be repeated [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR", help_heading = "How it is served")]
    pub listen: Vec<String>,

    /// Threads that serve (server.workers) [default: auto, one a CPU]
    #[arg(long, value_name = "N", help_heading = "How it is served")]
    pub workers: Option<String>,

    /// Connections open at once; the others wait (server.max_connections) [default: auto, as descriptors allow]
    #[arg(long, value_name = "N", help_heading = "How it is served")]
    pub max_connections: Option<String>,

    /// Go into the background; return when the server serves, or with its reason why not (needs log.file)
    #[arg(long, help_heading = "How it runs")]
    pub daemon: bool,

    /// File for the process id, locked while the server lives (process.pid_file) [default: off]
    #[arg(long, value_name = "FILE", help_heading = "How it runs")]
    pub pid_file: Option<String>,

    /// User to become once everything is bound and open (process.user) [default: off]
    #[arg(long, value_name = "NAME[:GROUP]", help_heading = "How it runs")]
    pub user: Option<String>,

    /// Where access log lines go (log.access): off, stdout, stderr or a path [default: off]
    #[arg(long, value_name = "WHERE", help_heading = "What is written")]
    pub access_log: Option<String>,
}

impl ServeArgs {
    /// The settings that were typed. `--set` comes first, so a flag that names one setting counts more.
    pub fn flags(&self) -> Vec<Flag> {
        let set = self.set.iter().map(|(key, text)| Flag::new("--set", key, text));
        let listen = (!self.listen.is_empty()).then(|| self.listen.join(","));
        let named = [
            ("--root", "server.root", &self.root),
            ("--profile", "server.profile", &self.profile),
            ("--listen", "server.listen", &listen),
            ("--workers", "server.workers", &self.workers),
            ("--max-connections", "server.max_connections", &self.max_connections),
            ("--access-log", "log.access", &self.access_log),
            ("--pid-file", "process.pid_file", &self.pid_file),
            ("--user", "process.user", &self.user),
        ];
        let typed = |(name, key, text): (_, _, &Option<String>)| text.as_ref().map(|text| Flag::new(name, key, text));
        set.chain(named.into_iter().filter_map(typed)).collect()
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as server.workers=2")?;
    Ok((key.trim().into(), value.into()))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::super::{Cli, Command};
    use super::*;

    fn serve(arguments: &[&str]) -> ServeArgs {
        let command = Cli::try_parse_from(["quintain", "serve"].iter().chain(arguments)).unwrap().command;
        let Command::Serve(args) = command else { panic!("not serve") };
        args
    }

    #[test]
    fn each_flag_is_its_setting() {
        let rows: &[(&[&str], &str, &str)] = &[
            (&["--root", "/srv"], "server.root", "/srv"),
            (&["--listen", "80", "--listen", "[::1]:80"], "server.listen", "80,[::1]:80"),
            (&["--profile", "jetty"], "server.profile", "jetty"),
            (&["--workers", "2"], "server.workers", "2"),
            (&["--max-connections", "auto"], "server.max_connections", "auto"),
            (&["--access-log", "access.log"], "log.access", "access.log"),
            (&["--pid-file", "/run/q.pid"], "process.pid_file", "/run/q.pid"),
            (&["--user", "www-data:adm"], "process.user", "www-data:adm"),
            (&["--set", "headers.extra=X-Run=7"], "headers.extra", "X-Run=7"),
            (&["--set", "headers.server="], "headers.server", ""),
        ];
        assert_eq!(serve(&[]).flags(), []);
        for (arguments, key, text) in rows {
            let expected = Flag::new(arguments[0], key, text);
            assert_eq!(serve(arguments).flags(), [expected]);
        }
    }

    #[test]
    fn the_help_names_config_toml_and_each_flag() {
        let mut command = Cli::command();
        let serve = command.find_subcommand_mut("serve").unwrap();
        let help = serve.render_long_help().to_string();
        assert!(help.contains("config.toml"));
        assert!(help.contains("--set admin.listen="));
        for flag in [
            "--config",
            "--root",
            "--profile",
            "--listen",
            "--workers",
            "--max-connections",
            "--access-log",
            "--daemon",
            "--pid-file",
            "--user",
            "--set",
            "--check",
        ] {
            assert!(help.contains(flag), "{flag}");
        }
    }
}
