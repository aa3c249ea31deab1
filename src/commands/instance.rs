//! `quintain stop`, `reload` and `status`: a server that runs already, found by its pid file.
//!
//! The exit codes are those of init scripts (LSB, "Init Script Actions"), which monitoring knows how to read.

use std::fmt::Display;
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

/// `stop`: it cannot be told of which server somebody speaks.
const NO_PID_FILE: u8 = 1;

/// Says whether the server runs.
#[must_use]
pub fn status(InstanceArgs { pid_file }: &InstanceArgs) -> ExitCode {
    let file = pid_file.display();
    match pid_file::look(pid_file) {
        // For a status that cannot be told there is a code of its own; 1 would say that the server is dead.
        Ok(Instance::Running(process)) => {
            printed(put(&format!("running as process {}\n", process.pid().as_raw_nonzero())), UNKNOWN)
        }
        Ok(ended @ Instance::Dead(_)) => fail(DEAD, &not_running(&ended, &file)),
        Ok(ended) => fail(NOT_RUNNING, &not_running(&ended, &file)),
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
        Ok(ended) => fail(NO_SERVER, &not_running(&ended, &file)),
        Err(error) => fail(UNKNOWN, &unreadable(&file, &error)),
    }
}

/// Ends the server and waits for its end. One that does not run is as stopped as can be.
#[must_use]
pub fn stop(StopArgs { instance: InstanceArgs { pid_file }, wait }: &StopArgs) -> ExitCode {
    let file = pid_file.display();
    let process = match pid_file::look(pid_file) {
        Ok(Instance::Running(process)) => process,
        // What is no pid file says nothing of any server, and a mistyped one is not the way to stop it.
        Ok(ended @ Instance::Dead(None)) => return fail(NO_PID_FILE, &not_running(&ended, &file)),
        Ok(ended) => return print(&format!("{}\n", not_running(&ended, &file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return fail(NO_PID_FILE, &unreadable(&file, &error)),
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

/// What the pid file of a server says that does not run.
fn not_running(ended: &Instance, file: &dyn Display) -> String {
    match ended {
        Instance::Running(process) => format!("running as process {}", process.pid().as_raw_nonzero()),
        Instance::Dead(Some(pid)) => {
            format!("not running: process {} has ended without removing {file}", pid.as_raw_nonzero())
        }
        Instance::Dead(None) => {
            format!("not running as far as {file} tells, which holds no process id; is it the pid file?")
        }
        Instance::Emptied => format!("not running: the server has ended and emptied {file}"),
        Instance::Absent => format!("not running: there is no {file}"),
    }
}

fn unreadable(file: &dyn Display, error: &io::Error) -> String {
    format!("cannot tell whether it runs: {file}: {error}")
}

fn refused(pid: Pid, error: &io::Error) -> ExitCode {
    fail(UNKNOWN, &format_args!("cannot signal process {}: {error}", pid.as_raw_nonzero()))
}
