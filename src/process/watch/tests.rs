use std::hint::black_box;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;

use super::*;

/// A process that waits until its standard input is closed. It has answered once, so it is past its start, during which
/// its memory and its descriptors are those of nobody yet.
fn waiting() -> Child {
    let mut child =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat can be started");
    child.stdin.as_mut().expect("it is piped").write_all(b"x").expect("cat reads");
    child.stdout.as_mut().expect("it is piped").read_exact(&mut [0]).expect("cat answers");
    child
}

/// Takes that much CPU time from the calling thread, however long it has to wait for it.
fn burn(cpu: Duration) {
    let start = ThreadTimes::now();
    while ThreadTimes::now().since(start).cpu < cpu {
        black_box((0..10_000_u64).fold(0, u64::wrapping_add));
    }
}

/// More than the 20 ms by which clock ticks may be wrong.
const BURNT: Duration = Duration::from_millis(60);

#[test]
fn a_process_that_waits() {
    let mut child = waiting();
    let mut watch = Watch::open(child.id()).expect("it can be watched");
    watch.sample();
    let seen = watch.finish();
    assert_eq!(seen.pid, child.id());
    assert_eq!((seen.threads_max, seen.gone), (1, false));
    assert!(seen.descriptors_max >= 3 && seen.resident_max_bytes > 0 && seen.cpus_allowed >= 1, "{seen:?}");
    drop(child.stdin.take());
    child.wait().expect("it ends");
}

#[test]
fn a_process_that_ends_meanwhile() {
    let mut child = waiting();
    let mut watch = Watch::open(child.id()).expect("it can be watched");
    watch.sample();
    drop(child.stdin.take());
    child.wait().expect("it ends");
    watch.sample();
    watch.sample();
    let seen = watch.finish();
    assert!(seen.gone);
    assert_eq!(seen.threads_max, 1, "what was seen before stays");
    assert!(seen.descriptors_max >= 3 && seen.resident_max_bytes > 0, "{seen:?}");
}

#[test]
fn a_process_that_is_dead_but_not_buried() {
    let mut child = waiting();
    let watch = Watch::open(child.id()).expect("it can be watched");
    drop(child.stdin.take());
    let stat = format!("/proc/{}/stat", child.id());
    // Its parent has not waited for it, so the files stay; they say Z once it has ended.
    while !std::fs::read_to_string(&stat).expect("it is there").contains(") Z ") {
        thread::yield_now();
    }
    assert!(watch.finish().gone);
    let error = Watch::open(child.id()).expect_err("a zombie cannot be watched").to_string();
    assert!(error.ends_with("there is no such process"), "{error}");
    child.wait().expect("it ends");
}

#[test]
fn nobody_has_that_number() {
    // The largest id that Linux gives is 4,194,304.
    let error = Watch::open(4_194_305).expect_err("nobody has it");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert_eq!(error.to_string(), "process 4194305 cannot be watched: there is no such process");
}

#[test]
fn an_id_that_is_used_again_is_another_process() {
    let mut watch = Watch::open(std::process::id()).expect("it can be watched");
    watch.first.started -= 1;
    assert!(watch.finish().gone);
}

#[test]
fn a_thread_that_works_is_the_busiest() {
    let watch = Watch::open(std::process::id()).expect("it can be watched");
    burn(BURNT);
    let seen = watch.finish();
    assert!(seen.cpu >= BURNT.mul_f64(0.5) && seen.busiest.busy() >= BURNT.mul_f64(0.5), "{seen:?}");
}

#[test]
fn a_thread_that_came_and_went_between_two_samples_is_counted_by_the_ticks() {
    let watch = Watch::open(std::process::id()).expect("it can be watched");
    thread::scope(|scope| scope.spawn(|| burn(BURNT)).join().expect("it ends"));
    let seen = watch.finish();
    assert!(seen.cpu >= BURNT - files::ticks(2), "{seen:?}");
}

#[test]
fn threads_are_read_the_less_often_the_more_there_are() {
    for (threads, samples) in [(0, 1), (1, 1), (64, 1), (65, 2), (640, 10)] {
        assert_eq!(samples_a_walk(threads), samples, "{threads} threads");
    }
}

#[test]
fn ticks_overrule_a_sum_that_lacks_too_much() {
    let ms = Duration::from_millis;
    assert_eq!(within_ticks(ms(101), ms(100)), ms(101));
    assert_eq!(within_ticks(ms(119), ms(100)), ms(119), "up to two ticks were rounded off");
    assert_eq!(within_ticks(ms(30), ms(100)), ms(100), "threads ended unseen");
    assert_eq!(within_ticks(ms(0), ms(10)), ms(0), "ticks began before the watch");
}
