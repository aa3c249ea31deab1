//! Source addresses: from what was typed to addresses that can be connected from.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use socket2::{Domain, Socket, Type};

/// Most addresses of one run. One address has room for some 28,000 connections, so this is more than any machine needs;
/// a mistyped prefix (a `/8`) would otherwise be sixteen million.
pub const MOST: usize = 65_536;

/// Source addresses, in the order in which they were typed, all of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources(Vec<IpAddr>);

/// Why a text names no source addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourcesError {
    /// Not one of the forms.
    #[error("'{0}' is no address, no range (127.0.0.2-127.0.0.17) and no prefix (127.0.0.0/28)")]
    NotAddresses(String),
    /// A range that ends before it begins.
    #[error("the range '{0}' ends before it begins")]
    Backwards(String),
    /// IPv4 and IPv6 together.
    #[error("IPv4 and IPv6 addresses are mixed; the sources of a run must be of the family of its target")]
    Mixed,
    /// More than [`MOST`].
    #[error("more than {MOST} addresses; name a smaller range or prefix")]
    TooMany,
}

impl Sources {
    /// The addresses.
    #[must_use]
    pub fn addresses(&self) -> &[IpAddr] {
        &self.0
    }

    /// Whether they can reach an address of this family.
    #[must_use]
    pub fn reach(&self, target: &SocketAddr) -> bool {
        self.0.iter().all(|source| source.is_ipv4() == target.is_ipv4())
    }

    /// Binds each of them once.
    ///
    /// # Errors
    ///
    /// The first that cannot be bound, and why.
    pub fn check(&self) -> Result<(), CannotBind> {
        self.0.iter().try_for_each(|address| bind(*address).map_err(|error| CannotBind { address: *address, error }))
    }
}

/// An address that is none of this machine.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot connect from the source address {address}: {error}; it must be an address of this machine \
     (`ip address add` makes one; on Linux all of 127.0.0.0/8 is there without)"
)]
pub struct CannotBind {
    address: IpAddr,
    error: io::Error,
}

/// Whether an address is one of this machine: nothing else can be bound.
#[must_use]
pub fn is_of_this_machine(address: IpAddr) -> bool {
    bind(address).is_ok()
}

/// A socket at port 0 of the address, closed at once.
fn bind(address: IpAddr) -> io::Result<()> {
    let address = SocketAddr::new(address, 0);
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.bind(&address.into())
}

impl FromStr for Sources {
    type Err = SourcesError;

    /// Reads addresses, ranges and prefixes, separated by commas.
    fn from_str(text: &str) -> Result<Self, SourcesError> {
        let mut addresses = Vec::new();
        for item in text.split(',') {
            let span = Span::from_str(item.trim())?;
            if addresses.len() as u128 + span.count() > MOST as u128 {
                return Err(SourcesError::TooMany);
            }
            addresses.extend(span.addresses());
        }
        let first_is_ipv4 = addresses.first().is_some_and(IpAddr::is_ipv4);
        if addresses.iter().any(|address| address.is_ipv4() != first_is_ipv4) {
            return Err(SourcesError::Mixed);
        }
        // The same address twice would count twice as room for connections, which it is not.
        let mut seen = HashSet::new();
        addresses.retain(|address| seen.insert(*address));
        Ok(Self(addresses))
    }
}

impl fmt::Display for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => Ok(()),
            [only] => write!(f, "{only}"),
            [first, .., last] => write!(f, "{first} to {last} ({} addresses)", self.0.len()),
        }
    }
}

/// Neighbouring addresses of one family, as numbers; both ends belong to it.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: u128,
    last: u128,
    ipv4: bool,
}

impl Span {
    fn from_str(text: &str) -> Result<Self, SourcesError> {
        let wrong = || SourcesError::NotAddresses(text.to_owned());
        let address = |text: &str| text.trim().parse::<IpAddr>().map_err(|_| wrong());
        if let Some((address_text, length)) = text.split_once('/') {
            return Self::prefix(address(address_text)?, length).ok_or_else(wrong);
        }
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (address(first)?, address(last)?),
            None => (address(text)?, address(text)?),
        };
        if first.is_ipv4() != last.is_ipv4() {
            return Err(SourcesError::Mixed);
        }
        let span = Self { first: number(first), last: number(last), ipv4: first.is_ipv4() };
        if span.last < span.first { Err(SourcesError::Backwards(text.to_owned())) } else { Ok(span) }
    }

    /// The hosts of a prefix. Of IPv4 the first and the last are no hosts (RFC 1122 section 3.2.1.3), unless there are only
    /// these (RFC 3021).
    fn prefix(address: IpAddr, length: &str) -> Option<Self> {
        let bits: u32 = if address.is_ipv4() { 32 } else { 128 };
        let length = length.parse::<u32>().ok().filter(|length| *length <= bits)?;
        let hosts = 1_u128.checked_shl(bits - length).map_or(u128::MAX, |count| count - 1);
        let first = number(address) & !hosts;
        let edge = u128::from(address.is_ipv4() && hosts > 1);
        Some(Self { first: first + edge, last: (first | hosts) - edge, ipv4: address.is_ipv4() })
    }

    fn count(self) -> u128 {
        (self.last - self.first).saturating_add(1)
    }

    fn addresses(self) -> impl Iterator<Item = IpAddr> {
        (self.first..=self.last).map(move |number| match self.ipv4 {
            // The number came from an IPv4 address, so it fits.
            true => Ipv4Addr::from_bits(number as u32).into(),
            false => Ipv6Addr::from_bits(number).into(),
        })
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, SourcesError> {
        let sources = text.parse::<Sources>()?;
        Ok(sources.addresses().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_forms() {
        let rows: &[(&str, &[&str])] = &[
            ("127.0.0.1", &["127.0.0.1"]),
            ("127.0.0.2-127.0.0.4", &["127.0.0.2", "127.0.0.3", "127.0.0.4"]),
            ("10.0.0.255-10.0.1.0", &["10.0.0.255", "10.0.1.0"]),
            ("127.0.0.9/30", &["127.0.0.9", "127.0.0.10"]),
            ("127.0.0.9/31", &["127.0.0.8", "127.0.0.9"]),
            ("127.0.0.9/32", &["127.0.0.9"]),
            ("::1", &["::1"]),
            ("fd00::1-fd00::2", &["fd00::1", "fd00::2"]),
            ("fd00::/127", &["fd00::", "fd00::1"]),
            ("127.0.0.3, 127.0.0.2,127.0.0.3", &["127.0.0.3", "127.0.0.2"]),
        ];
        for (text, addresses) in rows {
            assert_eq!(read(text).unwrap(), *addresses, "{text}");
        }
    }

    #[test]
    fn what_names_no_addresses() {
        use SourcesError::{Backwards, Mixed, NotAddresses, TooMany};
        for text in ["", "localhost", "127.0.0.1/33", "::1/129", "127.0.0.1/", "127.0.0.1-", "127.0.0", "1-2", "::1/-1"]
        {
            assert_eq!(read(text), Err(NotAddresses(text.to_owned())), "{text}");
        }
        assert_eq!(read("127.0.0.1,"), Err(NotAddresses(String::new())));
        assert_eq!(read("127.0.0.3-127.0.0.2"), Err(Backwards("127.0.0.3-127.0.0.2".to_owned())));
        for text in ["127.0.0.1,::1", "127.0.0.1-::1"] {
            assert_eq!(read(text), Err(Mixed), "{text}");
        }
        for text in ["10.0.0.0/8", "::/0", "0.0.0.0/0", "fd00::/111", "10.0.0.0/16,10.1.0.0/24"] {
            assert_eq!(read(text), Err(TooMany), "{text}");
        }
        assert_eq!(read("10.0.0.0-10.0.255.255").unwrap().len(), MOST);
    }

    #[test]
    fn one_family_reaches_its_own() {
        let sources: Sources = "127.0.0.2-127.0.0.3".parse().unwrap();
        assert!(sources.reach(&"192.0.2.1:80".parse().unwrap()));
        assert!(!sources.reach(&"[::1]:80".parse().unwrap()));
        assert_eq!(sources.to_string(), "127.0.0.2 to 127.0.0.3 (2 addresses)");
    }

    #[test]
    fn only_addresses_of_this_machine_can_be_bound() {
        let check = |text: &str| text.parse::<Sources>().unwrap().check().map_err(|error| error.to_string());
        assert_eq!(check("127.0.0.1"), Ok(()));
        // TEST-NET-1 (RFC 5737) is nobody's.
        let error = check("127.0.0.1,192.0.2.7").unwrap_err();
        assert!(error.starts_with("cannot connect from the source address 192.0.2.7: "), "{error}");
        assert!(is_of_this_machine(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_of_this_machine("192.0.2.7".parse().unwrap()));
    }
}
