//! Where connections go: the one address of a host that a whole run uses.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use super::plan::Address;
use super::sources::is_of_this_machine;
use super::url::Url;

/// Longest time that one of several addresses may take to accept before the next one is tried.
const PROBE: Duration = Duration::from_secs(1);
/// Most addresses of one host that are tried.
const MOST_PROBES: usize = 16;

/// A host and a port, as they were typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// A name or an address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Why a text is no host with a port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no host with a port; write HOST:PORT, 192.0.2.1:8080 or [::1]:8080")]
pub struct HostPortError(String);

impl FromStr for HostPort {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<Self, HostPortError> {
        // Everything that an authority of a URL may not have is refused there.
        let url = Url::parse(&format!("http://{text}")).ok().filter(|url| url.credentials.is_none() && url.path == "/");
        let has_port = text.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
        let bare_ipv6 = text.parse::<IpAddr>().is_ok();
        let url = url.filter(|_| has_port && !bare_ipv6 && !text.contains(['/', '?', '#']));
        url.map(|url| Self { host: url.host, port: url.port }).ok_or_else(|| HostPortError(text.to_owned()))
    }
}

/// Why there is no address to connect to.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The resolver said no.
    #[error("cannot find the address of {host}: {error}")]
    Unknown {
        /// The host.
        host: String,
        /// What the resolver said.
        error: io::Error,
    },
    /// It has addresses, but none of the family that is needed.
    #[error("{host} has no {family} address, and the addresses of --source are all {family}")]
    Family {
        /// The host.
        host: String,
        /// `IPv4` or `IPv6`.
        family: &'static str,
    },
    /// It has several, and none accepts.
    #[error("none of the addresses of {host} accepts a connection: {}", list(.tried))]
    NoneAccepts {
        /// The host.
        host: String,
        /// Each address with its error.
        tried: Vec<(SocketAddr, io::Error)>,
    },
}

fn list(tried: &[(SocketAddr, io::Error)]) -> String {
    let each: Vec<_> = tried.iter().map(|(address, error)| format!("{address} ({error})")).collect();
    each.join(", ")
}

/// The address of a host that the run will use. `sources` are the addresses that connections come from, if any were named: the
/// target must be of their family.
///
/// A host with one address is not tried: whether it accepts is what the run measures. Of several, the first that accepts a
/// connection counts, in the order of the resolver. `localhost` is usually two, `::1` and `127.0.0.1`, and most servers
/// listen on one of them; a run that spread over both would measure refusals.
pub fn resolve(to: &HostPort, sources: &[IpAddr]) -> Result<SocketAddr, TargetError> {
    let unknown = |error| TargetError::Unknown { host: to.host.clone(), error };
    let mut addresses: Vec<_> = (to.host.as_str(), to.port).to_socket_addrs().map_err(unknown)?.collect();
    if let Some(source) = sources.first() {
        addresses.retain(|address| address.is_ipv4() == source.is_ipv4());
        if addresses.is_empty() {
            let family = if source.is_ipv4() { "IPv4" } else { "IPv6" };
            return Err(TargetError::Family { host: to.host.clone(), family });
        }
    }
    choose(&to.host, &addresses, |address| TcpStream::connect_timeout(&address, PROBE).map(drop))
}

/// The first address that accepts, or the only one.
fn choose(
    host: &str,
    addresses: &[SocketAddr],
    connect: impl Fn(SocketAddr) -> io::Result<()>,
) -> Result<SocketAddr, TargetError> {
    if let [only] = addresses {
        return Ok(*only);
    }
    let mut tried = Vec::new();
    for address in addresses.iter().take(MOST_PROBES) {
        match connect(*address) {
            Ok(()) => return Ok(*address),
            Err(error) => tried.push((*address, error)),
        }
    }
    Err(TargetError::NoneAccepts { host: host.to_owned(), tried })
}

/// Whether the target runs on this machine, and so shares its CPUs with the client.
#[must_use]
pub fn is_here(address: &Address) -> bool {
    match address {
        Address::Unix(_) => true,
        Address::Tcp(address) => address.ip().is_loopback() || is_of_this_machine(address.ip()),
    }
}

/// CPUs that this process may run on, as its affinity mask and the quota of its control group have it.
#[must_use]
pub fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Threads of a run for which nobody named a number: one a CPU where the target is another machine, and half of them where it
/// shares this one, so that the server has the other half. Never more than connections.
#[must_use]
pub fn auto_threads(cpus: usize, here: bool, connections: usize) -> usize {
    let threads = if here { cpus / 2 } else { cpus };
    threads.clamp(1, connections.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn hosts_with_ports() {
        let rows = [("localhost:80", "localhost", 80), ("192.0.2.1:8080", "192.0.2.1", 8080), ("[::1]:81", "::1", 81)];
        for (text, host, port) in rows {
            assert_eq!(text.parse(), Ok(HostPort { host: host.to_owned(), port }), "{text}");
        }
        for text in
            ["", "h", "h:", "h:0", "h:70000", ":80", "[::1]", "::1", "h:80/", "h:80?", "u@h:80", "h :80", "h:+80"]
        {
            assert_eq!(text.parse::<HostPort>(), Err(HostPortError(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn the_first_that_accepts() {
        let both = addresses(&["[::1]:80", "127.0.0.1:80"]);
        let refuses = |which: usize| {
            let both = both.clone();
            move |address| {
                if both[..which].contains(&address) { Err(io::ErrorKind::ConnectionRefused.into()) } else { Ok(()) }
            }
        };
        assert_eq!(choose("h", &both, refuses(0)).unwrap(), both[0]);
        assert_eq!(choose("h", &both, refuses(1)).unwrap(), both[1]);
        let error = choose("h", &both, refuses(2)).unwrap_err().to_string();
        let expected = "none of the addresses of h accepts a connection: \
                        [::1]:80 (connection refused), 127.0.0.1:80 (connection refused)";
        assert_eq!(error, expected);
    }

    #[test]
    fn an_only_address_is_not_tried() {
        let one = addresses(&["127.0.0.1:80"]);
        let never = |_| -> io::Result<()> { panic!("tried") };
        assert_eq!(choose("h", &one, never).unwrap(), one[0]);
    }

    #[test]
    fn a_real_listener_is_found_and_the_family_counts() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let to = |host: &str| HostPort { host: host.to_owned(), port };
        assert_eq!(resolve(&to("127.0.0.1"), &[]).unwrap(), listener.local_addr().unwrap());
        assert_eq!(resolve(&to("localhost"), &[]).unwrap(), listener.local_addr().unwrap());
        let error = resolve(&to("127.0.0.1"), &["::1".parse().unwrap()]).unwrap_err().to_string();
        assert_eq!(error, "127.0.0.1 has no IPv6 address, and the addresses of --source are all IPv6");
        // RFC 6761 section 6.4: never a host. What the resolver says is the machine's.
        let error = resolve(&to("quintain.invalid"), &[]).unwrap_err().to_string();
        assert!(error.starts_with("cannot find the address of quintain.invalid: "), "{error}");
    }

    #[test]
    fn here_or_elsewhere() {
        let here = |text: &str| is_here(&Address::Tcp(text.parse().unwrap()));
        assert!(here("127.0.0.1:80") && here("127.9.9.9:80") && here("[::1]:80"));
        assert!(!here("192.0.2.1:80"));
        assert!(is_here(&Address::Unix("/run/x.sock".into())));
    }

    #[test]
    fn threads() {
        let rows = [
            ((8, false, 50), 8),
            ((8, true, 50), 4),
            ((1, true, 50), 1),
            ((3, true, 50), 1),
            ((8, false, 3), 3),
            ((8, true, 1), 1),
        ];
        for ((cpus, here, connections), threads) in rows {
            assert_eq!(auto_threads(cpus, here, connections), threads, "{cpus} {here} {connections}");
        }
        assert!(cpus() >= 1);
    }
}
