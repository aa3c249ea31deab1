//! A server that knows the truth: it does what a script says, right or wrong, and writes down what it did.
//!
//! What a load tool reports is compared with that ledger. The server runs inside the test, a thread for each connection,
//! because the tests need tens of connections; where thousands are needed, the real server stands at the other end.

mod answer;
mod connection;
mod ledger;
mod lifetime;

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use super::PATIENCE;
use connection::Connection;
use lifetime::Lifetime;

pub use answer::{Answer, chunked};
pub use ledger::{Asked, Ledger};

/// Connections served at once, each by a thread. More are a mistake of the test, and fail it.
const MOST_THREADS: usize = 256;

/// Stack of such a thread. It holds one buffer and calls nothing that is deep.
const STACK: usize = 256 * 1024;

/// Receive buffer of every connection: small, so that a client with much to say notices a server that does not read.
const RECEIVE_BUFFER: usize = 64 * 1024;

/// What is done with a connection when it is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Welcome {
    /// Its requests are read and answered.
    Serve,
    /// Closed, without a byte read or written.
    Close,
    /// Closed with a reset.
    Reset,
    /// Kept open and never read.
    Ignore,
}

/// A request, to a script that has to answer it. All numbers begin at 0.
#[derive(Debug)]
pub struct Turn<'a> {
    /// Which connection it came on, in the order in which they were accepted.
    pub connection: u64,
    /// Which request of its connection it is.
    pub on_connection: u64,
    /// Which of all requests it is.
    pub request: u64,
    /// Head and body.
    pub bytes: &'a [u8],
}

impl Turn<'_> {
    /// The second word of the request line.
    pub fn target(&self) -> &str {
        let line = self.bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
        std::str::from_utf8(line).ok().and_then(|line| line.split(' ').nth(1)).unwrap_or_default()
    }
}

type Greet = dyn Fn(u64) -> Welcome + Send + Sync;
type Reply = dyn Fn(&Turn<'_>) -> Answer + Send + Sync;

/// What a server is to do.
struct Script {
    greet: Box<Greet>,
    reply: Box<Reply>,
}

/// A running server. Dropping it ends every connection and waits for its threads.
pub struct TruthServer {
    address: SocketAddr,
    listener: Socket,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What the threads of a server have in common.
struct Shared {
    script: Script,
    ledger: ledger::Book,
    lifetime: Lifetime,
}

impl TruthServer {
    /// Answers every request as the script says.
    pub fn answering(reply: impl Fn(&Turn<'_>) -> Answer + Send + Sync + 'static) -> Self {
        Self::greeting(|_| Welcome::Serve, reply)
    }

    /// Also has a script for connections, which are numbered from 0.
    pub fn greeting(
        greet: impl Fn(u64) -> Welcome + Send + Sync + 'static,
        reply: impl Fn(&Turn<'_>) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = listen(1024);
        let address = local_address(&listener);
        let script = Script { greet: Box::new(greet), reply: Box::new(reply) };
        let lifetime = Lifetime::new(MOST_THREADS);
        let shared = Arc::new(Shared { script, ledger: ledger::Book::default(), lifetime });
        let accepting = TcpListener::from(listener.try_clone().expect("a second descriptor"));
        let theirs = Arc::clone(&shared);
        let acceptor = thread::spawn(move || accept(&accepting, &theirs));
        Self { address, listener, shared, acceptor: Some(acceptor) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    /// What has happened until now.
    pub fn ledger(&self) -> Ledger {
        self.shared.ledger.read()
    }

    /// Waits until the ledger shows something: the server notices a close some time after the client's.
    #[track_caller]
    pub fn wait_for(&self, what: &str, condition: impl Fn(&Ledger) -> bool) -> Ledger {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let ledger = self.ledger();
            if condition(&ledger) {
                return ledger;
            }
            assert!(Instant::now() < deadline, "the ledger never showed {what}: {ledger:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for TruthServer {
    fn drop(&mut self) {
        self.shared.lifetime.end();
        // Wakes the acceptor, whose accept then fails.
        let _ = self.listener.shutdown(Shutdown::Both);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let ended = self.shared.lifetime.wait_for_all(PATIENCE);
        if !thread::panicking() {
            assert!(ended, "a thread of the scripted server did not end");
            let ledger = self.ledger();
            assert_eq!((ledger.refused, ledger.failures), (0, 0), "the scripted server was not up to its script");
        }
    }
}

/// A listener whose queue is full: a connect to it neither succeeds nor fails.
pub struct FullBacklog {
    address: SocketAddr,
    _listener: Socket,
    _waiting: Vec<TcpStream>,
}

impl FullBacklog {
    /// `None` if this system's kernel goes on accepting.
    pub fn new() -> Option<Self> {
        const MORE_THAN_FIT: usize = 16;
        let listener = listen(0);
        let address = local_address(&listener);
        let mut waiting = Vec::new();
        while waiting.len() < MORE_THAN_FIT {
            match TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
                Ok(stream) => waiting.push(stream),
                Err(_) => return Some(Self { address, _listener: listener, _waiting: waiting }),
            }
        }
        None
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// A port at which nobody listens.
pub struct RefusedPort {
    address: SocketAddr,
    // Bound, so that the kernel gives the port to nobody else, and never listened on.
    _bound: Socket,
}

impl RefusedPort {
    pub fn new() -> Self {
        let bound = bind();
        Self { address: local_address(&bound), _bound: bound }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

fn listen(backlog: i32) -> Socket {
    let socket = bind();
    socket.listen(backlog).expect("a listener");
    socket
}

fn bind() -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    // Before listen, because the window scale of a connection is settled in its handshake.
    socket.set_recv_buffer_size(RECEIVE_BUFFER).expect("SO_RCVBUF");
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("a free port");
    socket
}

fn local_address(socket: &Socket) -> SocketAddr {
    socket.local_addr().ok().and_then(|address| address.as_socket()).expect("an address")
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, peer)) = listener.accept() {
        if shared.lifetime.is_over() {
            return;
        }
        shared.lifetime.wait_while_frozen();
        let number = shared.ledger.accepted(peer);
        let stream = Arc::new(stream);
        let Some(place) = shared.lifetime.take_place(number, &stream) else {
            shared.ledger.refused();
            continue;
        };
        let theirs = Arc::clone(shared);
        let serve = move || Connection::new(&theirs, stream, number).serve(place);
        thread::Builder::new().stack_size(STACK).spawn(serve).expect("a thread");
    }
}
