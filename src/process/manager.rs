//! Words to the service manager that started this process: the protocol of sd_notify(3), one datagram each.
//!
//! Own code, because the crate sd-notify does not know the abstract addresses that systemd uses inside of containers.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The way to the service manager, if there is one.
#[derive(Debug, Default)]
pub struct Manager {
    socket: Option<UnixDatagram>,
    watchdog: Option<Duration>,
}

impl Manager {
    /// Finds the service manager of this process in its environment. One that cannot be reached is reported and then not
    /// spoken to: a server that serves is better than one that stopped because nobody listens to it.
    #[must_use]
    pub fn of_this_process() -> Self {
        let Some(address) = std::env::var_os("NOTIFY_SOCKET") else { return Self::default() };
        match connect(address.as_bytes()) {
            Ok(socket) => Self { socket: Some(socket), watchdog: watchdog() },
            Err(error) => {
                tracing::warn!("cannot reach the service manager at NOTIFY_SOCKET: {error}");
                Self::default()
            }
        }
    }

    /// How often the manager wants a sign of life, if it does.
    #[must_use]
    pub fn watchdog(&self) -> Option<Duration> {
        self.watchdog
    }

    /// The server accepts connections, or has read its configuration again.
    pub fn ready(&self) {
        self.say("READY=1");
    }

    /// The server reads its configuration again; [`Manager::ready`] is to follow, whatever becomes of that.
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1000;
        self.say(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }

    /// The server has begun to end.
    pub fn stopping(&self) {
        self.say("STOPPING=1");
    }

    /// A sign of life.
    pub fn alive(&self) {
        self.say("WATCHDOG=1");
    }

    /// A manager that does not take a word in time has lost it: the socket does not wait.
    fn say(&self, words: &str) {
        if let Some(socket) = &self.socket
            && let Err(error) = socket.send(words.as_bytes())
        {
            tracing::warn!("the service manager did not take {words:?}: {error}");
        }
    }
}

fn connect(address: &[u8]) -> io::Result<UnixDatagram> {
    let address = match address {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        path => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(path))?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The interval of sd_watchdog_enabled(3).
fn watchdog() -> Option<Duration> {
    let number = |name| std::env::var(name).ok()?.parse::<u64>().ok();
    let for_another =
        std::env::var_os("WATCHDOG_PID").is_some() && number("WATCHDOG_PID") != Some(std::process::id().into());
    let micros = number("WATCHDOG_USEC").filter(|micros| *micros > 0 && !for_another)?;
    Some(Duration::from_micros(micros))
}
