//! `quintain healthcheck` against real servers, found as a container's health check finds them: by the environment.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::harness::{Endpoint, Launch, Server, Site};

/// Exit code and all output, in a folder and an environment of its own.
fn healthcheck(folder: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("QUINTAIN_")) {
        command.env_remove(name);
    }
    command.arg("healthcheck").args(arguments).envs(environment.iter().copied()).current_dir(folder);
    let output = command.output().expect("it runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), format!("{out}{err}"))
}

fn port(endpoint: &Endpoint) -> u16 {
    let Endpoint::Tcp(address) = endpoint else { panic!("not TCP: {endpoint:?}") };
    address.port()
}

#[test]
fn the_server_is_found_where_serve_listens() {
    let site = Site::small();
    let server = Server::over(&site);
    let port = port(server.endpoint());
    let own = format!("http://127.0.0.1:{port}/ answers ");
    for listen in [format!("127.0.0.1:{port}"), format!("0.0.0.0:{port},127.0.0.1:1"), port.to_string()] {
        let (code, text) = healthcheck(site.outer(), &[("QUINTAIN_SERVER__LISTEN", &listen)], &[]);
        assert_eq!(code, Some(0), "{listen}: {text}");
        assert!(text.starts_with(&own), "{text}");
    }
    fs::write(site.outer().join("config.toml"), format!("[server]\nlisten = [\"127.0.0.1:{port}\"]\n"))
        .expect("a file");
    let (code, text) = healthcheck(site.outer(), &[], &[]);
    assert_eq!(code, Some(0), "{text}");
    let file = site.outer().join("config.toml");
    let (code, text) = healthcheck(Path::new("/"), &[], &["--config", file.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn the_admin_listener_is_asked_where_there_is_one() {
    let site = Site::small();
    let server = Launch::over(site.root()).with_admin().start();
    let admin = format!("127.0.0.1:{}", port(server.admin()));
    let (code, text) = healthcheck(site.outer(), &[("QUINTAIN_ADMIN__LISTEN", &admin)], &[]);
    assert_eq!((code, text), (Some(0), format!("http://{admin}/healthz answers 200\n")));
}

/// What a health check prints is kept by the container's engine and shown to whoever inspects it.
#[test]
fn a_password_in_the_url_is_not_printed() {
    let site = Site::small();
    let server = Server::over(&site);
    let port = port(server.endpoint());
    for target in [format!("@127.0.0.1:{port}/ten.txt"), "@127.0.0.1:1/".to_owned(), "@127.0.0.1:x/".to_owned()] {
        let (_, text) = healthcheck(site.outer(), &[], &["--url", &format!("http://user:secret{target}")]);
        assert!(text.contains("//127.0.0.1") && !text.contains("secret") && !text.contains("user"), "{text}");
    }
}

#[test]
fn unix_sockets_are_asked_too() {
    let site = Site::small();
    let socket = format!("unix:{}", site.outer().join("socket").display());
    let environment = [("QUINTAIN_SERVER__LISTEN", socket.as_str())];
    let (code, text) = healthcheck(site.outer(), &environment, &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains(&format!("/ at {socket} does not answer: ")), "{text}");
    let root = site.root().to_str().expect("UTF-8");
    let _server = Launch::bare().flag("--root", root).flag("--workers", "1").listen(&socket).start();
    let (code, text) = healthcheck(site.outer(), &environment, &[]);
    assert_eq!(code, Some(0), "{text}");
}

/// A folder without an index has no document for `/`, and its server is well all the same. Who names a document wants it.
#[test]
fn a_document_that_is_missing_counts_only_if_it_was_named() {
    let site = Site::empty();
    site.write("here.txt", "here");
    let server = Server::over(&site);
    let listen = format!("127.0.0.1:{}", port(server.endpoint()));
    let (code, text) = healthcheck(site.outer(), &[("QUINTAIN_SERVER__LISTEN", &listen)], &[]);
    assert_eq!((code, text), (Some(0), format!("http://{listen}/ answers 404\n")));
    let (code, text) = healthcheck(site.outer(), &[], &["--url", &server.url("/here.txt")]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = healthcheck(site.outer(), &[], &["--url", &server.url("/missing")]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("answers 404, which is no sign of health"), "{text}");
}

#[test]
fn a_server_that_fails_is_not_well() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let listen = listener.local_addr().expect("an address").to_string();
    let failing = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the health check");
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).expect("a head") > 0 {
            head.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n").expect("it reads");
        String::from_utf8(head).expect("UTF-8")
    });
    let (code, text) = healthcheck(Path::new("/"), &[("QUINTAIN_SERVER__LISTEN", &listen)], &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("answers 503"), "{text}");
    let head = failing.join().expect("it does not panic");
    assert!(head.starts_with("GET / HTTP/1.1\r\n") && head.contains("User-Agent: quintain-healthcheck\r\n"), "{head}");
}

#[test]
fn nobody_and_somebody_silent() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let listen = listener.local_addr().expect("an address").to_string();
    let environment = [("QUINTAIN_SERVER__LISTEN", listen.as_str())];
    // The kernel takes the connection; nobody ever answers.
    let (code, text) = healthcheck(Path::new("/"), &environment, &["--wait", "50ms"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("no whole head within 50ms"), "{text}");
    drop(listener);
    let (code, text) = healthcheck(Path::new("/"), &environment, &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Connection refused") && text.contains("--url"), "{text}");
}

#[test]
fn what_cannot_be_asked() {
    let refused = |code: i32, environment: &[(&str, &str)], arguments: &[&str], says: &str| {
        let (ended, text) = healthcheck(Path::new("/"), environment, arguments);
        assert_eq!(ended, Some(code), "{text}");
        assert!(text.starts_with("quintain: ") && text.contains(says), "{text}");
    };
    refused(1, &[("QUINTAIN_SERVER__LISTEN", "127.0.0.1:0")], &[], "server.listen is port 0");
    refused(1, &[("QUINTAIN_SERVER__LISTEN", "nowhere")], &[], "QUINTAIN_SERVER__LISTEN");
    refused(2, &[], &["--url", "https://127.0.0.1/"], "there is no TLS");
    refused(2, &[], &["--url", "127.0.0.1"], "127.0.0.1");
}
