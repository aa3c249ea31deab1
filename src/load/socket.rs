//! Sockets that connect without waiting: the one place of the load tool with socket options.

use std::mem::size_of;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, socket_with, sockopt};

use super::plan::{Address, SocketPlan};

/// Where connections go to and come from.
#[derive(Debug)]
pub struct Dialer {
    address: Target,
    sources: Vec<IpAddr>,
    next_source: usize,
    step: usize,
    socket: SocketPlan,
    no_delay: bool,
}

#[derive(Debug)]
enum Target {
    Tcp(SocketAddr),
    Unix(SocketAddrUnix),
}

impl Dialer {
    /// `no_delay`: several small sends may be on their way on a connection, which Nagle's algorithm would hold back.
    ///
    /// `(first, step)`: which of the sources the first connection has, and how far the next one is.
    pub fn new(
        address: &Address,
        sources: &[IpAddr],
        (first, step): (usize, usize),
        socket: SocketPlan,
        no_delay: bool,
    ) -> Result<Self, Errno> {
        let address = match address {
            Address::Tcp(address) => Target::Tcp(*address),
            Address::Unix(path) => Target::Unix(SocketAddrUnix::new(path)?),
        };
        Ok(Self { address, sources: sources.to_vec(), next_source: first, step, socket, no_delay })
    }

    /// A socket whose connect has begun, from the next source address in turn.
    ///
    /// On the loopback, and with unix sockets, it is as a rule connected when this returns: a send can be tried at once.
    pub fn dial(&mut self) -> Result<OwnedFd, Errno> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let begun = match &self.address {
            Target::Tcp(address) => {
                let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
                let fd = socket_with(family, SocketType::STREAM, flags, None)?;
                self.set_options(fd.as_fd())?;
                if !self.sources.is_empty() {
                    let source = self.sources[self.next_source % self.sources.len()];
                    self.next_source = self.next_source.wrapping_add(self.step);
                    choose_port_at_connect(fd.as_fd())?;
                    bind(&fd, &SocketAddr::new(source, 0))?;
                }
                (connect(&fd, address), fd)
            }
            Target::Unix(address) => {
                let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
                self.set_options(fd.as_fd())?;
                (connect(&fd, address), fd)
            }
        };
        match begun {
            (Ok(()) | Err(Errno::INPROGRESS), fd) => Ok(fd),
            (Err(error), _) => Err(error),
        }
    }

    fn set_options(&self, fd: BorrowedFd<'_>) -> Result<(), Errno> {
        let SocketPlan { buffer_bytes } = self.socket;
        if self.no_delay && matches!(self.address, Target::Tcp(_)) {
            sockopt::set_tcp_nodelay(fd, true)?;
        }
        if let Some(bytes) = buffer_bytes {
            sockopt::set_socket_send_buffer_size(fd, bytes)?;
            sockopt::set_socket_recv_buffer_size(fd, bytes)?;
        }
        Ok(())
    }
}

/// Leaves the port to `connect(2)`, which may take one that is in use towards another destination. A port that `bind(2)`
/// chooses is taken for all destinations, and 28,000 connections from one address are the end.
fn choose_port_at_connect(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    // SAFETY: the pointer and the length are those of `on`, an int as ip(7) wants for IP_BIND_ADDRESS_NO_PORT, which lives
    // until the call returns; the kernel only reads it. The descriptor is borrowed, so it is open.
    let result = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL))
    }
}
