//! Words to the service manager that started this process: the protocol of sd_notify(3), one datagram each.
//!
//! Own code, because the crate sd-notify does not know the abstract addresses that systemd uses inside of containers.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Words that wait for room in the manager's queue at the most; beyond that the oldest is lost.
const WAITING: usize = 8;

/// The way to the service manager, if there is one.
#[derive(Debug, Default)]
pub struct Manager {
    socket: Option<UnixDatagram>,
    watchdog: Option<Duration>,
    waiting: RefCell<VecDeque<String>>,
}

impl Manager {
    /// Finds the service manager of this process in its environment. One that cannot be reached is reported and then not
    /// spoken to: a server that serves is better than one that stopped because nobody listens to it.
    #[must_use]
    pub fn of_this_process() -> Self {
        let Some(address) = std::env::var_os("NOTIFY_SOCKET") else { return Self::default() };
        match connect(address.as_bytes()) {
            Ok(socket) => Self { socket: Some(socket), watchdog: watchdog(), waiting: RefCell::default() },
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

    /// The server accepts connections.
    pub fn ready(&self) {
        self.say("READY=1");
    }

    /// The server reads its configuration again; [`Manager::reloaded`] is to follow, whatever becomes of that.
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1000;
        self.say(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }

    /// The server serves on, under the new configuration or, for this reason, under the old one. The protocol has no word for a
    /// reload that failed; what `systemctl status` shows is this sentence.
    pub fn reloaded(&self, refusal: Option<&str>) {
        match refusal {
            None => self.say("READY=1\nSTATUS=the last reload was applied"),
            Some(why) => self.say(&format!("READY=1\nSTATUS=the last reload was refused: {}", one_line(why))),
        }
    }

    /// The server has begun to end.
    pub fn stopping(&self) {
        self.say("STOPPING=1");
    }

    /// A sign of life. One that finds no room is as good as the next one.
    pub fn alive(&self) {
        if self.waiting.borrow().is_empty()
            && let Err(error) = self.send("WATCHDOG=1")
        {
            tracing::warn!("the service manager did not take a sign of life: {error}");
        }
    }

    /// Says in their order what found no room before. To be called again and again: a manager that is busy starting a
    /// machine takes no word for a while, and a server of whose readiness it has not heard is ended in the end.
    pub fn say_what_waits(&self) {
        let mut waiting = self.waiting.borrow_mut();
        while let Some(words) = waiting.front() {
            match self.send(words) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => tracing::warn!("the service manager did not take {words:?}: {error}"),
                Ok(()) => {}
            }
            waiting.pop_front();
        }
    }

    fn say(&self, words: &str) {
        if self.socket.is_some() {
            let mut waiting = self.waiting.borrow_mut();
            waiting.push_back(words.to_owned());
            if waiting.len() > WAITING {
                let lost = waiting.pop_front();
                tracing::warn!("the service manager takes nothing; {:?} is lost", lost.unwrap_or_default());
            }
            drop(waiting);
            self.say_what_waits();
        }
    }

    /// The socket does not wait: the thread that speaks keeps the clock as well.
    fn send(&self, words: &str) -> io::Result<()> {
        self.socket.as_ref().map_or(Ok(()), |socket| socket.send(words.as_bytes()).map(drop))
    }
}

/// Letters of a status: more than a line of a terminal is read by nobody, and a datagram has a limit.
const STATUS_LETTERS: usize = 300;

/// A line's end would begin another word to the manager.
fn one_line(text: &str) -> String {
    let plain = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut line: String = plain.clone().take(STATUS_LETTERS).collect();
    if plain.count() > STATUS_LETTERS {
        line.push_str("...");
    }
    line
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
    Some(interval(micros))
}

/// Nobody can show a sign of life that often, and to try would fill the log.
const SHORTEST: Duration = Duration::from_millis(100);

fn interval(micros: u64) -> Duration {
    Duration::from_micros(micros).max(SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of an interval of a microsecond the log said five hundred times a second that no thread had got to its tasks.
    #[test]
    fn a_watchdog_is_fed_ten_times_a_second_at_the_most() {
        assert_eq!(interval(1), SHORTEST);
        assert_eq!(interval(30_000_000), Duration::from_secs(30));
    }

    #[test]
    fn a_status_is_one_line_of_a_length() {
        assert_eq!(one_line("a.toml:1: x\nMAINPID=1"), "a.toml:1: x MAINPID=1");
        assert_eq!(one_line(&"\u{e4}".repeat(STATUS_LETTERS)), "\u{e4}".repeat(STATUS_LETTERS));
        assert_eq!(one_line(&"x".repeat(STATUS_LETTERS + 1)), format!("{}...", "x".repeat(STATUS_LETTERS)));
    }
}
