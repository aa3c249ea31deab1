//! Sockets that whoever started this process has bound and listens on: the protocol of sd_listen_fds(3), which inetd-like
//! starters of all kinds speak.

use std::ffi::OsString;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use rustix::net::sockopt::{socket_acceptconn, socket_type};
use rustix::net::{SocketAddrAny, SocketType, getsockname};

/// The first of the descriptors (SD_LISTEN_FDS_START).
const FIRST: RawFd = 3;

/// Sockets that are taken at the most: as many as addresses can be configured.
const MOST: usize = 64;

/// A listening stream socket that this process was started with.
#[derive(Debug)]
pub struct Inherited {
    /// What the starter calls it (`FileDescriptorName=` in systemd.socket(5)); may be empty.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddrAny,
    /// The socket, which is not passed on to programs that this one starts.
    pub socket: OwnedFd,
}

/// Why sockets that were announced cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ActivationError {
    /// The variable is no number, or too large a one.
    #[error("LISTEN_FDS is {0:?}, expected a number up to {MOST}; whoever started the server has set it wrongly")]
    Count(String),
    /// The descriptor is not what was announced.
    #[error(
        "descriptor {0}, which LISTEN_FDS announces, is not a listening stream socket ({1}); in a socket unit use ListenStream= and Accept=no"
    )]
    NotListening(RawFd, io::Error),
}

/// Takes the sockets that the environment announces for this process. To be called once, before anything else opens
/// a descriptor and before a fork: they are meant for the process id that LISTEN_PID names.
pub fn inherited() -> Result<Vec<Inherited>, ActivationError> {
    let variable = |name: &str| std::env::var_os(name);
    let for_this_process =
        variable("LISTEN_PID").is_some_and(|pid| pid == OsString::from(std::process::id().to_string()));
    let Some(count) = variable("LISTEN_FDS").filter(|_| for_this_process) else { return Ok(Vec::new()) };
    let count = count.to_string_lossy().into_owned();
    let Some(count) = count.parse().ok().filter(|count: &usize| *count <= MOST) else {
        return Err(ActivationError::Count(count));
    };
    let names = variable("LISTEN_FDNAMES").unwrap_or_default().to_string_lossy().into_owned();
    let names = names.split(':').map(str::to_owned).chain(std::iter::repeat(String::new()));
    let numbers = (FIRST..).take(count);
    numbers.zip(names).map(|(number, name)| take(number, name)).collect()
}

/// Closes whatever else this process was started with, but for the standard streams: a lock file of the script that started a
/// daemon, or a pipe whose reader waits for its end, would be held for as long as the server lives. To be called right after
/// [`inherited`], before anything else opens a descriptor.
pub fn close_the_rest(inherited: &[Inherited]) -> io::Result<()> {
    let first = libc::c_uint::try_from(inherited.len()).map_err(io::Error::other)? + FIRST.cast_unsigned();
    // SAFETY: `close_range` touches no memory. The sockets that were announced have the numbers below `first`, and nobody in
    // this process owns one from there on: nothing has been opened yet but by whoever started the process.
    match unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn take(number: RawFd, name: String) -> Result<Inherited, ActivationError> {
    let refuse = |error: io::Error| ActivationError::NotListening(number, error);
    let socket = own(number).map_err(refuse)?;
    let listens = socket_acceptconn(&socket).map_err(|error| refuse(error.into()))?;
    let is_stream = socket_type(&socket).map_err(|error| refuse(error.into()))? == SocketType::STREAM;
    if !listens || !is_stream {
        return Err(refuse(io::Error::other("it is a socket of another kind")));
    }
    let address = getsockname(&socket).map_err(|error| refuse(error.into()))?;
    Ok(Inherited { name, address, socket })
}

/// Takes possession of a descriptor, and keeps programs that this one starts from getting it.
fn own(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: `fcntl` with F_SETFD touches no memory, and refuses a number that is not open.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the number is open, as the call above has shown, and nobody else in this process owns it: the starter
    // announced it for this process, and each number is taken once, before anything else was opened.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
