//! Listening sockets, every option set explicitly beside its reason.

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::net::SocketAddrUnix as UnixAddress;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use tokio::io::unix::AsyncFd;

use super::socket_name::{SocketName, Turn, look_at_name, remove_stale};
use crate::config::plan::{Address, ListenPlan};
use crate::process::activation::Inherited;
use crate::process::user::User;

/// Why the server cannot listen: where, what the kernel said, and the way out.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {reason}")]
pub struct ListenError {
    address: String,
    reason: String,
}

/// One bound address, with one listening socket for each worker.
#[derive(Debug)]
pub struct Bound {
    /// Where clients reach it: a URL, or `unix:` and a path.
    pub url: String,
    /// One for each worker, in the order of the workers.
    pub sockets: Vec<OwnedFd>,
    /// Removes a unix socket's name when the server ends.
    _name: Option<SocketName>,
}

/// Binds each address of the plan once for each of `workers`. The name of a unix socket becomes that of `heir`, whom the process
/// is about to become.
pub fn bind(plan: &ListenPlan, workers: usize, heir: Option<&User>) -> Result<Vec<Bound>, ListenError> {
    plan.addresses.iter().map(|address| bind_one(address, Door::Site, plan, workers, heir)).collect()
}

/// Listens on a socket that the server was started with, instead of one of its own. All workers accept from its one
/// queue, which outlives this process: whoever waits there meanwhile is served by the next one.
pub fn adopt(inherited: Inherited, plan: &ListenPlan, workers: usize) -> Result<Bound, ListenError> {
    let Inherited { name: _, address, socket } = inherited;
    let socket = Socket::from(socket);
    let tcp = SocketAddr::try_from(address.clone()).ok();
    let url = match (tcp, UnixAddress::try_from(address)) {
        (Some(address), _) => format!("http://{address}"),
        (None, Ok(unix)) => format!("unix:{}", String::from_utf8_lossy(unix.path_bytes().unwrap_or_default())),
        (None, Err(_)) => "a socket of an unknown family".to_owned(),
    };
    let explain = |error: io::Error| ListenError { address: url.clone(), reason: error.to_string() };
    socket.set_nonblocking(true).map_err(explain)?;
    match tcp {
        Some(_) => set_tcp_options(&socket, plan).map_err(explain)?,
        None => set_send_buffer(&socket, plan.send_buffer_bytes).map_err(explain)?,
    }
    start_to_listen(&socket, plan, tcp.is_some()).map_err(explain)?;
    let sockets = shared(socket, workers).map_err(explain)?;
    // A unix socket's name belongs to whoever has made it.
    Ok(Bound { url, sockets, _name: None })
}

/// Binds the admin listener's address, which only one thread serves.
pub fn bind_admin(address: &Address, heir: Option<&User>) -> Result<Bound, ListenError> {
    bind_one(address, Door::Admin, &admin_plan(), 1, heir)
}

/// Whose address it is: another setting is the way out.
#[derive(Debug, Clone, Copy)]
enum Door {
    Site,
    Admin,
}

impl Door {
    /// What somebody can do about a port that another server has.
    fn if_taken(self, share_port: bool) -> &'static str {
        match (self, share_port) {
            (Self::Site, false) => {
                "the port is taken; stop the server that has it, choose another with --listen, or see server.share_port"
            }
            (Self::Site, true) => {
                "the port is taken by a server that does not share it: server.share_port has to be true in both, and both of one \
                 user; stop that one, or choose another port with --listen"
            }
            (Self::Admin, _) => {
                "the port is taken, and an admin listener is never shared; stop the server that has it, or set admin.listen \
                 to another port or to \"off\""
            }
        }
    }
}

/// How the admin listener listens. Another server may not share it, whatever else is shared: nobody could tell which of
/// the two answers.
pub fn admin_plan() -> ListenPlan {
    const BACKLOG: u32 = 64;
    ListenPlan {
        addresses: Vec::new(),
        backlog: BACKLOG,
        share_port: false,
        nodelay: true,
        defer_accept: None,
        send_buffer_bytes: None,
        congestion: None,
    }
}

fn bind_one(
    address: &Address,
    door: Door,
    plan: &ListenPlan,
    workers: usize,
    heir: Option<&User>,
) -> Result<Bound, ListenError> {
    match address {
        Address::Tcp(address) => bind_tcp(*address, door, plan, workers),
        Address::Unix(path) => bind_unix(path, plan, workers, heir),
    }
}

// === TCP ===

/// Whether each address could be listened on, as far as a look can tell: that this machine has it, what the kernel says to the
/// options, and that there is a folder for a unix socket. Whether a port is taken shows only when it is bound, and may by a server
/// that this one is to follow.
pub fn look(plan: &ListenPlan) -> Vec<ListenError> {
    plan.addresses.iter().filter_map(|address| look_at(address, Door::Site, plan).err()).collect()
}

/// The same of the admin listener.
pub fn look_at_admin(address: &Address) -> Result<(), ListenError> {
    look_at(address, Door::Admin, &admin_plan())
}

fn look_at(address: &Address, door: Door, plan: &ListenPlan) -> Result<(), ListenError> {
    let looked = match address {
        Address::Tcp(tcp) => look_at_tcp(*tcp, plan).map_err(|error| tcp_reason(*tcp, door, plan.share_port, &error)),
        Address::Unix(path) => look_at_name(path).map_err(|error| unix_reason(&error)),
    };
    looked.map_err(|reason| ListenError { address: address.to_string(), reason })
}

fn bind_tcp(address: SocketAddr, door: Door, plan: &ListenPlan, workers: usize) -> Result<Bound, ListenError> {
    let explain = |error: io::Error| ListenError {
        address: address.to_string(),
        reason: tcp_reason(address, door, plan.share_port, &error),
    };
    let first = first_tcp_listener(address, plan, workers).map_err(explain)?;
    // Port 0 lets the kernel choose; the other workers then join the port that the first one got.
    let bound = first.local_addr().map_err(explain)?.as_socket().unwrap_or(address);
    let mut sockets = vec![OwnedFd::from(first)];
    for _ in 1..workers {
        sockets.push(tcp_listener(bound, plan, true).map_err(explain)?.into());
    }
    Ok(Bound { url: format!("http://{bound}"), sockets, _name: None })
}

/// SO_REUSEPORT would let a second server of the same user share the port in silence, and each would see half of
/// the load. A socket without it cannot listen where anybody does. So the first one opens the port only when it listens there:
/// a probe that is closed before would say nothing of who comes next.
fn first_tcp_listener(address: SocketAddr, plan: &ListenPlan, workers: usize) -> io::Result<Socket> {
    let first = tcp_listener(address, plan, plan.share_port)?;
    first.set_reuse_port(plan.share_port || workers > 1)?;
    Ok(first)
}

fn look_at_tcp(mut address: SocketAddr, plan: &ListenPlan) -> io::Result<()> {
    let socket = tcp_socket(address, plan, plan.share_port)?;
    // Any free port: nobody is kept from the one that is meant, not even for a moment.
    address.set_port(0);
    socket.bind(&address.into())
}

fn tcp_listener(address: SocketAddr, plan: &ListenPlan, shared: bool) -> io::Result<Socket> {
    let socket = tcp_socket(address, plan, shared)?;
    socket.bind(&address.into())?;
    start_to_listen(&socket, plan, true)?;
    Ok(socket)
}

fn tcp_socket(address: SocketAddr, plan: &ListenPlan, shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    // A restart must not wait for the last run's connections in TIME_WAIT.
    socket.set_reuse_address(true)?;
    // Each worker accepts from its own queue: no lock, no thundering herd. The kernel then lets in whoever of the same user asks for
    // it too, so one queue alone goes without.
    socket.set_reuse_port(shared)?;
    if address.is_ipv6() {
        // "[::]:80" and "0.0.0.0:80" can stand side by side, as in nginx (ipv6only=on).
        socket.set_only_v6(true)?;
    }
    set_tcp_options(&socket, plan)?;
    Ok(socket)
}

/// All of these are inherited by accepted sockets: no system call per connection.
fn set_tcp_options(socket: &Socket, plan: &ListenPlan) -> io::Result<()> {
    let ListenPlan { addresses: _, backlog: _, share_port: _, nodelay, defer_accept: _, send_buffer_bytes, congestion } =
        plan;
    socket.set_tcp_nodelay(*nodelay)?;
    set_send_buffer(socket, *send_buffer_bytes)?;
    match congestion {
        Some(name) => socket.set_tcp_congestion(name.as_bytes()).map_err(|error| unknown_congestion(name, &error)),
        None => Ok(()),
    }
}

fn set_send_buffer(socket: &Socket, bytes: Option<u32>) -> io::Result<()> {
    bytes.map_or(Ok(()), |bytes| socket.set_send_buffer_size(bytes as usize))
}

/// On a socket that listens already, listen(2) sets the length of its queue anew.
fn start_to_listen(socket: &Socket, plan: &ListenPlan, is_tcp: bool) -> io::Result<()> {
    socket.listen(i32::try_from(plan.backlog).unwrap_or(i32::MAX))?;
    match plan.defer_accept {
        Some(wait) if is_tcp => set_defer_accept(socket, wait),
        _ => Ok(()),
    }
}

/// The kernel completes the handshake, but hands the connection over only with its first byte: the first `recv` then
/// finds a request, and a short connection needs no epoll at all. A silent client is handed over when `wait` is over.
fn set_defer_accept(socket: &Socket, wait: Duration) -> io::Result<()> {
    let seconds = libc::c_int::try_from(wait.as_secs().max(1)).unwrap_or(libc::c_int::MAX);
    // SAFETY: the descriptor is open for the whole call because `socket` is borrowed, and the option's value is a
    // c_int that outlives the call, with its true size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_DEFER_ACCEPT,
            (&raw const seconds).cast(),
            size_of_val(&seconds) as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn unknown_congestion(name: &str, error: &io::Error) -> io::Error {
    io::Error::other(format!(
        "congestion control \"{name}\" is not available ({error}); \
         see net.ipv4.tcp_available_congestion_control, or set socket.congestion = \"system\""
    ))
}

fn tcp_reason(address: SocketAddr, door: Door, share_port: bool, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EADDRINUSE) => door.if_taken(share_port).to_owned(),
        Some(libc::EACCES) => {
            format!("no permission for port {}; choose one from 1024 on, or grant CAP_NET_BIND_SERVICE", address.port())
        }
        Some(libc::EADDRNOTAVAIL) => {
            "this machine has no such address; use one that `ip address` shows, or 0.0.0.0 or [::] for all".to_owned()
        }
        Some(libc::EMFILE) => "out of descriptors; raise the limit with `ulimit -n`".to_owned(),
        _ => error.to_string(),
    }
}

// === Unix sockets ===

fn bind_unix(path: &Path, plan: &ListenPlan, workers: usize, heir: Option<&User>) -> Result<Bound, ListenError> {
    let url = format!("unix:{}", path.display());
    let explain = |error: io::Error| ListenError { address: url.clone(), reason: unix_reason(&error) };
    let _turn = Turn::take(path);
    remove_stale(path).map_err(explain)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None).map_err(explain)?;
    socket.bind(&SockAddr::unix(path).map_err(explain)?).map_err(explain)?;
    let name = SocketName::new(path);
    heir.filter(|heir| !heir.is_this_process()).map_or(Ok(()), |heir| name.give_to(heir)).map_err(explain)?;
    set_send_buffer(&socket, plan.send_buffer_bytes).map_err(explain)?;
    start_to_listen(&socket, plan, false).map_err(explain)?;
    // There is no SO_REUSEPORT for unix sockets: the workers share one queue.
    let sockets = shared(socket, workers).map_err(explain)?;
    Ok(Bound { url, sockets, _name: Some(name) })
}

/// One socket with one queue, once for each worker.
fn shared(socket: Socket, workers: usize) -> io::Result<Vec<OwnedFd>> {
    let socket = OwnedFd::from(socket);
    let mut sockets = (1..workers).map(|_| socket.try_clone()).collect::<io::Result<Vec<_>>>()?;
    sockets.push(socket);
    Ok(sockets)
}

fn unix_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "another server answers there; stop it or choose another path".to_owned(),
        io::ErrorKind::AlreadyExists => {
            "something that is not a socket has that name; choose another path or move it away".to_owned()
        }
        io::ErrorKind::NotFound => "its folder does not exist; create it first".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission to create it there; choose another folder".to_owned(),
        _ => error.to_string(),
    }
}

/// Makes a listener known to the runtime of this thread.
pub fn register(listener: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` keeps its descriptor open until it is dropped, and the `AsyncFd` deregisters it before that.
    Ok(unsafe { AsyncFd::register(listener) }?)
}

// === What a listener says of its queue ===

/// Connections that the kernel has completed and nobody has accepted yet; `None` for a unix socket.
///
/// For a listening socket Linux reports the length of the accept queue as `tcpi_unacked` (tcp(7), `tcp_get_info`).
pub fn waiting(socket: &OwnedFd) -> Option<u64> {
    tcp_info(socket).map(|info| u64::from(info.tcpi_unacked))
}

/// Bytes that the client's side has acknowledged since the connection began; `None` for a unix socket.
pub fn acknowledged(socket: &OwnedFd) -> Option<u64> {
    tcp_info(socket).map(|info| info.tcpi_bytes_acked)
}

fn tcp_info(socket: &OwnedFd) -> Option<libc::tcp_info> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the descriptor is borrowed for the whole call; the kernel writes at most `length` bytes, which is the
    // size of `info`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    // SAFETY: all bytes were zeroed at creation, and every bit pattern is a valid `tcp_info`.
    (result == 0).then(|| unsafe { info.assume_init() })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    const RACERS: usize = 4;

    /// How many of those that start at the same time listen in the end.
    fn winners(address: &Address) -> usize {
        let start = Barrier::new(RACERS);
        let race = || {
            start.wait();
            bind_one(address, Door::Site, &admin_plan(), 2, None).ok()
        };
        let held: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..RACERS).map(|_| scope.spawn(race)).collect();
            threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
        });
        held.len()
    }

    /// Whether the port is taken was asked by a socket that was closed again, before the first one of those that share it.
    #[test]
    fn of_servers_that_start_at_once_one_has_the_port() {
        let mut any = 0;
        for _ in 0..200 {
            let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let winners = winners(&Address::Tcp(free));
            assert!(winners <= 1, "{winners} listen on {free}");
            any += winners;
        }
        assert!(any > 0);
    }

    /// A server that has its name and does not listen yet answers like a dead one.
    #[test]
    fn of_servers_that_start_at_once_one_has_the_name() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..200 {
            let path = folder.path().join(round.to_string());
            drop(UnixListener::bind(&path).unwrap());
            assert_eq!(winners(&Address::Unix(path)), 1);
        }
    }
}
