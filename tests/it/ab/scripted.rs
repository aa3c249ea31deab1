//! A server that does what a test tells it, connection by connection, one after the other.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::harness::PATIENCE;

/// Dropping it ends it.
pub struct Scripted {
    address: SocketAddr,
    last_request: Arc<Mutex<String>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Scripted {
    /// Reads the head of each connection's request, and leaves the rest to `answer`, which is told the number of the
    /// connection, from 1 on.
    pub fn start(mut answer: impl FnMut(usize, TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (last_request, stop) = (Arc::new(Mutex::new(String::new())), Arc::new(AtomicBool::new(false)));
        let (last, stopped) = (Arc::clone(&last_request), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            for (number, stream) in (1..).zip(listener.incoming()) {
                let Ok(mut stream) = stream else { continue };
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                *last.lock().expect("no holder panics") = head(&mut stream);
                answer(number, stream);
            }
        });
        Self { address, last_request, stop, thread: Some(thread) }
    }

    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    pub fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    pub fn last_request(&self) -> String {
        self.last_request.lock().expect("no holder panics").clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // The connection that the thread waits for.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A head up to its empty line, or as much of it as comes.
fn head(stream: &mut TcpStream) -> String {
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut head = Vec::new();
    let mut bytes = [0; 4096];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut bytes) {
            Ok(count) if count > 0 => head.extend_from_slice(&bytes[..count]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A whole answer, and the end of the connection.
pub fn answer(mut stream: TcpStream, body: &[u8]) {
    let head = format!("HTTP/1.0 200 OK\r\nServer: Scripted/1 (test)\r\nContent-Length: {}\r\n\r\n", body.len());
    // The client may have gone: it is what is tested.
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

/// The end of the connection by a reset.
pub fn reset(stream: TcpStream) {
    let linger = Some(std::time::Duration::ZERO);
    socket2::SockRef::from(&stream).set_linger(linger).expect("SO_LINGER");
}
