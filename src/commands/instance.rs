//! `quintain stop`, `reload` and `status`: a server that runs already, found by its pid file.
//!
//! The exit codes are those of init scripts (LSB, "Init Script Actions"), which monitoring knows how to read.

use std::io;
use std::process::ExitCode;

use rustix::process::{Pid, Signal};

use super::console::put;
use super::{FAILED, fail, print, printed};
use crate::cli::{InstanceArgs, StopArgs};
use crate::process::pid_file::{self, Instance};

/// `status`: it died, and its pid file is still there.
const DEAD: u8 = 1;
/// `status`: it does not run.
const NOT_RUNNING: u8 = 3;
/// `status`: nobody can tell; other commands: not allowed.
const UNKNOWN: u8 = 4;
/// Other commands: there is no server to do it to.
const NO_SERVER: u8 = 7;

/// Says whether the server runs.
#[must_use]
pub fn status(InstanceArgs { pid_file }: &InstanceArgs) -> ExitCode {
    let file = pid_file.display();
    match pid_file::look(pid_file) {
        // For a status that cannot be told there is a code of its own; 1 would say that the server is dead.
        Ok(Instance::Running(process)) => {
            printed(put(&format!("running as process {}\n", process.pid().as_raw_nonzero())), UNKNOWN)
        }
        Ok(Instance::Dead(Some(pid))) => {
            let pid = pid.as_raw_nonzero();
            fail(DEAD, &format_args!("not running: process {pid} has ended without removing {file}"))
        }
        Ok(Instance::Dead(None)) => fail(DEAD, &format_args!("not running, and {file} holds no process id")),
        Ok(Instance::Absent) => fail(NOT_RUNNING, &format_args!("not running, says {file}")),
        Err(error) => fail(UNKNOWN, &unreadable(&file, &error)),
    }
}

/// Lets the server read its configuration again. What came of it stands in the server's log.
#[must_use]
pub fn reload(InstanceArgs { pid_file }: &InstanceArgs) -> ExitCode {
    let file = pid_file.display();
    match pid_file::look(pid_file) {
        Ok(Instance::Running(process)) => match process.signal(Signal::HUP) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => refused(process.pid(), &error),
        },
        Ok(Instance::Dead(_) | Instance::Absent) => fail(NO_SERVER, &format_args!("not running, says {file}")),
        Err(error) => fail(UNKNOWN, &unreadable(&file, &error)),
    }
}

/// Ends the server and waits for its end. One that does not run is as stopped as can be.
#[must_use]
pub fn stop(StopArgs { instance: InstanceArgs { pid_file }, wait }: &StopArgs) -> ExitCode {
    let file = pid_file.display();
    let process = match pid_file::look(pid_file) {
        Ok(Instance::Running(process)) => process,
        Ok(Instance::Dead(_) | Instance::Absent) => return print(&format!("not running, says {file}\n")),
        Err(error) => return fail(UNKNOWN, &unreadable(&file, &error)),
    };
    let pid = process.pid();
    if let Err(error) = process.signal(Signal::TERM) {
        return refused(pid, &error);
    }
    match process.wait_for_end(*wait) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => fail(
            FAILED,
            &format_args!(
                "process {} still has answers to finish; wait longer with --wait, or end it at once by a second stop",
                pid.as_raw_nonzero()
            ),
        ),
        Err(error) => fail(FAILED, &format_args!("cannot wait for process {}: {error}", pid.as_raw_nonzero())),
    }
}

fn unreadable(file: &dyn std::fmt::Display, error: &io::Error) -> String {
    format!("cannot tell whether it runs: {file}: {error}")
}

fn refused(pid: Pid, error: &io::Error) -> ExitCode {
    fail(UNKNOWN, &format_args!("cannot signal process {}: {error}", pid.as_raw_nonzero()))
}
