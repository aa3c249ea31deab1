//! `quintain healthcheck`: a container without a shell has nobody else to ask whether its server is well.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use super::question::{self, Question};
use super::{FAILED, USAGE, fail, print};
use crate::cli::HealthcheckArgs;
use crate::config::plan::{Address, AdminPlan};
use crate::config::{self, Surroundings};
use crate::load::url::Url;

/// Asks once.
#[must_use]
pub fn run(HealthcheckArgs { url, config, wait }: &HealthcheckArgs) -> ExitCode {
    let server = match url {
        Some(url) => match Url::parse(url) {
            Ok(url) => Ok(Server { way: Way::Tcp(url), well: Well::Found }),
            Err(error) => return fail(USAGE, &error),
        },
        None => configured(config.as_deref()),
    };
    let Server { way, well } = match server {
        Ok(server) => server,
        Err(sentence) => return fail(FAILED, &sentence),
    };
    let name = way.name();
    match way.ask(*wait) {
        Ok(status) if well.accepts(status) => print(&format!("{name} answers {status}\n")),
        Ok(status) => fail(FAILED, &format_args!("{name} answers {status}, which is no sign of health")),
        Err(error) => fail(
            FAILED,
            &format_args!("{name} does not answer: {error}; if the server is elsewhere, name it with --url"),
        ),
    }
}

/// Whom to ask, and what to make of the answer.
#[derive(Debug, PartialEq, Eq)]
struct Server {
    way: Way,
    well: Well,
}

/// Which answers are those of a server that is well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Well {
    /// 2xx and 3xx: what was asked for is there.
    Found,
    /// All but 5xx: it answers, and a folder without an index has nothing to send for `/`.
    Answers,
}

impl Well {
    fn accepts(self, status: u16) -> bool {
        match self {
            Self::Found => (200..400).contains(&status),
            Self::Answers => (200..500).contains(&status),
        }
    }
}

/// Where `serve` would listen. Its flags are not known here.
fn configured(file: Option<&Path>) -> Result<Server, String> {
    // What the machine allows decides about workers and caches only.
    let around = Surroundings::of_this_process(NonZeroUsize::MIN, None);
    let plan = config::load(file, &[], &around).map_err(|mistakes| mistakes.to_string())?.plan;
    let AdminPlan { listen: admin } = plan.admin;
    match (admin, plan.listen.addresses.into_iter().next()) {
        (Some(address), _) => Ok(Server { way: way(address, "admin.listen", "/healthz")?, well: Well::Found }),
        (None, Some(address)) => Ok(Server { way: way(address, "server.listen", "/")?, well: Well::Answers }),
        (None, None) => Err("server.listen has no address; name the server with --url".to_owned()),
    }
}

fn way(address: Address, setting: &str, path: &'static str) -> Result<Way, String> {
    match address {
        Address::Unix(socket) => Ok(Way::Unix { socket, path }),
        Address::Tcp(address) if address.port() == 0 => {
            Err(format!("{setting} is port 0, so that nobody knows the port beforehand; name the server with --url"))
        }
        Address::Tcp(address) => Url::parse(&format!("http://{}{path}", reachable(address)))
            .map(Way::Tcp)
            .map_err(|error| format!("{setting}: {error}")),
    }
}

/// Who listens on every address listens on the loopback's too.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    address
}

/// How the server is reached.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    Tcp(Url),
    Unix { socket: PathBuf, path: &'static str },
}

impl Way {
    /// For people.
    fn name(&self) -> String {
        match self {
            Self::Tcp(url) => url.shown(),
            Self::Unix { socket, path } => format!("{path} at unix:{}", socket.display()),
        }
    }

    /// The status of the answer.
    fn ask(&self, patience: Duration) -> io::Result<u16> {
        let agent = "quintain-healthcheck";
        match self {
            Self::Tcp(url) => {
                let (stream, _) = question::connect(url, patience)?;
                question::status(&stream, &Question { path: &url.path, host: &url.authority(), agent, patience })
            }
            Self::Unix { socket, path } => {
                let stream = connect_unix(socket, patience)?;
                question::status(&stream, &Question { path, host: "localhost", agent, patience })
            }
        }
    }
}

/// Where the server's queue is full, the wait for room in it is one for sending.
fn connect_unix(path: &Path, patience: Duration) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_write_timeout(Some(patience.max(Duration::from_millis(1))))?;
    socket.connect(&SockAddr::unix(path)?)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_reached_on_the_loopback() {
        let rows = [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:80", "[::1]:80"),
            ("10.1.2.3:8080", "10.1.2.3:8080"),
            ("[fd00::1]:8080", "[fd00::1]:8080"),
        ];
        for (listens, asked) in rows {
            assert_eq!(reachable(listens.parse().unwrap()), asked.parse().unwrap(), "{listens}");
        }
    }

    #[test]
    fn what_is_well() {
        let rows = [(199, false, false), (200, true, true), (304, true, true), (404, false, true), (500, false, false)];
        for (status, found, answers) in rows {
            assert_eq!((Well::Found.accepts(status), Well::Answers.accepts(status)), (found, answers), "{status}");
        }
    }
}
