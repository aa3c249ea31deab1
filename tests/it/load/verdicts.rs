//! Who was the limit: a server that is slower than the client, and a client that is kept from its CPU.

use std::process::{Child, Command, Stdio};

use quintain::record::{Doubt, Limit};
use sha2::{Digest, Sha256};

use super::Load;
use crate::harness::{Launch, Site, machine_to_myself, say_skipped};

/// Two CPUs that this process may use, or a word about why nothing is tested.
fn two_cpus() -> Option<(String, String)> {
    let set = rustix::thread::sched_getaffinity(None).expect("the CPUs of this process");
    let mut allowed = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu.to_string());
    let two = allowed.next().zip(allowed.next());
    if two.is_none() {
        say_skipped("two CPUs are needed, one for each side");
    }
    two
}

/// A process that leaves its CPU to nobody for longer than the scheduler makes it. Dropping it ends it.
struct Spinner(Child);

impl Spinner {
    fn on(cpu: &str) -> Self {
        let command = ["taskset", "-c", cpu, "sh", "-c", "while :; do :; done"];
        let child = Command::new(command[0]).args(&command[1..]).stdin(Stdio::null()).spawn();
        Self(child.expect("taskset, which is part of every Debian"))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The listing of a folder with a thousand files is written anew for each request: work for the server, and only bytes for
/// the client.
#[test]
fn a_server_that_is_slower_than_the_client() {
    let Some((ours, theirs)) = two_cpus() else { return };
    let _alone = machine_to_myself();
    let site = Site::empty();
    for number in 0..1000 {
        site.write(&format!("{number}.txt"), "");
    }
    let launch = Launch::over(site.root()).set("site.listing", "true").set("server.affinity", &theirs);
    let server = launch.start();
    let load = Load::of(server.url("/")).with("-t 2s -c 8 --threads 1 --cpus").word(ours);
    let load = load.with("--any-length --watch").word(server.id().to_string());
    for _ in 0..5 {
        let run = load.measure();
        let client = run.client.threads[0];
        // Where somebody else takes a CPU of one of them, that is the limit, and not what is tested.
        if run.watched[0].busiest_thread_delay < 0.05 && client.run_delay_s < 0.05 * client.wall_s {
            assert!(!run.verdict.doubts.contains(&Doubt::ClientWasTheLimit), "{:#?}", run.verdict);
            assert_eq!(run.verdict.limit, Limit::ServerCpu, "{:#?}\n{:#?}", run.verdict, run.watched);
            assert!(run.verdict.words.contains("server"), "{}", run.verdict.words);
            return;
        }
    }
    say_skipped("the CPUs were busy with something else");
}

/// The client hashes every body and shares its CPU; the server only sends files.
#[test]
fn a_client_that_is_kept_from_its_cpu() {
    let Some((ours, theirs)) = two_cpus() else { return };
    let _alone = machine_to_myself();
    let site = Site::empty();
    let body = vec![b'x'; 256 << 10];
    site.write("256k.bin", &body);
    let digest: String = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
    let server = Launch::over(site.root()).set("server.affinity", &theirs).start();
    let _busy = Spinner::on(&ours);
    let load = Load::of(server.url("/256k.bin")).with("-t 2s -c 8 --threads 1 --cpus").word(ours);
    let load = load.with("--verify").word(format!("sha256:{digest}"));
    let run = load.with("--watch").word(server.id().to_string()).measure();
    assert_eq!(run.verdict.limit, Limit::ClientCpu, "{:#?}\n{:#?}", run.verdict, run.client);
    assert!(run.verdict.words.contains("client"), "{}", run.verdict.words);
    assert!(run.verdict.doubts.contains(&Doubt::ClientWasTheLimit), "{:#?}", run.verdict);
    let thread = run.client.threads[0];
    assert!(thread.cpu_s + thread.run_delay_s > 0.9 * thread.wall_s, "{thread:?}");
}
