//! Ten thousand connections at once.

use crate::harness::{Client, Launch, Site, TEN, machine_to_myself, raise_descriptor_limit, say_skipped};

const CONNECTIONS: usize = 10_000;

/// Descriptors beside the connections: of this process, and of the server.
const SPARE: u64 = 2_000;

/// Requests that are on their way at once; more would only wait in the kernel's queues.
const BATCH: usize = 500;

#[test]
fn ten_thousand_keep_alive_connections() {
    let _alone = machine_to_myself();
    let limit = raise_descriptor_limit();
    if limit < CONNECTIONS as u64 + SPARE {
        say_skipped(&format!("{limit} descriptors are allowed, {} are needed", CONNECTIONS as u64 + SPARE));
        return;
    }
    let site = Site::small();
    let server = Launch::over(site.root()).with_admin().start();
    let mut clients: Vec<Client> = Vec::with_capacity(CONNECTIONS);
    while clients.len() < CONNECTIONS {
        let first = clients.len();
        clients.extend((0..BATCH).map(|_| server.client()));
        ask_all(&mut clients[first..]);
    }
    let open = server.metrics().sum("quintain_connections_open", &[]);
    assert_eq!(open, CONNECTIONS as f64, "a connection was closed although it is kept alive");
    for batch in clients.chunks_mut(BATCH) {
        ask_all(batch);
    }
    let metrics = server.metrics();
    assert_eq!(metrics.sum("quintain_http_requests_total", &["2xx"]), 2.0 * CONNECTIONS as f64);
    assert_eq!(metrics.sum("quintain_connections_accepted_total", &[]), CONNECTIONS as f64);
    drop(clients);
    server.wait_for_metrics("all gone", |m| m.sum("quintain_connections_open", &[]) == 0.0);
}

fn ask_all(clients: &mut [Client]) {
    for client in clients.iter_mut() {
        client.send("GET /ten.txt HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    for client in clients {
        assert_eq!(client.answer().expect("an answer").body, TEN.as_bytes());
    }
}
